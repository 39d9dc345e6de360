//! A call of a tool by the model.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// A tool call's id from the provider, or one made by the program if the provider gave none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

/// Begins the ids of the program's own questions, so that an answer to a model's call never counts for one of them.
const OWN: &str = "caliban:";

impl CallId {
    /// The id of a question or a proposal of the program's own.
    pub fn own(name: impl fmt::Display) -> CallId {
        CallId(format!("{OWN}{name}"))
    }

    /// The id of the question that the subagent with this session's name asks about its own `call`.
    pub fn of_subagent(name: &str, call: &CallId) -> CallId {
        CallId::own(format_args!("{name}/{call}"))
    }

    /// The name of the subagent that asks such a question.
    pub fn subagent(&self) -> Option<&str> {
        self.0.strip_prefix(OWN)?.split_once('/').map(|it| it.0)
    }

    /// Whether this is such an id.
    pub fn is_own(&self) -> bool {
        self.0.starts_with(OWN)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    pub tool: String,
    pub input: Input,
}

/// A call's arguments. Broken JSON is kept as it arrived; a call with broken arguments does not run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    Json(Value),
    /// The arguments as they arrived, and the JSON parser's error message.
    Broken {
        text: String,
        why: String,
    },
}

impl ToolCall {
    /// Puts this command in the place of the call's own.
    pub fn set_command(&mut self, command: &str) {
        if let Input::Json(Value::Object(arguments)) = &mut self.input {
            arguments.insert("command".to_owned(), command.into());
        }
    }
}
