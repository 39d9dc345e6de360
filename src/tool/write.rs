//! The tool `write`: creates a file or replaces its whole text.

use super::schema::Form;
use super::{Author, Tool, Work};
use crate::edit::{Change, Edit, Format};
use crate::message::Builtin;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

const PURPOSE: &str = "Creates a file, or replaces the whole text of a file that you have read. Where there is \
    an `edit` tool, prefer it for changes to an existing file. Example: {\"path\":\"src/new.rs\",\"text\":\"fn \
    main() {}\\n\"}. The user reviews the change; the result says what they kept.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Write.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Known,
        work: Work::edits(parse, &[Format::Replace, Format::Whole]),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "text": { "type": "string", "description": "the whole text, with its final newline" },
            "text_from": { "type": "string", "description": "name of a text that Caliban kept, instead of `text`" }
        },
        "required": ["path"]
    })
}

#[derive(Deserialize)]
struct Args {
    path: String,
    text: Option<String>,
    text_from: Option<String>,
}

fn parse(args: Args) -> Result<Vec<Edit>, String> {
    // `text_from` names a text that the program has kept; `edit::kept` later replaces the name with the text
    let text = args.text.or(args.text_from).ok_or_else(|| {
        let form = Form { tool: Builtin::Write.name(), purpose: PURPOSE, schema: &schema() };
        form.refuse("$.text: expected string, here or in `text_from`, got nothing")
    })?;
    let change = Change::Write { text };
    Ok(vec![Edit { path: PathBuf::from(args.path), change }])
}
