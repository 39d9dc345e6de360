//! How a session opens: one that was left in mid-turn is brought to rest, and the chat shows it.

use super::files::Files;
use super::guidance::{self, Guidance};
use super::rewind::check_no_link;
use crate::context::instructions::Found;
use crate::conversation::Conversation;
use crate::conversation::report::{Opened, Report, Show};
use crate::edit::Format;
use crate::event::{Mode, SessionId};
use crate::message::{Excerpt, Reply};
use crate::session::Input;
use crate::store::{Draft, Recorded};
use crate::tool::Desk;
use crate::view::View;
use std::path::PathBuf;

/// What the chat of a session begins with.
pub(super) struct Opening {
    /// The session that this one was opened for, which could not be.
    pub(super) instead: Option<SessionId>,
    /// The journal held events that the session's file does not have.
    pub(super) replayed: bool,
    /// The mode of a new session.
    pub(super) mode: Mode,
    /// Files under review in the editor now.
    pub(super) live: Vec<PathBuf>,
    /// The names of the reviews that the editor is to take up again.
    pub(super) recorded: Vec<Recorded>,
    /// The chat is to show this session.
    pub(super) shown: bool,
    /// Four lines for an empty chat.
    pub(super) intro: Vec<String>,
    /// Sentences for the user about the opening.
    pub(super) warnings: Vec<String>,
}

impl Opening {
    /// Shows what can only be read, as it is; the reason stands behind it and is no part of it.
    pub(super) fn read(&self, of: &Conversation, why: String) -> View {
        let mut shown = of.session.clone();
        shown.step(Input::Tell { text: why });
        View::of(&shown, self.intro.clone())
    }

    /// Brings a session that was left in mid-turn to rest. Gives what the chat shows. `partial`: what the user saw of a
    /// reply that did not end; `format`: how the model writes its edits.
    pub(super) fn begin(
        &mut self,
        of: &mut Conversation,
        (desk, files): (&Desk, &mut Files),
        guidance: &mut Guidance,
        partial: Option<Reply>,
        format: Format,
    ) -> View {
        distrust(of, desk);
        let built = guidance.system(desk, format);
        let found = guidance.gathered();
        let mut told = std::mem::take(&mut self.warnings);
        let is_fresh = of.session.messages.is_empty() && of.session.turns == 0;
        let outdated = guidance.begin(of, &found.files, is_fresh);
        let intro = self.intro(&found.files);
        let mut inputs = vec![Input::Leave { partial }];
        let mode = self.mode;
        if !is_fresh || built.is_err() {
            inputs.push(Input::Resume { mode });
        }
        let recorded = self.recorded.iter().map(|it| &it.path);
        let live: Vec<&PathBuf> = self.live.iter().chain(recorded).collect();
        let lost = of.session.reviewing.iter().filter(|it| !live.contains(it));
        inputs.extend(lost.map(|it| Input::ReviewLost { path: it.clone() }));
        match built {
            Ok(system) if is_fresh => {
                let Found { files: instructions, problems } = guidance::with_skills(desk, found);
                told.extend(problems);
                let (model, root) = (of.session.model.clone(), desk.root.clone());
                inputs.push(Input::Open { system, instructions, model, root });
                inputs.push(Input::ChooseMode { mode });
            }
            Ok(system) if system != of.system() => told.push(
                "The settings, the tools or the folder changed since this conversation began. It keeps its old \
                 system prompt; `/system new` replaces it."
                    .into(),
            ),
            Ok(_) => (),
            Err(why) => told.push(why),
        }
        told.extend(outdated);
        let notices = told.into_iter().filter(|it| !of.was_told(it));
        inputs.extend(notices.map(|text| Input::Tell { text }).collect::<Vec<_>>());
        for input in inputs {
            of.recall(input);
        }
        if std::mem::take(&mut self.replayed) && !of.session.is_blank() {
            of.save_whole();
        }
        files.tracker(of, desk).remember();
        View::of(&of.session, intro)
    }

    /// Tells the surroundings of the session, and then what its transcript is.
    pub(super) fn present(&mut self, of: &mut Conversation, desk: &Desk, draft: Draft, show: Show) {
        let opened = Opened {
            instead: self.instead.take(),
            root: desk.root.clone(),
            ephemeral: of.store.is_none() && of.reads.is_none(),
            reading: of.reads.is_some(),
            reviews: self.recorded.iter().map(|it| it.name.clone()).collect(),
            show: std::mem::take(&mut self.shown),
            draft,
        };
        of.show(Show::Now(Report::Opened(opened)));
        of.show(show);
        of.forget_status();
    }

    /// The lines of an empty chat, the instructions named in them.
    fn intro(&self, instructions: &[Excerpt]) -> Vec<String> {
        let mut intro = self.intro.clone();
        let names: Vec<&str> = instructions.iter().map(|it| it.path.as_str()).collect();
        if !names.is_empty() {
            intro.insert(intro.len().min(2), format!("Rules    {}", names.join(", ")));
        }
        intro
    }
}

/// Makes a session from the disk harmless: it does nothing by itself, and watches no file that a link leads out to.
fn distrust(of: &mut Conversation, desk: &Desk) {
    let session = &mut of.session;
    session.distrust(&desk.root);
    session.known.retain(|path, _| check_no_link(desk, path).is_ok());
}
