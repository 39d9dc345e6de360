//! The parts that an agent is made of.

use super::checkpoints::Keeper;
use super::command::Command;
use super::models::Models;
use super::permits::Permissions;
use crate::context::instructions::Places;
use crate::context::prompt;
use crate::conversation::report::{Glance, Show, Wish};
use crate::event::{Grant, Mode, SessionId};
use crate::message::{Block, CallId};
use crate::session::{Limits, Session};
use crate::store::{Agreed, Draft, Recorded, Store};
use crate::tool::Desk;
use std::path::PathBuf;
use tokio::sync::{mpsc, oneshot, watch};

/// A request for a session in which a subagent works.
pub struct PlaceWanted {
    /// The name of the session. If it is taken, a number is added.
    pub name: String,
    /// Whether the session is saved.
    pub is_saved: bool,
    /// The channel to the subagent.
    pub commands: mpsc::UnboundedSender<Command>,
    /// Receives the parts of the subagent; otherwise the reason why there are none, as a sentence.
    pub place: oneshot::Sender<Result<Box<Setup>, String>>,
}

/// How the conversation gets its instructions.
#[derive(Default)]
pub struct Instructions {
    /// Where to look for instruction files; `None` if the user turned them off.
    pub places: Option<Places>,
    /// The user's answers about the project's instruction files; `None` if all of them may be used.
    pub agreed: Option<Agreed>,
}

/// What a subagent has from its parent. The default is for a session without a parent.
#[derive(Default)]
pub struct Inherited {
    pub(super) is_subagent: bool,
    /// Whether the session works in a worktree, so that nobody rewinds its changes.
    pub(super) is_apart: bool,
    /// What the user has allowed the parent for the session.
    pub(super) grants: Vec<Grant>,
    /// Stores the contents of files in the parent's checkpoints, so that a rewind of the parent's turn undoes the
    /// subagent's changes.
    pub(super) keeper: Option<Keeper>,
}

impl Inherited {
    /// For a conversation whose user has opened these ports of jobs beforehand.
    pub fn opening(ports: &[u16]) -> Inherited {
        let grants = ports.iter().map(|it| Grant::Open(*it)).collect();
        Inherited { grants, ..Inherited::default() }
    }

    pub(super) fn by_subagent(grants: Vec<Grant>, keeper: Option<Keeper>) -> Inherited {
        Inherited { is_subagent: true, is_apart: false, grants, keeper }
    }
}

/// The parts that an agent is made of.
pub struct Setup {
    pub id: SessionId,
    pub desk: Desk,
    /// The channel on which the agent reports to the editor, to another agent or to a test.
    pub screen: mpsc::UnboundedSender<Show>,
    pub store: Option<Store>,
    pub session: Session,
    /// Whether the journal had events that the session's file does not have.
    pub replayed: bool,
    /// The text of an unfinished reply and the provider's searches in it, from the journal.
    pub partial: Vec<Block>,
    pub draft: Draft,
    pub models: Models,
    /// The file that counts how many of the model's edits fitted; `None` if edits are not counted.
    pub tally: Option<PathBuf>,
    /// The file in which the sizes of requests are kept for other conversations; `None` if they are not kept.
    pub measures: Option<PathBuf>,
    pub glance: watch::Sender<Glance>,
    /// The mode of a new session, and the named agent that it becomes.
    pub mode: Mode,
    pub agent: Option<String>,
    /// Whether to ask the model for a title.
    pub titles: bool,
    /// The most tokens and money that may be spent before the user is asked.
    pub limits: Limits,
    pub choice: prompt::Choice,
    pub permissions: Permissions,
    pub instructions: Instructions,
    /// The session that could not be opened, in whose place this one was opened.
    pub instead: Option<SessionId>,
    /// If the session is read-only: why, and what the user can do about it.
    pub read_only: Option<String>,
    /// Files that are under review in the editor.
    pub live: Vec<PathBuf>,
    /// The reviews that the editor has to reopen.
    pub recorded: Vec<Recorded>,
    /// Whether the chat shows this session when it is opened.
    pub shown: bool,
    pub outputs: mpsc::UnboundedReceiver<(CallId, String)>,
    pub wishes: mpsc::UnboundedSender<Wish>,
    /// The channel for requests for sessions of subagents.
    pub places: mpsc::UnboundedSender<PlaceWanted>,
    pub inherited: Inherited,
    /// The four lines of an empty chat.
    pub intro: Vec<String>,
    /// Problems while opening, as sentences for the user.
    pub warnings: Vec<String>,
}
