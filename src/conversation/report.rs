//! The messages of an agent to its surroundings. The agent does not know whether these are an editor, another agent or
//! a test.

use super::ran::Ran;
use crate::context::size::Fill;
use crate::event::{Delta, Event, Grant, Mode, PlanStage, Queued, Remark, SessionId};
use crate::message::inquiry::AnswerOption;
use crate::message::{CallId, Excerpt, ExcerptKind};
use crate::provider::lesson::Lesson;
use crate::session::Session;
use crate::store::Draft;
use crate::text::unseen;
use crate::tool::todo::list::TodoItem;
use crate::view::View;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A message of an agent to its surroundings. Messages keep their order.
pub enum Show {
    /// An event of the conversation.
    Event(Event),
    /// Progress between two events.
    Delta(Delta),
    /// Opens or closes a block of the chat, or the fold at this line of a question.
    Toggle { block: u32, line: u32 },
    /// Shows, in the open question about this call, why the user is asked, or hides it.
    Explained { call: CallId, lines: Vec<String> },
    /// A new transcript, which replaces the one that is shown.
    View(Box<View>),
    /// What the user is told because the conversation was opened. The transcript has it too.
    Told(Vec<String>),
    /// The transcript was lost and has to be shown again.
    Repaint,
    /// A report that is made once everything before it has been shown.
    Tell(Report),
    /// A report that is made at once.
    Now(Report),
    /// A turn that nobody attended has ended.
    Ran(Box<Ran>),
}

/// A message of an agent that is not an event of the conversation.
#[derive(Debug, Clone)]
pub enum Report {
    Opened(Opened),
    Status(Status),
    /// An event that scripts can wait for. Scripts also get the session's name.
    Event {
        name: &'static str,
        data: BTreeMap<&'static str, String>,
    },
    /// A sentence for the user that is not part of the conversation.
    Notice {
        level: Level,
        text: String,
    },
    /// A message goes back to the user's composer, for the reason `why`.
    Bounce {
        text: String,
        context: Vec<Excerpt>,
        why: String,
    },
    /// A text for the clipboard.
    Copied(String),
    /// The user wants to choose among the messages that were sent in this project.
    History,
    /// The user wants the chat's windows closed.
    Exit,
    /// The turns that changed files, the latest first.
    Turns(Vec<TurnRow>),
    /// The user is asked how much to undo.
    Undo(UndoOffer),
    /// The changes that rewinding a turn would make.
    Preview {
        entry: u32,
        /// Whether all later turns are rewound too.
        later: bool,
        /// The preview is only looked at while the user chooses a turn.
        look: bool,
        title: String,
        /// What the turn did that no rewind takes back, in sentences.
        notes: Vec<String>,
        files: Vec<RewindFile>,
    },
    /// The permissions of the session, and the rules.
    Permissions(Vec<Permission>),
    /// A plan, to be shown to the user.
    Plan(PlanShown),
    /// The background jobs, the oldest first.
    Jobs(Vec<JobRow>),
    /// The named agents. With `open`, there is only one, and its file is opened.
    Agents {
        rows: Vec<AgentRow>,
        open: bool,
    },
    /// The skills, from which the user chooses one.
    Skills(Vec<SkillRow>),
    /// The items of the conversation's to-do list, which has changed.
    Todo(Vec<TodoItem>),
    /// The last request as it was sent.
    Request {
        about: String,
        body: String,
    },
}

/// A permission that the user can revoke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    Grant(Grant),
    /// A rule, in one line.
    Rule(String),
}

/// A background job in a list for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JobRow {
    pub id: u32,
    /// The first line of the command.
    pub command: String,
    /// How the job ended, as a clause that follows its name; absent if the job runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Seconds since the job began.
    pub age: u64,
    /// The ports at which the job listens, in a few words; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<String>,
}

/// A named agent in a list for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgentRow {
    pub name: String,
    /// One line; may be empty.
    pub description: String,
    /// Whether the agent is the user's own, and not the project's.
    pub is_users: bool,
    /// The agent's file, and its name as the user would write it.
    pub path: PathBuf,
    pub shown: String,
    /// The line of the file where the agent begins, from 1.
    pub line: u32,
}

