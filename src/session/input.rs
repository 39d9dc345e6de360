//! The inputs of a session, and the effects: the actions that the session asks others to carry out.

use super::Consult;
use crate::event::{
    Access, Awaited, Claim, Event, Failure, Grant, HandOff, Handoff, Measure, Mode, Named, Order,
    Parent, Plan, PlanVerdict, Profile, Recipient, Rest, Ruling, SessionId, Standing, Trim, Tuning,
    TurnId, WorkerId,
};
use crate::message::{CallId, Excerpt, FileDiff, Reply, ToolAnswer, ToolCall, Usage};
use std::path::PathBuf;
use std::time::Duration;

/// What the user does with the question that is next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// Marks an option, or removes its mark, in a question with several answers.
    Mark(usize),
    Choose(Vec<usize>),
    /// Chooses the marked options.
    Done,
    Words(String),
    Skip,
    /// Takes back the answer to the previous question.
    Back,
}

/// What happens to a conversation's workers.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkerInput {
    /// The user turns coordinator mode on or off.
    Coordinate {
        is_on: bool,
    },
    /// The worker works in this session.
    Placed {
        worker: WorkerId,
        session: SessionId,
    },
    /// The worker begins or stops waiting for the user.
    Waits {
        worker: WorkerId,
        waits: bool,
    },
    Noticed {
        worker: WorkerId,
        text: String,
    },
    /// The user stops the worker.
    Dismiss {
        worker: WorkerId,
    },
    /// The user has sent the worker this message.
    Told {
        worker: WorkerId,
        text: String,
    },
    /// The worker has ended. `is_whole` says that its turn ended by itself.
    Ended {
        worker: WorkerId,
        result: HandOff,
        is_whole: bool,
        requests: u32,
        tokens: u64,
    },
}

