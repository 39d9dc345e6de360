//! The two gates of a call. A call passes the first one after it may run and before it runs, and the second one after it
//! has run and before it is answered. Whatever has to happen at a gate stands outside, with the effects `Effect::Admit` and
//! `Effect::Release`, and may take time. The agent lets each call through at once.

use super::{Effect, Event, Input, Open, Phase, Session, State, Step};
use crate::event::{Access, TurnId};
use crate::message::{CallId, ToolAnswer, ToolCall};
use crate::policy::{self, Decision, Question};

impl Session {
    /// Puts a call at the first gate.
    pub(super) fn wait_at_gate(&mut self, turn: TurnId, call: CallId, step: &mut Step) {
        if !self.set_at_gate(&call, true) {
            return;
        }
        match step.effects.last_mut() {
            Some(Effect::Admit { calls, .. }) => calls.push(call),
            _ => step.effects.push(Effect::Admit { turn, calls: vec![call] }),
        }
    }

    /// Takes calls from a gate that they have passed.
    pub(super) fn passed(&mut self, input: Input, step: &mut Step) {
        match input {
            Input::Admitted { turn, calls } if self.turn() == Some(turn) => {
                self.admitted(turn, &calls, step);
            }
            Input::Released { turn, calls } if self.turn() == Some(turn) => {
                self.released(turn, &calls, step);
            }
            _ => (),
        }
    }

    /// Begins the calls that have passed the first gate. A call that may not begin any more, because the mode or the rules have
    /// changed while it was at the gate, is decided anew.
    fn admitted(&mut self, turn: TurnId, calls: &[CallId], step: &mut Step) {
        let is_here = |it: &&Open| it.at_gate && it.is_waiting();
        let find = |id: &CallId| self.open().iter().filter(is_here).find(|it| it.call.id == *id);
        let here: Vec<Open> = calls.iter().filter_map(find).cloned().collect();
        if here.is_empty() {
            return;
        }
        for mut it in here {
            self.set_at_gate(&it.call.id, false);
            self.judge_again(&mut it);
            match self.decide(&it) {
                Decision::Allow => self.run(turn, it, step),
                Decision::Ask(Question::Review(_)) if !self.is_unattended() => {
                    self.propose(turn, it.call, false, step);
                }
                _ => (),
            }
        }
        self.advance(turn, step);
    }

    /// Sets whether a call is at the gate. Returns false if it was so before.
    fn set_at_gate(&mut self, call: &CallId, at_gate: bool) -> bool {
        let Phase::Acting { open, .. } = &mut self.phase else { return false };
        let it = open.iter_mut().find(|it| it.call.id == *call);
        it.is_some_and(|it| std::mem::replace(&mut it.at_gate, at_gate) != at_gate)
    }

    /// Puts a call that has run, and its answer, at the second gate. A call that has an answer keeps it.
    pub(super) fn has_run(&mut self, turn: TurnId, answer: ToolAnswer, step: &mut Step) {
        let Phase::Acting { open, .. } = &mut self.phase else { return };
        let lacks = |it: &&mut Open| it.result.is_none() && !matches!(it.state, State::Done(_));
        let it = open.iter_mut().filter(lacks).find(|it| it.call.id == answer.id);
        let Some(it) = it else { return };
        let call = answer.id.clone();
        it.result = Some(answer);
        match step.effects.last_mut() {
            Some(Effect::Release { calls, .. }) => calls.push(call),
            _ => step.effects.push(Effect::Release { turn, calls: vec![call] }),
        }
    }

    /// Answers the calls that have passed the second gate, and goes on with the turn.
    fn released(&mut self, turn: TurnId, calls: &[CallId], step: &mut Step) {
        let is_released = |it: &&Open| calls.contains(&it.call.id) && it.result.is_some();
        let released: Vec<Open> = self.open().iter().filter(is_released).cloned().collect();
        if released.is_empty() {
            return;
        }
        for it in released {
            let Some(answer) = self.take_result(&it.call.id) else { continue };
            if self.ends(&it) {
                return self.end_with(turn, answer, step);
            }
            self.record(Event::Answered { turn, answer }, step);
        }
        self.advance(turn, step);
    }

    /// Answers the calls at the second gate, because the turn does not wait for them any more.
    pub(super) fn answer_all_that_ran(&mut self, turn: TurnId, step: &mut Step) {
        let ran: Vec<CallId> = self.open().iter().map(|it| it.call.id.clone()).collect();
        for call in ran {
            if let Some(answer) = self.take_result(&call) {
                self.record(Event::Answered { turn, answer }, step);
            }
        }
    }

    fn take_result(&mut self, call: &CallId) -> Option<ToolAnswer> {
        let Phase::Acting { open, .. } = &mut self.phase else { return None };
        open.iter_mut().find(|it| it.call.id == *call)?.result.take()
    }

    /// Runs a call that has passed the first gate.
    fn run(&mut self, turn: TurnId, it: Open, step: &mut Step) {
        match it.access {
            Access::Plan => self.submit_plan(turn, &it.call.id, step),
            Access::Ask { questions } => self.ask_user(turn, &it.call, questions, step),
            Access::Workers(act) => self.act_on_workers(turn, &it.call.id, &act, step),
            access if access.edits() => {
                let at_once = self.writes_at_once(&access);
                self.propose(turn, it.call, at_once, step);
            }
            _ => self.start(turn, it, step),
        }
    }

    fn start(&mut self, turn: TurnId, it: Open, step: &mut Step) {
        let (is_closed, opened) = (self.is_closed(&it), self.opened_hosts(&it));
        self.record(Event::Started { turn, call: it.call.id.clone() }, step);
        step.effects.push(Effect::Run { turn, call: it.call, is_closed, opened });
    }

    /// Whether the edits of an allowed call are written without a review. The user's consent to run a formatter is no
    /// consent to the text that it prints.
    fn writes_at_once(&self, access: &Access) -> bool {
        let Access::Format { path, .. } = access else { return true };
        let edit = Access::Edit { paths: vec![path.clone()] };
        let judged = self.judged(&edit);
        policy::decide(self.mode, &self.granted, &judged, &edit) == Decision::Allow
    }

    /// Proposes an edit together with the other edits of the reply. If one of them needs a review, none is written at
    /// once.
    fn propose(&mut self, turn: TurnId, call: ToolCall, at_once: bool, step: &mut Step) {
        self.record(Event::Started { turn, call: call.id.clone() }, step);
        match step.effects.last_mut() {
            Some(Effect::Propose { calls, at_once: all, .. }) => {
                calls.push(call);
                *all &= at_once;
            }
            _ => step.effects.push(Effect::Propose { turn, calls: vec![call], at_once }),
        }
    }
}
