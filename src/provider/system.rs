//! Requests to a model that takes no system prompt: the text of the prompt begins the first message of the user.

use crate::message::{Block, Message, Request, Role};

/// The request without a system prompt.
pub(super) fn in_first_message(request: &Request) -> Request {
    let Request { mut messages, system, .. } = request.clone();
    if !system.trim().is_empty() {
        let text = Block::Text { text: system };
        match messages.first_mut().filter(|it| it.role == Role::User) {
            Some(first) => first.blocks.insert(0, text),
            None => messages.insert(0, Message::new(Role::User, vec![text])),
        }
    }
    Request { messages, system: String::new(), ..request.clone() }
}
