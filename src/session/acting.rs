//! The answering of a reply's calls: reads together, edits together, commands in order after both.

use super::{
    Effect, Event, Input, LOOP_END, LOOP_REFUSED, MAX_READS, MAX_REQUESTS, Open, Phase, Session,
    State, Step, say,
};
use crate::event::{End, Mode, Plan, PlanStep, Ruling, TurnId};
use crate::message::{Block, CallId, Reply, Role, ToolAnswer, ToolCall};
use std::collections::HashMap;
use std::path::PathBuf;

impl Session {
    /// Starts whatever can start now, and asks the model again once every call is answered.
    pub(super) fn advance(&mut self, turn: TurnId, step: &mut Step) {
        self.refuse_planned(turn, step);
        self.start_reads(turn, step);
        self.propose_edits(turn, step);
        self.start_command(turn, step);
        self.sample_if_answered(turn, step);
    }

    fn refuse_planned(&mut self, turn: TurnId, step: &mut Step) {
        self.answer_some(turn, step, |it, mode| match (&it.state, &it.step) {
            (State::Ready, PlanStep::Refused(text)) => Some(ToolAnswer {
                id: it.call.id.clone(),
                text: text.clone(),
                failed: true,
                summary: "refused".into(),
                output: None,
            }),
            (State::Ready | State::Allowed, PlanStep::Edit | PlanStep::Act { .. })
                if mode == Mode::Plan =>
            {
                Some(say::planning(&it.call))
            }
            _ => None,
        });
    }

    /// Answers the open calls that have an answer already. After the last of them, no call is open.
    fn answer_some(
        &mut self,
        turn: TurnId,
        step: &mut Step,
        answer: impl Fn(&Open, Mode) -> Option<ToolAnswer>,
    ) {
        for at in 0..self.open().len() {
            let answer = self.open().get(at).and_then(|it| answer(it, self.mode));
            if let Some(answer) = answer {
                self.record(Event::Answered { turn, answer }, step);
            }
        }
    }

    /// What runs goes on; what has not begun is treated as the new mode wants it.
    pub(super) fn choose_mode(&mut self, mode: Mode, step: &mut Step) {
        self.record(Event::ModeChosen { mode }, step);
        let asked = self.asking().filter(|it| matches!(it.step, PlanStep::Act { .. }));
        if let (Mode::Plan, Some(asked)) = (mode, asked) {
            let call = asked.call.id.clone();
            let reason = "they chose plan mode instead".to_owned();
            self.rule(&call, Ruling::Denied { reason }, step);
        } else if let Phase::Acting { turn, .. } = self.phase {
            self.advance(turn, step);
        }
    }

    fn start_reads(&mut self, turn: TurnId, step: &mut Step) {
        let is_read = |it: &Open| matches!(it.step, PlanStep::Read | PlanStep::AskedRead(_));
        let is_running = |it: &&Open| is_read(it) && it.state == State::Running;
        let mut room = MAX_READS.saturating_sub(self.open().iter().filter(is_running).count());
        for at in 0..self.open().len() {
            let it = &self.open()[at];
            let is_allowed = match (&it.state, &it.step) {
                (State::Ready, PlanStep::Read) | (State::Allowed, PlanStep::AskedRead(_)) => true,
                (State::Ready, PlanStep::AskedRead(_)) => self.is_granted(&it.step),
                _ => continue,
            };
            if is_allowed && room > 0 {
                room -= 1;
                let call = it.call.clone();
                self.start(turn, call, step);
            } else if let (false, None, PlanStep::AskedRead(question)) =
                (is_allowed, self.asking(), &it.step)
            {
                let (call, question) = (it.call.id.clone(), question.clone());
                self.record(Event::Asked { turn, call, question }, step);
            }
        }
    }

    fn is_granted(&self, step: &PlanStep) -> bool {
        step.grant().is_some_and(|it| self.granted.contains(&it))
    }

