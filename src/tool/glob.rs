//! The tool `glob`: finds files by name.

use super::{Author, Consented, Desk, Done, Running, Tool, Work, list, path, walk};
use crate::message::Builtin;
use crate::reach::{Reach, Reading};
use crate::regular::direct;
use crate::text::counted;
use futures::FutureExt;
use globset::GlobSet;
use ignore::WalkState;
use serde::Deserialize;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::SystemTime;

/// The most files that are listed.
const CAP: usize = 200;

const PURPOSE: &str = "Finds files by a pattern such as src/**/*.rs or *.{ts,tsx}. To search in their \
    contents, use grep. A pattern without / matches names in all folders. Example: \
    {\"pattern\":\"*_test.go\",\"path\":\"cmd\"}. Returns at most 200 files, the newest first; skips ignored \
    files and .git.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Glob.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Files,
        work: Work::reads(|args: &Args| vec![list::or_root(args.path.as_ref())], run),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pattern": { "type": "string" },
            "path": { "type": "string", "description": "folder to search; default: the project's root" }
        },
        "required": ["pattern"]
    })
}

#[derive(Clone, Deserialize)]
struct Args {
    pattern: String,
    path: Option<String>,
}

fn run(desk: &Desk, args: Args, paths: Vec<Consented>) -> Running<'_> {
    async move {
        let folder = list::folder(&list::or_root(args.path.as_ref()), &paths[0])?;
        let pattern = args.pattern.as_str();
        let within = pattern.strip_prefix(&format!("{}/", folder.display())).unwrap_or(pattern);
        let glob = walk::glob("pattern", within)?;
        let shown = path::show(&desk.root, &folder);
        let reach = desk.reach.clone();
        let mut found = walk::apart(move |halt| matches(&reach, &folder, &glob, &halt)).await?;
        if found.is_empty() {
            let text =
                format!("No file in {shown} matches `{pattern}` (ignored files are left out).");
            return Ok(Done::new(text, "0 files"));
        }
        found.sort_by_cached_key(|(time, path)| (Reverse(*time), path.clone()));
        let total = found.len();
        // leaves out files below a folder that was replaced by a link during the walk, because they are those of
        // another folder
        let there = found.iter().take(CAP).filter(|it| direct::metadata(&it.1).is_ok());
        let mut lines: Vec<String> = there.map(|(_, path)| path::show(&desk.root, path)).collect();
        if total > CAP {
            lines.push(format!("[the newest {CAP} of {total}: narrow the pattern]"));
        }
        Ok(Done::new(lines.join("\n"), counted(total, "file")))
    }
    .boxed()
}

/// The files that match, with the times of their last changes, in no order.
fn matches(
    reach: &Reach,
    folder: &Path,
    glob: &GlobSet,
    halt: &walk::Halt,
) -> Vec<(SystemTime, PathBuf)> {
    let (found, all) = mpsc::channel();
    walk::parallel(reach, folder).run(|| {
        let found = found.clone();
        Box::new(move |entry| {
            if halt.is_set() {
                return WalkState::Quit;
            }
            let Ok(entry) = entry else { return WalkState::Continue };
            let path = entry.path();
            let is_file = entry.file_type().is_some_and(|kind| !kind.is_dir());
            if is_file
                && glob.is_match(path.strip_prefix(folder).unwrap_or(path))
                && !matches!(reach.reading(path), Reading::Never(_))
            {
                let time = entry.metadata().ok().and_then(|meta| meta.modified().ok());
                let _ = found.send((time.unwrap_or(SystemTime::UNIX_EPOCH), entry.into_path()));
            }
            WalkState::Continue
        })
    });
    drop(found);
    all.into_iter().collect()
}
