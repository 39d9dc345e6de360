//! What the program's loop owns.

use super::archive::{Archive, Noted};
use super::completion::Order;
use super::lanes::Lanes;
use super::message::{Done, Incoming};
use super::sessions::Sessions;
use crate::agent::PlaceWanted;
use crate::conversation::report::Wish;
use crate::nvim::link::Editor;
use crate::nvim::session_link::Handle;
use crate::nvim::{lsp, reviews};
use crate::site::Site;
use crate::tool::worktree::Left;
use std::path::PathBuf;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

pub(super) struct Program {
    pub(super) editor: Editor,
    pub(super) archive: Archive,
    pub(super) site: Site,
    /// The model of new sessions and the origin of its key; `None` until the first session opens.
    pub(super) model: Option<(String, String)>,
    pub(super) sessions: Sessions,
    /// Files that were under review in the editor when it started the program.
    pub(super) live: Vec<PathBuf>,
    /// Worktrees of subagents that a killed program has left, of which no conversation knows.
    pub(super) left: Vec<Left>,
    /// The session that the user opened or sent a message to last.
    pub(super) current: Option<Handle>,
    pub(super) reviews: mpsc::UnboundedSender<reviews::Order>,
    /// The channel to the task that asks the editor's language servers.
    pub(super) questions: mpsc::UnboundedSender<lsp::Order>,
    /// The channel to the task that answers the composer's completion.
    pub(super) completion: mpsc::UnboundedSender<Order>,
    /// The task that computes the sizes of mentions. A newer question for sizes ends it.
    pub(super) weighing: Option<JoinHandle<()>>,
    pub(super) wishes: mpsc::UnboundedSender<(Handle, Wish)>,
    /// Requests for sessions of subagents.
    pub(super) places: mpsc::UnboundedSender<(Handle, PlaceWanted)>,
    /// Messages to sessions that wait until a task of the program ends.
    pub(super) lanes: Lanes<Incoming>,
    pub(super) done: mpsc::UnboundedSender<Done>,
    /// Sends the name of each session that the user turns to, so that `archive::note` stores it.
    pub(super) notes: mpsc::UnboundedSender<Noted>,
}
