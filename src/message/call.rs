//! A call of a tool by the model.

use super::CallId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
