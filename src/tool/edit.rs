//! The tool `edit`: finds a text in a file and replaces it.

use super::schema::Form;
use super::{Author, Tool, Work};
use crate::edit::{Change, Edit, Format, Replacement};
use crate::message::Builtin;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

const PURPOSE: &str = "Replaces text in existing files. To create a file, use write. Each `old` must match the \
    file's text exactly, including blanks and indentation, and occur once (or set `everywhere`): include \
    enough lines to make it unique. Example: {\"path\":\"a.rs\",\"edits\":[{\"old\":\"let a = \
    1;\",\"new\":\"let a = 2;\"}]}. Several edits, also in several files, apply in order, each to the result \
    of the edit before. All of them apply, or none. The user reviews every hunk; the result says what they \
    kept.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Edit.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Known,
        work: Work::edits(parse, &[Format::Replace]),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "default for the edits" },
            "edits": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "path": { "type": "string", "description": "if this edit is in another file" },
                        "old": { "type": "string", "description": "text to replace, without line numbers" },
                        "new": { "type": "string" },
                        "new_from": { "type": "string", "description": "name of a text that Caliban kept, instead of \
                            `new`" },
                        "everywhere": { "type": "boolean", "description": "replace every place" }
                    },
                    "required": ["old"]
                }
            }
        },
        "required": ["edits"]
    })
}

#[derive(Deserialize)]
struct Args {
    path: Option<String>,
    edits: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    path: Option<String>,
    old: String,
    new: Option<String>,
    new_from: Option<String>,
    #[serde(default)]
    everywhere: bool,
}

fn parse(args: Args) -> Result<Vec<Edit>, String> {
    let edit = |(at, one): (usize, One)| {
        let path = one.path.or_else(|| args.path.clone());
        let path = path.ok_or_else(|| {
            refuse(&format!("$.edits[{at}].path: expected the file's path, here or in `path`"))
        })?;
        // `new_from` names a text that the program has kept; `edit::kept` later replaces the name with the text
        let new = one.new.or(one.new_from);
        let new = new.ok_or_else(|| {
            refuse(&format!(
                "$.edits[{at}].new: expected string, here or in `new_from`, got nothing"
            ))
        })?;
        let change = Change::Replace(Replacement { old: one.old, new, everywhere: one.everywhere });
        Ok(Edit { path: PathBuf::from(path), change })
    };
    args.edits.into_iter().enumerate().map(edit).collect()
}

fn refuse(fault: &str) -> String {
    Form { tool: Builtin::Edit.name(), purpose: PURPOSE, schema: &schema() }.refuse(fault)
}
