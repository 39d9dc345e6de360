//! The to-do list of the conversation, as the user sees it beside the chat, and the list that another conversation of
//! the project left.

use super::Agent;
use crate::conversation::Conversation;
use crate::conversation::report::{Level, Report, Show};
use crate::event::SessionId;
use crate::message::Builtin;
use crate::session::{Input, Session};
use crate::text::cause;
use crate::tool::Desk;
use crate::tool::todo::list::{FILE, List, TodoItem};
use tokio::sync::mpsc;

/// What the user does with the project's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TodoAct {
    /// Hands the list that another conversation left to this one.
    Take,
    /// Removes the list, whoever keeps it.
    Remove,
}

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

/// Takes or removes the list, unless the user is editing its file.
pub(super) fn act(agent: &mut Agent, act: TodoAct) {
    let (desk, results) = (agent.desk.clone(), agent.turn.results());
    let session = agent.conversation.id.0.clone();
    let screen = agent.conversation.screen();
    tokio::spawn(async move {
        if let Err(why) = carry_out(&desk, &session, act, &results).await {
            // the send fails only when the editor is gone
            let _ = screen.send(Show::Now(Report::Notice { level: Level::Warn, text: why }));
        }
    });
}

async fn carry_out(
    desk: &Desk,
    session: &str,
    act: TodoAct,
    results: &mpsc::UnboundedSender<Input>,
) -> Result<(), String> {
    if desk.workspace.changed().await.contains(&desk.root.join(FILE)) {
        return Err(format!("{FILE} has unsaved changes. Write or undo them first."));
    }
    let list = List::load(&desk.root).map_err(|why| {
        format!("{FILE} is not a to-do list of Caliban's ({why}), so it stays as it is.")
    })?;
    if list.todos.is_empty() {
        return Err("The project has no to-do list.".to_owned());
    }
    let fail = |fault| format!("{FILE} cannot be written ({}).", cause(&fault));
    let note = match act {
        TodoAct::Take if !list.is_foreign(session) => {
            return Err("This conversation already keeps the list.".to_owned());
        }
        TodoAct::Take => {
            let list = List { session: session.to_owned(), ..list };
            list.keep(&desk.root).map_err(fail)?;
            format!(
                "The user handed you the to-do list that another conversation left. It is yours now:\n{}",
                list.lines()
            )
        }
        TodoAct::Remove => {
            List::remove(&desk.root).map_err(fail)?;
            "The user removed the project's to-do list.".to_owned()
        }
    };
    // the send fails only when the conversation is over
    let _ = results.send(Input::Note { text: note });
    Ok(())
}
