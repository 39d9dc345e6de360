//! `edit`: replaces text in a file by exact match.

use super::{Tool, Work};
use crate::edit::{Change, Replacement};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "edit",
    purpose: "Replaces text in an existing file. Each `old` must be the file's own text, exactly, \
        blanks and indentation included, and stand there once (or set `everywhere`); take enough \
        lines to be unique. Several edits apply in order, each to the result of the one before, all \
        or none. The user reviews every hunk; the answer tells what they kept.",
    schema,
    work: Work::Edit { parse },
};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "edits": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "old": { "type": "string", "description": "text to replace, without line numbers" },
                        "new": { "type": "string", "description": "what stands there instead" },
                        "everywhere": { "type": "boolean", "description": "replace every place" }
                    },
                    "required": ["old", "new"]
                }
            }
        },
        "required": ["path", "edits"]
    })
}

#[derive(Deserialize)]
struct Args {
    path: String,
    edits: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    old: String,
    new: String,
    #[serde(default)]
    everywhere: bool,
}

fn parse(args: &Value) -> Result<(String, Change), String> {
    let args = Args::deserialize(args).map_err(|fault| fault.to_string())?;
    let edits = args.edits.into_iter();
    let list = edits
        .map(|one| Replacement { old: one.old, new: one.new, everywhere: one.everywhere })
        .collect();
    Ok((args.path, Change::Replace(list)))
}
