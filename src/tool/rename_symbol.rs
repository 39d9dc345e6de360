//! The tool `rename_symbol`: renames a symbol wherever it is used, by the user's language server.

use super::lsp::{self, Aspect};
use super::{Author, Deed, Desk, Tool, Work, typed};
use crate::message::Builtin;
use serde_json::{Value, json};
use std::sync::Arc;

const PURPOSE: &str = "Renames a symbol wherever it is used, using the user's language server. To move a file, use \
    rename. Give a line that has it: {\"path\":\"a.rs\",\"line\":12,\"symbol\":\"parse\",\"name\":\"parse_all\"}. All \
    files change, or none. The user reviews every hunk; the result says what they kept. Strings and comments keep the \
    old name: find it with grep.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::RenameSymbol.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Files,
        work: Work::Refactor(Arc::new(read)),
    }
}

fn schema() -> Value {
    let mut schema = lsp::at_symbol();
    schema["properties"]["name"] = json!({ "type": "string", "description": "the new name" });
    schema["required"] = json!(["path", "line", "symbol", "name"]);
    schema
}

fn read(desk: &Desk, args: Value) -> Result<Deed, String> {
    let args: lsp::Args = typed(args)?;
    match args.name.as_deref().map(str::trim) {
        None | Some("") => Err("$.name: expected the new name.".to_owned()),
        Some(_) => lsp::changes(desk, Aspect::Rename, args).map(Deed::Refactor),
    }
}
