//! The tool `delete`: deletes a file.

use super::{Tool, Work};
use crate::edit::{Change, Edit, Format, Whole};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

const PURPOSE: &str = "Deletes a file. Not for folders. Example: {\"path\":\"src/old.rs\"}. The user decides; the \
    result says what they decided.";

pub(super) fn tool() -> Tool {
    Tool {
        name: "delete".to_owned(),
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
        "properties": { "path": { "type": "string" } },
        "required": ["path"]
    })
}

#[derive(Deserialize)]
struct Args {
    path: PathBuf,
}

fn parse(args: &Value) -> Result<Vec<Edit>, String> {
    let Args { path } = Args::deserialize(args).map_err(|fault| fault.to_string())?;
    Ok(vec![Edit { path, change: Change::Whole(Whole::Delete) }])
}
