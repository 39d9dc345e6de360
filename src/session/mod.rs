//! One conversation as a state machine without input or output of its own. Inputs become events, events change the
//! state, and work that has to be done outside is returned as effects. `step` decides which events follow from an
//! input; only `apply` (in `fold`) changes the state.

mod acting;
mod audit;
mod changed;
mod claims;
mod children;
mod compact;
mod consult;
mod failing;
mod fold;
mod fork;
mod gate;
pub mod handoff;
mod input;
mod inquiry;
mod jobs;
mod last_call;
mod limits;
mod narrow;
mod plan;
mod queue;
mod repeat;
mod say;
mod spending;
mod state;
mod stored;
mod taint;
mod title;
mod trim;
mod unattended;
mod under_review;
mod undo;
mod workers;
mod wrote;
#[cfg(test)]
mod tests;

pub use fork::Cut;
pub use input::{Effect, Entry, Input, Response, Step, WorkerInput};
pub use limits::{Limit, Limits};
pub use say::{
    MAY_DIFFER, NO_ANSWER, NOT_KNOWN, PLAN_REPLACED, SUBAGENT, ending, is_dropped_plan,
    is_for_both, is_over_limit, mode_of,
};
pub use state::{Consult, Exposure, Open, Phase, Session, State, Unattended};
pub use title::{title, width};
pub use unattended::ending_alone;
pub use under_review::{UNDER_REVIEW, is_before_verdict};
pub use undo::Prompt;
pub use workers::{WORKER_REQUESTS, Workers, has_run_out, is_coordinating, is_held};
pub use wrote::reminded;

use crate::event::{Awaited, End, Event, Named, Plan, Queued, TurnId};
use crate::message::{Block, Excerpt, ExcerptKind, Message, Reply, Role, Stop};
use std::path::PathBuf;

/// The most requests of one turn. A turn that reaches this number is stopped, and the user is told.
pub const MAX_REQUESTS: u32 = 100;
/// The most calls of one reply that are run. A model that works properly makes a few dozen at most. More calls are a
/// fault of the model, or somebody's attempt to keep the machine busy.
pub const MAX_CALLS: usize = 200;
/// The most reads of one reply that run at the same time, because each may have a file of 50 MB in memory.
const MAX_READS: usize = 16;
/// The most subagents of a conversation that work at the same time. The tasks of the others wait.
const MAX_CHILDREN: usize = 4;
/// How many times in a row a reply that the provider paused is sent back to be continued.
const MAX_PAUSES: usize = 10;
/// A call that has had the same answer this many times is refused. At `LOOP_END` the turn ends.
const LOOP_REFUSED: usize = 3;
const LOOP_END: usize = 5;

impl Session {
    /// Turns an input into events and effects. Results that arrive after their turn has ended change nothing.
    pub fn step(&mut self, input: Input) -> Step {
        let mut step = Step::default();
        match input {
            Input::Log { decisions } => step.decisions.extend(decisions),
            Input::Send { text, context, steer } => self.send(text, context, steer, &mut step),
            Input::SendHeld { id } => self.send_held(id, &mut step),
            Input::Resume { mode } => self.resume(mode, &mut step),
            Input::Unqueue { id } => self.take_back(id, &mut step),
            Input::Stop { landed } => self.stop(landed, &mut step),
            Input::Cancel { partial } => self.break_off(partial, End::Cancelled, &mut step),
            Input::End { partial, why } => {
                self.break_off(partial, End::Stopped(why), &mut step);
            }
            Input::Part => self.break_off(None, End::Copied, &mut step),
            Input::Leave { partial } => self.break_off(partial, End::Interrupted, &mut step),
            it @ (Input::Rule { .. }
            | Input::Change { .. }
            | Input::Needed { .. }
            | Input::LeaveReview) => self.ruled(it, &mut step),
            it @ (Input::Replied { .. } | Input::Wrote { .. }) => self.take_reply(it, &mut step),
            Input::Failed { turn, failure, by, partial, dice } if self.is_sampling(turn) => {
                self.failed(turn, (failure, by), partial, dice, &mut step);
            }
            Input::Repeat { turn, told } => self.repeat(turn, told, &mut step),
            Input::Rested { turn } => self.rested(turn, &mut step),
            it @ (Input::Admitted { .. } | Input::Released { .. }) => self.passed(it, &mut step),
            Input::Entered { turn, entry } => self.entered(turn, entry, &mut step),
            Input::Landed { turn } => self.landed(turn, &mut step),
            it @ (Input::Applied { .. } | Input::Reviewed { .. }) => self.edited(it, &mut step),
            Input::Answered { turn, answer } if self.is_running(turn, &answer.id) => {
                self.has_run(turn, answer, &mut step);
            }
            Input::Unreviewed { turn, call, path } => self.unreviewed(turn, &call, path, &mut step),
            Input::Unrecorded { turn, call, why } => self.unrecorded(turn, call, &why, &mut step),
            Input::Stood { turn, files } => self.stood(turn, &files, &mut step),
            Input::Left(rest) => self.rest = rest,
            Input::ReviewLost { path } => self.review_lost(path, &mut step),
            Input::ReviewedAgain { path, calls } => self.reviewed_again(&path, calls, &mut step),
            Input::Unsaved { paths } => self.note_unsaved(paths, &mut step),
            Input::ChooseMode { mode } if mode != self.mode => self.choose_mode(mode, &mut step),
            Input::Consult(consult) => self.consult(consult, &mut step),
            it @ Input::Respond { .. } => self.respond(it, &mut step),
            Input::Withdraw { id } => self.withdraw(&id, &mut step),
            it @ (Input::Assign { .. } | Input::Delegated { .. } | Input::ChildSpent { .. }) => {
                self.delegated(it, &mut step);
            }
            Input::Worker(it) => self.take_worker(it, &mut step),
            Input::DecidePlan { call, verdict } => self.decide_plan(&call, verdict, &mut step),
            Input::Know { path, hash } => self.know(path, hash, &mut step),
            Input::Name { of, named } => self.name(&of, named, &mut step),
            it @ (Input::Trim { .. }
            | Input::Compact { .. }
            | Input::Compacted { .. }
            | Input::NotCompacted { .. }
            | Input::Uncompact { .. }) => self.shorten(it, &mut step),
            it => self.note_down(it, &mut step),
        }
        step
    }