/// A call's change of one file, which is in the file's buffer now.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub call: CallId,
    pub path: PathBuf,
    pub what: Awaited,
    pub diff: Option<Box<FileDiff>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Opens a fresh session.
    Open {
        system: String,
        instructions: Vec<Excerpt>,
        model: String,
        root: PathBuf,
    },
    /// The conversation becomes a named agent, or stops being one.
    ChooseAgent {
        profile: Option<Profile>,
    },
    /// Lines for the log of permissions.
    Log {
        decisions: Vec<String>,
    },
    /// The session gets a mark for the tags around strangers' texts; see `context::fence`.
    Mark {
        mark: String,
    },
    Send {
        text: String,
        context: Vec<Excerpt>,
        steer: bool,
    },
    Unqueue {
        id: u32,
    },
    /// The user sends a message that has been held back since the session was opened or a turn was stopped. Without an
    /// id, all such messages are sent.
    SendHeld {
        id: Option<u32>,
    },
    /// The session was loaded from disk. `mode` comes from the user's settings.
    Resume {
        mode: Mode,
    },
    /// The user stops the turn. `partial` is the part of the reply that had arrived.
    Cancel {
        partial: Option<Reply>,
    },
    /// The user has stopped the turn while edits were on their way to the editor. `landed` has the results of these
    /// edits. No further call begins.
    Stop {
        landed: Vec<Input>,
    },
    /// The turn ends for this reason. `partial` is the part of the reply that had arrived.
    End {
        partial: Option<Reply>,
        why: String,
    },
    /// The editor or the program ends, or has ended, in the middle of a turn. `partial` is the part of the reply that
    /// had arrived.
    Leave {
        partial: Option<Reply>,
    },
    /// This conversation is a copy, and the turn of the original goes on without it.
    Part,
    Rule {
        call: CallId,
        ruling: Ruling,
    },
    /// The user answers a question about a command with another command, which is judged anew.
    Change {
        call: CallId,
        command: String,
    },
    /// The edits of a running call cannot be made without this access.
    Needed {
        turn: TurnId,
        call: CallId,
        access: Access,
    },
    /// These calls have passed the gate.
    Admitted {
        turn: TurnId,
        calls: Vec<CallId>,
    },
    /// These calls have passed the second gate.
    Released {
        turn: TurnId,
        calls: Vec<CallId>,
    },
    /// If the turn waits only for the user's review, it goes on without the verdict.
    LeaveReview,
    /// The user revokes a permission for the session.
    Revoke {
        grant: Grant,
    },
    Replied {
        turn: TurnId,
        reply: Reply,
        plans: Vec<Plan>,
    },
    /// The reply has no call, but a call of this tool that is written as text.
    Wrote {
        turn: TurnId,
        reply: Reply,
        tool: String,
    },
    /// The request failed. `by` is the model that was asked. `dice` is a random number (0..1000) that varies the wait
    /// before the next try.
    Failed {
        turn: TurnId,
        failure: Failure,
        by: String,
        partial: Option<Reply>,
        dice: u32,
    },
    /// The provider refused a part that the request does not need. The request is sent again at once, without that
    /// part. `told` is the sentence for the user, if the user does not know this yet.
    Repeat {
        turn: TurnId,
        told: Option<String>,
    },
    /// The pause before the next try is over, or the user wants the next try now.
    Rested {
        turn: TurnId,
    },
    Entered {
        turn: TurnId,
        entry: Entry,
    },
    /// No edit of the turn is on its way to the editor any more.
    Landed {
        turn: TurnId,
    },
    /// All changes of the call are in their buffers, in a mode that writes files at once. For each file, the flag says
    /// whether it was written.
    Applied {
        files: Vec<(PathBuf, bool)>,
        answer: ToolAnswer,
        /// What the answer says about files on disk.
        claims: Vec<Claim>,
    },
    Answered {
        turn: TurnId,
        answer: ToolAnswer,
    },
    /// This file of an edit is always reviewed, and nobody is here to review it. The edit was not made.
    Unreviewed {
        turn: TurnId,
        call: CallId,
        path: String,
    },
    /// The start of this command could not be recorded on disk, for this reason. The command has not begun.
    Unrecorded {
        turn: TurnId,
        call: CallId,
        why: String,
    },
    /// The user has decided on all changes of a file. `answers` are the answers to the calls. Their turn may be running
    /// or may have ended long ago.
    Reviewed {
        path: PathBuf,
        answers: Vec<ToolAnswer>,
        /// What the answers say about files on disk.
        claims: Vec<Claim>,
    },
    /// How the files are of which verdicts speak. If the next request of `turn` waits for this, it tells the model.
    Stood {
        turn: Option<TurnId>,
        files: Vec<Standing>,
    },
    /// The user sends a message while these changes wait for their decision.
    Left(Rest),
    /// The changes of these calls in a file are under review again, after the verdict on them.
    ReviewedAgain {
        path: PathBuf,
        calls: Vec<CallId>,
    },
    /// The editor in which this file was under review has ended, so the proposed text is lost.
    ReviewLost {
        path: PathBuf,
    },
    /// The buffers of these files have text that the user has accepted but that is not on disk.
    Unsaved {
        paths: Vec<String>,
    },
    /// The user's response to one of the model's questions. `question` is its index in the call.
    Respond {
        call: CallId,
        question: usize,
        response: Response,
    },
    /// Asks the user whether something of the project may be used, or whether a call of a subagent may run, after the
    /// answer to the open question if there is one.
    Consult(Consult),
    /// A question that `Consult` asked needs no answer any more.
    Withdraw {
        id: CallId,
    },
    /// The session works for another one, as a subagent.
    Assign {
        parent: Parent,
    },
    /// A subagent begins to work on the call in this session.
    Delegated {
        turn: TurnId,
        call: CallId,
        session: SessionId,
    },
    /// A subagent has spent something; see `Event::ChildSpent`.
    ChildSpent {
        usage: Usage,
        cost: Option<f64>,
    },
    /// Something happens to the conversation's workers.
    Worker(WorkerInput),
    Tell {
        text: String,
    },
    /// A list for the user, whose last lines are numbered items.
    List {
        text: String,
        items: u32,
    },
    ChooseModel {
        model: String,
        tuning: Tuning,
    },
    /// The next request goes to another provider than the last one.
    Address {
        to: Recipient,
    },
    ChooseMode {
        mode: Mode,
    },
    /// The user has decided on the plan of this call.
    DecidePlan {
        call: CallId,
        verdict: PlanVerdict,
    },
    /// The cost of a reply in USD; `None` if the price is not known.
    Spend {
        cost: Option<f64>,
    },
    /// The provider has counted the tokens of a request to this model.
    Measure {
        model: String,
        measure: Measure,
    },
    ChooseSystem {
        system: String,
        instructions: Vec<Excerpt>,
    },
    /// Instructions that the conversation does not have yet, and other excerpts for the next request.
    Instruct {
        files: Vec<Excerpt>,
    },
    /// What the next request was to tell of the changes in this file is not so any more.
    Untell {
        path: String,
    },
    /// Which text of a file the model knows now; see `Event::Knew`.
    Know {
        path: PathBuf,
        hash: Option<String>,
    },
    /// The title that the user gives to the conversation.
    Title {
        title: String,
    },
    /// A model's title for the conversation. `of` is the title that the conversation had when the model was asked.
    Name {
        of: String,
        named: Named,
    },
    /// A note that the model gets with the next request.
    Note {
        text: String,
    },
    /// A command goes on as a job.
    JobBegan {
        job: u32,
        command: String,
    },
    /// A job has ended; see `Event::JobEnded`.
    JobEnded {
        job: u32,
        note: String,
    },
    /// Later requests replace each of these items by one line; see `Event::Trimmed`. Items that the conversation does
    /// not have, and items that are trimmed already, are ignored.
    Trim {
        items: Vec<Trim>,
        tokens: u64,
        told: String,
    },
    /// Begins a compaction, before the next request or while no turn runs: `model` is asked for a summary of the
    /// conversation's first part. `focus` is what the user wants the summary to keep, or empty.
    Compact {
        model: String,
        focus: String,
        told: String,
    },
    /// The model has written the summary.
    Compacted {
        turn: TurnId,
        handoff: Handoff,
        usage: Usage,
        cost: Option<f64>,
    },
    /// The compaction failed: there is no summary. `why` is the sentence for the user. `is_lasting` says that the same
    /// request is likely to fail again.
    NotCompacted {
        turn: TurnId,
        why: String,
        is_lasting: bool,
        usage: Usage,
        cost: Option<f64>,
    },
    /// The user undoes the last compaction.
    Uncompact {
        told: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send the next request to the model, built from the session as it is now.
    Sample { turn: TurnId },
    /// Ask this model for a summary of the conversation's first part.
    Compact { turn: TurnId, model: String, focus: String },
    /// Let these calls pass the gate, and answer with `Input::Admitted`. They may run and have not begun.
    Admit { turn: TurnId, calls: Vec<CallId> },
    /// Let these calls pass the second gate, and answer with `Input::Released`. They have run and are not answered.
    Release { turn: TurnId, calls: Vec<CallId> },
    /// Run one call that reads or is a command. A command may connect to the `opened` hosts, and to the hosts
    /// that the rules allow unless `is_closed`.
    Run { turn: TurnId, call: ToolCall, is_closed: bool, opened: Vec<String> },
    /// Propose the edits of these calls together. If `at_once` is set, they are written before the user has reviewed
    /// them.
    Propose { turn: TurnId, calls: Vec<ToolCall>, at_once: bool },
    /// Begin a worker that this call has ordered.
    Employ { turn: TurnId, call: CallId, worker: WorkerId, order: Order },
    /// Stop a worker, for this reason. The end of the worker follows as an input.
    Dismiss { worker: WorkerId, why: String },
    /// Wait this long, then send `Rested`.
    Rest { turn: TurnId, time: Duration },
    /// Stop all work of the turn.
    Abort { turn: TurnId },
}

#[derive(Debug, Default, PartialEq)]
pub struct Step {
    pub events: Vec<Event>,
    pub effects: Vec<Effect>,
    /// Lines for the log of permissions.
    pub decisions: Vec<String>,
}

/// The event of a note that is no verdict.
pub(super) fn noted(text: String) -> Event {
    Event::Noted { text, call: None }
}
