//! The tool `definition`: finds where a symbol is defined, by the user's language servers.

use super::lsp::{self, Aspect};
use super::{Author, Consented, Desk, Running, Tool, Work};
use crate::message::Builtin;
use futures::FutureExt;

const PURPOSE: &str = "Finds where a symbol is defined, using the user's language server. If there is no \
    server, use grep. Give a line that has it: {\"path\":\"a.rs\",\"line\":12,\"symbol\":\"parse\"}. Returns \
    `path:line: text`; read shows the rest. If the symbol is not on that line, the error says where it is.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Definition.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: lsp::at_symbol(),
        author: Author::Files,
        work: Work::reads(lsp::Args::paths, run),
    }
}

fn run(desk: &Desk, args: lsp::Args, paths: Vec<Consented>) -> Running<'_> {
    async move {
        let question =
            lsp::question(desk, Aspect::Definition, args, paths.first().map(Consented::path))?;
        lsp::ask(desk, question, ["place", "places"], "No definition found.").await
    }
    .boxed()
}
