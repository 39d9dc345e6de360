//! Answers the calls of a reply: reads and subagents together, then edits together, then commands one after the other.

use super::{
    Event, Input, LOOP_END, LOOP_REFUSED, MAX_CHILDREN, MAX_READS, MAX_REQUESTS, Open, Phase,
    Session, State, Step, audit, changed, say, under_review,
};
use crate::event::{Access, End, Item, Mode, Offer, Plan, Ruling, TurnId};
use crate::message::{Block, CallId, Reply, Role, ToolAnswer, ToolCall};
use crate::policy::{self, Decision};
use crate::rules::Judgement;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

impl Session {
    /// Begins all calls that may begin now. Once every call is answered, asks the model again.
    pub(super) fn advance(&mut self, turn: TurnId, step: &mut Step) {
        self.skip_after_last_call(turn, step);
        for _ in 0..self.open().len() {
            let Some(mut it) = self.next_call() else { break };
            self.judge_again(&mut it);
            self.begin(turn, it, step);
        }
        self.sample_if_answered(turn, step);
    }

    /// Judges a command by the files that are there when it begins, because the calls before it may have changed them.
    pub(super) fn judge_again(&mut self, next: &mut Open) {
        if !matches!(next.access, Access::Act { .. }) {
            return;
        }
        next.judged = self.judged(&next.access);
        let Phase::Acting { open, .. } = &mut self.phase else { return };
        for it in open.iter_mut().filter(|it| it.call.id == next.call.id) {
            it.judged.clone_from(&next.judged);
        }
    }

