//! `hover`: what the user's language servers say of a symbol.

use super::lsp::{self, Aspect};
use super::{CallId, Desk, Done, Tool, Work};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

pub(super) const TOOL: Tool = Tool {
    name: "hover",
    purpose: "Shows a symbol's type and documentation, by the user's language server.",
    schema: lsp::at_symbol,
    work: Work::Read { paths: lsp::paths, run },
};

fn run(desk: &Desk, _call: CallId, args: Value) -> BoxFuture<'_, Result<Done, String>> {
    async move {
        let question = lsp::question(desk, Aspect::Hover, &args)?;
        lsp::ask(desk, question, ["answer", "answers"], "Nothing is said of it.").await
    }
    .boxed()
}
