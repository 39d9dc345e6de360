//! Turns changed blocks into updates for the editor.

use super::blocks::{Block, Content, OPEN_LINES, Sent, Shape, View};
use super::call_line::{CallLine, Line, opened, tool as call_line};
use super::diff::{self, DiffRows};
use super::lines;
use super::question::{Asks, Question};
use super::team::WorkerRow;
use super::tool::{Tone, Tool};
use crate::message::CallId;
use serde::Serialize;

/// The most bytes of one paint message. A larger one would delay the keys that the user types.
const PIECE: usize = 8 * 1024;
/// The most bytes of one paint message with blocks above all painted ones. These blocks are complete and not visible,
/// so painting them takes the editor little time.
const ABOVE: usize = 32 * 1024;
/// The most characters of one line of an opened thought. The whole thought is painted again each time it grows.
const THOUGHT: usize = 8 * 1024;
/// The number of bytes that a block without text is counted as in a paint message.
const BLOCK: usize = 64;

/// A change to one block of the transcript. An unknown `id` is a new block; blocks are in the order of their ids. A
/// block's lines include the empty line that separates the block from the one above, if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the message on its own")]
pub struct BlockUpdate {
    pub id: u32,
    pub shape: Shape,
    /// The index in the block of the first line that `lines` replaces.
    pub at: u32,
    /// The block's lines from `at` to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<String>>,
    /// Text to append at the block's end; it may contain newlines. Sent instead of `lines`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append: Option<String>,
    /// Whether the block is complete: nothing more will be appended, so its last line may be highlighted.
    #[serde(rename = "final")]
    pub done: bool,
    /// Virtual text at the right end of the block's first line that is not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<String>,
    /// Virtual lines under the block: the context of a user's message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Vec<String>>,
    /// In a question, the call that it is about; in a call whose changes wait for the user or have been
    /// under review, its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// In a call or a folded run of calls: the parts of its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_line: Option<CallLine>,
    /// In a call, the session in which a subagent works on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// In a call, the workers that it has ordered. Each has one of the lines below the call's own, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerRow>,
    /// In an opened edit, the lines that are diffs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<DiffRows>,
    /// In a question, the indices of the lines that are folds. The user can consent only when all folds are open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<Vec<u32>>,
    /// In a question, the parts of its lines that the user decides on: for each the index of the line, its first byte
    /// and the byte after its last. The rest of the question is dim. In an error, the parts that tell why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subject: Vec<(u32, u32, u32)>,
    /// Whether these parts are a command for a shell.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shell: bool,
    /// Whether a question offers to store a rule.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
    /// Whether a question can be explained.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub explains: bool,
    /// In a question, the command that the user may change.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// In a question of the model: its place and its options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<Asks>,
    /// In a list on whose items keys act, the number of items. They are the block's last lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<u32>,
    /// Whether the block is removed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
}

impl BlockUpdate {
    /// An update of this block without any change.
    fn none(at: usize, block: &Block) -> BlockUpdate {
        BlockUpdate {
            id: u32::try_from(at).unwrap_or(u32::MAX),
            shape: block.shape,
            at: 0,
            lines: None,
            append: None,
            done: block.done,
            right: None,
            below: None,
            call: None,
            call_line: None,
            session: None,
            workers: Vec::new(),
            diff: Vec::new(),
            folds: None,
            subject: Vec::new(),
            shell: false,
            always: false,
            explains: false,
            command: String::new(),
            asks: None,
            items: None,
            remove: false,
        }
    }

    /// Adds the subagents that work for a call.
    fn lead(&mut self, tool: &Tool) {
        self.session.clone_from(&tool.session);
        self.workers.clone_from(&tool.rows);
    }

    /// Adds what the editor has to know about a question. `gap` says whether an empty line is above it.
    fn ask(&mut self, question: &Question, gap: bool) {
        let above = u32::from(gap);
        self.folds = Some(question.closed().map(|it| it + above).collect());
        self.subject = question.subject().map(|(n, from, to)| (n + above, from, to)).collect();
        self.shell = question.is_shell;
        self.always = question.proposes_rule();
        self.explains = question.explains();
        self.command.clone_from(&question.command);
        self.asks = question.asks();
    }
}

