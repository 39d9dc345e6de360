//! The files that a turn has changed, with their diffs.

use super::plan::{self, File};
use crate::conversation::ran::{Changed, How};
use crate::edit::whole_diff;
use crate::store::checkpoints::{Blobs, Change, Content, FileMode};
use crate::tool::{self, Desk};
use std::path::Path;

/// The most bytes that all diffs have together. A turn with longer diffs has run a generator, whose output nobody reads
/// as a diff.
const ALL: usize = 4_000_000;

/// The files that are not as they were before these changes. `all` has the latest change first.
pub(in crate::agent) async fn files(desk: &Desk, blobs: &Blobs, all: &[Change]) -> Vec<Changed> {
    let mut room = ALL;
    let files = plan::undone(desk, blobs, all).await;
    let changed = files.iter().filter(|it| !it.is_unchanged() || it.skipped.is_some());
    changed.map(|it| of(desk, &whole(it), &mut room)).collect()
}

/// A file that stays, because it may have the only copy of its text, has changed all the same.
fn whole(file: &File) -> File {
    let mut file = file.clone();
    if let Some(before) = file.before_move.take() {
        (file.now, file.skipped) = (before, None);
    }
    file
}

/// The change of one file. `file` is part of a rewind's plan: `now` is the content before the turn, `was` the present
/// content.
fn of(desk: &Desk, file: &File, room: &mut usize) -> Changed {
    let now = file.from.as_deref().unwrap_or(&file.path);
    let is_gone = file.was == Content::Absent;
    let how = match (&file.from, &file.now, &file.was) {
        _ if file.skipped.is_some() => {
            if is_gone {
                How::Deleted
            } else {
                How::Changed
            }
        }
        (Some(_), ..) => How::Renamed,
        (None, Content::Absent, _) => How::Added,
        (None, _, Content::Absent) => How::Deleted,
        _ => How::Changed,
    };
    let name = |it: &Path| tool::path::show(&desk.root, it);
    let diff = match &file.skipped {
        Some(why) => Err(why.clone()),
        None => diff(file, how, [&name(&file.path), &name(now)])
            .ok_or_else(|| "it is not UTF-8 text".to_owned()),
    };
    let diff = diff.and_then(|it| {
        let is_short = it.len() <= *room;
        *room = room.saturating_sub(it.len());
        if is_short { Ok(it) } else { Err("the diffs are too long".to_owned()) }
    });
    let (diff, no_diff) = diff.map_or_else(|why| (String::new(), Some(why)), |it| (it, None));
    Changed { path: name(now), how, by_command: file.by_command, diff, no_diff }
}

/// A diff in the format of git. The names are the former and the present one. `None` if a changed content is not UTF-8:
/// `git apply` refuses a whole patch with a line `Binary files … differ`.
fn diff(file: &File, how: How, [old, new]: [&str; 2]) -> Option<String> {
    let [a, b] = [quoted("a/", old), quoted("b/", new)];
    let mut out = format!("diff --git {a} {b}\n");
    match how {
        How::Added => out.push_str(&format!("new file mode {}\n", kind(&file.was, file.was_mode))),
        How::Deleted => {
            out.push_str(&format!("deleted file mode {}\n", kind(&file.now, file.mode)));
        }
        How::Renamed => {
            let [old, new] = [old, new].map(|it| quoted("", it));
            out.push_str(&format!("rename from {old}\nrename to {new}\n"));
        }
        How::Changed => {
            let old = kind(&file.now, file.mode.or(file.was_mode));
            let new = kind(&file.was, file.was_mode);
            if old != new {
                out.push_str(&format!("old mode {old}\nnew mode {new}\n"));
            }
        }
    }
    if file.now == file.was {
        return Some(out);
    }
    let hunks = whole_diff(&text(&file.now)?, &text(&file.was)?);
    if !hunks.is_empty() {
        let from = if how == How::Added { "/dev/null" } else { &a };
        let to = if how == How::Deleted { "/dev/null" } else { &b };
        out.push_str(&format!("--- {from}\n+++ {to}\n{hunks}"));
    }
    Some(out)
}

/// The kind of a file, as git writes it.
fn kind(content: &Content, mode: Option<FileMode>) -> &'static str {
    match content {
        Content::Link(_) => "120000",
        _ if mode.is_some_and(|it| it.bits() & 0o111 != 0) => "100755",
        _ => "100644",
    }
}

/// A file's content as text; `None` if the content is not UTF-8.
fn text(content: &Content) -> Option<String> {
    match content {
        Content::Absent | Content::Folder => Some(String::new()),
        Content::Text(text) => String::from_utf8(text.encode()).ok(),
        Content::Link(to) => String::from_utf8(to.clone()).ok(),
        Content::Bytes(_) => None,
    }
}

/// A name as git writes it: in quotes if it has control characters, quotes or backslashes.
fn quoted(prefix: &str, name: &str) -> String {
    let is_odd = |c: char| c.is_control() || c == '"' || c == '\\';
    if !name.contains(is_odd) {
        return format!("{prefix}{name}");
    }
    let mut out = format!("\"{prefix}");
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            _ if c.is_control() => {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes)
                    .bytes()
                    .for_each(|it| out.push_str(&format!("\\{it:03o}")));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}