    /// Records an input that is a fact by itself. Any other input comes too late and changes nothing.
    fn note_down(&mut self, input: Input, step: &mut Step) {
        let event = match input {
            Input::Open { system, instructions, model, root } => {
                Event::Opened { system, instructions, model, root }
            }
            Input::ChooseAgent { profile } => Event::AgentChosen { profile },
            Input::Mark { mark } => Event::Marked { mark },
            Input::Revoke { grant } => Event::Revoked { grant },
            Input::ChooseModel { model, tuning } => Event::ModelChosen { model, tuning },
            Input::Address { to } => Event::Addressed { to },
            Input::Tell { text } => Event::Told { text },
            Input::List { text, items } => Event::Listed { text, items },
            Input::Spend { cost } => Event::Spent { cost },
            Input::Measure { model, measure } => Event::Measured { model, measure },
            Input::Instruct { files } => Event::Instructed { files },
            Input::Untell { path } => Event::Untold { path },
            Input::Note { text } => input::noted(text),
            Input::JobBegan { job, command } => Event::JobBegan { job, command },
            Input::JobEnded { job, note } if self.runs(job) => Event::JobEnded { job, note },
            Input::ChooseSystem { system, instructions } if self.phase == Phase::Idle => {
                Event::SystemChosen { system, instructions }
            }
            Input::Title { title } => Event::Titled { title },
            _ => return,
        };
        self.record(event, step);
    }

    /// The excerpts of a kind that the model has or gets with the next request, in order.
    pub fn given(&self, kind: ExcerptKind) -> impl Iterator<Item = &Excerpt> {
        let left_out = self.compaction().map_or(&[][..], |it| &it.left_out);
        let from = self.beginning();
        let has = move |at: usize, message: &Message, it: &Excerpt| {
            at >= from || message.role == Role::System || !left_out.contains(&it.path)
        };
        let given = self.messages.iter().enumerate().flat_map(move |(at, message)| {
            message.blocks.iter().filter_map(move |it| match it {
                Block::Excerpt(it) if has(at, message, it) => Some(it),
                _ => None,
            })
        });
        given.chain(&self.instructions).filter(move |it| it.kind == kind)
    }

    /// The running turn.
    pub fn turn(&self) -> Option<TurnId> {
        match &self.phase {
            Phase::Idle => None,
            Phase::Sampling { turn, .. }
            | Phase::Resting { turn, .. }
            | Phase::Limited { turn, .. }
            | Phase::Compacting { turn, .. }
            | Phase::Acting { turn, .. } => Some(*turn),
        }
    }

    /// The calls of the last reply that are run, each with its state.
    pub fn open(&self) -> &[Open] {
        match &self.phase {
            Phase::Acting { open, .. } => open,
            _ => &[],
        }
    }

    /// The call about which the user is being asked.
    pub fn asking(&self) -> Option<&Open> {
        self.open().iter().find(|it| matches!(it.state, State::Asking { .. }))
    }

    /// Whether the turn waits only for the user's review.
    pub fn awaits_review_only(&self) -> bool {
        let mut reviewing = false;
        for it in self.open() {
            match it.state {
                _ if it.result.is_some() => return false,
                State::Reviewing { .. } => reviewing = true,
                State::Done(_) => (),
                State::Ready if it.access.acts() => (),
                _ => return false,
            }
        }
        reviewing
    }

