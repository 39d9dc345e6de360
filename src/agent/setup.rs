//! The parts that an agent is made of, and the commands of the program to it.

use super::checkpoints::Keeper;
use super::children::{PlaceWanted, Work};
use super::models::Models;
use super::{Act, Answer, Check, Permissions, PlanAct, PlanWanted, Rewind, TodoAct, Undo, Wanted};
use crate::context::instructions::Places;
use crate::context::prompt;
use crate::context::slash::{self, Parsed};
use crate::conversation::Conversation;
use crate::conversation::report::{Glance, Level, Show, Wish};
use crate::event::{Grant, Mode, SessionId, WorkerId};
use crate::message::{Block, CallId, Excerpt, ToolAnswer};
use crate::provider::lesson::Lesson;
use crate::session::{Input, Limits, Response, Session};
use crate::store::{Agreed, Draft, Recorded, Store};
use crate::text::Text;
use crate::tool::Desk;
use std::path::PathBuf;
use tokio::sync::{mpsc, oneshot, watch};

/// A command of the program to an agent.
pub enum Command {
    Send {
        text: String,
        context: Vec<Excerpt>,
        steer: bool,
    },
    /// Sends a message and begins a turn that nobody attends.
    Run(String),
    Unqueue {
        id: u32,
        /// Whether the message goes back into the composer.
        edit: bool,
    },
    /// Sends a held message; `None` sends all held messages.
    SendHeld(Option<u32>),
    Draft(Draft),
    Stop,
    /// The parent of a subagent tells it something.
    Child(ChildCommand),
    /// The conversation becomes a coordinator.
    Coordinate,
    /// The user stops a worker, or sends it a message.
    Worker(WorkerId, WorkerWanted),
    Rule {
        call: CallId,
        answer: Answer,
    },
    /// What the user does with the question of this index, which this call asks.
    Respond {
        call: CallId,
        question: usize,
        response: Response,
    },
    /// Opens or closes a block of the chat. In a question, opens or closes only the fold at this line of the block.
    Toggle {
        block: u32,
        line: u32,
    },
    Retry,
    ChooseModel(String),
    /// `None` chooses the next mode.
    ChooseMode(Option<Mode>),
    /// The user has stored a key for this provider; the file lists the stored keys.
    Connect(String, PathBuf),
    /// What a provider's error in another conversation has taught about this model.
    Learn(String, Lesson),
    /// Shows the last request.
    ShowRequest,
    /// The verdict of a settled review.
    Reviewed(Decided),
    /// The editor or the program reports something to the session, such as what waits for the user's decision before a
    /// message of the user.
    Report(Input),
    /// After an edit the editor checks the diagnostics and the syntax. This is the state of one such check.
    Checked(Box<Check>),
    /// Sends the session's state and transcript to the editor again. With `show`, the chat shows this session.
    Present {
        show: bool,
    },
    Act(Act),
    /// What the user does with the last plan of the conversation.
    Plan(PlanAct),
    Rewind(Rewind),
    Undo(Undo),
    Permissions(Wanted),
    /// Shows the background jobs.
    ListJobs,
    StopJob(u32),
    /// The user takes or removes the project's to-do list.
    Todo(TodoAct),
    /// Asks what `/context drop` can take out: a few words about each item, the largest first.
    Largest(oneshot::Sender<Vec<String>>),
    /// Saves everything and ends.
    Quit(oneshot::Sender<()>),
}

/// What the parent of a subagent tells it.
pub enum ChildCommand {
    /// The task.
    Work(Box<Work>),
    /// The subagent's turn ends for this reason.
    End(String),
    /// The subagent's mode changes.
    Follow(Mode),
    /// The subagent does not wait for the user's review.
    LeaveReview,
    /// A permission is revoked.
    Revoke(Grant),
    /// The user has sent the subagent this message.
    Message(String),
}

/// What the user does with a worker.
pub enum WorkerWanted {
    Stop,
    Message(String),
}

/// The user's decisions on the changes of a file.
pub struct Decided {
    /// The verdict on each call.
    pub answers: Vec<ToolAnswer>,
    pub path: PathBuf,
    /// Whether the file's accepted text is on disk.
    pub saved: bool,
    /// The file's text now; `None` if the file does not exist any more.
    pub text: Option<Text>,
}