/// A skill in a list for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SkillRow {
    pub name: String,
    /// One line.
    pub description: String,
    /// The folder of skills that has this one, as the user would write it.
    pub source: String,
    /// The skill's `SKILL.md`.
    pub path: PathBuf,
}

/// A plan with the user's edits and comments, to be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanShown {
    /// The call that submitted the plan.
    pub call: String,
    pub stage: PlanStage,
    pub text: String,
    /// The user's comments.
    pub remarks: Vec<Remark>,
    /// The user asked for the plan: its window becomes the current one.
    pub asked: bool,
}

/// The last plan of a session, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanStatus {
    /// The call that submitted the plan.
    pub call: String,
    pub stage: PlanStage,
    /// The mode before plan mode.
    pub before: Mode,
}

/// The facts about a session that the chat needs when the session opens.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The session that could not be opened, in whose place this one was opened.
    pub instead: Option<SessionId>,
    pub root: PathBuf,
    /// Whether the session is never saved.
    pub ephemeral: bool,
    /// Whether the session can only be read.
    pub reading: bool,
    /// The ids of the reviews that the editor has to reopen.
    pub reviews: Vec<String>,
    /// Whether the chat has to show this session.
    pub show: bool,
    pub draft: Draft,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Info,
    Warn,
    Error,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct Status {
    pub phase: Stage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<Wait>,
    /// The model's question that the user answers next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Box<OpenQuestion>>,
    /// The number of the running turn. If no turn runs, the number of the last one.
    pub turn: u32,
    /// The running tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub model: String,
    pub mode: Mode,
    /// Whether the conversation is a coordinator. A coordinator also has a mode.
    pub coordinates: bool,
    /// The conversation's workers; absent if none is at work and every result is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<WorkersStatus>,
    /// The named agent that the conversation is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The last plan; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanStatus>,
    /// Whether the model is the offline tour, a script inside the program.
    pub tour: bool,
    /// Whether a turn runs: a message is queued. Also without a turn, a question about a job may wait.
    pub runs: bool,
    /// Whether the conversation is in memory only, because it is never saved or could not be saved.
    pub unsaved: bool,
    /// The number of input and output tokens that this session has used.
    pub input: u64,
    pub output: u64,
    pub cached: u64,
    /// The tokens of the last request and its reply.
    pub context: u64,
    /// The tokens of the next request; 0 before the first message.
    pub size: u64,
    pub fill: Fill,
    /// The model's context window in tokens; 0 if it is not known.
    pub window: u64,
    pub queue: Vec<QueuedMessage>,
    /// How many background jobs run.
    pub jobs: u32,
    /// The time until a failed request is sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_ms: Option<u64>,
    /// Why the last request failed, as a sentence without a full stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_why: Option<String>,
    /// For how many milliseconds the model has sent nothing; set only once this is worth telling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent_ms: Option<u64>,
    /// The part of the last request that was in the provider's cache, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit: Option<u32>,
    /// The session's cost in USD, not counting replies whose price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Whether the price of at least one reply is not known.
    pub unpriced: bool,
}

/// How many workers a conversation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorkersStatus {
    /// The workers that run or wait in line.
    pub active: u32,
    /// The workers that wait for the user.
    pub asking: u32,
    /// The workers that have ended and whose results the model has not read.
    pub unread: u32,
}

/// One of the questions that a call asks the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpenQuestion {
    pub call: String,
    /// Which of the call's questions it is, from 0.
    pub question: u32,
    /// How many questions the call asks.
    pub of: u32,
    pub text: String,
    /// The options. The first one is the model's suggestion.
    pub options: Vec<AnswerOption>,
    /// Whether several options may be chosen.
    pub multiple: bool,
    /// The options that are marked so far, from 0.
    pub marked: Vec<u32>,
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Idle,
    /// A request was sent; no reply has arrived yet.
    Sending,
    /// A reply is arriving.
    Streaming,
    /// A request failed and will be sent again after a pause.
    Retrying,
    /// A model is asked for a summary of the conversation.
    Compacting,
    /// A tool runs.
    Running,
    /// The user is asked whether a call may run or the turn may spend more, or has to answer the model's questions.
    Asking,
    /// The turn waits for the user's review.
    Reviewing,
}

