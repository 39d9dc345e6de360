//! The state of a session, which its events make.

use super::limits::Limits;
use super::workers::Workers;
use crate::event::{
    Access, Awaited, Claim, Compaction, End, Grant, Job, Matter, Measure, Mode, Offer, Parent,
    Planning, Profile, Queued, Recipient, Rest, Trim, Tuning, TurnId,
};
use crate::message::{CallId, Excerpt, FileDiff, Message, Note, ToolAnswer, ToolCall, Usage};
use crate::rules::{Judgement, Rules};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    /// The title. It is the first line of the first prompt until a model or the user gives a better one.
    pub title: String,
    /// The system prompt (if there is one), then the messages of the conversation, including notes for the user.
    pub messages: Vec<Message>,
    pub queue: Vec<Queued>,
    /// The ids of queued messages from before the session was opened or a turn was stopped. Only the user sends them.
    /// Never saved.
    pub held: BTreeSet<u32>,
    /// Notes that the model gets with the next request.
    pub notes: Vec<Note>,
    /// The background jobs that run, and those that have ended without the model being told.
    pub jobs: BTreeMap<u32, Job>,
    /// The number of the last job.
    pub last_job: u32,
    /// Instructions that go with the next request.
    pub instructions: Vec<Excerpt>,
    /// `provider/model`.
    pub model: String,
    /// The provider to which the conversation was sent last.
    pub sent_to: Option<Recipient>,
    /// The user's settings of the model for this session, such as its thinking.
    pub tuning: Tuning,
    pub mode: Mode,
    /// The named agent that the conversation runs as.
    pub profile: Option<Profile>,
    pub planning: Planning,
    /// The workers, if the conversation is or was a coordinator.
    pub workers: Workers,
    /// The word in the tags around strangers' texts (see `context::fence`). Empty before the session is first opened.
    pub mark: String,
    pub root: PathBuf,
    /// The tokens that the session has used in total.
    pub usage: Usage,
    /// Tokens of the last request and its reply: the size of the context.
    pub context: u64,
    /// For each model, the tokens that its provider counted for the last request.
    pub measures: BTreeMap<String, Measure>,
    /// For each model, the measure of the last request in any conversation, as read from disk when this session was
    /// opened. Never saved.
    pub learned: BTreeMap<String, Measure>,
    /// What the session has cost, in USD, as far as prices are known.
    pub spent: f64,
    /// Whether the price of some replies is not known, so that the real cost is higher than `spent`.
    pub unpriced: bool,
    /// The most that may be spent before the user is asked, and the most requests of a turn. Never saved.
    pub limits: Limits,
    /// The user's permission rules. Never saved.
    pub rules: Arc<Rules>,
    /// If the session works as a subagent: the call that began it.
    pub parent: Option<Parent>,
    pub exposure: Exposure,
    /// The number of turns begun.
    pub turns: u32,
    /// The highest id of a queued message so far.
    pub queued: u32,
    /// The hash of each file's text that the model knows; empty if the model has to read the file again.
    pub known: BTreeMap<PathBuf, String>,
    /// Files that the model knew and that are gone, with the hash of the text that it knew.
    pub gone: BTreeMap<PathBuf, String>,
    /// Items that requests replace by one line each.
    pub trimmed: Vec<Trim>,
    /// The compactions that were not undone, in order.
    pub compactions: Vec<Compaction>,
    /// Whether the user has undone a compaction. Then the conversation is compacted again only if the user asks for it.
    pub keeps_whole: bool,
    /// The number of compactions in a row for which the model wrote no summary.
    pub fruitless: u32,
    /// Files with proposed text on which the user has not decided.
    pub reviewing: Vec<PathBuf>,
    /// The permissions that the user gave for the session. Never saved: a session's file must grant nothing.
    pub granted: Vec<Grant>,
    /// What waited for the user's decision when they sent their last message. Never saved.
    pub rest: Rest,
    /// Files with accepted text that is not on disk. The question about a command names them, because they are saved
    /// before the command runs. Never saved.
    pub unsaved: Vec<String>,
    /// The open question about something of the project, or about a call of a subagent. Never saved.
    pub consult: Option<Consult>,
    /// The questions of the same kind that wait until `consult` is answered. Never saved.
    pub later: Vec<Consult>,
    /// The turn that nobody attends, if one runs or is about to begin. Never saved.
    pub unattended: Option<Unattended>,
    /// Whether the model was told how to call, and has made no call since. Never saved.
    pub reminded: bool,
    /// What verdicts say about files on disk, until it is no longer so.
    pub claims: Vec<Claim>,
    /// While the model's questions are open, a message with a higher id answers them. Never saved.
    pub asked_after: u32,
    pub phase: Phase,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub enum Phase {
    #[default]
    Idle,
    /// A request was sent and its reply is not complete. `requests` counts the requests of the turn, `tries` the tries
    /// of this request.
    Sampling { turn: TurnId, requests: u32, tries: u32 },
    /// A failed request waits for its next try.
    Resting { turn: TurnId, requests: u32, tries: u32 },
    /// A spending limit is reached: the next request waits for the user's answer to this question.
    Limited { turn: TurnId, requests: u32, tries: u32, id: CallId },
    /// A model is asked for a summary. If a turn waits for the summary, `requests` counts the requests of the turn;
    /// `None` if no turn runs.
    Compacting { turn: TurnId, requests: Option<u32> },
    /// The calls of a reply are being answered.
    Acting { turn: TurnId, requests: u32, open: Vec<Open> },
}

