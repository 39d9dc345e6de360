//! The tool `format`: formats a file by the user's language server or formatter, as a proposal.

use super::lsp::{self, Aspect};
use super::{Author, Deed, Desk, Tool, Work, typed};
use crate::message::Builtin;
use serde_json::{Value, json};
use std::sync::Arc;

const PURPOSE: &str = "Formats a file, or some of its lines, with the user's language server or, where none formats \
    it, with the user's formatter. Not needed where the user's editor formats files as it saves them. Example: \
    {\"path\":\"a.rs\",\"line\":10,\"last_line\":30}. The user may be asked before a formatter runs. The user reviews \
    every hunk; the result says what they kept.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Format.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Files,
        work: Work::Refactor(Arc::new(read)),
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

fn read(desk: &Desk, args: Value) -> Result<Deed, String> {
    lsp::changes(desk, Aspect::Format, typed(args)?).map(Deed::Refactor)
}
