//! The tool `apply_patch`: edits in the patch format that some models were trained on.

use super::{Tool, Work};
use crate::edit::{Edit, Format, parse_patch};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

const PURPOSE: &str = "Changes, creates, deletes and moves files by a patch. It begins with the line `*** Begin Patch` and ends with \
    `*** End Patch`; between them stand one or more of `*** Add File: path` with every line of the new file behind \
    `+`, `*** Delete File: path`, and `*** Update File: path` with chunks (before them `*** Move to: path`, with or \
    without chunks, where it is to have another path). A chunk is a line `@@`, or `@@ ` and a line of the file \
    (a class, a function) that it stands below, then the lines around the change, about three on each side, \
    with a blank before them, those that go with `-`, those that come with `+`. Paths are relative. Each \
    chunk must stand at exactly one place. All changes apply, or none. The user reviews every hunk; the answer \
    tells what they kept.";

pub(super) fn tool() -> Tool {
    Tool {
        name: "apply_patch".to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        work: Work::Edit { parse: Arc::new(parse), formats: vec![Format::Patch] },
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "input": { "type": "string", "description": "the whole patch" }
        },
        "required": ["input"]
    })
}

#[derive(Deserialize)]
struct Args {
    input: String,
}

fn parse(args: &Value) -> Result<Vec<Edit>, String> {
    let args = Args::deserialize(args).map_err(|fault| fault.to_string())?;
    parse_patch(&args.input)
}
