//! What comes into a session, and what the session asks to be done outside.

use crate::event::{
    Awaited, Event, Failure, Grant, Handoff, Measure, Mode, Named, Plan, Ruling, Trim, Tuning,
    TurnId,
};
use crate::message::{CallId, Excerpt, Reply, ToolAnswer, ToolCall, Usage};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Opens a fresh session.
    Open {
        system: String,
        instructions: Vec<Excerpt>,
        model: String,
        root: PathBuf,
    },
    /// The session gets a mark for the tags around strangers' texts.
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
    /// The user sends a message that has been held since the session was opened; without an id, all held messages.
    SendHeld {
        id: Option<u32>,
    },
    /// The session was loaded from the disk; the mode is the user's setting.
    Resume {
        mode: Mode,
    },
    /// The user stops the turn. `partial` is the part of the reply that had arrived.
    Cancel {
        partial: Option<Reply>,
    },
    /// The user stops the turn while edits are on their way to the editor. `landed` tells how far they got. No call
    /// begins any more.
    Stop {
        landed: Vec<Input>,
    },
    /// The editor or the program ends, or has ended, in mid-turn. `partial` is the part of the reply that had
    /// arrived.
    Leave {
        partial: Option<Reply>,
    },
    Rule {
        call: CallId,
        ruling: Ruling,
    },
    /// The user answers a question about a command with another command, which is judged anew.
    Change {
        call: CallId,
        command: String,
    },
    /// The user takes back what they had allowed for the session.
    Revoke {
        grant: Grant,
    },
    Replied {
        turn: TurnId,
        reply: Reply,
        plans: Vec<Plan>,
    },
    /// The request failed; `by` is the model that was asked, `dice` (0..1000) the jitter of a retry's wait.
    Failed {
        turn: TurnId,
        failure: Failure,
        by: String,
        partial: Option<Reply>,
        dice: u32,
    },
    /// The provider refused something that the request can do without: it is sent again at once, without it. `told`
    /// is the sentence for the user, if it is news.
    Repeat {
        turn: TurnId,
        told: Option<String>,
    },
    /// The pause before a retry is over, or the user wants it now.
    Rested {
        turn: TurnId,
    },
    Entered {
        turn: TurnId,
        call: CallId,
        path: PathBuf,
        what: Awaited,
    },
    /// All changes of the call are in their buffers, in a mode that writes them at once. Each flag says whether the
    /// file was written.
    Applied {
        files: Vec<(PathBuf, bool)>,
        answer: ToolAnswer,
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
    /// A review is settled. `answers` are those of its calls, during their turn or long after it.
    Reviewed {
        path: PathBuf,
        answers: Vec<ToolAnswer>,
    },
    /// The editor that had this file under review is gone, and the proposed text with it.
    ReviewLost {
        path: PathBuf,
    },
    /// The user has agreed to text in the buffers of these files that is not on disk.
    Unsaved {
        paths: Vec<String>,
    },
    /// Asks the user whether the project's instructions may be used.
    Consult {
        id: CallId,
        question: String,
    },
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
    ChooseMode {
        mode: Mode,
    },
    /// What a reply cost, in USD; `None` where the price is not known.
    Spend {
        cost: Option<f64>,
    },
    /// What the provider counted for a request to this model.
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
    /// What the model knows of a file now; see `Event::Knew`.
    Know {
        path: PathBuf,
        hash: Option<String>,
    },
    /// The user's own title.
    Title {
        title: String,
    },
    /// A model's title for the conversation. `of` is the title that the conversation had when the model was asked.
    Name {
        of: String,
        named: Named,
    },
    /// Something to tell the model with the next request.
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
    /// Later requests name these items in one line each; see `Event::Trimmed`. Items that the conversation does not
    /// have, or that are trimmed already, are left out.
    Trim {
        items: Vec<Trim>,
        tokens: u64,
        told: String,
    },
    /// Asks this model for a summary of the conversation's first part, before the next request or while no turn runs.
    /// `focus` is the user's own wish for the summary, or empty.
    Compact {
        model: String,
        focus: String,
        told: String,
    },
    /// The summary that was asked for.
    Compacted {
        turn: TurnId,
        handoff: Handoff,
        usage: Usage,
        cost: Option<f64>,
    },
    /// There is no summary. `why` is the sentence for the user.
    NotCompacted {
        turn: TurnId,
        why: String,
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
    /// Ask the model: build the request from the session as it is now.
    Sample { turn: TurnId },
    /// Ask this model for a summary of the conversation's first part.
    Compact { turn: TurnId, model: String, focus: String },
    /// Run one read or command.
    Run { turn: TurnId, call: ToolCall },
    /// Resolve and propose these edits together, to be written before the user has reviewed them if `at_once`.
    Propose { turn: TurnId, calls: Vec<ToolCall>, at_once: bool },
    /// Wait this long, then send `Rested`.
    Rest { turn: TurnId, time: Duration },
    /// End all work of the turn.
    Abort { turn: TurnId },
}

#[derive(Debug, Default, PartialEq)]
pub struct Step {
    pub events: Vec<Event>,
    pub effects: Vec<Effect>,
    /// Lines for the log of permissions.
    pub decisions: Vec<String>,
}
