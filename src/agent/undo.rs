//! `/undo`: takes the conversation back to before a message of the user. A copy of the conversation is saved first, so
//! the way forward stays. The message goes back into the composer; the files of the later turns are rewound if the user
//! wants that.

use super::{Agent, Rewind};
use crate::context::mention;
use crate::conversation::report::{Back, Branch, Level, Report, Show, UndoOffer, Wish};
use crate::event::SessionId;
use crate::message::{Excerpt, ExcerptKind};
use crate::session::{Input, Phase, Prompt, title};
use crate::tool::{self, Desk};
use crate::view::View;

/// A request of the user to take the conversation back, or the program's answer to it.
pub enum Undo {
    /// Back to before the message that has this many messages of the user behind it.
    Message { after: usize },
    /// Back to before the message with this index. `files` says whether to rewind files too.
    Chosen { message: usize, files: bool },
    /// The conversation as it was is saved under this name.
    Kept { back: Back, name: SessionId },
}

impl Agent {
    /// `/undo`, or `/undo 2` for the last message but one.
    pub(super) fn undo_slash(&mut self, rest: &str) {
        let count = if rest.is_empty() { Ok(1) } else { rest.parse::<usize>() };
        if let Some(after) = count.ok().and_then(|it| it.checked_sub(1)) {
            return self.undo(Undo::Message { after });
        }
        let text = "`/undo` takes a number: `/undo 2` takes back your last two messages.";
        self.conversation.notice(Level::Warn, text.into());
    }

    pub(super) fn undo(&mut self, undo: Undo) {
        if let Some(why) = self.obstacle() {
            return self.conversation.notice(Level::Warn, why);
        }
        let session = &self.conversation.session;
        match undo {
            Undo::Message { after } => match session.prompt(after) {
                Some(prompt) => self.offer_undo(&prompt),
                None => self.nothing_to_undo(),
            },
            Undo::Chosen { message, files } => match session.prompt_at(message) {
                Some(prompt) => self.keep(prompt.at, files),
                None => self.nothing_to_undo(),
            },
            Undo::Kept { back, name } => match session.prompt_at(back.message) {
                Some(prompt) if session.turns == back.turns => self.go_back(prompt, &back, &name),
                _ => {
                    let text = format!(
                        "The conversation went on meanwhile, so it was not taken back. A copy is saved as `{name}`."
                    );
                    self.conversation.notice(Level::Warn, text);
                }
            },
        }
    }

    /// Why the conversation cannot be taken back now.
    fn obstacle(&self) -> Option<String> {
        let session = &self.conversation.session;
        if session.phase != Phase::Idle || self.prompts.is_preparing() {
            return Some("A turn is running. Stop it first (<C-c>).".to_owned());
        }
        let what = match &session.reviewing[..] {
            [] => return None,
            [path] => tool::path::show(&self.desk.root, path),
            paths => format!("{} files", paths.len()),
        };
        Some(format!("You have not decided on the changes in {what}. Accept or reject them first."))
    }

    fn nothing_to_undo(&self) {
        let text = "There is no message of yours to go back to.";
        self.conversation.notice(Level::Warn, text.into());
    }

    /// Asks the user about the files that the later turns changed. If there are none, goes back at once.
    fn offer_undo(&mut self, prompt: &Prompt) {
        let conversation = &mut self.conversation;
        let changed = prompt.turn.and_then(|it| self.files.record.since(conversation, it));
        let Some(changed) = changed else { return self.keep(prompt.at, false) };
        let files = changed.paths.iter().map(|it| self.desk.shown(it)).collect();
        let message = u32::try_from(prompt.at).unwrap_or(u32::MAX);
        let offer = UndoOffer { message, title: title(&prompt.text), files };
        conversation.show(Show::Tell(Report::Undo(offer)));
    }

    /// Has the program save the conversation as it is. The answer is `Undo::Kept`.
    fn keep(&mut self, message: usize, files: bool) {
        let conversation = &mut self.conversation;
        conversation.read_outputs();
        let session = Box::new(conversation.session.fork(None));
        let back = Back { message, files, turns: session.turns };
        let in_memory = conversation.store.is_none();
        conversation.wish(Wish::Branch(Branch { session, in_memory, back }));
    }

    fn go_back(&mut self, prompt: Prompt, back: &Back, name: &SessionId) {
        let conversation = &mut self.conversation;
        conversation.session.go_back(prompt.at);
        let instructions = self.guidance.gathered().files;
        let intro = self.opening.intro(&instructions, &self.guidance.offered());
        conversation.show(Show::View(Box::new(View::of(&conversation.session, intro))));
        conversation.save_whole();
        self.files.tracker(conversation, &self.desk).remember();
        let text = format!(
            "You went back to before “{}”. The conversation with it is kept as `{name}`: /sessions opens it.",
            title(&prompt.text)
        );
        conversation.take(Input::Tell { text });
        let context = own(prompt.context, &prompt.text, &self.desk);
        // The transcript is shown first.
        let (text, why) = (prompt.text, String::new());
        conversation.show(Show::Tell(Report::Bounce { text, context, why }));
        let changed = prompt.turn.filter(|_| back.files);
        if let Some(changed) = changed.and_then(|it| self.files.record.since(conversation, it)) {
            let wanted = Rewind::Preview { entry: changed.entry, later: true };
            self.files.record.rewind(conversation, &self.desk, wanted);
        }
    }
}

/// The excerpts that the user had added to a message, without those that its mentions add again.
fn own(mut context: Vec<Excerpt>, text: &str, desk: &Desk) -> Vec<Excerpt> {
    let mentions = mention::find(text);
    let is_mentioned = |it: &Excerpt| {
        mentions.iter().any(|mention| {
            let path = tool::path::resolve(desk, &mention.path).map(|it| desk.shown(&it));
            mention.lines == it.lines
                && path
                    .is_ok_and(|path| path.trim_end_matches('/') == it.path.trim_end_matches('/'))
        })
    };
    context.retain(|it| match it.kind {
        _ if it.is_made() => false,
        ExcerptKind::Selection | ExcerptKind::Hunk | ExcerptKind::Skill => true,
        ExcerptKind::File | ExcerptKind::Folder => !is_mentioned(it),
        _ => false,
    });
    context
}
