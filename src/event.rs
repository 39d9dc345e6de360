//! The events of a session, in order, and the progress that is shown between them.

mod access;
mod awaited;
mod claim;
mod compaction;
mod end;
mod failure;
mod grant;
mod id;
mod job;
mod measure;
mod mode;
mod profile;
mod parent;
mod recipient;
mod submitted;
mod trim;
mod tuning;
mod worker;

pub use access::{Access, Guarded, Remote};
pub use awaited::{Awaited, Rest, Undecided};
pub use claim::{Buffer, Claim, Claimed, Disk, Keeps, OnDisk, Standing, Told};
pub use compaction::{Compaction, Handoff};
pub use end::End;
pub use failure::{Biggest, Failure, Limit};
pub use grant::{Grant, in_one_line};
pub use id::{HIGHEST, SessionId, TurnId, number};
pub use job::Job;
pub use measure::Measure;
pub use mode::{MODES, Mode};
pub use parent::Parent;
pub use profile::{Profile, is_agent, offers};
pub use recipient::Recipient;
pub use submitted::{PlanStage, PlanVerdict, Planning, Reading, Remark, Submitted};
pub use trim::{Item, Trim};
pub use tuning::Tuning;
pub use worker::{
    HandOff, Isolation, Order, Post, ROLES, Worker, WorkerAct, WorkerEvent, WorkerId, WorkerRole,
    WorkerState,
};

