//! How each event changes the session's state. The same code is used while a session runs and when its events are
//! replayed from a file.

use super::{Consult, Message, Open, Phase, Role, Session, State, say, title, under_review};
use crate::event::{
    Access, End, Event, Measure, Mode, Named, Plan, Queued, Ruling, Tuning, TurnId,
};
use crate::message::{
    Block, CallId, Excerpt, ExcerptKind, FileDiff, Note, Reply, Stop, ToolAnswer, ToolCall,
};
use crate::rules::Rules;
use std::path::Path;
use std::sync::Arc;

impl Session {
    /// The state after these events, from an empty session.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Session {
        let mut session = Session::default();
        for event in events {
            session.apply(event);
        }
        session
    }

    /// Changes the session's state by an event. `step` changes the state only by this function, apart from fields that
    /// are never saved and the end of a pause (`Rested`).
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Opened { .. } => self.open_fresh(event),
            Event::AgentChosen { profile } => self.profile.clone_from(profile),
            Event::Marked { mark } => self.mark.clone_from(mark),
            Event::Queued { message } => self.enqueue(message),
            Event::Unqueued { id } => self.unqueue(*id),
            Event::Prompted { turn, message } => self.begin_turn(*turn, message),
            Event::Steered { turn, message } => self.steer(*turn, message),
            Event::Replied { turn, reply, plans } => self.apply_reply(*turn, reply, plans),
            Event::Asked { call, question, .. } => self.ask(call, question),
            Event::Limited { .. }
            | Event::Consulted { .. }
            | Event::Changed { .. }
            | Event::Needed { .. } => self.apply_question(event),
            Event::Chose { .. } | Event::Unanswered { .. } => self.apply_inquiry(event),
            Event::Assigned { .. } | Event::Delegated { .. } | Event::ChildSpent { .. } => {
                self.apply_delegation(event);
            }
            Event::Worker(event) => self.apply_worker(event),
            Event::Ruled { call, ruling, .. } => self.apply_ruling(call, ruling),
            Event::Revoked { grant } => self.granted.retain(|it| it != grant),
            Event::Started { call, .. } => self.set_begun(call),
            Event::Proposed { call, path, what, diff, .. } => {
                self.set(call, State::Reviewing { path: path.clone(), what: *what });
                self.review(call, path, diff.as_deref());
            }
            Event::Answered { answer, .. } => self.apply_answer(answer),
            Event::Reviewed { path } => self.reviewing.retain(|it| it != path),
            Event::Stood { told, claims, is_sent } => self.apply_stood(told, claims, *is_sent),
            Event::Unsaved { paths } => self.unsaved.clone_from(paths),
            Event::Instructed { files } => self.instructions.extend_from_slice(files),
            Event::Untold { path } => self.untell(path),
            Event::Knew { path, hash } => self.set_known(path, hash.as_deref()),
            Event::Titled { title } => self.title.clone_from(title),
            Event::Named(named) => self.set_name(named),
            Event::Noted { .. } | Event::Judged { .. } => self.apply_note(event),
            Event::JobBegan { .. } | Event::JobEnded { .. } => self.apply_job(event),
            Event::Told { text } | Event::Listed { text, .. } => {
                self.say(Role::Note, vec![Block::Text { text: text.clone() }]);
            }
            Event::Reminded { turn, tool } => self.remind(*turn, tool),
            Event::Retried { .. } => self.rest(),
            Event::ThoughtsDropped { model, .. } => self.disown(model),
            Event::ModelChosen { model, tuning } => self.set_model(model, *tuning),
            Event::Addressed { to } => self.sent_to = Some(to.clone()),
            Event::ModeChosen { mode } => self.set_mode(*mode),
            Event::PlanSubmitted { .. } | Event::PlanDecided { .. } => self.apply_plan(event),
            Event::Spent { cost } => self.spend(*cost),
            Event::Measured { model, measure } => self.set_measure(model, *measure),
            Event::SystemChosen { system, instructions } => self.set_system(system, instructions),
            Event::Trimmed { .. }
            | Event::Compacting { .. }
            | Event::Compacted { .. }
            | Event::NotCompacted { .. }
            | Event::Uncompacted { .. } => self.apply_shorter(event),
            Event::Ended { why, .. } => self.settle(why),
        }
    }

    fn open_fresh(&mut self, event: &Event) {
        let Event::Opened { system, instructions, model, root } = event else { return };
        (self.model, self.root) = (model.clone(), root.clone());
        self.set_system(system, instructions);
    }

    fn untell(&mut self, path: &str) {
        self.instructions.retain(|it| it.kind != ExcerptKind::Changes || it.path != path);
    }

    fn set_begun(&mut self, call: &CallId) {
        // a new mode or rule may let a call run before the user has answered the question
        if self.open().iter().any(|it| it.call.id == *call && it.state != State::Allowed) {
            self.name_unsaved(call, Vec::new());
        }
        self.note_begun(call);
        self.set(call, State::Running);
    }

    fn set_asking(&mut self, call: &CallId) {
        let is_begun = |it: &Open| it.call.id == *call && it.state == State::Running;
        let is_unrecorded = self.open().iter().any(is_begun);
        self.set(call, State::Asking { is_unrecorded });
    }

    fn set_model(&mut self, model: &str, tuning: Tuning) {
        model.clone_into(&mut self.model);
        self.tuning = tuning;
    }

    fn enqueue(&mut self, message: &Queued) {
        self.queued = self.queued.max(message.id);
        self.queue.push(message.clone());
    }

    fn begin_turn(&mut self, turn: TurnId, message: &Queued) {
        self.turns = turn.0;
        self.workers.begin_turn();
        self.forget_answers();
        if self.title.is_empty() {
            self.title = title(&message.text);
        }
        self.say_user(message, Some(turn.0));
        self.begin_spending();
        self.reminded = false;
        self.phase = Phase::Sampling { turn, requests: 1, tries: 1 };
    }

    /// Adds a message of the user to the running turn. After a reply without calls, the message begins another request.
    fn steer(&mut self, turn: TurnId, message: &Queued) {
        let after_reply = self.messages.last().is_some_and(|it| it.role == Role::Assistant);
        if let (true, Phase::Sampling { requests, .. }) = (after_reply, &self.phase) {
            let requests = requests.saturating_add(1);
            self.phase = Phase::Sampling { turn, requests, tries: 1 };
        }
        self.say_user(message, None);
    }

    fn unqueue(&mut self, id: u32) {
        self.queue.retain(|it| it.id != id);
        self.held.remove(&id);
    }

    fn set_name(&mut self, named: &Named) {
        if !named.title.is_empty() {
            self.title.clone_from(&named.title);
        }
        self.usage += named.usage;
        self.spend(named.cost);
    }

    pub(super) fn spend(&mut self, cost: Option<f64>) {
        // A session's file may contain any number, and a number that is not finite could not be saved again.
        self.spent = (self.spent + cost.unwrap_or_default()).clamp(0.0, 1e12);
        self.unpriced |= cost.is_none();
    }

    fn set_measure(&mut self, model: &str, measure: Measure) {
        self.measures.insert(model.to_owned(), measure);
    }

    fn set_known(&mut self, path: &Path, hash: Option<&str>) {
        match hash {
            Some(hash) => {
                self.known.insert(path.to_owned(), hash.to_owned());
                self.gone.remove(path);
            }
            None => self.gone.extend(self.known.remove_entry(path)),
        }
    }

    fn rest(&mut self) {
        if let Phase::Sampling { turn, requests, tries }
        | Phase::Resting { turn, requests, tries } = self.phase
        {
            self.phase = Phase::Resting { turn, requests, tries: tries.saturating_add(1) };
        }
    }

    /// From now on this model's earlier thoughts are not sent back to it.
    fn disown(&mut self, model: &str) {
        for message in self.messages.iter_mut().filter(|it| it.by == model) {
            message.by.clear();
        }
    }

    /// Sets the mode. If the user chooses several modes in a row, the model is told only about the last one.
    pub(super) fn set_mode(&mut self, mode: Mode) {
        if mode == Mode::Plan && self.mode != Mode::Plan {
            self.planning.before = self.mode;
        }
        self.mode = mode;
        self.notes.retain(|it| !say::is_mode(it));
        self.notes.push(say::mode(mode).into());
    }

    fn set_system(&mut self, system: &str, instructions: &[Excerpt]) {
        let had_system = self.messages.first().is_some_and(|it| it.role == Role::System);
        if had_system {
            self.messages.remove(0);
        }
        let text = (!system.is_empty()).then(|| Block::Text { text: system.to_owned() });
        let blocks: Vec<Block> =
            text.into_iter().chain(instructions.iter().cloned().map(Block::Excerpt)).collect();
        if !blocks.is_empty() {
            self.messages.insert(0, Message::new(Role::System, blocks));
        }
        self.move_compactions(had_system);
    }

    fn say_user(&mut self, message: &Queued, turn: Option<u32>) {
        self.unqueue(message.id);
        self.queued = self.queued.max(message.id);
        let mut blocks = self.take_notes();
        blocks.extend(message.context.iter().cloned().map(Block::Excerpt));
        if !message.text.trim().is_empty() {
            blocks.push(Block::Text { text: message.text.clone() });
        }
        self.messages.push(Message { turn, ..Message::new(Role::User, blocks) });
    }

    fn apply_reply(&mut self, of: TurnId, reply: &Reply, plans: &[Plan]) {
        self.usage += reply.usage;
        let total = reply.usage.total();
        if total > 0 {
            self.context = total;
        }
        let (Phase::Sampling { requests, .. } | Phase::Resting { requests, .. }) = self.phase
        else {
            return;
        };
        if !reply.blocks.is_empty() {
            let blocks = reply.blocks.clone();
            let by = reply.by.clone();
            self.messages.push(Message { by, ..Message::new(Role::Assistant, blocks) });
        }
        if reply.stop == Stop::Cancelled {
            return;
        }
        if say::is_paused(reply) {
            self.phase =
                Phase::Sampling { turn: of, requests: requests.saturating_add(1), tries: 1 };
        }
        if reply.calls().next().is_some() {
            self.reminded = false;
            let open =
                reply.calls().zip(plans).map(|(call, plan)| self.opened(call, plan)).collect();
            self.phase = Phase::Acting { turn: of, requests, open };
            self.close();
        }
    }

    fn ask(&mut self, call: &CallId, question: &str) {
        self.note_asked(question);
        self.set_asking(call);
        let is_named =
            !self.unsaved.is_empty() && question.ends_with(&say::saved_first(&self.unsaved));
        let named = if is_named { self.unsaved.clone() } else { Vec::new() };
        self.name_unsaved(call, named);
    }

    fn name_unsaved(&mut self, call: &CallId, named: Vec<String>) {
        if let Phase::Acting { open, .. } = &mut self.phase
            && let Some(it) = open.iter_mut().find(|it| it.call.id == *call)
        {
            it.named_unsaved = named;
        }
    }

    fn apply_question(&mut self, event: &Event) {
        match event {
            Event::Limited { id, .. } => self.apply_limited(id),
            Event::Changed { call, command, .. } => self.apply_change(call, command),
            Event::Needed { call, access, .. } => self.apply_need(call, access),
            Event::Consulted { id, about, question, offer } => {
                let (id, question, offer) = (id.clone(), question.clone(), offer.clone());
                self.consult = Some(Consult { id, about: *about, question, offer });
            }
            _ => (),
        }
    }

    fn apply_ruling(&mut self, id: &CallId, ruling: &Ruling) {
        if self.is_consulting(id) {
            self.consult = None;
            return;
        }
        if self.is_limited_by(id) {
            return self.apply_limit_ruling(ruling);
        }
        if *ruling == Ruling::Session
            && let Some(open) = self.open().iter().find(|it| it.call.id == *id)
        {
            for grant in open.access.grants() {
                if !self.granted.contains(&grant) {
                    self.granted.push(grant);
                }
            }
        }
        self.set(id, State::Allowed);
    }

    /// Uses these rules from now on, also for calls that have not begun. Rules are settings and are not saved in the
    /// session.
    pub fn set_rules(&mut self, rules: &Arc<Rules>) {
        self.rules.clone_from(rules);
        if let Phase::Acting { open, .. } = &mut self.phase {
            let mut open = std::mem::take(open);
            for it in &mut open {
                it.judged = self.judged(&it.access);
            }
            if let Phase::Acting { open: place, .. } = &mut self.phase {
                *place = open;
            }
        }
    }

    /// A call that has not begun, with the access from its plan. A call with the plan of another call is refused.
    fn opened(&self, call: &ToolCall, plan: &Plan) -> Open {
        let access = if plan.call == call.id {
            plan.access.clone()
        } else {
            Access::Invalid("Not run: no such tool.".into())
        };
        let judged = self.judged(&access);
        Open {
            call: call.clone(),
            access,
            judged,
            is_changed: false,
            named_unsaved: Vec::new(),
            diff: Vec::new(),
            at_gate: false,
            result: None,
            state: State::Ready,
        }
    }

    /// Notes that a file is under review. Keeps what a call changes in the file until the call is answered.
    fn review(&mut self, id: &CallId, path: &Path, diff: Option<&FileDiff>) {
        if !self.reviewing.iter().any(|it| it == path) {
            self.reviewing.push(path.to_path_buf());
        }
        if let Phase::Acting { open, .. } = &mut self.phase
            && let Some(it) = open.iter_mut().find(|it| it.call.id == *id)
        {
            it.diff.extend(diff.cloned());
        }
    }

    fn apply_note(&mut self, event: &Event) {
        match event {
            Event::Noted { text, call } => {
                self.notes.push(Note { text: text.clone(), call: call.clone() });
            }
            Event::Judged { call, summary, failed } => self.judge_answered(call, summary, *failed),
            _ => (),
        }
    }

    /// Puts the user's last verdict on a call into the call's answer. The model gets the verdict as a note.
    fn judge_answered(&mut self, id: &CallId, summary: &str, failed: bool) {
        let open = match &mut self.phase {
            Phase::Acting { open, .. } => &mut open[..],
            _ => &mut [],
        };
        let open = open.iter_mut().filter_map(|it| match &mut it.state {
            State::Done(answer) => Some(&mut **answer),
            _ => None,
        });
        let blocks = self.messages.iter_mut().rev().flat_map(|it| &mut it.blocks);
        let said = blocks.filter_map(|it| match it {
            Block::Answer(answer) => Some(answer),
            _ => None,
        });
        if let Some(answer) = open.chain(said).find(|it| it.id == *id) {
            summary.clone_into(&mut answer.summary);
            answer.reversed = answer.failed != failed;
        }
    }

    pub(super) fn take_diff(&mut self, id: &CallId) -> Vec<FileDiff> {
        let Phase::Acting { open, .. } = &mut self.phase else { return Vec::new() };
        let call = open.iter_mut().find(|it| it.call.id == *id);
        call.map(|it| std::mem::take(&mut it.diff)).unwrap_or_default()
    }

    pub(super) fn set(&mut self, id: &CallId, state: State) {
        if let Phase::Acting { open, .. } = &mut self.phase
            && let Some(it) = open.iter_mut().find(|it| it.call.id == *id)
        {
            it.state = state;
        }
    }

    /// Once every call is answered, changes to the phase in which the model is asked.
    pub(super) fn close(&mut self) {
        let Phase::Acting { turn, requests, open } = &mut self.phase else { return };
        if !open.iter().all(|it| matches!(it.state, State::Done(_))) {
            return;
        }
        let (turn, requests, open) = (*turn, *requests, std::mem::take(open));
        let answers = open.into_iter().filter_map(|it| match it.state {
            State::Done(answer) => Some(*answer),
            _ => None,
        });
        let requests = requests.saturating_add(1);
        self.warn_worker(requests);
        self.phase = Phase::Sampling { turn, requests, tries: 1 };
        self.say_answers(answers.collect());
    }

    /// Ends the turn and answers every open call, because every provider requires an answer to each call.
    fn settle(&mut self, why: &End) {
        self.note_end(why);
        self.settle_workers(why);
        self.queue_steered(why);
        if *why == End::Cancelled {
            // what the user writes after the stop goes first
            self.held.extend(self.queue.iter().map(|it| it.id));
        }
        if let Phase::Acting { open, .. } = std::mem::take(&mut self.phase) {
            let answers = open.into_iter().map(|it| match &it.state {
                State::Done(answer) => (**answer).clone(),
                State::Running => it.told(say::cut_short(&it.call.id, &it.access, why)),
                State::Reviewing { what, .. } => {
                    under_review::left_reviewing(&it.call.id, *what, why)
                }
                State::Ready | State::Asking { .. } | State::Allowed => {
                    it.told(say::never_begun(&it.call.id, why))
                }
            });
            self.say_answers(answers.collect());
        }
        self.notes.extend(say::aftermath(why).map(Note::from));
        if let Some(text) = say::ending(why) {
            self.say(Role::Note, vec![Block::Text { text }]);
        }
    }

    /// The messages that were sent into the turn and did not join it begin the next turn, before the others. After a
    /// stop, the user sends the messages of the queue in the order of writing.
    fn queue_steered(&mut self, why: &End) {
        if *why != End::Cancelled {
            self.queue.sort_by_key(|it| !it.steer);
        }
        for message in &mut self.queue {
            message.steer = false;
        }
    }

    /// Adds a message with only these answers, because Anthropic's models require that; notes follow in another
    /// message. The calls that exceed the limit of one reply are answered here too, after the others.
    fn say_answers(&mut self, mut answers: Vec<ToolAnswer>) {
        let reply = self.messages.iter().rev().find(|it| it.role == Role::Assistant);
        let calls = reply.into_iter().flat_map(|it| &it.blocks).filter_map(|it| match it {
            Block::Call(call) => Some(&call.id),
            _ => None,
        });
        let over_limit: Vec<&CallId> = calls.skip(answers.len()).collect();
        answers.extend(say::over_limit(&over_limit, answers.len()));
        self.say(Role::User, answers.into_iter().map(Block::Answer).collect());
        let notes = self.take_notes();
        if !notes.is_empty() {
            self.say(Role::User, notes);
        }
    }

    pub(super) fn take_notes(&mut self) -> Vec<Block> {
        let ended = self.take_ends_of_jobs();
        let notes =
            std::mem::take(&mut self.notes).into_iter().chain(ended.into_iter().map(Note::from));
        let notes = notes.map(|Note { text, call }| Block::Notice { text, call });
        let instructions = std::mem::take(&mut self.instructions).into_iter().map(Block::Excerpt);
        notes.chain(instructions).collect()
    }

    pub(super) fn say(&mut self, role: Role, blocks: Vec<Block>) {
        self.messages.push(Message::new(role, blocks));
    }
}
