//! Opens a session: ends a turn that was interrupted, checks instructions, and shows the chat.

use super::files::Files;
use super::guidance::{self, Guidance};
use super::rewind::check_no_link;
use super::todo;
use crate::context::instructions::Found;
use crate::conversation::Conversation;
use crate::conversation::report::{Opened, Report, Show};
use crate::edit::Format;
use crate::event::{Grant, Mode, SessionId};
use crate::message::{Excerpt, Reply, mark_of};
use crate::provider::http;
use crate::session::{Input, Session};
use crate::store::{Draft, Recorded};
use crate::tool::Desk;
use crate::tool::jobs;
use crate::view::View;
use std::path::PathBuf;

/// The ends of the jobs that ran when the conversation was closed: no job outlives the program.
fn lost(session: &Session) -> Vec<Input> {
    let lost = session.running_jobs().map(|(job, it)| {
        let note = format!(
            "Job {job} ({}) is lost: it ended when the editor or Caliban ended. It may have changed files before that.",
            jobs::shown(&it.command)
        );
        Input::JobEnded { job, note }
    });
    lost.collect()
}

const CHANGED: &str = "The settings, the tools or the folder changed since this conversation began. The \
                       conversation keeps its old system prompt; `/system new` replaces the old prompt.";

/// The facts that are needed once, when a session opens.
pub(super) struct Opening {
    /// The session that could not be opened, in whose place this one was opened.
    pub(super) instead: Option<SessionId>,
    /// Whether the journal had events that the session's file does not have.
    pub(super) replayed: bool,
    /// The mode of a new session, and the named agent that it becomes.
    pub(super) mode: Mode,
    pub(super) agent: Option<String>,
    /// Files that are under review in the editor.
    pub(super) live: Vec<PathBuf>,
    /// The reviews that the editor has to reopen.
    pub(super) recorded: Vec<Recorded>,
    /// Whether the chat shows this session when it is opened.
    pub(super) shown: bool,
    /// What the user has allowed a subagent's parent for the session.
    pub(super) grants: Vec<Grant>,
    /// Whether the session is not shown until the user opens it.
    pub(super) is_hidden: bool,
    /// The four lines of an empty chat.
    pub(super) intro: Vec<String>,
    /// Problems while opening, as sentences for the user. Once the session is open, all that the user was told about it.
    pub(super) warnings: Vec<String>,
}

impl Opening {
    /// The chat of a read-only session. At its end the chat shows why the session is read-only; this reason is not
    /// saved in the session.
    pub(super) fn read(&self, conversation: &Conversation, why: String) -> View {
        let mut shown = conversation.session.clone();
        shown.step(Input::Tell { text: why });
        View::of(&shown, self.intro.clone())
    }

