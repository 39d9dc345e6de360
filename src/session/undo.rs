//! Takes a conversation back to before a message of the user.

use super::Session;
use super::compact::is_named;
use super::fork::is_shown;
use super::say::{self, About};
use crate::message::{Block, CallId, Excerpt, ExcerptKind, Message, Note, Role};
use std::collections::HashSet;
use std::path::PathBuf;

/// A message of the user to which a conversation can be taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The index of the message.
    pub at: usize,
    /// The first turn that began with this message or a later one; `None` if no turn did, or if it is not known.
    pub turn: Option<u32>,
    pub text: String,
    pub context: Vec<Excerpt>,
}

impl Session {
    /// The message of the user after which there are `after` more messages of the user.
    pub fn prompt(&self, after: usize) -> Option<Prompt> {
        let shown = self.messages.iter().enumerate().rev().filter(|it| is_shown(it.1));
        let at = shown.map(|it| it.0).nth(after)?;
        self.prompt_at(at)
    }

    /// The user's message with this index.
    pub fn prompt_at(&self, at: usize) -> Option<Prompt> {
        let message = self.messages.get(at).filter(|it| is_shown(it))?;
        let turn = self.messages[at..].iter().find_map(|it| it.turn);
        let mut prompt = Prompt { at, turn, text: String::new(), context: Vec::new() };
        for block in &message.blocks {
            match block {
                Block::Text { text } => prompt.text.push_str(text),
                Block::Excerpt(it) => prompt.context.push(self.in_full(at, it)),
                _ => (),
            }
        }
        Some(prompt)
    }

    /// An excerpt of the message at this index, with its text or image. If the message has only a note that these are
    /// the same as before, they are taken from the earlier excerpt.
    fn in_full(&self, at: usize, excerpt: &Excerpt) -> Excerpt {
        match self.repeated(at, excerpt) {
            Some(it) => {
                let (text, image) = (it.text.clone(), it.image.clone());
                Excerpt { text, image, note: String::new(), ..excerpt.clone() }
            }
            None => excerpt.clone(),
        }
    }

