//! The blocks of the transcript, and what the chat remembers of them.

use super::call_line::Line;
use super::lines::{Shown, Thought};
use super::question::Question;
use super::team::Team;
use super::tool::{Tone, Tool};
use crate::message::{CallId, Inquiry};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// The model's questions that are open.
#[derive(Debug, Default)]
pub(super) struct Asking {
    /// The questions, and the call that asks them.
    pub(super) open: Option<(CallId, Inquiry)>,
    /// The block that shows the next question.
    pub(super) shown: Option<usize>,
}

/// The plan that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) call: CallId,
    /// Whether another plan waited before.
    pub(super) replaces: bool,
    /// The block that says that the plan waits.
    pub(super) shown: Option<usize>,
}

/// A run of calls of one tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    pub(super) name: String,
    /// What the calls are about: `6 files`, and the names of some of them.
    pub(super) count: String,
    pub(super) names: Shown,
    /// The first byte of each of these names but the first.
    pub(super) starts: Vec<usize>,
    pub(super) open: bool,
    pub(super) members: Vec<usize>,
}

impl Run {
    #[cfg(test)]
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    pub(super) fn line(&self) -> Line {
        let mut line = Line::begin("", self.open, &self.name);
        line.push(&format!("  {}  ", self.count));
        line.push_names(&self.names, &self.starts);
        line
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    User,
    Text,
    Thinking,
    /// The place at which the conversation was compacted.
    Boundary,
    Tool,
    Ask,
    /// The block that says that a plan waits for the user.
    Plan,
    Notice,
    Error,
    Intro,
}

/// The most lines of a running command's output that are shown before it ends.
pub(super) const LIVE_LINES: usize = 400;

/// The most lines of an opened result that are painted.
pub(super) const OPEN_LINES: usize = 2000;

/// One block of the transcript.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own")]
pub(super) struct Block {
    pub(super) shape: Shape,
    pub(super) content: Content,
    /// Virtual text at the right end of the block's first line, and its meaning.
    pub(super) right: String,
    pub(super) tone: Tone,
    /// Virtual lines under the block.
    pub(super) below: Vec<String>,
    pub(super) call: Option<CallId>,
    pub(super) done: bool,
    /// Whether an empty line separates the block from the one above.
    pub(super) gap: bool,
    /// Whether the block is left out: a call of a closed run, or the place of a run that has not been folded.
    pub(super) hidden: bool,
    /// Whether the block is a call that is left out because a question says the same.
    pub(super) covered: bool,
    pub(super) sent: Sent,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    /// Text that grows at its end. Blanks and empty lines at the end are not painted until more text follows.
    Stream {
        text: String,
    },
    /// The model's thoughts, painted only while the block is open.
    Thinking {
        text: String,
        open: bool,
        time: Thought,
        /// Whether the thought belongs to a folded run of calls.
        in_run: bool,
    },
    Tool(Box<Tool>),
    /// The line of a folded run of calls. It is hidden until the run is folded.
    Run(Run),
    Question(Box<Question>),
    Lines(Vec<String>),
    /// Why a turn failed, and what to do.
    Failure {
        lines: Vec<String>,
        /// How many bytes at the beginning of each line say why.
        heads: Vec<usize>,
    },
    /// The newest list. Its last lines are items on which keys act.
    List {
        lines: Vec<String>,
        items: u32,
    },
    /// A compaction: the sentence for the user, and the hand-off, which is painted only while the block is open.
    Boundary {
        told: String,
        handoff: String,
        open: bool,
    },
    Gone,
}

/// The part of a block that the editor has painted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) exists: bool,
    /// The number of painted bytes of a stream's text or of a running command's output.
    pub(super) bytes: usize,
    pub(super) current: bool,
    pub(super) done: bool,
}

#[derive(Debug, Default)]
pub struct View {
    pub(super) blocks: Vec<Block>,
    pub(super) dirty: BTreeSet<usize>,
    /// The index of the topmost block that is painted or will be in the next paint. In a long chat the end is painted
    /// first.
    pub(super) top: usize,
    /// The block to which arriving text is added.
    pub(super) live: Option<usize>,
    /// The beginning of an escape sequence whose end has not arrived.
    pub(super) unfinished: String,
    pub(super) calls: HashMap<CallId, usize>,
    /// The blocks of the calls without an answer.
    pub(super) unanswered: BTreeSet<usize>,
    pub(super) inquiry: Asking,
    /// The open question that is about no call of the turn.
    pub(super) consulted: Option<CallId>,
    /// The questions that wait until the one that is shown is answered, by the ids of their calls.
    pub(super) waiting: Vec<(CallId, Question)>,
    pub(super) plan: Option<Waiting>,
    pub(super) workers: Team,
    /// The call that shows the current todo list. Only this call is open unless the user opens others.
    pub(super) todo: Option<usize>,
    /// The blocks of the arriving reply. They are completed or removed when the reply ends.
    pub(super) arriving: Vec<usize>,
    /// The number of calls of the arriving reply so far.
    pub(super) begun: usize,
    /// The blocks whose updates were sent to the editor but not acknowledged yet, each with the state that counts as
    /// painted after the acknowledgement.
    pub(super) out: Vec<(usize, Sent)>,
    pub(super) reset: bool,
}
