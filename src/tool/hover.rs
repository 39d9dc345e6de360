//! The tool `hover`: shows a symbol's type and documentation, by the user's language servers.

use super::lsp::{self, Aspect};
use super::{Author, Consented, Desk, Running, Tool, Work};
use crate::message::Builtin;
use futures::FutureExt;

const PURPOSE: &str = "Shows a symbol's type and documentation, using the user's language server. Give a line \
    that has it: {\"path\":\"a.rs\",\"line\":12,\"symbol\":\"parse\"}. Returns the server's text; a long text \
    is cut.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Hover.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: lsp::at_symbol(),
        author: Author::Files,
        work: Work::reads(lsp::Args::paths, run),
    }
}

fn run(desk: &Desk, args: lsp::Args, paths: Vec<Consented>) -> Running<'_> {
    async move {
        let question =
            lsp::question(desk, Aspect::Hover, args, paths.first().map(Consented::path))?;
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