use crate::message::{CallId, Excerpt, FileDiff, Given, Reply, Searched, ToolAnswer, Usage};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A message that the user has sent but the model has not got yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Queued {
    pub id: u32,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Excerpt>,
    /// Whether the message goes with the next request of the running turn, instead of waiting for the end of the turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steer: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Opened {
        system: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        instructions: Vec<Excerpt>,
        model: String,
        root: PathBuf,
    },
    /// The conversation becomes this named agent; with `None` it is no named agent any more.
    AgentChosen {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile: Option<Profile>,
    },
    /// From now on the tags around texts that a stranger may have written contain this word (see `message::mark_of`).
    Marked {
        mark: String,
    },
    Queued {
        message: Queued,
    },
    /// The user removed a message from the queue, or took it back to edit it.
    Unqueued {
        id: u32,
    },
    /// The turn begins with this message. A queued message leaves the queue.
    Prompted {
        turn: TurnId,
        message: Queued,
    },
    /// A queued message joined the running turn.
    Steered {
        turn: TurnId,
        message: Queued,
    },
    /// A complete reply, or the part of a reply that had arrived when the turn was stopped or failed.
    Replied {
        turn: TurnId,
        reply: Reply,
        plans: Vec<Plan>,
    },
    Asked {
        turn: TurnId,
        call: CallId,
        question: String,
        #[serde(flatten)]
        offer: Offer,
    },
    /// The user changed the command in a question about a call.
    Changed {
        turn: TurnId,
        call: CallId,
        command: String,
    },
    /// The edits of a call cannot be made without this access, which only became known when the call ran. Whether the
    /// call may go on is decided anew.
    Needed {
        turn: TurnId,
        call: CallId,
        access: Access,
    },
    /// A spending limit is reached. The turn waits for the user's answer to `question`. `id` identifies this question,
    /// as a call's id identifies the question about a call.
    Limited {
        turn: TurnId,
        id: CallId,
        question: String,
    },
    /// The user is asked whether something of the project may be used, or whether a call of a subagent may run.
    /// Messages wait in the queue until the answer. `id` identifies this question, as a call's id identifies the
    /// question about a call.
    Consulted {
        id: CallId,
        #[serde(default)]
        about: Matter,
        question: String,
        #[serde(flatten)]
        offer: Offer,
    },
    /// The user has answered some of the model's questions: `given` has the answers to the first ones, `marked` the
    /// options of the next question that are marked so far.
    Chose {
        call: CallId,
        given: Vec<Given>,
        marked: Vec<usize>,
    },
    /// The user has closed the model's questions without an answer.
    Unanswered {
        call: CallId,
    },
    Ruled {
        turn: TurnId,
        call: CallId,
        ruling: Ruling,
    },
    /// The user revokes a permission for the session.
    Revoked {
        grant: Grant,
    },
    /// The session works for another one, as a subagent.
    Assigned {
        parent: Parent,
    },
    /// A subagent works on the call in the session of this name.
    Delegated {
        turn: TurnId,
        call: CallId,
        session: SessionId,
    },
    /// A subagent has used these tokens, and this much money in USD; `None` if the price is not known.
    ChildSpent {
        usage: Usage,
        cost: Option<f64>,
    },
    /// Something about the workers of a coordinator.
    Worker(WorkerEvent),
    /// The program begins to run the call. If the program ends before the answer, the model is told that the call may
    /// have run.
    Started {
        turn: TurnId,
        call: CallId,
    },
    /// The call's change of this file is shown to the user for a decision. `what` counts all changes of the call so
    /// far, also those of earlier files.
    Proposed {
        turn: TurnId,
        call: CallId,
        path: PathBuf,
        #[serde(flatten)]
        what: Awaited,
        /// What the call changes in this file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<Box<FileDiff>>,
    },
    Answered {
        turn: TurnId,
        answer: ToolAnswer,
    },
    /// The review of this file is over.
    Reviewed {
        path: PathBuf,
    },
    /// `claims` is what verdicts say about files on disk from now on. If a request is about to be sent (`is_sent`), it
    /// tells the model these things, and all other notes.
    Stood {
        told: Vec<Told>,
        claims: Vec<Claim>,
        is_sent: bool,
    },
    /// The buffers of these files have text that the user has accepted but that is not on disk. Paths are as the user
    /// sees them.
    Unsaved {
        paths: Vec<String>,
    },
    /// Excerpts for the next request, for example the instructions of folders that were touched for the first time.
    Instructed {
        files: Vec<Excerpt>,
    },
    /// What the next request was to tell of the changes in this file is not so any more.
    Untold {
        path: String,
    },
    /// Which text of a file the model knows: `hash` is the SHA-256 of the text (`Text::sha256_hex`). It is empty if the
    /// model knows only that the text has changed, and `None` if the file does not exist any more.
    Knew {
        path: PathBuf,
        hash: Option<String>,
    },
    /// The user gave the conversation a title.
    Titled {
        title: String,
    },
    /// A model has given the conversation a title.
    Named(Named),
    /// A note for the model, which goes with the next request. `call` is the edit of which it is the verdict.
    Noted {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
    },
    /// The user has decided again on the changes of an answered call. The call's line in the chat shows this summary.
    Judged {
        call: CallId,
        summary: String,
        failed: bool,
    },
    /// A command goes on in the background, as the job of this number.
    JobBegan {
        job: u32,
        command: String,
    },
    /// A job has ended. The note goes with the next request, unless a tool's answer tells the model about the end
    /// earlier.
    JobEnded {
        job: u32,
        note: String,
    },
    /// A sentence that only the user sees.
    Told {
        text: String,
    },
    /// A list for the user, whose last lines are numbered items. Keys act only on the items of the newest list.
    Listed {
        text: String,
        items: u32,
    },
    /// The model has written a call as text, and is told how to call. It answers again.
    Reminded {
        turn: TurnId,
        tool: String,
    },
    /// A failed request will be tried again.
    Retried {
        turn: TurnId,
        failure: Failure,
        wait_ms: u64,
    },
    /// The provider refused the thoughts that were sent back to it. The model's earlier thoughts are not sent any more,
    /// and the request is repeated without them. This changes the beginning of the request, so the provider's cache is
    /// lost.
    ThoughtsDropped {
        turn: TurnId,
        model: String,
    },
    /// The user chose a model. Settings that are not in `tuning` have their defaults.
    ModelChosen {
        model: String,
        #[serde(default, skip_serializing_if = "Tuning::is_empty")]
        tuning: Tuning,
    },
    /// From now on the conversation is sent to this provider.
    Addressed {
        to: Recipient,
    },
    /// The mode applies from the next call on.
    ModeChosen {
        mode: Mode,
    },
    /// The model has submitted a plan by this call. The plan waits for the user's decision.
    PlanSubmitted {
        turn: TurnId,
        call: CallId,
    },
    /// The user has decided on the plan of this call.
    PlanDecided {
        call: CallId,
        verdict: PlanVerdict,
    },
    /// The cost of a request and its reply in USD; `None` if the price is not known.
    Spent {
        cost: Option<f64>,
    },
    /// The provider counted the tokens of a request to this model. The sizes of other texts are estimated from this
    /// count.
    Measured {
        model: String,
        measure: Measure,
    },
    /// The user has replaced the system prompt and the instructions by the current ones. This changes the beginning of
    /// the request, so the provider's cache is lost.
    SystemChosen {
        system: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        instructions: Vec<Excerpt>,
    },
    /// In later requests each of these items is replaced by one line. This changes the requests' beginning, so the
    /// provider's cache is lost. `tokens` is the estimated size of the text that is left out; `told` is the sentence
    /// for the user.
    Trimmed {
        items: Vec<Trim>,
        tokens: u64,
        told: String,
    },
    /// A model is asked for a summary of the conversation's first part. `turn` is the running turn, or the last one if
    /// none runs. `told` is the sentence for the user.
    Compacting {
        turn: TurnId,
        told: String,
    },
    /// In later requests the hand-off replaces the first part of the conversation. This changes the requests'
    /// beginning, so the provider's cache is lost. `usage` and `cost` (in USD; `None` if the price is not known) are
    /// those of the request for the summary.
    Compacted {
        turn: TurnId,
        #[serde(flatten)]
        handoff: Handoff,
        usage: Usage,
        cost: Option<f64>,
    },
    /// The compaction failed: there is no summary, and requests stay as they were. `why` is the sentence for the user.
    /// `is_lasting` tells that the same request is likely to fail again.
    NotCompacted {
        turn: TurnId,
        why: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_lasting: bool,
        usage: Usage,
        cost: Option<f64>,
    },
    /// The user undid the last compaction. This changes the beginning of later requests, so the provider's cache is
    /// lost. `told` is the sentence for the user.
    Uncompacted {
        told: String,
    },
    Ended {
        turn: TurnId,
        why: End,
    },
}

