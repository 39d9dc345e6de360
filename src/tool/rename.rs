//! `rename`: a file gets another path.

use super::{Named, Tool, Work};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "rename",
    purpose: "Gives a text file another path, in a new folder too. What refers to it in other files stays as \
        it is: edit that yourself. The user decides on it, and the answer tells what they decided.",
    schema,
    work: Work::Whole { parse },
};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "to": { "type": "string", "description": "the new path, where nothing is yet" }
        },
        "required": ["path", "to"]
    })
}

fn parse(args: &Value) -> Result<Named, String> {
    Named::deserialize(args).map_err(|fault| fault.to_string())
}
