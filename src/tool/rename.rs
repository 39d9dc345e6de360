//! The tool `rename`: gives a file another path.

use super::{Tool, Work};
use crate::edit::{Change, Edit, Format, Whole};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

const PURPOSE: &str = "Moves a file to another path and creates missing folders. Not for folders or symbols. Example: \
    {\"path\":\"a.rs\",\"to\":\"src/b/a.rs\"}. References to it in other files do not change: edit them yourself. The \
    user decides; the result says what they decided.";

pub(super) fn tool() -> Tool {
    Tool {
        name: "rename".to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        work: Work::Edit {
            parse: Arc::new(parse),
            formats: vec![Format::Replace, Format::Patch, Format::Whole],
        },
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

fn parse(args: &Value) -> Result<Vec<Edit>, String> {
    let Args { path, to } = Args::deserialize(args).map_err(|fault| fault.to_string())?;
    Ok(vec![Edit { path, change: Change::Whole(Whole::Rename { to }) }])
}
