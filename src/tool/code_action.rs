//! The tool `code_action`: lists the code actions of the user's language servers at a place, and applies one as a
//! proposal.

use super::lsp::{self, Aspect, Question};
use super::{Desk, Tool, Work};
use serde_json::{Value, json};
use std::sync::Arc;

const PURPOSE: &str = "Lists the fixes and refactorings that the user's language servers offer at a line or a range, \
    and applies one. To format, use format. First call it without `action`: {\"path\":\"a.rs\",\"line\":12}. The \
    result is a numbered list. Then name one by its number or title: {\"path\":\"a.rs\",\"line\":12,\"action\":\"2\"}. \
    The user reviews every hunk; the result says what they kept. An action that is a command of the server is not run: \
    make its change yourself.";

pub(super) fn tool() -> Tool {
    Tool {
        name: "code_action".to_owned(),
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
            "line": { "type": "integer", "minimum": 1 },
            "last_line": { "type": "integer", "minimum": 1, "description": "default: line" },
            "kind": { "type": "string", "description": "only this kind: quickfix, refactor, source.organizeImports" },
            "action": { "type": "string", "description": "its title, or its number in the last list" }
        },
        "required": ["path", "line"]
    })
}

fn ask(desk: &Desk, args: &Value) -> Result<Question, String> {
    let name = args["action"].as_str().map(str::trim).filter(|it| !it.is_empty());
    let aspect = if name.is_some() { Aspect::Action } else { Aspect::Actions };
    let question = lsp::question(desk, aspect, args)?;
    Ok(Question { name: name.map(str::to_owned), ..lsp::with_range(question, args)? })
}
