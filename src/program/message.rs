//! The messages to the program's loop, and the results of the program's tasks.

use super::lanes::Lane;
use crate::agent::{Command, PlaceWanted};
use crate::conversation::report::{Back, Level, Wish};
use crate::event::SessionId;
use crate::nvim::reviews::Verdict;
use crate::nvim::session_link::Handle;
use crate::nvim::wire::FromNvim;
use crate::provider::endpoint::Chosen;
use crate::session::Session;
use crate::store::{Draft, Holder, Opened, Recorded};
use crate::tool::worktree::Left;

/// A message to the program's loop.
pub(super) enum Incoming {
    /// A command of the editor to the session with this name.
    SessionCommand(SessionId, Box<Command>),
    /// Any other message of the editor.
    Editor(Box<FromNvim>),
    /// A session's agent asks the program for something.
    Wish(Handle, Wish),
    /// A session's agent needs a session for a subagent.
    Place(Handle, PlaceWanted),
    /// A closed session and its subagents' are to be deleted.
    Trash(Closed),
    /// A task of the program has ended.
    TaskDone(Done),
}

/// The results of a task, and the lanes (sessions) that the task has used.
pub(super) struct Done {
    pub(super) lanes: Vec<Lane>,
    pub(super) outcomes: Vec<Outcome>,
}

/// One result of a task.
pub(super) enum Outcome {
    /// A session is ready to begin.
    Start(Box<Start>),
    /// The session that was used last in this project, if any.
    Last(Option<SessionId>),
    /// The model of a server on this machine, if one runs.
    Local(Option<Chosen>),
    /// Another Neovim has the session open. The user is asked what to do.
    Locked(SessionId, Holder),
    /// Another Neovim has the session open and may be about to end.
    Leaving(SessionId),
    /// A session could not be taken over, because it is open; and the sentence that says so. It may be open in this
    /// Neovim, which has taken up its reviews as soon as it was free.
    Untaken(SessionId, String),
    /// No Neovim has the session open any more.
    Free(SessionId),
    /// `was_last` says whether the session was the one that opens when Neovim starts.
    Renamed {
        session: Handle,
        to: SessionId,
        was_last: bool,
    },
    /// The session was deleted. `is_gone` says whether its chat is closed too.
    Deleted {
        session: SessionId,
        is_gone: bool,
    },
    /// A session was closed to be deleted, and its subagents are known.
    Closed(Closed),
    /// A copy of the whole session is saved under this name, so its agent may now undo messages.
    Branched {
        session: Handle,
        name: SessionId,
        back: Back,
    },
    /// The user has decided on all changes of a file: the answers to the model's calls, and the name that the editor
    /// gives for the session of the review.
    Judged(SessionId, Vec<Verdict>),
    /// A provider's key was tried, and stored or not.
    Connected(Connected),
    /// A session for a subagent is open.
    Placed(Box<Placed>),
    /// The agent of a subagent has ended.
    ChildEnded(Handle),
    /// Worktrees of subagents that a killed program has left.
    Left(Vec<Left>),
    Notice(Level, String),
}

/// A session that is about to begin, with the facts about it that are stored on disk.
pub(super) struct Start {
    pub(super) id: SessionId,
    pub(super) source: Source,
    /// The named agent that a new session becomes.
    pub(super) agent: Option<String>,
    /// The session instead of which this one opens, and the reason. An empty reason is not shown.
    pub(super) in_place_of: Option<(SessionId, String)>,
    /// Whether the chat shows the session when it is opened.
    pub(super) shown: bool,
    /// The reviews that the editor has to reopen.
    pub(super) recorded: Vec<Recorded>,
    /// The text that was in the composer while the session was read-only.
    pub(super) unsent: Draft,
    /// Whether the session has a file on disk.
    pub(super) is_kept: bool,
    /// The number of other conversations of the project.
    pub(super) others: usize,
    /// If the project has no conversations: another folder of the same repository that has some.
    pub(super) relative: Option<String>,
    /// A warning about the project's folder.
    pub(super) warning: Option<String>,
}

/// Why the session of a subagent is read-only.
const WORK: &str = "A subagent has worked here. /fork continues its conversation in a copy.";

/// Where the content of a beginning session comes from.
pub(super) enum Source {
    Opened(Box<Opened>),
    /// The session is in memory only: an empty session, or the readable part of a session that cannot be opened.
    InMemory(Box<Session>),
    /// The session is read-only. The text says why, and what the user can do about it.
    ReadOnly(Box<Session>, String),
}

impl Source {
    /// A session from disk. The session of a subagent is read-only once the subagent has ended.
    pub(super) fn of(mut opened: Opened) -> Source {
        match opened.session.take_if(|it| it.subagent_of().is_some()) {
            Some(session) => Source::ReadOnly(Box::new(session), WORK.to_owned()),
            None => Source::Opened(Box::new(opened)),
        }
    }

    /// An empty session that is never saved.
    pub(super) fn in_memory() -> Source {
        Source::InMemory(Box::default())
    }
}

/// A session that was closed to be deleted.
pub(super) struct Closed {
    pub(super) session: SessionId,
    /// Whether the session was open here.
    pub(super) was_open: bool,
    /// The sessions of its subagents.
    pub(super) subagents: Vec<SessionId>,
}

/// A session that a subagent of `parent` gets. `opened` is `None` if the session is never saved.
pub(super) struct Placed {
    pub(super) parent: Handle,
    pub(super) id: SessionId,
    pub(super) opened: Option<Opened>,
    pub(super) wanted: PlaceWanted,
}

/// The result of trying a key.
pub(super) struct Connected {
    pub(super) provider: String,
    pub(super) is_stored: bool,
    pub(super) level: Level,
    /// A sentence for the user.
    pub(super) text: String,
}
