//! The to-do list of the conversation, as the user sees it beside the chat, and the list that another conversation of
//! the project left.

mod acts;

pub(super) use acts::act;

use crate::conversation::Conversation;
use crate::conversation::report::{Report, Show};
use crate::event::SessionId;
use crate::message::Builtin;
use crate::session::{Input, Session};
use crate::tool::Desk;
use crate::tool::todo::list::{FILE, List, TodoItem};

/// The list as the user saw it last.
#[derive(Default)]
pub(super) struct Todo {
    shown: Vec<TodoItem>,
}

impl Todo {
    /// Shows the conversation's list if it has changed, or if the editor has lost it.
    pub(super) fn show(&mut self, conversation: &Conversation, desk: &Desk, is_lost: bool) {
        let list = List::load(&desk.root).unwrap_or_default();
        let is_own = !list.is_foreign(&conversation.id.0) && conversation.read_only.is_none();
        let items = if is_own { list.todos } else { Vec::new() };
        if items != self.shown || is_lost {
            self.shown.clone_from(&items);
            conversation.show(Show::Tell(Report::Todo(items)));
        }
    }
}

/// Whether this input may have changed the list: the answer to a call of the tool, or the note about an act of the
/// user.
pub(super) fn is_changed_by(input: &Input, session: &Session) -> bool {
    let Input::Answered { answer, .. } = input else { return matches!(input, Input::Note { .. }) };
    let mut open = session.open().iter();
    open.any(|it| it.call.id == answer.id && it.call.is_of(Builtin::Todo))
}

/// The sentence for the user of a new conversation about the list that another one left; `None` if there is none.
pub(super) fn left(desk: &Desk, session: &str) -> Option<String> {
    let list = List::load(&desk.root).ok().filter(|it| it.is_foreign(session))?;
    Some(format!(
        "{FILE} has {}. `:Caliban todo take` hands it to this conversation, `:Caliban todo remove` removes it.",
        list.about()
    ))
}

/// Called when a conversation was cleared: the list that it kept belongs to its old text. The user is offered the list
/// like one of another conversation.
pub(super) fn cleared(desk: &Desk, id: &SessionId) {
    renamed(desk, id, &SessionId(String::new()));
}

/// Called when a conversation has a new name: the list that it keeps gets this name. If that fails, the user is offered
/// the list like one of another conversation.
pub(super) fn renamed(desk: &Desk, from: &SessionId, to: &SessionId) {
    let list = List::load(&desk.root).ok().filter(|it| it.session == from.0);
    if let Some(list) = list.filter(|it| !it.todos.is_empty())
        && let Err(why) = (List { session: to.0.clone(), ..list }).keep(&desk.root)
    {
        tracing::warn!("the to-do list keeps the old name of its conversation: {why}");
    }
}