impl View {
    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty() || self.reset
    }

    /// Whether there are blocks above the painted ones that still have to be painted.
    pub fn is_above(&self) -> bool {
        self.top > 0
    }

    /// The next updates, with at most about `PIECE` bytes together, and whether the transcript has to be emptied first.
    /// Blocks above the painted ones come last, from the bottom to the top. The updates count as painted only after
    /// `acknowledge`.
    pub fn take(&mut self) -> (bool, Vec<BlockUpdate>) {
        let mut updates = Vec::new();
        let mut room = PIECE;
        if self.dirty.range(self.top..).next().is_none() {
            room = ABOVE;
            self.top = self.above(self.top, ABOVE);
        }
        self.out.clear();
        for at in self.dirty.range(self.top..).copied() {
            if room == 0 {
                break;
            }
            if let Some((update, sent, size)) = update(at, &self.blocks[at], room) {
                room = room.saturating_sub(size.max(BLOCK));
                updates.push(update);
                self.out.push((at, sent));
            } else {
                self.out.push((at, self.blocks[at].sent));
            }
        }
        (self.reset, updates)
    }

    /// Marks the last updates as painted by the editor.
    pub fn acknowledge(&mut self) {
        self.reset = false;
        for (at, sent) in std::mem::take(&mut self.out) {
            let block = &mut self.blocks[at];
            block.sent = sent;
            if is_painted(block) {
                self.dirty.remove(&at);
            }
        }
    }

    /// Paints everything again, because the editor lost the transcript.
    pub fn repaint(&mut self) {
        self.reset = true;
        self.top = self.above(self.blocks.len(), PIECE);
        self.out.clear();
        for (at, block) in self.blocks.iter_mut().enumerate() {
            block.sent = Sent::default();
            if block.is_shown() {
                self.dirty.insert(at);
            }
        }
    }
}

impl View {
    /// The index of the first of the blocks before `end` that have about this many bytes together.
    pub(super) fn above(&self, end: usize, bytes: usize) -> usize {
        let mut room = bytes;
        let mut top = end;
        while top > 0 && room > 0 {
            top -= 1;
            let size = match &self.blocks[top].content {
                Content::Stream { text } => text.len(),
                Content::Lines(lines)
                | Content::Failure { lines, .. }
                | Content::List { lines, .. } => lines.iter().map(String::len).sum(),
                Content::Thinking { .. }
                | Content::Boundary { .. }
                | Content::Tool(_)
                | Content::Run(_)
                | Content::Question(_)
                | Content::Gone => 0,
            };
            room = room.saturating_sub(size + BLOCK);
        }
        top
    }
}

/// The next update of a block, the block's state after the update, and the update's size in bytes. `None` if nothing
/// changes.
fn update(at: usize, block: &Block, room: usize) -> Option<(BlockUpdate, Sent, usize)> {
    let mut update = BlockUpdate::none(at, block);
    if !block.is_shown() {
        update.remove = true;
        return block.sent.exists.then_some((update, Sent::default(), BLOCK));
    }
    let mut sent = Sent { exists: true, ..block.sent };
    match &block.content {
        Content::Stream { text } => {
            let piece = piece(text, block.sent.bytes, room);
            if piece.is_empty() && block.sent.exists && block.sent.done == block.done {
                return None;
            }
            let gap = if block.sent.exists || !block.gap { "" } else { "\n" };
            sent.bytes += piece.len();
            update.done = block.done && sent.bytes == shown(text);
            update.append = Some(format!("{gap}{piece}"));
        }
        Content::Tool(tool) if block.sent.exists && block.sent.current => {
            let rest = lines::indented(tool.live.get(block.sent.bytes..).unwrap_or_default());
            if rest.is_empty() {
                return None;
            }
            sent.bytes = tool.live.len();
            update.append = Some(rest);
        }
        content => {
            let Painted { whole, live, line, diff } = painted(block);
            update.call_line = line.map(|it| block.parts(&it));
            update.diff = diff;
            if let Content::Question(question) = content {
                update.ask(question, block.gap);
            }
            if let Content::Tool(tool) = content {
                update.lead(tool);
            }
            if let Content::List { items, .. } = content {
                update.items = Some(*items);
            }
            if let Content::Failure { heads, .. } = content {
                update.subject = failed(heads, block.gap);
            }
            sent.bytes = live;
            sent.current = true;
            update.lines = Some(whole);
            update.right = Some(block.right.clone());
            if !block.below.is_empty() {
                update.below = Some(block.below.clone());
            }
            update.call = block.about().map(|it| it.0.clone());
        }
    }
    sent.done = update.done;
    let size = update.append.as_ref().map_or(0, String::len)
        + update.lines.iter().flatten().map(|it| it.len() + 2).sum::<usize>();
    Some((update, sent, size))
}

