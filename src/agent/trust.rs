//! The user's agreement that rules in the project's own file may allow calls. The agreement is for one text of the
//! file.

use crate::conversation::Conversation;
use crate::event::{Matter, Offer, Ruling};
use crate::message::CallId;
use crate::regular;
use crate::rules::{self, Rule};
use crate::session::{Consult, Input, Phase};
use crate::store::Agreed;
use crate::text::cause;
use std::io;
use std::path::Path;

/// The file with the project's own rules, relative to the project's root.
pub(super) const FILE: &str = ".caliban/permissions.toml";

/// The most bytes of a rules file. A larger file is not read.
const LARGEST: usize = 1_000_000;

/// The text of the project's file; `None` if there is no file. An error is the reason why it cannot be read.
pub(super) fn text(root: &Path) -> Result<Option<String>, String> {
    match regular::read(&root.join(FILE)) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(fault) => Err(cause(&fault)),
        Ok(bytes) if bytes.len() > LARGEST => Err("it is larger than 1 MB".to_owned()),
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8 text".to_owned())
        }
    }
}

#[derive(Default)]
pub(super) struct Trust {
    /// The answers on disk; `None` if answers are not stored.
    answers: Option<Agreed>,
    /// The answers of this conversation, by the file's text. They count more than those on disk.
    here: Vec<(String, bool)>,
    /// The id of the open question, and the file's text that it is about.
    asked: Option<(CallId, String)>,
    /// The number of questions so far.
    count: u32,
}

impl Trust {
    pub(super) fn new(answers: Option<Agreed>) -> Trust {
        Trust { answers, ..Trust::default() }
    }

    /// What the user has answered about this text of the file; `None` if the user was not asked.
    pub(super) fn answer(&self, text: &str) -> Option<bool> {
        let here = self.here.iter().rev().find(|it| it.0 == text).map(|it| it.1);
        here.or_else(|| self.answers.as_ref()?.answer(FILE, text))
    }

    /// The rules of the project that allow calls but are not used.
    pub(super) fn unused(&self, root: &Path) -> Vec<Rule> {
        match self::text(root) {
            Ok(Some(text)) if self.answer(&text) != Some(true) => rules::allowing(&text),
            _ => Vec::new(),
        }
    }

    /// Called before a message is sent. Asks the user about the file's rules that allow calls, unless the user has
    /// answered about this text of the file.
    pub(super) fn ask(&mut self, conversation: &mut Conversation, root: &Path) {
        let session = &conversation.session;
        if session.phase != Phase::Idle || self.asked.is_some() || session.is_unattended() {
            return;
        }
        let Ok(Some(text)) = self::text(root) else { return };
        let allowing = rules::allowing(&text);
        if allowing.is_empty() || self.answer(&text).is_some() {
            return;
        }
        self.count += 1;
        let id = CallId::own(format_args!("rules-{}-{}", session.turns, self.count));
        self.asked = Some((id.clone(), text));
        let question = question(&allowing);
        let (about, offer) = (Matter::Rules, Offer::default());
        conversation.take(Input::Consult(Consult { id, about, question, offer }));
    }

    /// Asks again about the file, whatever the user has answered.
    pub(super) fn ask_again(&mut self, conversation: &mut Conversation, root: &Path) {
        if let Ok(Some(text)) = self::text(root) {
            self.here.retain(|it| it.0 != text);
            self.store(conversation, &text, None);
        }
        self.ask(conversation, root);
    }

    /// Notes the user's answer to the open question. Ignores answers to other questions, and returns false for them.
    pub(super) fn rule(
        &mut self,
        conversation: &mut Conversation,
        id: &CallId,
        ruling: &Ruling,
    ) -> bool {
        let Some((_, text)) = self.asked.take_if(|it| it.0 == *id) else { return false };
        let (is_used, how) = match ruling {
            Ruling::Once => (true, "you agreed"),
            Ruling::Session => (true, "you agreed for the session"),
            Ruling::Denied { .. } => (false, "you refused"),
        };
        log(conversation, how);
        if *ruling != Ruling::Session {
            self.store(conversation, &text, Some(is_used));
        }
        self.here.push((text, is_used));
        true
    }

    /// Revokes the user's agreement to the file.
    pub(super) fn revoke(&mut self, conversation: &mut Conversation, root: &Path) {
        if let Ok(Some(text)) = self::text(root) {
            log(conversation, "you no longer agree");
            self.store(conversation, &text, Some(false));
            self.here.push((text, false));
        }
    }

    /// Called when the user has stopped instead of answering. The next message asks again.
    pub(super) fn withdraw(&mut self) {
        self.asked = None;
    }

    fn store(&self, conversation: &mut Conversation, text: &str, is_used: Option<bool>) {
        let noted = self.answers.as_ref().map(|it| it.note([(FILE, text)], is_used));
        if let Some(Err(error)) = noted {
            conversation.tell_once([format!(
                "Your answer about {FILE} could not be stored: {}. It applies to this conversation; the next one asks \
                 again.",
                cause(&error)
            )]);
        }
    }
}

fn log(conversation: &Conversation, how: &str) {
    conversation.log_decisions(&[format!("{how}: rules of {FILE} that allow calls")]);
}

/// The question, with a line for each rule that allows something.
fn question(allowing: &[Rule]) -> String {
    let mut text = format!(
        "May these rules of the project allow calls and connections without a question? They are in {FILE}, and you \
         have not agreed to this version of the file before.\n"
    );
    for it in allowing {
        text.push_str(&format!("\n{it}"));
    }
    text
}
