//! The tool `list`: lists a folder.

use super::{CallId, Desk, Done, Tool, Work, path, walk};
use crate::reach::Reach;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// The most entries that are listed.
const CAP: usize = 500;

const PURPOSE: &str = "Lists one folder: folders end in /, files have their size. Returns at most 500 entries; skips \
    ignored files and .git. Use glob to find files by name.";

pub(super) fn tool() -> Tool {
    Tool {
        name: "list".to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        work: Work::Read { paths: Arc::new(paths), run: Arc::new(run) },
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "default: the project's root" }
        }
    })
}

pub(super) fn paths(args: &Value) -> Vec<String> {
    vec![args["path"].as_str().unwrap_or(".").to_owned()]
}

fn run(desk: &Desk, _call: CallId, args: Value) -> BoxFuture<'_, Result<Done, String>> {
    async move {
        let folder = folder(desk, args["path"].as_str())?;
        let shown = path::show(&desk.root, &folder);
        let reach = desk.reach.clone();
        let mut entries = walk::apart(move |_| entries(&reach, &folder)).await?;
        let total = entries.len();
        entries.truncate(CAP);
        if total == 0 {
            entries.push(format!("{shown} is empty (ignored files are left out)."));
        } else if total > CAP {
            entries.push(format!(
                "[the first {CAP} of {total}: use glob with a pattern for the rest]"
            ));
        }
        let noun = if total == 1 { "entry" } else { "entries" };
        Ok(Done::new(entries.join("\n"), format!("{total} {noun}")))
    }
    .boxed()
}

/// The folder that the optional argument `path` names.
pub(super) fn folder(desk: &Desk, written: Option<&str>) -> Result<std::path::PathBuf, String> {
    let written = written.unwrap_or(".");
    let found = path::resolve(desk, written)?;
    if found.is_dir() {
        return Ok(found);
    }
    let what = if found.exists() { "is a file, not a folder" } else { "does not exist" };
    Err(format!("path: `{written}` {what}. Use read for files, glob to find them."))
}

fn entries(reach: &Reach, folder: &Path) -> Vec<String> {
    let mut builder = walk::walker(reach, folder);
    builder.max_depth(Some(1)).sort_by_file_name(Ord::cmp);
    let entries = builder.build().flatten().filter(|entry| entry.depth() == 1);
    entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().replace(char::is_control, "?");
            let kind = entry.file_type();
            match entry.metadata() {
                _ if kind.is_some_and(|kind| kind.is_dir()) => format!("{name}/"),
                _ if kind.is_some_and(|kind| kind.is_symlink()) => format!("{name}@"),
                Ok(meta) => format!("{name}  {}", size(meta.len())),
                Err(_) => name,
            }
        })
        .collect()
}

/// A number of bytes in a few characters: `17 B`, `3.2 kB`, `1.0 MB`.
pub(super) fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        _ => format!("{} MB", tenths(1_000_000)),
    }
}