/// The subject of a question that is not about a call of the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matter {
    #[default]
    Instructions,
    /// The permission rules that allow calls.
    Rules,
    /// A call of a subagent.
    Subagent,
    /// The provider to which the conversation is to be sent.
    Recipient,
    /// A port of a job that is to be opened on this machine.
    Port,
}

/// What the user may do in a question besides allowing and denying.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The command in the permission rule that the question offers to store; empty if the question offers no rule.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub always: String,
    /// The hosts in the permission rules about connections that the question offers to store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The command, if the user may change it; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The part of the question that the user decides on, such as a command or an address; empty if it is the whole
    /// question.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// Whether the subject is a command for a shell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_shell: bool,
    /// To whom a conversation is sent, if the question is about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Recipient>,
}

/// A model's title for a conversation, and the cost of asking for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// The title; empty if the model gave none, or if the user gave the conversation a title in the meantime.
    pub title: String,
    pub usage: Usage,
    /// In USD; `None` if the price is not known.
    pub cost: Option<f64>,
}

/// The access that one call of a reply needs, determined when the reply is complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub call: CallId,
    #[serde(alias = "step", deserialize_with = "access::access")]
    pub access: Access,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    Once,
    Session,
    Denied { reason: String },
}

/// Progress that is shown at once but is not an event. The journal stores no progress except the text of an unfinished
/// reply and the searches of the provider in it.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    Text(String),
    Thinking(String),
    /// This many bytes of text that came last were a thought: its end has arrived without its beginning.
    WasThought {
        bytes: usize,
    },
    /// The name of the called tool is known; the arguments are still arriving.
    CallBegun {
        id: CallId,
        tool: String,
    },
    /// The provider has searched the web by itself.
    Searched(Searched),
    /// Bytes without content arrived, which shows that the connection is alive.
    Alive,
    /// A running command's output.
    Output {
        call: CallId,
        text: String,
    },
    /// What the subagent that works on the call does now, in one line.
    Doing {
        call: CallId,
        line: String,
    },
    /// What a worker does now, in one line, and what it has used so far.
    Working {
        worker: WorkerId,
        line: String,
        requests: u32,
        tokens: u64,
    },
}
