//! The tool `references`: finds the uses of a symbol, by the user's language servers.

use super::lsp::{self, Aspect};
use super::{Author, Consented, Desk, Running, Tool, Work};
use crate::message::Builtin;
use futures::FutureExt;

const PURPOSE: &str = "Finds all uses of a symbol and its definition, using the user's language server. Unlike \
    grep, it distinguishes symbols of the same name; if there is no server, use grep. Give a line that has it: \
    {\"path\":\"a.rs\",\"line\":12,\"symbol\":\"parse\"}. Returns `path:line: text`; a long list is cut. To \
    rename all uses, call rename_symbol.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::References.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: lsp::at_symbol(),
        author: Author::Files,
        work: Work::reads(lsp::Args::paths, run),
    }
}

fn run(desk: &Desk, args: lsp::Args, paths: Vec<Consented>) -> Running<'_> {
    async move {
        let question =
            lsp::question(desk, Aspect::References, args, paths.first().map(Consented::path))?;
        lsp::ask(desk, question, ["place", "places"], "No reference found.").await
    }
    .boxed()
}
