//! The chat as blocks of lines, made from the events of a session and the progress between them. The view remembers
//! what the editor has painted, so that only changes are painted.

mod blocks;
mod call_line;
mod calls;
mod diff;
mod inquiry;
mod lines;
mod notes;
mod paint;
mod plan;
mod question;
mod reply;
mod runs;
mod second_person;
mod team;
mod tool;
mod workers;
#[cfg(test)]
mod tests;

pub use crate::text::grouped;
pub use blocks::{Shape, View};
pub use call_line::{CallLine, begun, called};
pub use diff::DiffRows;
pub use lines::{clean, sized, sized_together};
pub use paint::BlockUpdate;
pub use question::Asks;
pub use team::WorkerRow;

use crate::event::{Delta, End, Event, Queued};
use crate::message::{Block as Part, CallId, Message, Role, ToolCall};
use crate::session::{self, Consult, MAX_CALLS, Session, is_over_limit};
use blocks::{Block, Content, Sent};
use std::collections::HashSet;
use tool::Tone;

impl View {
    /// The chat of a session in which no turn runs.
    pub fn of(session: &Session, intro: Vec<String>) -> View {
        let mut view = View::default();
        if session.messages.iter().all(|it| matches!(it.role, Role::System | Role::Note)) {
            view.push_lines(Shape::Intro, intro);
        }
        let over_limit = over_limit(session);
        for message in &session.messages {
            view.message(message, &over_limit);
        }
        session
            .notes
            .iter()
            .map(|it| &it.text)
            .chain(session.ends_of_jobs())
            .for_each(|it| view.noted(it));
        view.recall_workers(&session.workers);
        view.inquire(session.inquiry());
        if let Some(call) = session.planning.waiting() {
            view.plan_waits(call);
            view.show_plan();
        }
        if let Some(Consult { id, about, question, offer }) = &session.consult {
            view.consulted(id, *about, question, offer);
        }
        view.fold_last();
        view.repaint();
        view
    }

    fn message(&mut self, message: &Message, over_limit: &HashSet<&CallId>) {
        match message.role {
            Role::System => (),
            Role::Note => self.told(&message.blocks),
            Role::User => {
                for block in &message.blocks {
                    if let Part::Answer(answer) = block {
                        self.answered(answer, None);
                    }
                }
                for block in &message.blocks {
                    if let Part::Notice { text, .. } = block {
                        self.noted(text);
                    }
                }
                let files = message.blocks.iter().filter_map(|it| match it {
                    Part::Excerpt(it) => Some(it),
                    _ => None,
                });
                self.instructed(files);
                self.user(&message.blocks);
            }
            Role::Assistant => {
                let is_taken = |it: &&ToolCall| !over_limit.contains(&it.id);
                let taken = calls(&message.blocks).filter(is_taken).count();
                self.reply(&message.blocks, taken, None);
            }
        }
    }

    /// Shows an event. `now_ms` is any monotonic clock, in milliseconds.
    pub fn event(&mut self, event: &Event, now_ms: u64) {
        match event {
            Event::Prompted { message, .. } | Event::Steered { message, .. } => {
                self.prompted(message);
            }
            Event::Replied { reply, .. } => self.replied(reply, now_ms),
            Event::Asked { call, question, offer, .. } => self.asked(call, question, offer),
            Event::Limited { id, question, .. } => self.limited(id, question),
            Event::Consulted { id, about, question, offer } => {
                self.consulted(id, *about, question, offer);
            }
            Event::Delegated { call, session, .. } => self.delegated(call, session),
            Event::Worker(event) => self.worker(event),
            Event::Chose { .. } | Event::Unanswered { .. } => self.responded(event),
            Event::PlanSubmitted { .. } | Event::PlanDecided { .. } => self.planned(event),
            Event::Ruled { call, ruling, .. } => self.ruled(call, ruling),
            Event::Changed { call, command, .. } => self.changed_by_user(call, command),
            Event::Started { call, .. } => self.started(call, now_ms),
            Event::Proposed { call, what, diff, .. } => self.proposed(call, *what, diff.as_deref()),
            Event::Answered { answer, .. } => self.answered_now(answer, now_ms),
            Event::Judged { call, summary, failed } => self.judged(call, summary, *failed),
            Event::Stood { told, .. } => told.iter().for_each(|it| self.stood(it)),
            Event::Instructed { files } => self.instructed(files),
            Event::Noted { text, .. } => self.noted_now(text),
            Event::Told { text } | Event::JobEnded { note: text, .. } => self.notice(text),
            Event::Reminded { tool, .. } => self.notice(&session::reminded(tool)),
            Event::Listed { text, items } => self.list(text, *items),
            // no block shows that a retry waits, because the editor itself shows the countdown
            Event::Retried { .. } | Event::ThoughtsDropped { .. } => self.take_back(),
            Event::ModelChosen { model, tuning } => self.model_chosen(model, *tuning),
            Event::SystemChosen { .. } => self.notice(notes::RENEWED),
            Event::ModeChosen { mode } => self.mode_chosen(*mode),
            Event::Trimmed { .. }
            | Event::Compacting { .. }
            | Event::Compacted { .. }
            | Event::NotCompacted { .. }
            | Event::Uncompacted { .. } => self.shortened(event),
            Event::Ended { why, .. } => self.ended(why),
            Event::Opened { .. }
            | Event::AgentChosen { .. }
            | Event::Marked { .. }
            | Event::Addressed { .. }
            | Event::Assigned { .. }
            | Event::ChildSpent { .. }
            | Event::Revoked { .. }
            | Event::JobBegan { .. }
            | Event::Titled { .. }
            | Event::Named(_)
            | Event::Spent { .. }
            | Event::Measured { .. }
            | Event::Unsaved { .. }
            | Event::Untold { .. }
            | Event::Reviewed { .. }
            | Event::Knew { .. }
            | Event::Queued { .. }
            | Event::Unqueued { .. }
            | Event::Needed { .. } => (),
        }
    }

