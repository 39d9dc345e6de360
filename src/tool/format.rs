//! The tool `format`: formats a file by the user's language server or formatter, as a proposal.

use super::lsp::{self, Aspect, Question};
use super::{Desk, Tool, Work};
use serde_json::{Value, json};
use std::sync::Arc;

const PURPOSE: &str = "Formats a file, or some of its lines, with the user's language server or, where none formats \
    it, with the user's formatter. Not needed where the user's editor formats files as it saves them. Example: \
    {\"path\":\"a.rs\",\"line\":10,\"last_line\":30}. The user may be asked before a formatter runs. The user reviews \
    every hunk; the result says what they kept.";

pub(super) fn tool() -> Tool {
    Tool {
        name: "format".to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        work: Work::Refactor { ask: Arc::new(ask) },
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "line": { "type": "integer", "minimum": 1, "description": "default: the whole file" },
            "last_line": { "type": "integer", "minimum": 1, "description": "default: line" }
        },
        "required": ["path"]
    })
}

fn ask(desk: &Desk, args: &Value) -> Result<Question, String> {
    let question = lsp::question(desk, Aspect::Format, args)?;
    lsp::with_range(question, args)
}