/// The parts of an error's lines that say why. `heads` are their lengths in bytes.
fn failed(heads: &[usize], gap: bool) -> Vec<(u32, u32, u32)> {
    let byte = |it: &usize| u32::try_from(*it).unwrap_or(u32::MAX);
    (u32::from(gap)..).zip(heads).map(|(n, it)| (n, 0, byte(it))).collect()
}

/// All lines of a block whose text does not grow.
struct Painted {
    whole: Vec<String>,
    /// How many bytes of a running command's output the lines show.
    live: usize,
    /// The line of a call or of a run.
    line: Option<Line>,
    /// Which of the lines are diffs.
    diff: Vec<DiffRows>,
}

impl Block {
    /// The call that a question is about, or whose changes wait for the user or have been under review.
    fn about(&self) -> Option<&CallId> {
        let is_changing = |it: &Tool| self.tone == Tone::Waits || !it.diff.is_empty();
        let changing = || match &self.content {
            Content::Tool(tool) if is_changing(tool) => tool.call.as_ref().map(|it| &it.id),
            _ => None,
        };
        self.call.as_ref().or_else(changing)
    }

    /// The parts of the block's own line, which is a call's or a run's.
    fn parts(&self, line: &Line) -> CallLine {
        let (failed, waits) = (self.tone == Tone::Failed, self.tone == Tone::Waits);
        let parts = CallLine { failed, waits, ..line.parts() };
        let Content::Tool(tool) = &self.content else { return parts };
        CallLine {
            is_whole: tool.open && tool.answer.is_some(),
            began: tool.began_ms.filter(|_| self.tone == Tone::Running),
            ..parts
        }
    }
}

fn painted(block: &Block) -> Painted {
    let mut whole = if block.gap { vec![String::new()] } else { Vec::new() };
    let (mut live, mut line, mut rows) = (0, None, Vec::new());
    match &block.content {
        Content::Lines(lines) | Content::Failure { lines, .. } | Content::List { lines, .. } => {
            whole.extend(lines.iter().cloned());
        }
        Content::Question(question) => whole.extend(question.lines()),
        Content::Thinking { text, open, time, in_run } => {
            let indent = if *in_run { "  " } else { "" };
            whole.push(format!("{indent}{}", lines::thought(*open, *time)));
            if *open {
                let lines = text.trim_end().lines().take(OPEN_LINES);
                whole.extend(lines.map(|it| format!("{indent}  {}", lines::clip(it, THOUGHT))));
            }
        }
        Content::Boundary { told, handoff, open } => {
            whole.push(lines::boundary(*open, told));
            if *open {
                let lines = handoff.trim_end().lines().take(OPEN_LINES);
                whole.extend(lines.map(|it| format!("  {}", lines::clip(it, THOUGHT))));
            }
        }
        Content::Tool(tool) => {
            let own = call_line(tool);
            whole.push(own.text.clone());
            line = Some(own);
            whole.extend(tool.rows().iter().map(|it| it.line.clone()));
            // the lines about workers say more than the answer, which only says that the workers have begun
            if tool.open && tool.rows.is_empty() {
                let (diff, found) = diff::shown(tool, whole.len());
                rows = found;
                whole.extend(opened(tool, diff, OPEN_LINES));
                live = tool.live.len();
            }
        }
        Content::Run(run) => {
            let own = run.line();
            whole.push(own.text.clone());
            line = Some(own);
        }
        Content::Stream { .. } | Content::Gone => (),
    }
    Painted { whole, live, line, diff: rows }
}

/// The next piece of a growing text: complete characters, if possible complete lines, without blanks at the end.
fn piece(text: &str, from: usize, room: usize) -> &str {
    let to = shown(text);
    let mut end = to.min(from + room);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if end < to
        && let Some(line) = text.get(from..end).and_then(|it| it.rfind('\n')).filter(|it| *it > 0)
    {
        end = from + line;
    }
    text.get(from..end).unwrap_or_default()
}

/// The length of a text without the blanks and empty lines at its end, which are not painted until more text follows.
fn shown(text: &str) -> usize {
    text.trim_end().len()
}

fn is_painted(block: &Block) -> bool {
    match &block.content {
        _ if !block.is_shown() => !block.sent.exists,
        Content::Stream { text } => {
            block.sent.exists && block.sent.bytes >= shown(text) && block.sent.done == block.done
        }
        Content::Tool(tool) => {
            block.sent.current && (!tool.open || block.sent.bytes >= tool.live.len())
        }
        Content::Lines(_)
        | Content::Failure { .. }
        | Content::List { .. }
        | Content::Question(_)
        | Content::Boundary { .. }
        | Content::Run(_)
        | Content::Gone
        | Content::Thinking { .. } => block.sent.current,
    }
}