/// A call that was not answered yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    pub call: ToolCall,
    pub access: Access,
    /// The decision of the user's rules about the call.
    pub judged: Judgement,
    /// Whether the user has changed the command. `call` and `access` then have the changed command.
    pub is_changed: bool,
    /// What the call changes in each file, as far as the changes are in buffers.
    pub diff: Vec<FileDiff>,
    /// The unsaved files that the question about the call has named.
    pub named_unsaved: Vec<String>,
    /// Whether the call waits at the gate, after the decision that it may run. Never saved.
    pub at_gate: bool,
    /// The answer of a call that has run, while the call waits at the second gate. Never saved.
    pub result: Option<ToolAnswer>,
    pub state: State,
}

#[derive(Debug, Clone, PartialEq)]
pub enum State {
    Ready,
    Asking {
        /// Whether the command waits for the user's consent because its start could not be recorded on disk.
        is_unrecorded: bool,
    },
    /// The user has consented; the call has not begun.
    Allowed,
    Running,
    /// The call's changes are in buffers and under the user's review.
    Reviewing {
        path: PathBuf,
        what: Awaited,
    },
    Done(Box<ToolAnswer>),
}

/// A question. It is never saved: if the answer is still needed, the program asks again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consult {
    pub id: CallId,
    pub about: Matter,
    pub question: String,
    pub offer: Offer,
}

/// What has reached the project beside the messages of a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exposure {
    #[default]
    None,
    /// Files may have a stranger's text: a command has begun, which may have printed nothing, or a model that had read
    /// such a text has written files without a review.
    Files,
    /// The same, and the model had read another stranger's text than the output of a command before the user took
    /// messages back.
    Texts,
}

impl Exposure {
    pub fn is_none(&self) -> bool {
        *self == Exposure::None
    }
}

/// What is known of a turn that nobody attends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unattended {
    /// The questions that nobody answered.
    pub denied: Vec<String>,
    /// The limit that ended the turn, as a sentence for the user.
    pub limit: Option<String>,
    /// Whether the turn ended because the model writes its calls as text.
    pub wrote_calls: bool,
    /// How the turn ended; `None` until then.
    pub end: Option<End>,
    /// The number of messages, the tokens and the cost in USD before the turn.
    pub messages: usize,
    pub usage: Usage,
    pub spent: f64,
}