    fn propose_edits(&mut self, turn: TurnId, step: &mut Step) {
        let calls: Vec<ToolCall> = self
            .open()
            .iter()
            .filter(|it| it.state == State::Ready && it.step == PlanStep::Edit)
            .map(|it| it.call.clone())
            .collect();
        if calls.is_empty() {
            return;
        }
        for call in &calls {
            self.record(Event::Started { turn, call: call.id.clone() }, step);
        }
        step.effects.push(Effect::Propose { turn, calls });
    }

    /// Commands wait for everything else of the reply, reviews included, and for each other.
    fn start_command(&mut self, turn: TurnId, step: &mut Step) {
        let is_act = |it: &Open| matches!(it.step, PlanStep::Act { .. });
        let is_done = |it: &Open| matches!(it.state, State::Done(_));
        if self.open().iter().any(|it| !is_act(it) && !is_done(it)) {
            return;
        }
        let Some(next) = self.open().iter().find(|it| is_act(it) && !is_done(it)).cloned() else {
            return;
        };
        let is_granted = self.is_granted(&next.step);
        let PlanStep::Act { question, .. } = next.step else { return };
        match next.state {
            State::Ready if is_granted => self.start(turn, next.call, step),
            State::Ready => {
                let question = say::with_unsaved(question, &self.unsaved);
                self.record(Event::Asked { turn, call: next.call.id, question }, step);
            }
            State::Allowed => self.start(turn, next.call, step),
            _ => (),
        }
    }

    /// Asks about a command whose start is not recorded on disk: after a crash nobody would know that it ran.
    pub(super) fn unrecorded(&mut self, turn: TurnId, call: CallId, why: &str, step: &mut Step) {
        let is_running = self.is_running(turn, &call);
        let open = self.open().iter().find(|it| is_running && it.call.id == call);
        if let Some(PlanStep::Act { question, .. }) = open.map(|it| &it.step) {
            let question = say::unrecorded(question, why);
            self.record(Event::Asked { turn, call, question }, step);
        }
    }

    fn start(&mut self, turn: TurnId, call: ToolCall, step: &mut Step) {
        self.record(Event::Started { turn, call: call.id.clone() }, step);
        step.effects.push(Effect::Run { turn, call });
    }

    fn sample_if_answered(&mut self, turn: TurnId, step: &mut Step) {
        if !self.is_sampling(turn) {
            return;
        }
        if let Phase::Sampling { requests, .. } = self.phase
            && requests > MAX_REQUESTS
        {
            let why = format!(
                "Stopped after {MAX_REQUESTS} requests in one turn. Send a message to go on."
            );
            return self.end(turn, End::Stopped(why), step);
        }
        self.take_steered(turn, step);
        step.effects.push(Effect::Sample { turn });
    }

    /// What the user sent into the running turn goes with its next request.
    pub(super) fn take_steered(&mut self, turn: TurnId, step: &mut Step) {
        for message in self.ready().filter(|it| it.steer).cloned().collect::<Vec<_>>() {
            self.record(Event::Steered { turn, message }, step);
        }
    }

    pub(super) fn stop(&mut self, landed: Vec<Input>, step: &mut Step) {
        for it in landed {
            self.land(it, step);
        }
        self.break_off(None, End::Cancelled, step);
    }

    /// Takes the result of a call in a turn that is about to end.
    fn land(&mut self, input: Input, step: &mut Step) {
        match input {
            Input::Entered { turn, call, path, hunks } => {
                self.entered(turn, call, path, hunks, step);
            }
            Input::Applied { answer, .. } | Input::Answered { answer, .. } => {
                let is_open = |it: &Open| {
                    it.call.id == answer.id
                        && matches!(it.state, State::Running | State::Reviewing { .. })
                };
                match self.turn().filter(|_| self.open().iter().any(is_open)) {
                    Some(turn) => self.record(Event::Answered { turn, answer }, step),
                    None => self.record(Event::Noted { text: answer.text }, step),
                }
            }
            _ => (),
        }
    }

