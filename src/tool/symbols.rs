//! The tool `symbols`: lists the symbols of a file or of the project, by the user's language servers.

use super::lsp::{self, Aspect};
use super::{Author, Consented, Desk, Running, Tool, Work};
use crate::message::Builtin;
use futures::FutureExt;
use serde_json::{Value, json};

const PURPOSE: &str = "Lists a file's symbols, or with `query` the symbols of the whole project, using the \
    user's language server. Examples: {\"path\":\"a.rs\"}, {\"query\":\"parse\"}. With `query`, a path only \
    chooses the server. Returns `path:line: kind name`; a long list is cut.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Symbols.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Files,
        work: Work::reads(lsp::Args::paths, run),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "query": { "type": "string", "description": "a part of the name" }
        }
    })
}

fn run(desk: &Desk, args: lsp::Args, paths: Vec<Consented>) -> Running<'_> {
    async move {
        let question =
            lsp::question(desk, Aspect::Symbols, args, paths.first().map(Consented::path))?;
        if question.path.is_none() && question.query.is_none() {
            return Err("Name a path, or a query for symbols of the whole project.".to_owned());
        }
        lsp::ask(desk, question, ["symbol", "symbols"], "No symbol found.").await
    }
    .boxed()
}
