//! The messages about the to-do list.

use crate::agent::{Command, TodoAct};
use crate::event::SessionId;
use crate::tool::todo::list::TodoItem;
use serde::{Deserialize, Serialize};

/// The user takes or removes the project's to-do list.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TodoWanted {
    pub session: SessionId,
    pub act: WireTodo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WireTodo {
    /// This conversation keeps the list from now on, instead of the conversation that left the list.
    Take,
    Remove,
}

/// The to-do list of a session has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Todo {
    pub session: SessionId,
    /// The items; none if the session keeps no list.
    pub items: Vec<TodoItem>,
}

impl From<TodoWanted> for (SessionId, Command) {
    fn from(it: TodoWanted) -> (SessionId, Command) {
        let act = match it.act {
            WireTodo::Take => TodoAct::Take,
            WireTodo::Remove => TodoAct::Remove,
        };
        (it.session, Command::Todo(act))
    }
}
