//! The tool `rename`: gives a file another path.

use super::{Author, Tool, Work};
use crate::edit::{Change, Edit, Format, Whole};
use crate::message::Builtin;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

const PURPOSE: &str = "Moves a file to another path and creates missing folders. Not for folders or symbols. Example: \
    {\"path\":\"a.rs\",\"to\":\"src/b/a.rs\"}. References to it in other files do not change: edit them yourself. The \
    user decides; the result says what they decided.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Rename.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Known,
        work: Work::edits(
            |Args { path, to }| {
                Ok(vec![Edit { path, change: Change::Whole(Whole::Rename { to }) }])
            },
            &[Format::Replace, Format::Patch, Format::Whole],
        ),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "to": { "type": "string", "description": "the new path, which must not exist yet" }
        },
        "required": ["path", "to"]
    })
}

#[derive(Deserialize)]
struct Args {
    path: PathBuf,
    to: PathBuf,
}