    fn prompt_next(&mut self, step: &mut Step) {
        if self.is_held() {
            return;
        }
        let Some(message) = self.next_message().cloned() else { return };
        let message = self.without_repeats(self.answering(message));
        let turn = TurnId(self.turns.saturating_add(1));
        self.record(Event::Prompted { turn, message }, step);
        self.sample(turn, step);
    }

    /// Ends the turn and answers its open calls. Nothing of the turn is continued later.
    fn break_off(&mut self, partial: Option<Reply>, why: End, step: &mut Step) {
        if self.leave_compaction(&why, step) {
            return;
        }
        let Some(turn) = self.turn() else { return };
        step.effects.push(Effect::Abort { turn });
        self.keep(turn, partial, step);
        self.answer_all_that_ran(turn, step);
        let is_stopped = why == End::Cancelled;
        self.record(Event::Ended { turn, why }, step);
        if let Some(text) = say::jobs_go_on(self.running_jobs().count()).filter(|_| is_stopped) {
            self.record(Event::Told { text }, step);
        }
    }

    /// Keeps the text of an incomplete reply and the searches before it. Its calls are dropped because they may be cut
    /// off, and its reasoning because it has no signature.
    fn keep(&mut self, turn: TurnId, partial: Option<Reply>, step: &mut Step) {
        // in a session from disk a running retry has the phase `Resting`: no event records the beginning of a retry
        let is_arriving = matches!(self.phase, Phase::Sampling { .. } | Phase::Resting { .. });
        let Some(mut reply) = partial.filter(|_| is_arriving) else { return };
        let is_said = |it: &Block| matches!(it, Block::Text { text } if !text.trim().is_empty());
        reply.blocks.retain(|it| is_said(it) || matches!(it, Block::Searched(_)));
        reply.stop = Stop::Cancelled;
        if reply.blocks.iter().any(is_said) {
            self.record(Event::Replied { turn, reply, plans: Vec::new() }, step);
        }
    }

    fn replied(&mut self, turn: TurnId, reply: Reply, mut plans: Vec<Plan>, step: &mut Step) {
        plans.truncate(MAX_CALLS);
        let has_calls = reply.calls().next().is_some();
        self.keep_to_commands(&reply, &mut plans);
        let runaway = self.guard_loops(&reply, &mut plans);
        let goes_back = say::is_paused(&reply) && self.pauses() < MAX_PAUSES;
        let acts = has_calls && say::may_act(&reply.stop);
        let ends = !acts && !goes_back && !self.may_hold(&reply);
        let stop = runaway.or_else(|| say::stop(&reply).filter(|_| ends));
        self.record(Event::Replied { turn, reply, plans }, step);
        match stop {
            Some(why) => self.end(turn, End::Stopped(why), step),
            None if acts => self.advance(turn, step),
            None if goes_back => self.sample(turn, step),
            None => self.finish(turn, step),
        }
    }

    /// Ends a turn for this reason. If the turn ended by itself and a message waits in the queue, begins the next turn.
    fn end(&mut self, turn: TurnId, why: End, step: &mut Step) {
        let goes_on = why == End::Done;
        self.dismiss_all(step);
        self.record(Event::Ended { turn, why }, step);
        if goes_on {
            self.prompt_next(step);
        }
    }

    /// Called when a call's change of one file is shown to the user. The call's changes of other files may have been
    /// shown before.
    fn entered(&mut self, turn: TurnId, entry: Entry, step: &mut Step) {
        let Entry { call, path, what, diff } = entry;
        let open = self.open().iter().find(|it| it.call.id == call && it.result.is_none());
        let before = match open.map(|it| &it.state) {
            Some(State::Running) => Awaited::default(),
            Some(State::Reviewing { what, .. }) => *what,
            _ => return,
        };
        if self.turn() == Some(turn) {
            let what = before.plus(what);
            self.record(Event::Proposed { turn, call, path, what, diff }, step);
        }
    }

    fn note_unsaved(&mut self, paths: Vec<String>, step: &mut Step) {
        if paths != self.unsaved {
            self.record(Event::Unsaved { paths }, step);
        }
    }

    /// Takes a title from a model. If the user has given a title in the meantime, the user's title stays.
    fn name(&mut self, of: &str, named: Named, step: &mut Step) {
        let title = if self.title == of { named.title } else { String::new() };
        self.record(Event::Named(Named { title, ..named }), step);
    }

    fn know(&mut self, path: PathBuf, hash: Option<String>, step: &mut Step) {
        if self.known.get(&path) != hash.as_ref() {
            self.record(Event::Knew { path, hash }, step);
        }
    }

    fn record(&mut self, event: Event, step: &mut Step) {
        let event = match event {
            Event::Answered { turn, answer } => {
                Event::Answered { turn, answer: self.with_change(answer) }
            }
            event => event,
        };
        self.apply(&event);
        step.events.push(event);
    }

    fn is_sampling(&self, of: TurnId) -> bool {
        matches!(self.phase, Phase::Sampling { turn, .. } if turn == of)
    }
}
