//! The tool `delete`: deletes a file.

use super::{Author, Tool, Work};
use crate::edit::{Change, Edit, Format, Whole};
use crate::message::Builtin;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

const PURPOSE: &str = "Deletes a file. Not for folders. Example: {\"path\":\"src/old.rs\"}. The user decides; the \
    result says what they decided.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Delete.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Known,
        work: Work::edits(
            |Args { path }| Ok(vec![Edit { path, change: Change::Whole(Whole::Delete) }]),
            &[Format::Replace, Format::Patch, Format::Whole],
        ),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "path": { "type": "string" } },
        "required": ["path"]
    })
}

#[derive(Deserialize)]
struct Args {
    path: PathBuf,
}
