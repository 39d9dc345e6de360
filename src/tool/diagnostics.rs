//! The tool `diagnostics`: lists the problems that the user's language servers find.

use super::lsp::{self, Aspect, Question};
use super::{Author, Consented, Desk, Running, Tool, Work};
use crate::message::Builtin;
use futures::FutureExt;
use serde_json::{Value, json};
use std::path::PathBuf;

const PURPOSE: &str = "Lists the diagnostics of the user's language servers for a file as it is in the editor, or \
    without a path for every file that the servers have reported on. Not needed after an edit: its result says which \
    diagnostics are new. Example: {\"path\":\"src/main.rs\"}. Returns `path:line: severity: message`; a long list is \
    cut. The answer names servers that have not reported yet: call again later.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Diagnostics.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Files,
        work: Work::reads(lsp::Args::paths, run),
    }
}

fn schema() -> Value {
    json!({ "type": "object", "properties": { "path": { "type": "string" } } })
}

/// The number of diagnostics of a file, and their text for the model. Without a path, those of all files.
pub async fn of(desk: &Desk, path: Option<PathBuf>) -> Result<(usize, String), String> {
    let aspect = Aspect::Diagnostics;
    lsp::findings(desk, Question::new(aspect, path)).await
}

fn run(desk: &Desk, args: lsp::Args, paths: Vec<Consented>) -> Running<'_> {
    async move {
        let question =
            lsp::question(desk, Aspect::Diagnostics, args, paths.first().map(Consented::path))?;
        lsp::ask(desk, question, ["finding", "findings"], "Nothing is reported.").await
    }
    .boxed()
}
