//! `delete`: a file goes.

use super::{Named, Tool, Work};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "delete",
    purpose: "Deletes a text file. The user decides on it, and the answer tells what they decided.",
    schema,
    work: Work::Whole { parse },
};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "path": { "type": "string" } },
        "required": ["path"]
    })
}

fn parse(args: &Value) -> Result<Named, String> {
    Named::deserialize(args).map_err(|fault| fault.to_string())
}
