//! The tool `definition`: finds where a symbol is defined, by the user's language servers.

use super::lsp::{self, Aspect};
use super::{CallId, Desk, Done, Tool, Work};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

const PURPOSE: &str = "Finds where a symbol is defined, using the user's language server. If there is no \
    server, use grep. Give a line that has it: {\"path\":\"a.rs\",\"line\":12,\"symbol\":\"parse\"}. Returns \
    `path:line: text`; read shows the rest. If the symbol is not on that line, the error says where it is.";

pub(super) fn tool() -> Tool {
    Tool {
        name: "definition".to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: lsp::at_symbol(),
        work: Work::Read { paths: Arc::new(lsp::paths), run: Arc::new(run) },
    }
}

fn run(desk: &Desk, _call: CallId, args: Value) -> BoxFuture<'_, Result<Done, String>> {
    async move {
        let question = lsp::question(desk, Aspect::Definition, &args)?;
        lsp::ask(desk, question, ["place", "places"], "No definition found.").await
    }
    .boxed()
}
