//! Everything that an agent is made of, and what the program tells it.

use super::models::Models;
use super::{Act, Rewind, Wish};
use crate::context::instructions::Places;
use crate::context::prompt;
use crate::event::{Mode, Ruling, SessionId};
use crate::message::{CallId, Excerpt, ToolAnswer};
use crate::nvim::link::Editor;
use crate::nvim::screen::Show;
use crate::nvim::wire::Checked;
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
    /// Show the request that went out last.
    ShowRequest,
    /// Verdicts of a settled review; and whether the file's agreed text is only in its buffer.
    Reviewed {
        answers: Vec<ToolAnswer>,
        path: PathBuf,
        saved: bool,
        /// What the file has come to; `None`: it is no more.
        text: Option<Text>,
    },
    /// The editor looks into what an edit did to a file's diagnostics, or has found out.
    Checked(Box<Checked>),
    /// The editor wants the session's state and transcript (again).
    Present,
    Act(Act),
    Rewind(Rewind),
    /// Save everything and end.
    Quit(oneshot::Sender<()>),
}

impl Command {
    /// Whether the user does something that the verdicts before it have to precede.
    pub(super) fn acts(&self) -> bool {
        !matches!(
            self,
            Command::Draft(_)
                | Command::Toggle { .. }
                | Command::ShowRequest
                | Command::Rewind(Rewind::List | Rewind::Preview { .. })
                | Command::Reviewed { .. }
                | Command::Checked(_)
                | Command::Present
        )
    }
}

/// Everything an agent is made of.
pub struct Setup {
    pub id: SessionId,
    pub editor: Editor,
    pub desk: Desk,
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
    pub wishes: mpsc::UnboundedSender<(SessionId, Wish)>,
    /// Four lines for an empty chat.
    pub intro: Vec<String>,
    /// Sentences for the user about the opening.
    pub warnings: Vec<String>,
}
