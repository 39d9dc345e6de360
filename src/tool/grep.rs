//! The tool `grep`: searches file contents with ripgrep's libraries. If a file is changed in the editor, the buffer's
//! text is searched.

mod found;
mod search;

use super::{Author, Consented, Desk, Done, Running, Source, Tool, Work, disk, list, walk};
use crate::message::Builtin;
use crate::regular::direct;
use crate::text::{cause, counted};
use found::Found;
use futures::FutureExt;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use search::Search;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The most bytes of a pattern.
const LONGEST: usize = 4_000;

const PURPOSE: &str = "Searches file contents, as they are in the editor, by a regular expression (Rust \
    syntax; a match lies within one line). For the uses of a symbol, prefer references where you have it. \
    Example: {\"pattern\":\"fn \\\\w+_all\\\\(\",\"path\":\"src\",\"glob\":\"*.rs\"}. Returns `path:line: \
    text`, at most 100 matches; skips binary and ignored files and .git.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Grep.name().to_owned(),
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
            "path": { "type": "string", "description": "file or folder; default: the project's root" },
            "glob": { "type": "string", "description": "only files that match, e.g. *.rs" },
            "ignore_case": { "type": "boolean" },
            "context": { "type": "integer", "minimum": 0, "maximum": 20, "description": "lines around each match" }
        },
        "required": ["pattern"]
    })
}

#[derive(Clone, Deserialize)]
struct Args {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    context: usize,
}

fn run(desk: &Desk, args: Args, paths: Vec<Consented>) -> Running<'_> {
    async move {
        let written = args.path.as_deref().unwrap_or(".");
        let (target, agreed) = (paths[0].path().to_owned(), paths[0].is_asked());
        let buffers = buffers(desk, &target).await;
        match direct::metadata(&target) {
            Ok(_) => (),
            Err(fault) if disk::is_absent(&fault) && !buffers.is_empty() => (),
            Err(fault) if disk::is_absent(&fault) => {
                let why = "does not exist. Use glob or list to find it";
                return Err(format!("path: `{written}` {why}."));
            }
            Err(fault) => {
                return Err(format!("path: `{written}` cannot be read: {}.", cause(&fault)));
            }
        }
        let search = Search {
            root: desk.root.clone(),
            target,
            glob: args.glob.as_deref().map(|glob| walk::glob("glob", glob)).transpose()?,
            matcher: matcher(&args)?,
            context: args.context,
            buffers,
            agreed,
            reach: desk.reach.clone(),
        };
        let found = walk::apart(move |halt| search.run(&halt)).await?;
        Ok(told(found, &args.pattern, written))
    }
    .boxed()
}

fn matcher(args: &Args) -> Result<RegexMatcher, String> {
    let size = args.pattern.len();
    if size > LONGEST {
        return Err(format!("pattern: it has {size} bytes; a pattern has at most {LONGEST}."));
    }
    RegexMatcherBuilder::new()
        .case_insensitive(args.ignore_case)
        .line_terminator(Some(b'\n'))
        .build(&args.pattern)
        .map_err(|fault| {
            format!(
                "pattern: not a regular expression: {fault}\nWrite \\( \\[ \\{{ \\. for the characters \
                 themselves. No look-around, no backreferences, no line breaks."
            )
        })
}

/// The texts of those files in `target` that are changed in the editor.
async fn buffers(desk: &Desk, target: &Path) -> BTreeMap<PathBuf, Source> {
    let mut buffers = BTreeMap::new();
    for path in desk.workspace.changed().await {
        if path.starts_with(target)
            && let Ok(source) = desk.workspace.read(&path).await
        {
            buffers.insert(path, source);
        }
    }
    buffers
}

fn told(found: Found, pattern: &str, written: &str) -> Done {
    let kept = match &found.kept[..] {
        [] => String::new(),
        [first, ..] => format!(
            "\n[{} not searched: {first}{}. To search such a file, name it as `path` or call `read`: the user is asked \
             first]",
            if found.kept.len() == 1 {
                "1 file that may hold keys was".to_owned()
            } else {
                format!("{} files that may hold keys were", found.kept.len())
            },
            if found.kept.len() == 1 { "" } else { " and others" },
        ),
    };
    if found.matches == 0 {
        let text = format!(
            "No match for `{pattern}` in {written} (ignored and binary files are left out).{kept}"
        );
        return Done::new(text, "0 matches");
    }
    let mut lines = found.lines;
    if found.capped {
        let count = found.matches;
        lines.push(format!("[the first {count} matches: narrow the pattern, path or glob]"));
    }
    for (path, pending) in &found.pending {
        let hunks = counted(*pending, "hunk");
        lines.push(format!("[{path}: {hunks} pending, searched as shown in the editor]"));
    }
    let more = if found.capped { "+" } else { "" };
    let noun = if found.matches == 1 { "match" } else { "matches" };
    Done::new(lines.join("\n") + &kept, format!("{}{more} {noun}", found.matches))
}
