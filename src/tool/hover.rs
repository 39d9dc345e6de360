//! The tool `hover`: shows a symbol's type and documentation, by the user's language servers.

use super::lsp::{self, Aspect};
use super::{CallId, Desk, Done, Tool, Work};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

const PURPOSE: &str = "Shows a symbol's type and documentation, using the user's language server. Give a line \
    that has it: {\"path\":\"a.rs\",\"line\":12,\"symbol\":\"parse\"}. Returns the server's text; a long text \
    is cut.";

pub(super) fn tool() -> Tool {
    Tool {
        name: "hover".to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: lsp::at_symbol(),
        work: Work::Read { paths: Arc::new(lsp::paths), run: Arc::new(run) },
    }
}

fn run(desk: &Desk, _call: CallId, args: Value) -> BoxFuture<'_, Result<Done, String>> {
    async move {
        let question = lsp::question(desk, Aspect::Hover, &args)?;
        lsp::ask(
            desk,
            question,
            ["answer", "answers"],
            "The language server has no information on this symbol.",
        )
        .await
    }
    .boxed()
}
