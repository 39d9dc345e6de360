//! The tool `references`: finds the uses of a symbol, by the user's language servers.

use super::lsp::{self, Aspect};
use super::{CallId, Desk, Done, Tool, Work};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

const PURPOSE: &str = "Finds all uses of a symbol and its definition, using the user's language server. Unlike \
    grep, it distinguishes symbols of the same name; if there is no server, use grep. Give a line that has it: \
    {\"path\":\"a.rs\",\"line\":12,\"symbol\":\"parse\"}. Returns `path:line: text`; a long list is cut. To \
    rename all uses, call rename_symbol.";

pub(super) fn tool() -> Tool {
    Tool {
        name: "references".to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: lsp::at_symbol(),
        work: Work::Read { paths: Arc::new(lsp::paths), run: Arc::new(run) },
    }
}

fn run(desk: &Desk, _call: CallId, args: Value) -> BoxFuture<'_, Result<Done, String>> {
    async move {
        let question = lsp::question(desk, Aspect::References, &args)?;
        lsp::ask(desk, question, ["place", "places"], "No reference found.").await
    }
    .boxed()
}