/// How the conversation gets its instructions.
#[derive(Default)]
pub struct Instructions {
    /// Where to look for instruction files; `None` if the user turned them off.
    pub places: Option<Places>,
    /// The user's answers about the project's instruction files; `None` if all of them may be used.
    pub agreed: Option<Agreed>,
}

impl Command {
    /// Whether the command counts as an action of the user. Drafts, lists, previews and the editor's reports do not
    /// count. Before an action, delayed verdicts are passed on.
    pub(super) fn acts(&self) -> bool {
        !matches!(
            self,
            Command::Draft(_)
                | Command::Toggle { .. }
                | Command::ShowRequest
                | Command::Learn(..)
                | Command::ListJobs
                | Command::StopJob(_)
                | Command::Permissions(Wanted::List | Wanted::Explain(_) | Wanted::Why(_))
                | Command::Rewind(Rewind::List | Rewind::Preview { .. })
                | Command::Reviewed(_)
                | Command::Report(_)
                | Command::Checked(_)
                | Command::Largest(_)
                | Command::Plan(PlanAct { what: PlanWanted::Keep | PlanWanted::Show, .. })
                | Command::Present { .. }
        )
    }

    /// Returns the command if the conversation accepts it. A read-only conversation refuses commands that would change
    /// it, and tells the user the reason.
    pub(super) fn permitted(self, conversation: &Conversation) -> Option<Command> {
        let Some(why) = self.refusal(conversation) else { return Some(self) };
        match self {
            Command::Send { text, context, steer } => {
                let parsed = slash::parse(&text);
                if matches!(&parsed, Parsed::Known(it, _) if it.only_reads()) {
                    return Some(Command::Send { text, context, steer });
                }
                conversation.bounce(text, context, why);
                None
            }
            Command::Toggle { .. }
            | Command::Present { .. }
            | Command::Quit(_)
            | Command::Act(Act::Fork(_) | Act::Export { .. }) => Some(self),
            Command::Act(Act::Rename { done, .. }) => {
                // The send fails only when the program is ending.
                let _ = done.send(Err(why));
                None
            }
            Command::Run(text) => {
                conversation.bounce(text, Vec::new(), why);
                None
            }
            Command::ChooseModel(_)
            | Command::Plan(_)
            | Command::ChooseMode(_)
            | Command::Coordinate
            | Command::Worker(..)
            | Command::Rule { .. }
            | Command::Respond { .. }
            | Command::Unqueue { .. }
            | Command::SendHeld(_)
            | Command::Retry
            | Command::ShowRequest
            | Command::Rewind(_)
            | Command::Undo(_)
            | Command::Permissions(_)
            | Command::ListJobs
            | Command::StopJob(_)
            | Command::Todo(_)
            | Command::Act(Act::Title(_)) => {
                conversation.notice(Level::Warn, why);
                None
            }
            Command::Draft(_)
            | Command::Stop
            | Command::Child(_)
            | Command::Connect(..)
            | Command::Learn(..)
            | Command::Reviewed(_)
            | Command::Report(_)
            | Command::Checked(_)
            | Command::Largest(_) => None,
        }
    }
}

impl Command {
    /// Why the conversation takes only commands that do not change it; `None` if it takes this one.
    fn refusal(&self, conversation: &Conversation) -> Option<String> {
        if conversation.read_only.is_some() {
            let why = "This conversation is read-only here. /fork continues it in a copy.";
            return Some(why.to_owned());
        }
        let parent = conversation.session.subagent_of().filter(|_| !self.is_for_subagents())?;
        Some(format!(
            "A subagent of `{}` works here and takes no messages from you. <C-c> stops the subagent.",
            parent.session
        ))
    }

    /// Whether a running subagent takes the command: commands of its parent, reports of the editor, and those of the
    /// user's commands that do not change its conversation.
    fn is_for_subagents(&self) -> bool {
        matches!(
            self,
            Command::Child(_)
                | Command::Stop
                | Command::Rule { .. }
                | Command::Retry
                | Command::Connect(..)
                | Command::Learn(..)
                | Command::ShowRequest
                | Command::Reviewed(_)
                | Command::Report(_)
                | Command::Checked(_)
                | Command::Permissions(Wanted::List | Wanted::Explain(_) | Wanted::Why(_))
                | Command::ListJobs
                | Command::StopJob(_)
                | Command::Largest(_)
        )
    }
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
