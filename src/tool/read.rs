//! The tool `read`: a file's text as the user sees it now.

use super::{
    Author, Consented, Desk, Done, LIMIT, Running, Source, Tool, Unreadable, Work, clip, disk,
    image, list, path, pdf,
};
use crate::message::Builtin;
use crate::text::{Text, counted};
use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// The most lines and bytes that one call returns, and the most characters of a line.
const LINES: usize = 2_000;
const BYTES: usize = 50_000;
const WIDE: usize = 2_000;

const PURPOSE: &str = "Reads a file as it is in the editor. To search in many files, use grep. Example: \
    {\"path\":\"src/main.rs\",\"offset\":200,\"limit\":100}. Returns each line as its number, a tab and its text; \
    number and tab are not part of the file. At most 2,000 lines or 50 kB come at once: go on with `offset`. Returns a \
    PNG, JPEG, GIF or WebP file as an image. Gives the text of a PDF, with a line before each page.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Read.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Files,
        work: Work::reads(|args: &Args| vec![args.path.clone()], run),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "offset": { "type": "integer", "minimum": 1, "description": "first line, from 1" },
            "limit": { "type": "integer", "minimum": 1, "description": "number of lines" }
        },
        "required": ["path"]
    })
}

#[derive(Clone, Deserialize)]
struct Args {
    path: String,
    offset: Option<usize>,
    limit: Option<usize>,
}

fn run(desk: &Desk, args: Args, paths: Vec<Consented>) -> Running<'_> {
    async move {
        let found = paths[0].path();
        // if the user's skills are in the project, they are read through the editor's buffers like other files
        let is_apart = desk.reach.is_open(found) && !path::inside(&desk.root, found);
        let source = if is_apart {
            disk::load(found).map(|text| Source { text, pending: 0 })
        } else {
            desk.workspace.read(found).await
        };
        let failed = |why: String| format!("path: `{}` {why}.", args.path);
        if pdf::may_be(&source)
            && let Some(text) = pdf::load(desk, found).await
        {
            return shown(&Source { text: text.map_err(failed)?, pending: 0 }, &args);
        }
        match source {
            Ok(source) => {
                if !is_apart {
                    desk.saw(found, &source, shows_all(&args, &source.text));
                }
                shown(&source, &args)
            }
            Err(Unreadable::Binary) => match image::load(found).await {
                Some(Ok(loaded)) => Ok(pictured(loaded)),
                Some(Err(why)) => Err(failed(why)),
                None => Err(unreadable(desk, found, &args.path, Unreadable::Binary)),
            },
            Err(why) => Err(unreadable(desk, found, &args.path, why)),
        }
    }
    .boxed()
}

fn pictured(image::Loaded { image, said }: image::Loaded) -> Done {
    let summary = format!("{}  {}", image.label(), counted(image.tokens(), "token"));
    Done { images: vec![image], ..Done::new(said, summary) }
}

/// Whether a call with these arguments shows the whole text.
fn shows_all(args: &Args, text: &Text) -> bool {
    let is_short = text.line_count() <= LINES && text.content.len() <= BYTES / 2;
    is_short && args.offset.is_none() && args.limit.is_none()
}

fn shown(source: &Source, args: &Args) -> Result<Done, String> {
    let total = source.text.line_count();
    let first = args.offset.unwrap_or(1);
    if source.text.content.is_empty() {
        return Ok(Done::new("[the file is empty]".to_owned(), "empty"));
    }
    if first > total {
        let lines = counted(total, "line");
        return Err(format!("offset: the file has {lines}, so {first} is past its end."));
    }
    let mut text = String::new();
    let mut last = first - 1;
    let wanted = args.limit.unwrap_or(LINES).min(LINES);
    for line in source.text.lines().skip(first - 1).take(wanted) {
        let line = format!("{}\t{}\n", last + 1, clip::line(line, WIDE));
        if !text.is_empty() && text.len() + line.len() > BYTES {
            break;
        }
        text.push_str(&line);
        last += 1;
    }
    text.push_str(&notes(source, first, last));
    let count = last + 1 - first;
    let summary = counted(count, "line");
    Ok(Done::new(text, summary))
}

/// The notes for the model below the text of the lines `first` to `last`, which are counted from 1.
fn notes(source: &Source, first: usize, last: usize) -> String {
    let total = source.text.line_count();
    let mut notes = Vec::new();
    if last < total {
        notes.push(format!("[lines {first}-{last} of {total}; go on with offset {}]\n", last + 1));
    } else if first > 1 {
        notes.push(format!("[lines {first}-{last} of {total}]\n"));
    }
    if last == total && !source.text.eol() {
        notes.push("[no newline at the end of the file]\n".to_owned());
    }
    notes.push(source.undecided());
    notes.concat()
}

fn unreadable(desk: &Desk, found: &Path, written: &str, why: Unreadable) -> String {
    let said = match why {
        Unreadable::Absent => {
            let near = near(desk, found);
            if near.is_empty() {
                "does not exist. Use glob or list to find it".to_owned()
            } else {
                format!("does not exist. Near it: {}", near.join(", "))
            }
        }
        Unreadable::Folder => "is a folder. Use list".to_owned(),
        Unreadable::Binary => "is not a text file: it contains NUL bytes".to_owned(),
        Unreadable::NotUtf8 => {
            "is not UTF-8 text (it may be Latin-1 or UTF-16). Use shell (file, iconv) to look at it"
                .to_owned()
        }
        Unreadable::TooLarge(bytes) => format!(
            "has {}, more than the {} that can be read. Use grep, or shell with head, tail or sed",
            list::size(bytes),
            list::size(LIMIT)
        ),
        Unreadable::Other(why) => format!("cannot be read: {why}"),
    };
    format!("path: `{written}` {said}.")
}

/// Up to three files or folders beside a path that does not exist. Their names are like its last part: equal except for
/// case or extension, or one name contains the other.
fn near(desk: &Desk, found: &Path) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
    let (Some(folder), Some(sought)) = (found.parent(), stem(found)) else { return Vec::new() };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(2_000);
    let mut near: Vec<String> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            stem(path).is_some_and(|stem| {
                let alike = stem.contains(&sought) || sought.contains(&stem);
                stem == sought || (alike && stem.len().min(sought.len()) > 2)
            })
        })
        .map(|path| path::show(&desk.root, &path))
        .collect();
    near.sort();
    near.truncate(3);
    near
}
