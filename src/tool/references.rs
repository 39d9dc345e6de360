//! `references`: where a symbol is used, by the user's language servers.

use super::lsp::{self, Aspect};
use super::{CallId, Desk, Done, Tool, Work};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

pub(super) const TOOL: Tool = Tool {
    name: "references",
    purpose: "Finds all uses of a symbol, its definition too, by the user's language server. Unlike \
        grep it tells things of one name apart.",
    schema: lsp::at_symbol,
    work: Work::Read { paths: lsp::paths, run },
};

fn run(desk: &Desk, _call: CallId, args: Value) -> BoxFuture<'_, Result<Done, String>> {
    async move {
        let question = lsp::question(desk, Aspect::References, &args)?;
        lsp::ask(desk, question, ["place", "places"], "No reference found.").await
    }
    .boxed()
}
