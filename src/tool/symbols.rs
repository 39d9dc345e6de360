//! The tool `symbols`: lists the symbols of a file or of the project, by the user's language servers.

use super::lsp::{self, Aspect};
use super::{CallId, Desk, Done, Tool, Work};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

const PURPOSE: &str = "Lists a file's symbols, or with `query` the symbols of the whole project, using the \
    user's language server. Examples: {\"path\":\"a.rs\"}, {\"query\":\"parse\"}. With `query`, a path only \
    chooses the server. Returns `path:line: kind name`; a long list is cut.";

pub(super) fn tool() -> Tool {
    Tool {
        name: "symbols".to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        work: Work::Read { paths: Arc::new(lsp::paths), run: Arc::new(run) },
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

fn run(desk: &Desk, _call: CallId, args: Value) -> BoxFuture<'_, Result<Done, String>> {
    async move {
        let question = lsp::question(desk, Aspect::Symbols, &args)?;
        if question.path.is_none() && question.query.is_none() {
            return Err("Name a path, or a query for symbols of the whole project.".to_owned());
        }
        lsp::ask(desk, question, ["symbol", "symbols"], "No symbol found.").await
    }
    .boxed()
}
