//! The model's questions to the user in the chat: one at a time, with numbered options.

use super::blocks::{Content, Shape, View};
use super::lines;
use super::question::{Keys, Question};
use super::tool::Tone;
use crate::event::Event;
use crate::message::inquiry::Question as Asked;
use crate::message::{CallId, Given, Inquiry, ToolAnswer};
use crate::session::NO_ANSWER;

impl View {
    pub(super) fn answered_now(&mut self, answer: &ToolAnswer, now_ms: u64) {
        self.answered(answer, Some(now_ms));
        if let Some(inquiry) = &answer.inquiry {
            // the question is shown at the end of the turn, below the other calls of the reply
            self.inquiry.open = Some((answer.id.clone(), (**inquiry).clone()));
        }
    }

    /// Shows the open questions of a session.
    pub(super) fn inquire(&mut self, open: Option<(&CallId, &Inquiry)>) {
        self.inquiry.open = open.map(|(call, inquiry)| (call.clone(), inquiry.clone()));
        self.show_inquiry();
    }

    /// Shows the question that the user answers next.
    pub(super) fn show_inquiry(&mut self) {
        let Some((call, inquiry)) = self.inquiry.open.clone() else { return };
        let next = question(&inquiry).filter(|_| self.asked_now().is_none());
        if let Some(question) = next {
            self.ask(&call, question);
            self.inquiry.shown = self.blocks.len().checked_sub(1);
        }
    }

    /// Removes the question from the chat, because another one has to be answered first, or because it is answered.
    pub(super) fn hide_inquiry(&mut self) {
        let is_shown = |at: &usize| self.blocks.get(*at).is_some_and(|it| it.shape == Shape::Ask);
        if let Some(at) = self.inquiry.shown.take().filter(is_shown) {
            if let Some(call) = self.blocks[at].call.clone() {
                self.cover(&call, false);
            }
            self.remove(at);
        }
    }

    pub(super) fn forget_inquiry(&mut self) {
        self.inquiry.open = None;
        self.hide_inquiry();
    }

    pub(super) fn responded(&mut self, event: &Event) {
        match event {
            Event::Chose { given, marked, .. } => self.chose(given, marked),
            Event::Unanswered { call } => {
                self.forget_inquiry();
                self.set_right(call, NO_ANSWER, Tone::Plain);
            }
            _ => (),
        }
    }

    /// The user has answered a question, or has marked an option of the shown one.
    fn chose(&mut self, given: &[Given], marked: &[usize]) {
        let Some((_, inquiry)) = &mut self.inquiry.open else { return };
        let is_same = inquiry.given.len() == given.len();
        (inquiry.given, inquiry.marked) = (given.to_vec(), marked.to_vec());
        let again = question(inquiry).filter(|_| is_same);
        if let (Some(question), Some(at)) = (again, self.inquiry.shown) {
            self.blocks[at].content = Content::Question(Box::new(question));
            self.changed(at);
        } else {
            self.hide_inquiry();
            self.show_inquiry();
        }
    }
}

/// The question that is next, in words; `None` if all are answered.
fn question(inquiry: &Inquiry) -> Option<Question> {
    let (at, asked) = inquiry.next()?;
    let of = inquiry.questions.len();
    let count = if of > 1 { format!("{} of {of}: ", at + 1) } else { String::new() };
    let options = asked.options.iter().enumerate();
    let options = options.map(|(n, _)| format!("\n{}", option(asked, n, &inquiry.marked)));
    let text = format!("{count}{}{}", asked.text, options.collect::<String>());
    let text = lines::clean(&text);
    let keys =
        Keys::Choice { options: asked.options.len(), is_first: at == 0, multiple: asked.multiple };
    Some(Question::new(&text, keys).of_call(at).covering(true))
}

/// An option in one line: its number, its mark if several may be chosen, its label and its description.
fn option(asked: &Asked, n: usize, marked: &[usize]) -> String {
    let option = &asked.options[n];
    let mark = match marked.contains(&n) {
        _ if !asked.multiple => "",
        true => "[x] ",
        false => "[ ] ",
    };
    let suggested = if n == 0 { " (suggested)" } else { "" };
    let about =
        if option.about.is_empty() { String::new() } else { format!(" — {}", option.about) };
    format!("{}  {mark}{}{suggested}{about}", n + 1, option.label)
}