    /// Ends a turn that was interrupted. Returns the chat. `partial` is the part of a reply that the user had seen,
    /// `format` the format in which the model writes its edits.
    pub(super) fn begin(
        &mut self,
        conversation: &mut Conversation,
        (desk, files): (&Desk, &mut Files),
        guidance: &mut Guidance,
        partial: Option<Reply>,
        format: Format,
    ) -> View {
        if conversation.session.mark.is_empty() {
            conversation.recall(Input::Mark { mark: mark_of(http::seed()) });
        }
        let built = guidance.system(desk, format, &conversation.session.mark);
        let found = guidance.gathered();
        let mut told = std::mem::take(&mut self.warnings);
        let is_fresh = is_fresh(conversation);
        let changed = guidance.named.begin(conversation, desk);
        let outdated = guidance.begin(conversation, is_fresh);
        let mut intro = self.intro(&found.files, &guidance.offered(conversation));
        guidance.named.introduce(&mut intro, conversation, desk);
        // a subagent had other tools than a conversation that is opened
        let is_compared = conversation.session.subagent_of().is_none();
        let (mut inputs, mode) = (vec![Input::Leave { partial }], self.mode);
        if !is_fresh || built.is_err() {
            inputs.push(Input::Resume { mode });
        }
        inputs.extend(lost(&conversation.session));
        let recorded = self.recorded.iter().flat_map(|it| it.others.iter().chain([&it.path]));
        let live: Vec<&PathBuf> = self.live.iter().chain(recorded).collect();
        let lost = conversation.session.reviewing.iter().filter(|it| !live.contains(it));
        inputs.extend(lost.map(|it| Input::ReviewLost { path: it.clone() }));
        match built {
            Ok(system) if is_fresh => {
                let found = guidance::with_skills(desk, guidance.usable());
                let Found { files: instructions, problems, .. } = guidance.with_agents(desk, found);
                told.extend(problems);
                let (model, root) = (conversation.session.model.clone(), desk.root.clone());
                inputs.push(Input::Open { system, instructions, model, root });
                inputs.push(Input::ChooseMode { mode });
            }
            Ok(_) if changed.is_some() => told.extend(changed),
            Ok(system) if is_compared && system != conversation.system() => {
                told.push(CHANGED.to_owned());
            }
            Ok(_) => (),
            Err(why) => told.push(why),
        }
        told.extend(outdated);
        told.extend(is_fresh.then(|| todo::left(desk, &conversation.id.0)).flatten());
        told.retain(|it| !conversation.was_told(it));
        inputs.extend(told.iter().map(|it| Input::Tell { text: it.clone() }));
        self.warnings = told;
        for input in inputs {
            conversation.recall(input);
        }
        if std::mem::take(&mut self.replayed) && !conversation.session.is_blank() {
            conversation.save_whole();
        }
        files.tracker(conversation, desk).remember();
        View::of(&conversation.session, intro)
    }

    /// Tells the editor that the session is open, then sends the transcript to the editor. `is_wanted` says whether the
    /// chat shows the session.
    pub(super) fn present(
        &mut self,
        conversation: &mut Conversation,
        desk: &Desk,
        draft: Draft,
        (show, is_wanted): (Show, bool),
    ) {
        let opened = Opened {
            instead: self.instead.take(),
            root: desk.root.clone(),
            ephemeral: conversation.store.is_none() && conversation.read_only.is_none(),
            reading: conversation.read_only.is_some()
                || conversation.session.subagent_of().is_some(),
            reviews: self.recorded.iter().map(|it| it.name.clone()).collect(),
            show: std::mem::take(&mut self.shown) || is_wanted,
            draft,
        };
        conversation.show(Show::Now(Report::Opened(opened)));
        conversation.show(show);
        conversation.show(Show::Told(std::mem::take(&mut self.warnings)));
        conversation.forget_status();
    }

    /// The lines of an empty chat, with the names of the instruction files, and of rule files for other coding agents
    /// that the user can add by `/rules`.
    pub(super) fn intro(&self, instructions: &[Excerpt], offered: &[&str]) -> Vec<String> {
        let mut intro = self.intro.clone();
        let names: Vec<&str> = instructions.iter().map(|it| it.path.as_str()).collect();
        let mut rules = Vec::new();
        if !names.is_empty() {
            rules.push(format!("Rules    {}", names.join(", ")));
        }
        if !offered.is_empty() {
            rules.push(format!("Rules    /rules adds {}", offered.join(", ")));
        }
        let at = intro.len().min(2);
        intro.splice(at..at, rules);
        intro
    }
}

/// Whether nothing was said yet in the conversation, so that it begins anew.
pub(super) fn is_fresh(conversation: &Conversation) -> bool {
    conversation.session.messages.is_empty() && conversation.session.turns == 0
}

/// Makes a session that was read from disk harmless: no pending work of the session is carried out, and no file is
/// watched whose path has a symbolic link.
pub(super) fn distrust(conversation: &mut Conversation, desk: &Desk) {
    let session = &mut conversation.session;
    session.distrust(&desk.root);
    session.known.retain(|path, _| check_no_link(desk, path).is_ok());
}
