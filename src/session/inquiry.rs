//! The model's questions to the user. A call of `ask` ends the turn, and the user's answers begin the next one. The
//! questions are open until the user's next message, whatever it says.

use super::fork::is_shown;
use super::{Event, Input, Response, Session, Step, say};
use crate::event::{Queued, TurnId};
use crate::message::inquiry::WORDS;
use crate::message::{
    Block, CallId, Excerpt, ExcerptKind, Given, Inquiry, Question, Role, ToolAnswer, ToolCall,
};

impl Session {
    /// The open questions, and the call that asked them.
    pub fn inquiry(&self) -> Option<(&CallId, &Inquiry)> {
        let (at, block) = self.inquiry_place()?;
        match self.messages.get(at)?.blocks.get(block)? {
            Block::Answer(ToolAnswer { id, inquiry: Some(it), .. }) => Some((id, it)),
            _ => None,
        }
    }

    /// The message and the block that have the open questions: they are part of an answer after which neither the user
    /// nor the model has said anything.
    fn inquiry_place(&self) -> Option<(usize, usize)> {
        for (at, message) in self.messages.iter().enumerate().rev() {
            if message.role == Role::Assistant || is_shown(message) {
                return None;
            }
            let has = |it: &Block| matches!(it, Block::Answer(it) if it.inquiry.is_some());
            if let Some(block) = message.blocks.iter().position(has) {
                return Some((at, block));
            }
        }
        None
    }

    fn inquiry_answer(&mut self) -> Option<&mut ToolAnswer> {
        let (at, block) = self.inquiry_place()?;
        match self.messages.get_mut(at)?.blocks.get_mut(block)? {
            Block::Answer(it) => Some(it),
            _ => None,
        }
    }

    /// Asks the questions of a call, with which the turn ends. Where nobody can answer them, the turn goes on.
    pub(super) fn ask_user(
        &mut self,
        turn: TurnId,
        call: &ToolCall,
        questions: Vec<Question>,
        step: &mut Step,
    ) {
        if self.nobody_answers() {
            let answer = say::nobody_answers(&call.id);
            return self.has_run(turn, answer, step);
        }
        let inquiry = Some(Box::new(Inquiry::new(questions)));
        let answer = ToolAnswer { inquiry, ..say::asked(&call.id) };
        self.has_run(turn, answer, step);
    }

    /// Takes the user's response to a question. A response to any other question than the next one comes too late.
    pub(super) fn respond(&mut self, input: Input, step: &mut Step) {
        let Input::Respond { call, question, response } = input else { return };
        let Some((_, open)) = self.inquiry().filter(|it| *it.0 == call) else { return };
        let Some((at, asked)) = open.next().filter(|it| it.0 == question) else { return };
        let (mut given, mut marked) = (open.given.clone(), Vec::new());
        match response {
            Response::Mark(it) if asked.multiple && it < asked.options.len() => {
                marked.clone_from(&open.marked);
                match marked.binary_search(&it) {
                    Ok(place) => {
                        marked.remove(place);
                    }
                    Err(place) => marked.insert(place, it),
                }
            }
            Response::Choose(mut at) if !at.is_empty() && asked.may_be(&at) => {
                at.extend(&open.marked);
                at.sort_unstable();
                at.dedup();
                given.push(Given::Chosen(at));
            }
            Response::Done if !open.marked.is_empty() => {
                given.push(Given::Chosen(open.marked.clone()));
            }
            Response::Words(it) if !it.trim().is_empty() && it.chars().nth(WORDS).is_none() => {
                given.push(Given::words(&open.marked, it));
            }
            Response::Skip => given.push(Given::Skipped),
            Response::Back if at > 0 => {
                let before = given.pop().filter(|_| open.questions[at - 1].multiple);
                marked = before.map(|it| it.chosen().to_vec()).unwrap_or_default();
            }
            _ => return,
        }
        if given.len() > open.given.len() {
            marked = open.left.get(given.len()).cloned().unwrap_or_default();
        }
        let is_over = given.len() == open.questions.len();
        let is_skipped = given.iter().all(|it| *it == Given::Skipped);
        if is_over && is_skipped {
            return self.close_inquiry(call, step);
        }
        self.record(Event::Chose { call, given, marked }, step);
        if is_over {
            self.send_answers(step);
        }
    }