    /// How many turns the user has taken back. Sessions of an older version do not say which message began which turn.
    pub fn undone(&self) -> u32 {
        let mut prompts = self.messages.iter().filter(|it| is_shown(it)).peekable();
        if prompts.peek().is_some_and(|it| it.turn.is_none()) {
            return 0;
        }
        let count = prompts.filter(|it| it.turn.is_some()).count();
        self.turns.saturating_sub(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Removes this message and all later ones. The queue, the permissions and the cost stay. The count of turns stays
    /// too, so that a new turn does not get the number of a removed one.
    pub fn go_back(&mut self, at: usize) {
        self.note_exposure();
        let removed = self.messages.split_off(at);
        self.tell_again(&removed);
        self.compactions.retain(|it| it.note < at);
        self.context = 0;
        self.forget_removed_items();
        self.forget_removed_texts(&removed);
        self.forget_removed_plan();
        self.forget_removed_claims();
        if !self.messages.iter().any(is_shown) {
            self.title.clear();
        }
        if self.told_mode() != self.mode {
            self.set_mode(self.mode);
        }
        self.forget_removed_workers();
    }

    /// What removed messages told the model about files and jobs, such as verdicts, rewinds and ends of jobs, goes with
    /// the next request. So do unsent notes about files and jobs; the other unsent notes are dropped. Verdicts on
    /// removed calls are left out.
    fn tell_again(&mut self, removed: &[Message]) {
        let mut notes = Vec::new();
        for (at, message) in removed.iter().enumerate().filter(|it| it.1.role == Role::User) {
            notes.extend(message.blocks.iter().filter_map(|it| match it {
                Block::Notice { text, call } => match say::about(text) {
                    About::World => Some(Note { text: text.clone(), call: call.clone() }),
                    About::LastTurn if at == 0 => Some(text.as_str().into()),
                    _ => None,
                },
                Block::Answer(answer) => say::job_end(answer).map(Note::from),
                _ => None,
            }));
        }
        self.notes.retain(|it| say::about(it) == About::World);
        self.notes.splice(..0, notes);
        let Session { notes, messages, .. } = self;
        let blocks = messages.iter().flat_map(|it| &it.blocks);
        let calls: HashSet<&CallId> = blocks
            .filter_map(|it| match it {
                Block::Call(call) => Some(&call.id),
                _ => None,
            })
            .collect();
        notes.retain(|it| it.call.as_ref().is_none_or(|it| calls.contains(it)));
        self.instructions.retain(|it| it.kind == ExcerptKind::Changes);
    }

    /// Whether a note has told the model anything about files or jobs.
    pub fn has_told(&self) -> bool {
        let said = self.messages.iter().flat_map(|it| &it.blocks).filter_map(|it| match it {
            Block::Notice { text, .. } => Some(text),
            _ => None,
        });
        said.chain(self.notes.iter().map(|it| &it.text)).any(|it| say::about(it) == About::World)
    }

    /// A file that removed messages name may have another text in the messages that are left, so the model has to read
    /// the file again. A file that only removed messages name is forgotten. Only the names of files are compared,
    /// because a path can be written in several ways, such as `~/a.txt`.
    fn forget_removed_texts(&mut self, removed: &[Message]) {
        let Session { known, gone, messages, .. } = self;
        let texts = |path: &PathBuf, hash: &mut String| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_in = |messages: &[Message]| is_named(&name, messages, |it| it.ends_with(&*name));
            if !is_in(removed) {
                return true;
            }
            hash.clear();
            is_in(messages)
        };
        known.retain(texts);
        gone.retain(texts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{End, Event, Item, Mode, Queued, Trim, TurnId};
    use crate::message::ToolAnswer;
    use crate::session::{Cut, Input};

    fn prompted(turn: u32, text: &str, context: Vec<Excerpt>) -> Event {
        let message = Queued { id: turn, text: text.to_owned(), context, steer: false };
        Event::Prompted { turn: TurnId(turn), message }
    }

    /// A session with these prompts. The turn of each has ended.
    fn session(prompts: &[&str]) -> Session {
        let mut session = Session::default();
        for (turn, text) in (1..).zip(prompts) {
            session.apply(&prompted(turn, text, Vec::new()));
            session.apply(&Event::Ended { turn: TurnId(turn), why: End::Done });
        }
        session
    }

    #[test]
    fn prompts_are_counted_from_the_end() {
        let session = session(&["one", "two", "three"]);
        let found = |after| session.prompt(after).map(|it| (it.text, it.turn));
        assert_eq!(found(0), Some(("three".to_owned(), Some(3))));
        assert_eq!(found(2), Some(("one".to_owned(), Some(1))));
        assert_eq!(found(3), None);
        assert_eq!(session.prompt_at(99), None);
    }

    #[test]
    fn after_going_back_the_model_knows_the_texts_that_are_left() {
        let mut session = Session::default();
        let excerpts = |paths: &[&str]| {
            paths
                .iter()
                .map(|it| Excerpt { path: (*it).to_owned(), ..Excerpt::default() })
                .collect()
        };
        session.apply(&prompted(1, "one", excerpts(&["/p/a", "/p/b"])));
        session.apply(&prompted(2, "two", excerpts(&["/p/b", "~/c"])));
        session.known =
            ["/p/a", "/p/b", "/home/me/c"].map(|it| (it.into(), "hash".to_owned())).into();
        session.go_back(session.prompt(0).unwrap().at);
        let known = ["/p/a", "/p/b"]
            .map(std::path::PathBuf::from)
            .into_iter()
            .zip(["hash", ""].map(str::to_owned));
        assert_eq!(session.known, known.collect());
    }

    #[test]
    fn going_back_removes_the_prompt_and_what_follows() {
        let mut session = session(&["one", "two", "three"]);
        let at = session.prompt(1).unwrap().at;
        session.go_back(at);
        assert_eq!(session.prompt(0).unwrap().text, "one");
        assert_eq!(session.title, "one");
        session.apply(&prompted(session.turns + 1, "again", Vec::new()));
        assert_eq!(session.prompt(0).unwrap().turn, Some(4));
        session.go_back(0);
        assert_eq!((session.title.as_str(), session.turns, session.is_blank()), ("", 4, false));
    }

    #[test]
    fn the_model_is_told_again_what_a_removed_message_told_of_the_world() {
        let mut session = session(&["one"]);
        let note = |text: &str| crate::session::input::noted(text.to_owned());
        let stopped = say::aftermath(&End::Cancelled).unwrap();
        let end = |why| Event::Ended { turn: TurnId(1), why };
        session.apply(&end(End::Cancelled));
        session.apply(&note("a verdict"));
        session.apply(&Event::JobBegan { job: 3, command: "make".to_owned() });
        session.apply(&Event::JobEnded { job: 3, note: "Job 3 ended.".to_owned() });
        session.apply(&prompted(2, "two", Vec::new()));
        let mut answer = ToolAnswer::done(&CallId("c1".into()), "over".into(), "exit 0");
        answer.job_end = Some(4);
        session.say(Role::User, vec![Block::Answer(answer)]);
        session.apply(&Event::Reminded { turn: TurnId(2), tool: "edit".to_owned() });
        session.apply(&end(End::Cancelled));
        session.apply(&note("a rewind"));
        session.apply(&prompted(3, "three", Vec::new()));
        session.apply(&end(End::Cancelled));
        session.apply(&note("not sent"));
        let job = "Job 4 has ended (exit 0).";
        let told = [stopped, "a verdict", "Job 3 ended.", job, "a rewind", "not sent"];
        let copy = session.fork(Some(Cut { after: 2, is_prompt: false }));
        assert_eq!(copy.notes, told);
        session.go_back(session.prompt(1).unwrap().at);
        assert_eq!(session.notes, told);
        session.go_back(session.prompt(0).unwrap().at);
        assert_eq!(session.notes, told[1..]);
    }

    #[test]
    fn a_prompt_that_joined_a_running_turn_counts_for_the_next_turn() {
        let mut session = Session::default();
        session.apply(&prompted(1, "one", Vec::new()));
        let message = Queued { id: 2, text: "also".into(), context: Vec::new(), steer: true };
        session.apply(&Event::Steered { turn: TurnId(1), message });
        assert_eq!(session.prompt(0).unwrap().turn, None);
        session.apply(&Event::Ended { turn: TurnId(1), why: End::Done });
        session.apply(&prompted(2, "two", Vec::new()));
        assert_eq!(session.prompt(1).unwrap().turn, Some(2));
    }

    #[test]
    fn the_model_is_told_its_mode_again_if_the_note_about_it_was_removed() {
        let mut session = session(&["one"]);
        session.apply(&Event::ModeChosen { mode: Mode::Plan });
        session.apply(&prompted(2, "two", Vec::new()));
        session.go_back(session.prompt(0).unwrap().at);
        assert_eq!((session.mode, session.notes.len()), (Mode::Plan, 1));
        session.apply(&prompted(3, "three", Vec::new()));
        session.apply(&prompted(4, "four", Vec::new()));
        session.go_back(session.prompt(0).unwrap().at);
        assert_eq!((session.mode, session.notes.len()), (Mode::Plan, 0));
    }

    #[test]
    fn a_new_excerpt_with_the_number_of_a_removed_one_is_not_trimmed() {
        let file = |name: &str| Excerpt {
            path: name.to_owned(),
            text: "text".to_owned(),
            ..Excerpt::default()
        };
        let mut session = Session::default();
        for (turn, name) in [(1, "a"), (2, "b")] {
            session.apply(&prompted(turn, name, vec![file(name)]));
        }
        let trim = |at| Trim { item: Item::Excerpt(at), line: "a line".to_owned() };
        let items = vec![trim(0), trim(1)];
        session.apply(&Event::Trimmed { items, tokens: 1, told: "told".to_owned() });
        session.go_back(session.prompt(0).unwrap().at);
        assert_eq!(session.trimmed, [trim(0)]);
    }

    #[test]
    fn a_prompt_has_its_context_and_no_notices() {
        let selection = Excerpt {
            path: "a.txt".into(),
            lines: Some((1, 2)),
            kind: ExcerptKind::Selection,
            text: "a\nb".repeat(50),
            ..Excerpt::default()
        };
        let mut session = Session { notes: vec!["note".into()], ..Session::default() };
        session.apply(&prompted(1, "look", vec![selection.clone()]));
        let prompt = session.prompt(0).unwrap();
        assert_eq!((prompt.text.as_str(), &prompt.context), ("look", &vec![selection.clone()]));
        assert_eq!(session.messages[prompt.at].role, Role::User);
        // The second message has only a note instead of the selection's text, because the model has that text.
        session.apply(&Event::Ended { turn: TurnId(1), why: End::Done });
        let text = "again".to_owned();
        session.step(Input::Send { text, context: vec![selection.clone()], steer: false });
        assert_eq!(session.excerpts().last().unwrap().text, "");
        assert_eq!(session.prompt(0).unwrap().context, [selection]);
    }
}
