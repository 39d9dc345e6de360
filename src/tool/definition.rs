//! `definition`: where a symbol is defined, by the user's language servers.

use super::lsp::{self, Aspect};
use super::{CallId, Desk, Done, Tool, Work};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

pub(super) const TOOL: Tool = Tool {
    name: "definition",
    purpose: "Finds where a symbol is defined, by the user's language server. Name a place where the \
        symbol stands.",
    schema: lsp::at_symbol,
    work: Work::Read { paths: lsp::paths, run },
};

fn run(desk: &Desk, _call: CallId, args: Value) -> BoxFuture<'_, Result<Done, String>> {
    async move {
        let question = lsp::question(desk, Aspect::Definition, &args)?;
        lsp::ask(desk, question, ["place", "places"], "No definition found.").await
    }
    .boxed()
}
