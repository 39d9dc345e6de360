//! What the user has added to a message, and what a call has found, as labelled text for the model.

use crate::context::fence::{self, attribute, tagged};
use crate::message::{Excerpt, ExcerptKind};

/// An excerpt as a labelled block of text, in a fence if it is a stranger's.
pub fn fenced(excerpt: &Excerpt, mark: &str) -> String {
    let text = labelled(excerpt);
    excerpt.origin().map_or(text.clone(), |from| fence::fenced(mark, &from, &text))
}

fn labelled(excerpt: &Excerpt) -> String {
    let path = format!(" path=\"{}\"", attribute(&excerpt.path));
    let (name, attributes) = match excerpt.kind {
        ExcerptKind::File if excerpt.image.is_some() => {
            ("context", format!(" kind=\"image\"{path}"))
        }
        ExcerptKind::File => ("context", context("file", &path, excerpt)),
        ExcerptKind::Folder => ("context", context("folder", &path, excerpt)),
        ExcerptKind::Selection => ("context", context("selection", &path, excerpt)),
        ExcerptKind::Instructions => {
            let is_users = excerpt.path.starts_with(['/', '~']);
            let of = if is_users { "user" } else { "project" };
            ("instructions", format!(" of=\"{of}\"{path}"))
        }
        ExcerptKind::Changes => ("context", context("changes", &path, excerpt)),
        ExcerptKind::Result => ("result", format!(" of=\"{}\"", attribute(&excerpt.path))),
        ExcerptKind::Skills => ("skills", String::new()),
        ExcerptKind::Agents => ("agents", String::new()),
        ExcerptKind::Skill => ("skill", path),
        ExcerptKind::Command => ("command", path),
        ExcerptKind::Plan => ("plan", String::new()),
        ExcerptKind::Remark => ("comment", context("plan", "", excerpt)),
        ExcerptKind::Hunk => ("hunk", context("pending", &path, excerpt)),
        ExcerptKind::Buffer => ("context", context("buffer", &path, excerpt)),
        ExcerptKind::List => ("context", context("list", &path, excerpt)),
        ExcerptKind::Diagnostics => ("context", context("diagnostics", &path, excerpt)),
        ExcerptKind::Diff => ("context", context("diff", &path, excerpt)),
        ExcerptKind::Page => ("context", context("page", &path, excerpt)),
        ExcerptKind::Clipboard => ("context", context("clipboard", "", excerpt)),
        ExcerptKind::Answers => ("answers", String::new()),
    };
    let text = excerpt.text.trim_end_matches('\n');
    let text = match (text, &*excerpt.note) {
        (text, "") => text.to_owned(),
        ("", note) => format!("[{note}]"),
        (text, note) => format!("{text}\n[{note}]"),
    };
    tagged(name, &attributes, &text)
}

fn context(kind: &str, path: &str, excerpt: &Excerpt) -> String {
    let lines = excerpt.lines.map(|(a, b)| format!(" lines=\"{a}-{b}\"")).unwrap_or_default();
    let filetype = if excerpt.filetype.is_empty() {
        String::new()
    } else {
        format!(" filetype=\"{}\"", attribute(&excerpt.filetype))
    };
    format!(" kind=\"{kind}\"{path}{lines}{filetype}")
}
