//! Everything that an agent is made of, and what the program tells it.

use super::models::Models;
use super::{Act, Check, Rewind};
use crate::context::instructions::Places;
use crate::context::prompt;
use crate::context::slash::{self, Parsed};
use crate::conversation::Conversation;
use crate::conversation::report::{Level, Show, Wish};
use crate::event::{Grant, Mode, Ruling, SessionId};
use crate::message::{CallId, Excerpt, Parameter, ToolAnswer};
use crate::session::Session;
use crate::store::{Draft, Recorded, Store};
use crate::text::Text;
use crate::tool::Desk;
use std::path::PathBuf;
use tokio::sync::{mpsc, oneshot};

/// What the program tells an agent.
pub enum Command {
    Send {
        text: String,
        context: Vec<Excerpt>,
        steer: bool,
    },
    Unqueue(u32),
    /// The held message to send; `None` sends all of them.
    SendHeld(Option<u32>),
    Draft(Draft),
    Stop,
    Rule {
        call: CallId,
        ruling: Ruling,
    },
    /// Opens or closes a block; in a question, the fold at this line of the block.
    Toggle {
        block: u32,
        line: u32,
    },
    Retry,
    ChooseModel(String),
    /// Of none the next one.
    ChooseMode(Option<Mode>),
    /// The user has given a key for this provider; the file tells where it is.
    Connect(String, PathBuf),
    /// A server has refused this parameter of requests to this model.
    LeaveOut(String, Parameter),
    /// Show the request that went out last.
    ShowRequest,
    /// A review is settled.
    Reviewed(Decided),
    /// The editor looks into what an edit did to a file's diagnostics, or has found out.
    Checked(Box<Check>),
    /// The editor wants the session's state and transcript (again).
    Present,
    Act(Act),
    Rewind(Rewind),
    /// Lists what is allowed for the session; or takes this back.
    Permissions(Option<Grant>),
    /// Save everything and end.
    Quit(oneshot::Sender<()>),
}

/// What the user decided on the changes of a file.
pub struct Decided {
    /// The verdicts, one for each call.
    pub answers: Vec<ToolAnswer>,
    pub path: PathBuf,
    /// Whether the file's agreed text is on disk.
    pub saved: bool,
    /// What the file has come to; `None`: it is no more.
    pub text: Option<Text>,
}

impl Command {
    /// Whether the user does something that the verdicts before it have to precede.
    pub(super) fn acts(&self) -> bool {
        !matches!(
            self,
            Command::Draft(_)
                | Command::Toggle { .. }
                | Command::ShowRequest
                | Command::LeaveOut(..)
                | Command::Permissions(None)
                | Command::Rewind(Rewind::List | Rewind::Preview { .. })
                | Command::Reviewed(_)
                | Command::Checked(_)
                | Command::Present
        )
    }

    /// What a conversation that can only be read does not take is given back, with the reason.
    pub(super) fn permitted(self, to: &Conversation) -> Option<Command> {
        if to.reads.is_none() {
            return Some(self);
        }
        let why = "This conversation is read-only here. /fork continues it in a copy.".to_owned();
        match self {
            Command::Send { text, context, steer } => {
                let parsed = slash::parse(&text);
                if matches!(&parsed, Parsed::Known(it, _) if it.only_reads()) {
                    return Some(Command::Send { text, context, steer });
                }
                to.bounce(text, context, why);
                None
            }
            Command::Toggle { .. }
            | Command::Present
            | Command::Quit(_)
            | Command::Act(Act::Fork(_) | Act::Export { .. }) => Some(self),
            Command::Act(Act::Rename { done, .. }) => {
                // The program waits for it.
                let _ = done.send(Err(why));
                None
            }
            Command::ChooseModel(_)
            | Command::ChooseMode(_)
            | Command::Rule { .. }
            | Command::Unqueue(_)
            | Command::SendHeld(_)
            | Command::Retry
            | Command::ShowRequest
            | Command::Rewind(_)
            | Command::Permissions(_)
            | Command::Act(Act::Title(_)) => {
                to.notice(Level::Warn, why);
                None
            }
            Command::Draft(_)
            | Command::Stop
            | Command::Connect(..)
            | Command::LeaveOut(..)
            | Command::Reviewed(_)
            | Command::Checked(_) => None,
        }
    }
}

/// Everything an agent is made of.
pub struct Setup {
    pub id: SessionId,
    pub desk: Desk,
    /// Where all goes that the agent says.
    pub screen: mpsc::UnboundedSender<Show>,
    pub store: Option<Store>,
    pub session: Session,
    /// The journal held events that the session's file does not have.
    pub replayed: bool,
    /// What the journal has of a reply that did not end.
    pub partial: String,
    pub draft: Draft,
    pub models: Models,
    /// Where edits are counted, if they are.
    pub tally: Option<PathBuf>,
    /// Of a new session.
    pub mode: Mode,
    /// The model is asked for a title.
    pub titles: bool,
    pub choice: prompt::Choice,
    /// Where instructions are; `None`: the user wants none.
    pub places: Option<Places>,
    /// The session that this one was opened for, which could not be.
    pub instead: Option<SessionId>,
    /// It can only be read here: why, and what to do.
    pub reads: Option<String>,
    /// Files under review in the editor now.
    pub live: Vec<PathBuf>,
    /// The names of the reviews that the editor is to take up again.
    pub recorded: Vec<Recorded>,
    /// The chat is to show this session.
    pub shown: bool,
    pub outputs: mpsc::UnboundedReceiver<(CallId, String)>,
    pub wishes: mpsc::UnboundedSender<Wish>,
    /// Four lines for an empty chat.
    pub intro: Vec<String>,
    /// Sentences for the user about the opening.
    pub warnings: Vec<String>,
}
