//! The tool `apply_patch`: edits in the patch format that some models were trained on.

use super::{Author, Tool, Work};
use crate::edit::{Format, parse_patch};
use crate::message::Builtin;
use serde::Deserialize;
use serde_json::{Value, json};

const PURPOSE: &str = "Changes, creates, deletes and moves files with a patch. First line `*** Begin Patch`, last line \
    `*** End Patch`. Between them come `*** Add File: path`, then each line of the file after a `+`; `*** Delete File: \
    path`; `*** Update File: path`, then chunks. `*** Move to: path` below an update moves the file. A chunk begins \
    with a line `@@`, or `@@ ` and a line of the file above the change. Its other lines begin with a space (context, \
    about three on each side), `-` (removed) or `+` (added). Paths are relative. Each chunk must fit at exactly one \
    place. All changes apply, or none. The user reviews every hunk; the result says what they kept.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::ApplyPatch.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Known,
        work: Work::edits(|args: Args| parse_patch(&args.input), &[Format::Patch]),
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