    pub(super) fn answered(&mut self, turn: TurnId, answer: ToolAnswer, step: &mut Step) {
        self.record(Event::Answered { turn, answer }, step);
        self.advance(turn, step);
    }

    pub(super) fn review_lost(&mut self, path: PathBuf, step: &mut Step) {
        let text = say::review_lost(&path, &self.root);
        self.record(Event::Reviewed { path }, step);
        self.record(Event::Noted { text }, step);
    }

    pub(super) fn rule(&mut self, call: &CallId, ruling: Ruling, step: &mut Step) {
        let Some(turn) = self.turn() else { return };
        let asked = self.open().iter().find(|it| it.call.id == *call).map(|it| &it.state);
        let Some(State::Asking { question }) = asked else { return };
        let is_recorded = !say::is_unrecorded(question);
        self.record(Event::Ruled { turn, call: call.clone(), ruling: ruling.clone() }, step);
        if let Ruling::Denied { reason } = ruling {
            let answer = say::denied(call, &reason, &self.unsaved, is_recorded);
            self.record(Event::Answered { turn, answer }, step);
        }
        self.advance(turn, step);
    }

    /// The user wrote while only their review was awaited: the turn goes on without the verdict.
    pub(super) fn leave_review(&mut self, turn: TurnId, step: &mut Step) {
        self.answer_some(turn, step, |it, _| match it.state {
            State::Reviewing { hunks, .. } => Some(say::undecided(&it.call.id, hunks)),
            State::Ready => Some(say::not_run_undecided(&it.call.id)),
            _ => None,
        });
        for message in self.ready().cloned().collect::<Vec<_>>() {
            self.record(Event::Steered { turn, message }, step);
        }
        self.sample_if_answered(turn, step);
    }

    /// A call that was made again and again with the same answer is refused, and the answer says why. If the model goes
    /// on with it, the turn ends: then this gives the sentence for the user.
    pub(super) fn guard_loops(&self, reply: &Reply, plans: &mut [Plan]) -> Option<String> {
        let made = self.made();
        let mut runaway = None;
        for (call, plan) in reply.calls().zip(plans) {
            let times = repeats(call, &made);
            if times >= LOOP_REFUSED {
                plan.step = PlanStep::Refused(say::looping(call, times));
            }
            if times >= LOOP_END {
                runaway.get_or_insert_with(|| say::runaway(call, times + 1));
            }
        }
        runaway
    }

    /// The calls of this turn that have run, each with its answer; those of the last reply come first.
    fn made(&self) -> Vec<(&ToolCall, &str)> {
        let start = self
            .messages
            .iter()
            .rposition(|it| it.role == Role::User && !say::is_answers(it))
            .unwrap_or(0);
        let mut made = Vec::new();
        for pair in self.messages[start..].windows(2).rev() {
            let given = pair[1].blocks.iter().filter_map(|it| match it {
                Block::Answer(answer) if !say::is_untaken(answer) => Some((&answer.id, answer)),
                _ => None,
            });
            let given: HashMap<&CallId, &ToolAnswer> = given.collect();
            made.extend(pair[0].blocks.iter().filter_map(|it| match it {
                Block::Call(call) => Some((call, given.get(&call.id)?.text.as_str())),
                _ => None,
            }));
        }
        made
    }

    /// How often in a row the last reply was paused: each left a message that no user's follows.
    pub(super) fn pauses(&self) -> usize {
        let said = self.messages.iter().rev().filter(|it| it.role != Role::Note);
        said.take_while(|it| it.role == Role::Assistant).count()
    }
}

/// How often the very same call came in this turn (as one of the last calls of that tool) with the very same
/// answer. A call whose answers differ is no loop.
fn repeats(call: &ToolCall, made: &[(&ToolCall, &str)]) -> usize {
    let mut last: Option<&str> = None;
    let mut n = 0;
    for (made, answer) in made {
        if made.tool != call.tool || made.input != call.input {
            continue;
        }
        if !say::is_looping(answer) && *answer != *last.get_or_insert(answer) {
            return n;
        }
        n += 1;
    }
    n
}