    /// Shows progress between two events. `now_ms` is the same clock as for `event`.
    pub fn delta(&mut self, delta: &Delta, now_ms: u64) {
        match delta {
            Delta::Text(text) => self.grow(text, false, now_ms),
            Delta::Thinking(text) => self.grow(text, true, now_ms),
            Delta::WasThought { .. } => self.take_for_thought(),
            Delta::CallBegun { id, tool } => {
                self.close_live(Some(now_ms));
                self.begun += 1;
                if self.begun <= MAX_CALLS {
                    let at = self.push_tool(id.clone(), tool, None, None);
                    self.arriving.push(at);
                }
            }
            Delta::Output { call, text } => self.output(call, text),
            Delta::Doing { call, line } => self.doing(call, line),
            Delta::Working { worker, line, requests, tokens } => {
                self.working(*worker, line, (*requests, *tokens));
            }
            Delta::Searched(it) => {
                self.close_live(Some(now_ms));
                let at = self.push_search(it);
                self.arriving.push(at);
            }
            Delta::Alive => (),
        }
    }

    /// Opens or closes the folded part of a block. In a question, opens the fold at this line of the block.
    pub fn toggle(&mut self, id: u32, line: u32) {
        let at = id as usize;
        let Some(block) = self.blocks.get_mut(at) else { return };
        match &mut block.content {
            Content::Thinking { open, .. } | Content::Boundary { open, .. } => *open = !*open,
            Content::Tool(tool) => tool.toggle(),
            Content::Run(_) => self.toggle_run(at),
            Content::Question(question) => {
                let line = (line as usize).checked_sub(usize::from(block.gap));
                if !line.is_some_and(|it| question.open(it)) {
                    return;
                }
            }
            Content::Stream { .. }
            | Content::Lines(_)
            | Content::Failure { .. }
            | Content::List { .. }
            | Content::Gone => return,
        }
        self.changed(at);
    }

    fn prompted(&mut self, message: &Queued) {
        self.forget_inquiry();
        self.hide_plan();
        self.end_intro();
        let mut blocks: Vec<Part> = message.context.iter().cloned().map(Part::Excerpt).collect();
        blocks.push(Part::Text { text: message.text.clone() });
        self.user(&blocks);
    }

    fn user(&mut self, blocks: &[Part]) {
        let (lines, below) = lines::user(blocks);
        if lines.is_empty() && below.is_empty() {
            return;
        }
        let at = self.push_lines(Shape::User, lines);
        self.blocks[at].below = below;
    }

    fn ended(&mut self, why: &End) {
        self.forget_question(None);
        self.settle_rows();
        let arriving = self.take_arriving();
        self.remove_unfinished(arriving);
        self.close_live(None);
        for at in std::mem::take(&mut self.unanswered) {
            let block = &mut self.blocks[at];
            let Content::Tool(tool) = &mut block.content else { continue };
            tool.open = false;
            tool.if_unanswered.clone_into(&mut block.right);
            block.tone = tool.if_unanswered_tone();
            block.done = true;
            self.changed(at);
        }
        if let End::Failed(failure) = why {
            let (what, next) = failure.sentences();
            let mut lines = lines::notice(&what);
            let heads = lines.iter().map(String::len).collect();
            if let Some(last) = lines.last_mut() {
                last.push_str(&format!(" {next}"));
            }
            let at = self.push(Shape::Error, Content::Failure { lines, heads });
            self.blocks[at].done = true;
        } else if let Some(text) = crate::session::ending(why) {
            self.push_lines(Shape::Notice, lines::notice(&text));
        }
        if self.consulted.is_none() {
            self.show_inquiry();
        }
        self.show_plan();
        self.fold_last();
    }

    fn push_lines(&mut self, shape: Shape, lines: Vec<String>) -> usize {
        let at = self.push(shape, Content::Lines(lines));
        self.blocks[at].done = true;
        at
    }

    fn push(&mut self, shape: Shape, content: Content) -> usize {
        let at = self.blocks.len();
        self.blocks.push(Block {
            shape,
            content,
            right: String::new(),
            tone: Tone::Plain,
            below: Vec::new(),
            call: None,
            done: false,
            gap: false,
            hidden: false,
            covered: false,
            sent: Sent::default(),
        });
        self.blocks[at].gap = self.has_gap(at);
        self.dirty.insert(at);
        self.fold_above(at);
        at
    }

    fn remove(&mut self, at: usize) {
        self.blocks[at].content = Content::Gone;
        self.changed(at);
        self.close_gap(at);
        self.fold_above(at);
    }

    fn changed(&mut self, at: usize) {
        self.blocks[at].sent.current = false;
        self.dirty.insert(at);
    }
}

fn calls(blocks: &[Part]) -> impl Iterator<Item = &ToolCall> {
    blocks.iter().filter_map(|it| match it {
        Part::Call(call) => Some(call),
        _ => None,
    })
}

/// The calls of a session that were not run because they exceeded the limit of one reply.
fn over_limit(session: &Session) -> HashSet<&CallId> {
    let blocks = session.messages.iter().flat_map(|it| &it.blocks);
    let over_limit = blocks.filter_map(|it| match it {
        Part::Answer(answer) if is_over_limit(answer) => Some(&answer.id),
        _ => None,
    });
    over_limit.collect()
}
