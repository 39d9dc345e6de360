//! The tool `list`: lists a folder.

use super::{Author, Consented, Desk, Done, Running, Tool, Work, disk, path, walk};
use crate::message::Builtin;
use crate::reach::Reach;
use crate::regular::direct;
use crate::text::{cause, counted};
use futures::FutureExt;
use rustix::fs::FileType;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The most entries that are listed.
const CAP: usize = 500;

const PURPOSE: &str = "Lists one folder: folders end in /, files have their size. To find files by name in all \
    folders, use glob. Example: {\"path\":\"src\"}. Returns at most 500 entries; skips ignored files and .git.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::List.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Files,
        work: Work::reads(|args: &Args| vec![or_root(args.path.as_ref())], run),
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

#[derive(Clone, Deserialize)]
struct Args {
    path: Option<String>,
}

/// The path of a call, which is the project's root if the model wrote none.
pub(super) fn or_root(written: Option<&String>) -> String {
    written.map_or(".", String::as_str).to_owned()
}

fn run(desk: &Desk, args: Args, paths: Vec<Consented>) -> Running<'_> {
    async move {
        let folder = folder(&or_root(args.path.as_ref()), &paths[0])?;
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
        Ok(Done::new(entries.join("\n"), counted(total, "entry")))
    }
    .boxed()
}

/// The folder that the argument `path` names, where it leads.
pub(super) fn folder(written: &str, path: &Consented) -> Result<PathBuf, String> {
    let found = path.path();
    let what = match direct::folder(found) {
        Ok(_) => return Ok(found.to_owned()),
        Err(_) if found.is_file() => "is a file, not a folder".to_owned(),
        Err(fault) if disk::is_absent(&fault) => "does not exist".to_owned(),
        Err(fault) => return Err(format!("path: `{written}` cannot be read: {}.", cause(&fault))),
    };
    Err(format!("path: `{written}` {what}. Use read for files, glob to find them."))
}

fn entries(reach: &Reach, folder: &Path) -> Vec<String> {
    let mut builder = walk::walker(reach, folder);
    builder.max_depth(Some(1)).sort_by_file_name(Ord::cmp);
    let entries = builder.build().flatten().filter(|entry| entry.depth() == 1);
    // leaves out the entries if the folder was replaced by a link, because they are those of another folder
    entries
        .filter_map(|entry| Some((direct::metadata(entry.path()).ok()?, entry)))
        .map(|(meta, entry)| {
            let name = entry.file_name().to_string_lossy().replace(char::is_control, "?");
            match FileType::from_raw_mode(meta.st_mode) {
                FileType::Directory => format!("{name}/"),
                FileType::Symlink => format!("{name}@"),
                _ => format!("{name}  {}", size(u64::try_from(meta.st_size).unwrap_or(0))),
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
