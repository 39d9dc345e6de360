//! Deletions and renamings of one reply: proposed together, each decided for its file.

use super::edits::{Job, TRIES};
use super::known::News;
use crate::edit::{Misfit, Part, Proposal, Whole};
use crate::event::TurnId;
use crate::message::{CallId, ToolAnswer};
use crate::session::Input;
use crate::text::Text;
use crate::tool::{self, Arrival, Unreadable};
use std::path::{Path, PathBuf};

/// A call that asks for it.
pub(super) struct Asked {
    pub(super) call: CallId,
    pub(super) path: PathBuf,
    pub(super) whole: Whole,
}

impl Asked {
    fn touches(&self, path: &Path) -> bool {
        self.path == path || matches!(&self.whole, Whole::Rename { to } if to == path)
    }
}

/// Those that touch no file which another call of the reply touches: what came of the others would depend on what the
/// user decides first, so they are refused.
pub(super) fn apart(job: &Job, turn: TurnId, asked: Vec<Asked>, edited: &[&Path]) -> Vec<Asked> {
    let mut fit: Vec<Asked> = Vec::new();
    for it in asked {
        let both = |other: &Asked| {
            it.touches(&other.path)
                || matches!(&other.whole, Whole::Rename { to } if it.touches(to))
        };
        if fit.iter().any(both) || edited.iter().any(|path| it.touches(path)) {
            let path = job.shown(&it.path);
            let text = format!(
                "Nothing was done to {path}: another call of this reply changes it or what is to be in its place. \
                 Send this one when that is decided."
            );
            job.refuse(turn, &it.call, text);
        } else {
            fit.push(it);
        }
    }
    fit
}

/// Every call ends in an `Answered`, or an `Entered` whose verdict comes later.
pub(super) async fn propose(job: &Job, turn: TurnId, mut asked: Vec<Asked>) {
    for _ in 0..TRIES {
        let mut proposals = Vec::new();
        let mut sent = Vec::new();
        for it in std::mem::take(&mut asked) {
            if let Some(proposal) = job.whole(turn, &it).await {
                proposals.push(proposal);
                sent.push(it);
            }
        }
        if proposals.is_empty() {
            return;
        }
        let arrivals = job.desk.workspace.propose(turn, proposals).await;
        for (it, arrival) in sent.into_iter().zip(arrivals) {
            let Asked { call, path, .. } = &it;
            let entered = Input::Entered { turn, call: call.clone(), path: path.clone(), hunks: 1 };
            match arrival {
                Arrival::Entered { .. } => drop(job.results.send(entered)),
                Arrival::Written { .. } => {
                    let _ = job.results.send(entered);
                    job.done(&it);
                }
                Arrival::Refused(misfit) => {
                    job.refuse(turn, call, misfit.say(&job.shown(path), None));
                }
                Arrival::Moved(_) => asked.push(it),
                Arrival::Stopped => (),
            }
        }
    }
    let why = Misfit::Refused("its text keeps changing; try again later".into());
    for Asked { call, path, .. } in asked {
        job.refuse(turn, &call, why.say(&job.shown(&path), None));
    }
}

impl Job {
    async fn whole(&self, turn: TurnId, it: &Asked) -> Option<Proposal> {
        let Asked { call, path, whole } = it;
        let before = match self.desk.workspace.read(path).await {
            Ok(source) => source.text,
            Err(Unreadable::Absent) => {
                self.refuse(turn, call, format!("{} does not exist.", self.shown(path)));
                return None;
            }
            Err(why) => {
                let why = format!("it {}", why.say());
                self.refuse(turn, call, Misfit::Refused(why).say(&self.shown(path), None));
                return None;
            }
        };
        let after = match whole {
            Whole::Delete => Text::default(),
            Whole::Rename { .. } => before.clone(),
        };
        let part = Part {
            call: call.clone(),
            before: before.clone(),
            after: after.clone(),
            note: String::new(),
        };
        let runs_code = match whole {
            Whole::Rename { to } => tool::path::runs_code(to),
            Whole::Delete => false,
        };
        Some(Proposal {
            parts: vec![part],
            path: path.clone(),
            before: Some(before),
            after,
            at_once: self.at_once && !runs_code && !tool::path::runs_code(path),
            whole: Some(whole.clone()),
        })
    }

    fn done(&self, it: &Asked) {
        let path = self.shown(&it.path);
        let (done, summary) = match &it.whole {
            Whole::Delete => (format!("{path} is deleted"), "deleted"),
            Whole::Rename { to } => (format!("{path} is now {}", self.shown(to)), "renamed"),
        };
        let text = format!("{done}; the user may still take it back.");
        let (id, summary) = (it.call.clone(), summary.to_owned());
        let answer = ToolAnswer { id, text, failed: false, summary };
        let to = match &it.whole {
            Whole::Delete => None,
            Whole::Rename { to } => Some(to.clone()),
        };
        let _ = self.knowing.send(News::Moved { from: it.path.clone(), to });
        let _ = self.results.send(Input::Applied { files: vec![(it.path.clone(), true)], answer });
    }
}