    /// Closes the questions without an answer.
    fn close_inquiry(&mut self, call: CallId, step: &mut Step) {
        self.record(Event::Unanswered { call }, step);
        if self.turn().is_none() {
            self.prompt_next(step);
        }
    }

    /// Sends the answers as a message of the user.
    fn send_answers(&mut self, step: &mut Step) {
        let context = self.answers().into_iter().collect();
        let id = self.next_id();
        let message = Queued { id, text: String::new(), context, steer: false };
        self.record(Event::Queued { message }, step);
        if self.turn().is_none() {
            self.prompt_next(step);
        }
    }

    /// The answers given so far and the marked options, for a message; `None` if there are none.
    fn answers(&self) -> Option<Excerpt> {
        let (_, open) = self.inquiry().filter(|it| it.1.has_answers())?;
        let (path, kind, text) = ("answers".to_owned(), ExcerptKind::Answers, open.answers());
        Some(Excerpt { path, kind, text, ..Excerpt::default() })
    }

    /// Adds the answers given so far and the marked options to a message that answers the open questions.
    pub(super) fn answering(&self, mut message: Queued) -> Queued {
        if !has_answers(&message) {
            message.context.splice(0..0, self.answers());
        }
        message
    }

    /// The message of the queue that may begin the next turn. While questions are open, this is a message that was sent
    /// after them, because it answers them.
    pub(super) fn next_message(&self) -> Option<&Queued> {
        let is_asking = self.inquiry().is_some();
        self.ready().find(|it| !is_asking || it.id > self.asked_after)
    }

    /// Opens the questions again if their answers were taken out of the queue.
    pub(super) fn reopen(&mut self, unqueued: &Queued, step: &mut Step) {
        if has_answers(unqueued)
            && let Some((call, _)) = self.inquiry()
        {
            let (call, given, marked) = (call.clone(), Vec::new(), Vec::new());
            self.record(Event::Chose { call, given, marked }, step);
        }
    }

    pub(super) fn apply_inquiry(&mut self, event: &Event) {
        match (event, self.inquiry_answer()) {
            (
                Event::Chose { call, given, marked },
                Some(ToolAnswer { id, inquiry: Some(it), .. }),
            ) if id == call => {
                it.take(given, marked);
            }
            (Event::Unanswered { call }, Some(answer)) if answer.id == *call => {
                answer.inquiry = None;
                say::NO_ANSWER.clone_into(&mut answer.summary);
                self.notes.push(say::UNANSWERED.into());
            }
            _ => (),
        }
    }

    /// Called before a message of the user: if the user takes that message back, the questions are open again, without
    /// an answer.
    pub(super) fn forget_answers(&mut self) {
        if let Some(ToolAnswer { inquiry: Some(it), .. }) = self.inquiry_answer() {
            it.take(&[], &[]);
            it.left.clear();
        }
    }

    /// Removes questions that do not keep the limits, and answers that wait in the queue. Anybody may have written the
    /// session's file.
    pub(super) fn distrust_inquiries(&mut self) {
        self.queue.retain(|it| !has_answers(it));
        self.asked_after = 0;
        for block in self.messages.iter_mut().flat_map(|it| &mut it.blocks) {
            if let Block::Answer(ToolAnswer { inquiry, .. }) = block {
                *inquiry = inquiry.take().filter(|it| it.is_sound());
            }
        }
        if self.inquiry().is_some_and(|it| it.1.next().is_none()) {
            self.forget_answers();
        }
    }
}

fn has_answers(message: &Queued) -> bool {
    message.context.iter().any(|it| it.kind == ExcerptKind::Answers)
}
