//! The user's answers to the model's questions.

use super::Agent;
use crate::conversation::report::{Level, OpenQuestion};
use crate::message::CallId;
use crate::message::inquiry::WORDS;
use crate::session::{Input, Response, Session};

/// Takes the user's response to a question. If the response is not possible, the user is told why.
pub(super) fn respond(agent: &mut Agent, call: CallId, question: usize, response: Response) {
    let conversation = &mut agent.conversation;
    let open = conversation.session.inquiry().filter(|it| *it.0 == call);
    let open = open.filter(|it| it.1.next().is_some_and(|it| it.0 == question));
    let Some((_, open)) = open else {
        let text = "The question has been answered or withdrawn.";
        return conversation.notice(Level::Warn, text.to_owned());
    };
    let why = match &response {
        Response::Done if open.marked.is_empty() => {
            Some("No option is marked. Mark one with its number, or skip the question.".to_owned())
        }
        Response::Words(it) if it.chars().nth(WORDS).is_some() => Some(format!(
            "An answer has at most {WORDS} characters. Send the text as a message instead."
        )),
        _ => None,
    };
    if let Some(why) = why {
        return conversation.notice(Level::Warn, why);
    }
    agent.guidance.consult(conversation, &agent.sampler.models, &mut agent.desk);
    conversation.take(Input::Respond { call, question, response });
}

/// The question that the user answers next, for the editor.
pub(super) fn open(session: &Session) -> Option<OpenQuestion> {
    let (call, inquiry) = session.inquiry()?;
    let (at, question) = inquiry.next()?;
    let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    Some(OpenQuestion {
        call: call.0.clone(),
        question: number(at),
        of: number(inquiry.questions.len()),
        text: question.text.clone(),
        options: question.options.clone(),
        multiple: question.multiple,
        marked: inquiry.marked.iter().map(|it| number(*it)).collect(),
    })
}
