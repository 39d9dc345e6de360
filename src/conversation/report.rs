//! What an agent says to its surroundings: to an editor, another agent or a test. It knows none of them.

use crate::event::{Delta, Event, Grant, Mode, Queued, SessionId};
use crate::message::{Excerpt, Parameter};
use crate::session::Session;
use crate::store::Draft;
use crate::text::unseen;
use crate::view::View;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What an agent says, in order.
pub enum Show {
    /// A fact of the conversation.
    Event(Event),
    /// A sign of life between two facts.
    Delta(Delta),
    /// Opens or closes a block, or the fold at this line of a question.
    Toggle { block: u32, line: u32 },
    /// The transcript is new.
    View(Box<View>),
    /// The surroundings lost the transcript.
    Repaint,
    /// A report that is made once all that was said before it is shown: who acts on it finds that there.
    Tell(Report),
    /// A report that is made at once.
    Now(Report),
}

/// What an agent reports beside the conversation.
#[derive(Debug, Clone)]
pub enum Report {
    Opened(Opened),
    Status(Status),
    /// A moment that scripts wait for.
    Event {
        name: &'static str,
        data: BTreeMap<&'static str, String>,
    },
    /// A sentence for the user that is no part of the conversation.
    Notice {
        level: Level,
        text: String,
    },
    /// A message of the user goes back to them, and why.
    Bounce {
        text: String,
        context: Vec<Excerpt>,
        why: String,
    },
    /// The session has this name now.
    Renamed(SessionId),
    /// A text for the clipboard.
    Copied(String),
    /// The user wants to see where the conversation is kept.
    History,
    /// The turns that changed files, the latest first.
    Turns(Vec<TurnRow>),
    /// What taking one of them back would do.
    Preview {
        entry: u32,
        title: String,
        files: Vec<RewindFile>,
    },
    /// What is allowed for the session.
    Permissions(Vec<Grant>),
    /// The last request as it went out.
    Request {
        about: String,
        body: String,
    },
}

/// What a chat begins with.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The session that this one was opened for, which could not be.
    pub instead: Option<SessionId>,
    pub root: PathBuf,
    /// It is never saved.
    pub ephemeral: bool,
    /// It can only be read.
    pub reading: bool,
    /// The names of the reviews that the editor is to take up again.
    pub reviews: Vec<String>,
    /// The chat is to show this session.
    pub show: bool,
    pub draft: Draft,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Info,
    Warn,
    Error,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    pub session: SessionId,
    pub phase: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<&'static str>,
    pub turn: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub model: String,
    pub mode: Mode,
    pub tour: bool,
    /// The conversation is in memory only: it is ephemeral, or the disk fails.
    pub unsaved: bool,
    pub input: u64,
    pub output: u64,
    pub cached: u64,
    pub context: u64,
    pub window: u64,
    pub queue: Vec<QueuedMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    pub unpriced: bool,
}

/// A queued message as the user sees it. Every field is there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueuedMessage {
    pub id: u32,
    pub text: String,
    pub context: Vec<Excerpt>,
    pub steer: bool,
    pub held: bool,
    /// The text of a held message with each character spelt out that hides or looks like another; else empty.
    pub shown: String,
}

impl QueuedMessage {
    pub fn of(it: &Queued, session: &Session) -> QueuedMessage {
        let Queued { id, text, context, steer } = it.clone();
        let held = session.held.contains(&id);
        let shown = if held { unseen::exact(&text).into_owned() } else { String::new() };
        QueuedMessage { id, text, context, steer, held, shown }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnRow {
    pub entry: u32,
    pub title: String,
    /// Seconds.
    pub age: u64,
    pub files: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RewindFile {
    pub path: PathBuf,
    pub name: String,
    pub about: String,
    pub diff: String,
    pub todo: bool,
}

/// What an agent asks of the program.
pub enum Wish {
    New {
        name: Option<String>,
    },
    /// The user wants to choose a session, of those in which this stands.
    Sessions {
        text: String,
    },
    /// What the user wants it called: a name, or a title.
    Rename {
        text: String,
    },
    Copy(Copy),
    /// The user wants to choose a model from all there are.
    Models,
    /// The user wants to give a key.
    Connect {
        provider: Option<String>,
    },
    /// A server has refused this parameter of requests to this model: no conversation is to send it again.
    LeaveOut {
        model: String,
        parameter: Parameter,
    },
}

/// A copy of a session, which the program is to keep.
pub struct Copy {
    pub session: Box<Session>,
    /// The user's word for it; it is not opened then.
    pub name: Option<String>,
}
