//! The tool `code_action`: lists the code actions of the user's language servers at a place, and applies one as a
//! proposal.

use super::lsp::{self, Aspect, Question};
use super::{Author, Consented, Deed, Desk, Reading, Running, Tool, Work, typed};
use crate::message::Builtin;
use futures::FutureExt;
use serde_json::{Value, json};
use std::sync::Arc;

const PURPOSE: &str = "Lists the fixes and refactorings that the user's language servers offer at a line or a range, \
    and applies one. To format, use format. First call it without `action`: {\"path\":\"a.rs\",\"line\":12}. The \
    result is a numbered list. Then name one by its number or title: {\"path\":\"a.rs\",\"line\":12,\"action\":\"2\"}. \
    The user reviews every hunk; the result says what they kept. An action that is a command of the server is not run: \
    make its change yourself.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::CodeAction.name().to_owned(),
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
            "line": { "type": "integer", "minimum": 1 },
            "last_line": { "type": "integer", "minimum": 1, "description": "default: line" },
            "kind": { "type": "string", "description": "only this kind: quickfix, refactor, source.organizeImports" },
            "action": { "type": "string", "description": "its title, or its number in the last list" }
        },
        "required": ["path", "line"]
    })
}

fn read(desk: &Desk, args: Value) -> Result<Deed, String> {
    let args: lsp::Args = typed(args)?;
    let name = args.action.as_deref().map(str::trim).filter(|it| !it.is_empty());
    let Some(name) = name.map(str::to_owned) else {
        let paths = args.paths();
        return Ok(Deed::Read(Reading::new(args, paths, list)));
    };
    let question = lsp::changes(desk, Aspect::Action, args)?;
    Ok(Deed::Refactor(Question { name: Some(name), ..question }))
}

fn list(desk: &Desk, args: lsp::Args, paths: Vec<Consented>) -> Running<'_> {
    async move {
        let path = paths.first().map(Consented::path);
        let question = lsp::question(desk, Aspect::Actions, args, path)?;
        lsp::ask(desk, question, ["action", "actions"], "No code action is offered there.").await
    }
    .boxed()
}