/// What a turn needs from the user to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    Permission,
    /// An answer to the model, a decision on a plan, or an answer to the question whether the turn may go beyond a
    /// spending limit.
    Question,
    Review,
}

/// A queued message as the user sees it. All fields are always sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct QueuedMessage {
    pub id: u32,
    pub text: String,
    pub context: Vec<Excerpt>,
    pub steer: bool,
    /// Whether the message is held back until the user sends it.
    pub held: bool,
    /// The text of a held message, in which each invisible or deceptive character is spelt out. Empty for other
    /// messages.
    pub shown: String,
}

impl QueuedMessage {
    pub fn of(it: &Queued, session: &Session) -> QueuedMessage {
        let Queued { id, text, mut context, steer } = it.clone();
        // such an excerpt is made again from the text when the edited message is sent
        context.retain(|it| !it.is_made());
        let held = session.held.contains(&id);
        let shown = if held { unseen::exact(&text).into_owned() } else { String::new() };
        let text = if text.is_empty() { answers(it) } else { text };
        QueuedMessage { id, text, context, steer, held, shown }
    }
}

/// The text of a message that has only answers to the model's questions.
fn answers(message: &Queued) -> String {
    let answers = message.context.iter().filter(|it| it.kind == ExcerptKind::Answers);
    answers.map(|it| it.text.as_str()).collect()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TurnRow {
    pub entry: u32,
    pub title: String,
    /// Seconds since the turn's first change.
    pub age: u64,
    pub files: Vec<String>,
    /// What the turn did that no rewind takes back, in a few words each.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RewindFile {
    /// The file's absolute path.
    pub path: PathBuf,
    /// The file's path as the user would write it.
    pub name: String,
    /// What the rewind does to the file: words that follow its name in a sentence.
    pub about: String,
    /// A unified diff without the header.
    pub diff: String,
    /// Whether the rewind changes this file.
    pub todo: bool,
}

/// A message of the user that `/undo` can remove from the conversation, and the files that turns since then changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UndoOffer {
    /// The index of the message in the conversation.
    pub message: u32,
    /// The first line of the message.
    pub title: String,
    /// The files' paths as the user would write them.
    pub files: Vec<String>,
}

/// What the composer needs to know of a conversation, to complete paths.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Glance {
    /// The files that the model has seen or edited.
    pub known: Vec<PathBuf>,
}

/// A request of an agent to the program.
pub enum Wish {
    New {
        name: Option<String>,
        agent: Option<String>,
    },
    /// The user wants to choose among the sessions that contain this text.
    Sessions {
        text: String,
    },
    /// The user's new name or title for the session.
    Rename {
        text: String,
    },
    Copy(Copy),
    /// A message is about to be undone. First a copy of the whole conversation has to be saved.
    Branch(Branch),
    /// The user wants to choose among all models.
    Models,
    /// The user wants to enter an API key.
    Connect {
        provider: Option<String>,
    },
    /// A provider's error has taught this about a model. All conversations with this model go by it.
    Learn {
        model: String,
        lesson: Lesson,
    },
}

/// A copy of a session that the program has to save.
pub struct Copy {
    pub session: Box<Session>,
    /// The name that the user gave to the copy. A copy with a name is saved but not opened.
    pub name: Option<String>,
}

/// A copy of a session, to be saved under a free name before `/undo` removes messages from the original.
pub struct Branch {
    pub session: Box<Session>,
    /// Whether the copy is kept in memory as a session of its own, because the conversation is never saved.
    pub in_memory: bool,
    pub back: Back,
}

/// What `/undo` removes from a conversation.
#[derive(Debug, Clone, Copy)]
pub struct Back {
    /// The index of the message before which the conversation will end.
    pub message: usize,
    /// Whether the files of the later turns are rewound too.
    pub files: bool,
    /// The number of the conversation's last turn when it was copied.
    pub turns: u32,
}
