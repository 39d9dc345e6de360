//! `write`: a whole file.

use super::{Tool, Work};
use crate::edit::{Change, Edit};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) const TOOL: Tool = Tool {
    name: "write",
    purpose: "Creates a file, or replaces the whole text of one you have read. Prefer edit for \
        changes to an existing file. The user reviews it; the answer tells what they kept.",
    schema,
    work: Work::Edit { parse },
};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "text": { "type": "string", "description": "the whole text, with its final newline" }
        },
        "required": ["path", "text"]
    })
}

#[derive(Deserialize)]
struct Args {
    path: String,
    text: String,
}

fn parse(args: &Value) -> Result<Vec<Edit>, String> {
    let args = Args::deserialize(args).map_err(|fault| fault.to_string())?;
    let change = Change::Write { text: args.text };
    Ok(vec![Edit { path: PathBuf::from(args.path), change }])
}
