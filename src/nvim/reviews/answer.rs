//! The answers to the model's calls that a settled review makes.

use crate::event::Claim;
use crate::message::{CallId, ToolAnswer};
use crate::nvim::session_link::Handle;
use crate::text::Text;
use std::path::PathBuf;

/// The answers of a settled review to the calls of one session.
pub struct Verdict {
    /// The session that made the proposals; `None` if it is not open here.
    pub session: Option<Handle>,
    pub answers: Vec<ToolAnswer>,
    /// What the answers say about files on disk.
    pub claims: Vec<Claim>,
    pub path: PathBuf,
    /// The path before the file was renamed, or the proposed new path that the user rejected.
    pub was: Option<PathBuf>,
    /// Whether the accepted text is on disk.
    pub saved: bool,
    /// The file's text now; `None` if the file does not exist any more.
    pub text: Option<Text>,
}

/// The answer to a call, from the reviews of some of its files.
pub(super) struct Answer {
    pub(super) call: CallId,
    pub(super) text: String,
    pub(super) failed: bool,
    /// How often the user has decided in which way; 0 for one decision on a whole file.
    pub(super) tally: Vec<(usize, &'static str)>,
    /// Why the text of a file is not on disk; empty if it is.
    pub(super) unsaved: String,
    pub(super) files: usize,
    /// What the answer says about files on disk.
    pub(super) claims: Vec<Claim>,
}

impl Answer {
    /// This answer without the text, which the model has got.
    pub(super) fn counts(&self) -> Answer {
        Answer {
            call: self.call.clone(),
            text: String::new(),
            tally: self.tally.clone(),
            unsaved: self.unsaved.clone(),
            claims: Vec::new(),
            ..*self
        }
    }

    /// Takes out what the answer says about files on disk.
    pub(super) fn take_claims(&mut self) -> impl Iterator<Item = Claim> + use<> {
        let summary = self.decisions().join(" · ");
        let failed = self.failed;
        let claims = std::mem::take(&mut self.claims).into_iter();
        claims.map(move |it| Claim { summary: summary.clone(), failed, ..it })
    }

    fn decisions(&self) -> Vec<String> {
        let files = (self.files > 1).then(|| format!("{} files", self.files));
        let counted = |(count, word): &(usize, &str)| match count {
            0 => (*word).to_owned(),
            _ => format!("{count} {word}"),
        };
        files.into_iter().chain(self.tally.iter().map(counted)).collect()
    }

    /// The decisions in short, as in `3 files · 3 accepted · not saved: it changed on disk too`.
    fn summary(&self) -> String {
        let unsaved = (!self.unsaved.is_empty()).then(|| format!("not saved: {}", self.unsaved));
        self.decisions().into_iter().chain(unsaved).collect::<Vec<_>>().join(" · ")
    }
}

impl From<Answer> for ToolAnswer {
    fn from(it: Answer) -> ToolAnswer {
        let summary = it.summary();
        let answer = ToolAnswer::done(&it.call, it.text, summary);
        ToolAnswer { failed: it.failed, verdict: true, ..answer }
    }
}