    /// The next call to begin: first calls that will be denied, then reads and tasks for subagents, then edits, then
    /// commands. A command waits for all other calls of the reply, including their reviews, and for the commands before
    /// it. A call that ends the turn comes last.
    fn next_call(&self) -> Option<Open> {
        let begins = |it: &&Open| it.at_gate && it.is_waiting() || it.is_running();
        let begun = || self.open().iter().filter(begins).map(|it| &it.access);
        let has_room = begun().filter(|it| it.reads()).count() < MAX_READS;
        let has_room_for_child =
            begun().filter(|it| matches!(it, Access::Delegate { .. })).count() < MAX_CHILDREN;
        let is_asking = self.asking().is_some();
        let ends = |it: &Open| self.ends(it);
        let is_undone = |it: &&Open| !matches!(it.state, State::Done(_)) && !ends(it);
        let mut undone = self.open().iter().filter(is_undone);
        let only_commands = undone.clone().all(|it| it.access.acts());
        let command = undone.next().filter(|_| only_commands).map(|it| &it.call.id);
        let rank = |it: &Open| match (self.decide(it), &it.access) {
            (Decision::Deny(_), _) => Some(0),
            (Decision::Ask(_), _) if self.is_unattended() => Some(0),
            (Decision::Allow, _) if ends(it) => self.is_last_left(it).then_some(4),
            (_, Access::Edit { .. }) | (Decision::Allow, Access::Format { .. }) => Some(2),
            (_, access) if access.acts() => (command == Some(&it.call.id)).then_some(3),
            (_, Access::Delegate { .. }) => has_room_for_child.then_some(1),
            (_, Access::Workers(_)) => Some(1),
            (Decision::Allow, _) => has_room.then_some(1),
            (Decision::Ask(_), _) => (!is_asking).then_some(1),
        };
        let waiting = self.open().iter().filter(|it| !it.at_gate && it.is_waiting());
        let ranked = waiting.filter_map(|it| Some((rank(it)?, it)));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, it)| it.clone())
    }

    /// Decides by the policy whether a call may begin, needs the user's answer, or is denied. Every call goes through
    /// this function. A call that may begin, also if the user reviews its edits later, waits at the gate.
    pub(super) fn begin(&mut self, turn: TurnId, it: Open, step: &mut Step) {
        let decision = self.decide(&it).of_user(it.is_changed);
        if !(matches!(decision, Decision::Ask(_)) && self.is_unattended()) {
            step.decisions.extend(self.decided(&it, decision));
        }
        match decision {
            Decision::Allow => self.wait_at_gate(turn, it.call.id, step),
            Decision::Ask(question) if self.is_unattended() => {
                self.deny_unattended(turn, &it, question, step);
            }
            Decision::Ask(question) => match say::question(question, &self.unsaved) {
                Some(text) => {
                    let subject = question.subject().to_owned();
                    let is_shell = matches!(question, policy::Question::Run { .. });
                    let command = changeable(&it.access);
                    let Judgement { always, unruled: hosts, .. } = it.judged;
                    let (call, question) = (it.call.id, text);
                    let offer = Offer { always, hosts, command, subject, is_shell, to: None };
                    let asked = Event::Asked { turn, call, question, offer };
                    self.record(asked, step);
                }
                None => self.wait_at_gate(turn, it.call.id, step),
            },
            Decision::Deny(reason) => {
                let answer = say::refused(&it.call, reason);
                self.record(Event::Answered { turn, answer }, step);
            }
        }
    }

    /// The policy's decision about a call. If the user has already consented to the call, `Ask` becomes `Allow`.
    pub(super) fn decide<'a>(&self, it: &'a Open) -> Decision<'a> {
        match policy::decide(self.mode, &self.granted, &it.judged, &it.access) {
            Decision::Ask(_) if it.state == State::Allowed => Decision::Allow,
            decision => decision,
        }
    }

    /// Changes the mode. Calls that are running go on. Calls that have not begun follow the new mode.
    pub(super) fn choose_mode(&mut self, mode: Mode, step: &mut Step) {
        self.record(Event::ModeChosen { mode }, step);
        step.decisions.push(format!("you chose {mode} mode"));
        let denied = self.asking().filter(|it| matches!(self.decide(it), Decision::Deny(_)));
        if let Some(call) = denied.map(|it| it.call.id.clone()) {
            let reason = format!("they chose {mode} mode instead");
            self.rule(&call, Ruling::Denied { reason }, step);
        } else if let Phase::Acting { turn, .. } = self.phase {
            self.advance(turn, step);
        }
    }

    /// Asks the user about a command whose start could not be recorded on disk, because after a crash nobody would know
    /// that the command had run.
    pub(super) fn unrecorded(&mut self, turn: TurnId, call: CallId, why: &str, step: &mut Step) {
        let is_running = self.is_running(turn, &call);
        let open = self.open().iter().find(|it| is_running && it.call.id == call);
        let Some(Open { access, judged, .. }) = open.filter(|it| it.access.acts()) else { return };
        // the question about the command as if no rule or permission allowed it
        let judged = Judgement { verdict: None, ..judged.clone() };
        if let Decision::Ask(question) = policy::decide(Mode::Ask, &[], &judged, access)
            && let Some(question) = question.text()
        {
            let question = say::unrecorded(&question, why);
            if self.is_unattended() {
                self.deny(turn, &call, question, step);
                return self.advance(turn, step);
            }
            let offer = Offer::default();
            self.record(Event::Asked { turn, call, question, offer }, step);
        }
    }

    pub(super) fn sample_if_answered(&mut self, turn: TurnId, step: &mut Step) {
        if !self.is_sampling(turn) {
            return;
        }
        if let Phase::Sampling { requests, .. } = self.phase
            && requests > self.limits.requests.unwrap_or(MAX_REQUESTS)
        {
            return self.end_at_limit(turn, say::too_many_requests(requests - 1), step);
        }
        self.take_steered(turn, step);
        self.sample(turn, step);
    }

    /// Adds the messages that the user sent while the turn was running to the turn's next request.
    pub(super) fn take_steered(&mut self, turn: TurnId, step: &mut Step) {
        for message in self.ready().filter(|it| it.steer).cloned().collect::<Vec<_>>() {
            let message = self.without_repeats(message);
            self.record(Event::Steered { turn, message }, step);
        }
    }

    pub(super) fn stop(&mut self, landed: Vec<Input>, step: &mut Step) {
        for it in landed {
            self.take_landed(it, step);
        }
        self.break_off(None, End::Cancelled, step);
    }

    /// Takes the result of a call in a turn that is about to end.
    fn take_landed(&mut self, mut input: Input, step: &mut Step) {
        if let Input::Applied { claims, .. } = &mut input {
            self.claim(Path::new(""), &[], std::mem::take(claims), step);
        }
        match input {
            Input::Entered { turn, entry } => self.entered(turn, entry, step),
            Input::Applied { answer, .. } | Input::Answered { answer, .. } => {
                let is_open = |it: &Open| {
                    it.call.id == answer.id && (it.is_running() || it.is_under_review())
                };
                match self.turn().filter(|_| self.open().iter().any(is_open)) {
                    Some(turn) => self.has_run(turn, answer, step),
                    None => self.note_verdict(answer, step),
                }
            }
            _ => (),
        }
    }

    /// Takes the verdicts of a settled review, or the answer to an edit that was written at once.
    pub(super) fn edited(&mut self, input: Input, step: &mut Step) {
        match input {
            Input::Reviewed { path, answers, claims } => {
                self.claim(&path, &answers, claims, step);
                self.record(Event::Reviewed { path }, step);
                self.take_verdicts(answers, step);
            }
            Input::Applied { answer, claims, .. } => {
                self.claim(Path::new(""), &[], claims, step);
                self.take_verdicts(vec![answer], step);
            }
            _ => (),
        }
    }

    /// Answers calls with the user's verdicts. If a call was already answered, the model gets the verdict with the next
    /// request. A verdict may arrive before the message that the change is in its buffer.
    pub(super) fn take_verdicts(&mut self, answers: Vec<ToolAnswer>, step: &mut Step) {
        for answer in answers {
            let is_open = self.open().iter().any(|it| {
                let is_running = it.is_running() && it.access.edits();
                it.call.id == answer.id && (is_running || it.is_under_review())
            });
            match self.turn().filter(|_| is_open) {
                Some(turn) => self.has_run(turn, answer, step),
                None => self.note_verdict(answer, step),
            }
        }
    }

    /// Whether the conversation or one of its subagents has made this call, as far as its id tells.
    pub fn has_made(&self, call: &CallId) -> bool {
        let is_it = |it: &Block| match it {
            Block::Call(it) => it.id == *call,
            Block::Answer(it) => it.session.is_some(),
            _ => false,
        };
        let is_of_model = !call.0.is_empty() && !call.is_own();
        let is_of_others = !is_of_model || !self.workers.all.is_empty();
        is_of_others || self.messages.iter().rev().flat_map(|it| &it.blocks).any(is_it)
    }

    /// Takes a verdict on a call that was already answered.
    fn note_verdict(&mut self, answer: ToolAnswer, step: &mut Step) {
        let ToolAnswer { id: call, text, summary, failed, verdict, .. } = answer;
        if verdict {
            self.record(Event::Judged { call: call.clone(), summary, failed }, step);
        }
        // of several calls that made one change, one has the text
        if !text.is_empty() {
            self.record(Event::Noted { text, call: Some(call) }, step);
        }
    }

    /// The verdict on these calls does not count any more. The model has got it, or gets it with the next request, and
    /// is told so after it.
    pub(super) fn reviewed_again(&mut self, path: &Path, calls: Vec<CallId>, step: &mut Step) {
        if !calls.is_empty() && !calls.iter().any(|it| self.has_made(it)) {
            return;
        }
        self.unclaim(path, &calls, step);
        for call in calls {
            let blocks = self.messages.iter().flat_map(|it| &it.blocks);
            let failed = blocks.rev().find_map(|it| match it {
                Block::Answer(it) if it.id == call => Some(it.failed),
                _ => None,
            });
            let (summary, failed) = (under_review::UNDER_REVIEW.to_owned(), failed == Some(true));
            self.record(Event::Judged { call, summary, failed }, step);
        }
        self.record(super::input::noted(under_review::again(path, &self.root)), step);
    }

    pub(super) fn review_lost(&mut self, path: PathBuf, step: &mut Step) {
        let text = under_review::lost(&path, &self.root);
        self.record(Event::Reviewed { path }, step);
        if self.reviewing.is_empty() {
            self.end_reviews(step);
        }
        self.record(super::input::noted(text), step);
    }

    /// Called when no file is under review any more: no call says that its edit is.
    fn end_reviews(&mut self, step: &mut Step) {
        let blocks = self.messages.iter().flat_map(|it| &it.blocks);
        let open = |it: &Block| match it {
            Block::Answer(it) if it.summary == under_review::UNDER_REVIEW => Some(it.id.clone()),
            _ => None,
        };
        for call in blocks.filter_map(open).collect::<Vec<CallId>>() {
            let summary = under_review::LOST.to_owned();
            self.record(Event::Judged { call, summary, failed: false }, step);
        }
    }

    /// Handles the user's answer to a question about a call, and a call that needs another access than it began with.
    pub(super) fn ruled(&mut self, input: Input, step: &mut Step) {
        match input {
            Input::Rule { call, ruling } => self.rule(&call, ruling, step),
            Input::Change { call, command } => self.change(call, command, step),
            Input::Needed { turn, call, mut access } if self.is_running(turn, &call) => {
                self.keep_to_owned(&mut access);
                self.record(Event::Needed { turn, call, access }, step);
                self.advance(turn, step);
            }
            Input::LeaveReview => {
                if let Some(turn) = self.turn().filter(|_| self.awaits_review_only()) {
                    self.leave_review(turn, step);
                }
            }
            _ => (),
        }
    }

    pub(super) fn is_running(&self, of: TurnId, call: &CallId) -> bool {
        self.turn() == Some(of)
            && self.open().iter().any(|it| it.call.id == *call && it.is_running())
    }

    pub(super) fn rule(&mut self, call: &CallId, ruling: Ruling, step: &mut Step) {
        if self.is_limited_by(call) {
            return self.rule_limit(call, ruling, step);
        }
        if self.is_consulting(call) {
            return self.rule_consult(call, ruling, step);
        }
        let Some(turn) = self.turn() else { return };
        let asked = self.open().iter().find(|it| it.call.id == *call).map(|it| &it.state);
        let Some(&State::Asking { is_unrecorded }) = asked else { return };
        let access = self.open().iter().find(|it| it.call.id == *call).map(|it| &it.access);
        step.decisions.extend(access.and_then(|it| audit::ruled(it, &ruling)));
        self.record(Event::Ruled { turn, call: call.clone(), ruling: ruling.clone() }, step);
        if let Ruling::Denied { reason } = ruling {
            let answer = say::denied(call, &reason, &self.unsaved, is_unrecorded);
            self.record(Event::Answered { turn, answer }, step);
        }
        self.advance(turn, step);
    }

    /// Called when the user has sent a message while the turn waits only for the user's review. The turn goes on
    /// without the verdict.
    pub(super) fn leave_review(&mut self, turn: TurnId, step: &mut Step) {
        let is_subagent = self.subagent_of().is_some();
        let rest = std::mem::take(&mut self.rest);
        let answers = self.open().iter().filter_map(|it| match it.state {
            State::Reviewing { what, .. } if is_subagent => {
                Some(under_review::undecided_in_subagent(&it.call.id, what))
            }
            State::Reviewing { what, .. } => {
                Some(under_review::undecided(&it.call.id, what, &rest, &self.root))
            }
            State::Ready => Some(say::not_run_undecided(&it.call.id)),
            _ => None,
        });
        for answer in answers.collect::<Vec<_>>() {
            self.record(Event::Answered { turn, answer }, step);
        }
        for message in self.ready().cloned().collect::<Vec<_>>() {
            let message = self.without_repeats(message);
            self.record(Event::Steered { turn, message }, step);
        }
        self.sample_if_answered(turn, step);
    }

    /// Refuses a call that the model has repeated several times with always the same answer. The answer to the refused
    /// call says why. If the model still repeats the call, the turn has to end, and this returns the sentence for the
    /// user.
    pub(super) fn guard_loops(&self, reply: &Reply, plans: &mut [Plan]) -> Option<String> {
        let made = self.calls_made();
        let mut runaway = None;
        for (call, plan) in reply.calls().zip(plans) {
            let times = repeats(call, &made);
            if times >= LOOP_REFUSED {
                plan.access = Access::Never(say::looping(call, times));
            }
            if times >= LOOP_END {
                runaway.get_or_insert_with(|| say::runaway(call, times + 1));
            }
        }
        runaway
    }

    /// The calls since the user's last message, each with its answer, without the calls that exceeded the limit of one
    /// reply, and without those whose answers are no longer in the requests: the model may need them again. The calls of
    /// the last reply come first.
    fn calls_made(&self) -> Vec<(&ToolCall, &str)> {
        let start = self
            .messages
            .iter()
            .rposition(|it| it.role == Role::User && !say::is_answers(it))
            .unwrap_or(0);
        let start = start.max(self.beginning());
        let trimmed = self.trimmed_items();
        let mut made = Vec::new();
        for pair in self.messages[start..].windows(2).rev() {
            let given = pair[1].blocks.iter().filter_map(|it| match it {
                Block::Answer(answer) if !say::is_over_limit(answer) => Some((&answer.id, answer)),
                _ => None,
            });
            let is_sent = |it: &(&CallId, _)| !trimmed.contains(&Item::Call(it.0.clone()));
            let given: HashMap<&CallId, &ToolAnswer> = given.filter(is_sent).collect();
            made.extend(pair[0].blocks.iter().filter_map(|it| match it {
                Block::Call(call) => Some((call, given.get(&call.id)?.text.as_str())),
                _ => None,
            }));
        }
        made
    }

    /// How many replies in a row were paused by the provider: the number of the model's messages since the last message
    /// of the user.
    pub(super) fn pauses(&self) -> usize {
        let said = self.messages.iter().rev().filter(|it| it.role != Role::Note);
        said.take_while(|it| it.role == Role::Assistant).count()
    }
}

/// The command of a call, if it is short enough to be changed by the user.
fn changeable(access: &Access) -> String {
    match access {
        Access::Act { command, .. } if command.len() <= changed::LONGEST => command.clone(),
        _ => String::new(),
    }
}

/// How often in a row exactly this call has had exactly the same answer in this turn. Other calls in between are
/// ignored. A call whose answers differ does not count as repeated.
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
