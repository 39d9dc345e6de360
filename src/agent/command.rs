//! The commands of the program to an agent.

use super::checks::Check;
use crate::context::slash::{self, Parsed};
use crate::conversation::Conversation;
use crate::conversation::report::{Back, Level, Permission};
use crate::event::{Claim, Grant, Mode, Parent, Reading, Ruling, SessionId, WorkerId};
use crate::message::{CallId, Excerpt, ToolAnswer};
use crate::provider::lesson::Lesson;
use crate::session::{Cut, Input, Response};
use crate::store::Draft;
use crate::text::Text;
use crate::tool::task::Task;
use std::path::PathBuf;
use tokio::sync::oneshot;

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
    /// A text that a verdict has called unsaved may be saved or gone.
    LookAgain,
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
                | Command::LookAgain
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
            | Command::LookAgain
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
                | Command::LookAgain
                | Command::Permissions(Wanted::List | Wanted::Explain(_) | Wanted::Why(_))
                | Command::ListJobs
                | Command::StopJob(_)
                | Command::Largest(_)
        )
    }
}

/// The user's decisions on the changes of a file.
pub struct Decided {
    /// The verdict on each call.
    pub answers: Vec<ToolAnswer>,
    /// What the verdicts say about files on disk.
    pub claims: Vec<Claim>,
    pub path: PathBuf,
    /// Whether the file's accepted text is on disk.
    pub saved: bool,
    /// The file's text now; `None` if the file does not exist any more.
    pub text: Option<Text>,
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

/// What a subagent has to do.
pub struct Work {
    pub parent: Parent,
    pub task: Task,
    /// Whether nobody attends the parent's turn.
    pub is_unattended: bool,
}

/// What the user does with a worker.
pub enum WorkerWanted {
    Stop,
    Message(String),
}

/// A command about a session as a whole.
pub enum Act {
    /// Renames the session to a name that is not in use. `done` gets the reason if the renaming fails.
    Rename {
        to: SessionId,
        done: oneshot::Sender<Result<(), String>>,
    },
    Title(String),
    Fork(Option<Cut>),
    /// Writes the session to a file. An existing file is overwritten only with `force`.
    Export {
        file: String,
        force: bool,
    },
}

/// An answer to a question.
#[derive(Clone)]
pub enum Answer {
    Ruling(Ruling),
    /// Allows the call, and stores a rule that allows calls like it from now on.
    Always,
    /// Runs this command in place of the one that the question is about.
    Change(String),
}

/// What `/permissions` has to do.
pub enum Wanted {
    List,
    Revoke(Permission),
    /// Say how this command would be judged.
    Explain(String),
    /// Show or hide, in the open question about this call, why the user is asked.
    Why(CallId),
}

/// What the user does with the plan of a call.
pub struct PlanAct {
    pub call: Option<CallId>,
    /// The plan in the editor; `None` if the editor does not have it.
    pub reading: Option<Reading>,
    pub what: PlanWanted,
}

pub enum PlanWanted {
    Show,
    /// The user has edited the plan, or commented on it.
    Keep,
    /// Approves the plan: the work begins in this mode; `None` is the mode before plan mode.
    Accept(Option<Mode>),
    /// Sends the plan back, with these words and the comments.
    Change(String),
    Drop,
    /// Writes the plan to a file of the project.
    Save {
        file: String,
        force: bool,
    },
}

/// A request of the user about the turns that changed files.
pub enum Rewind {
    List,
    Preview {
        entry: u32,
        /// Whether to rewind all later turns and rewinds too.
        later: bool,
        /// Whether the preview is only looked at while the user chooses a turn.
        look: bool,
    },
    /// Undoes the turn's changes to these files.
    Do {
        entry: u32,
        later: bool,
        paths: Vec<PathBuf>,
    },
}

/// A request of the user to take the conversation back, or the program's answer to it.
pub enum Undo {
    /// Go back to before a message of the user; `after` is the number of the user's messages after it.
    Message { after: usize },
    /// Go back to before the message with this index. `files` says whether to rewind files too.
    Chosen { message: usize, files: bool },
    /// The program has saved a copy of the conversation under this name.
    Kept { back: Back, name: SessionId },
}

/// What the user does with the project's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TodoAct {
    /// Hands the list that another conversation left to this one.
    Take,
    /// Removes the list, whoever keeps it.
    Remove,
}
