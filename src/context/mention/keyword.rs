//! Mentions by a keyword: `@buffer` or `@diff` means something that the user has in the editor or in git, not a file. A
//! file with such a name is mentioned as `@./buffer`.

mod code;
mod open;

pub(super) use open::file_beside;
#[cfg(test)]
mod tests;

use super::Mention;
use crate::context::diff::{self, Diff, Target};
use crate::message::{Excerpt, ExcerptKind};
use crate::tool::Desk;
use crate::view::grouped;

/// The most bytes of the texts that one keyword adds. A larger text is cut.
const LIMIT: usize = 256 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keyword {
    Buffer,
    Buffers,
    Selection,
    Diagnostics,
    Diff,
    Staged,
    Quickfix,
    Loclist,
    Clipboard,
}

pub struct Row {
    pub keyword: Keyword,
    pub name: &'static str,
    pub about: &'static str,
}

pub const TABLE: [Row; 9] = [
    row(Keyword::Buffer, "buffer", "the buffer beside the chat, with unsaved changes"),
    row(Keyword::Buffers, "buffers", "the open files"),
    row(Keyword::Selection, "selection", "the last selection in the buffer beside the chat"),
    row(Keyword::Diagnostics, "diagnostics", "what the language servers report on the buffer"),
    row(Keyword::Diff, "diff", "what is not committed"),
    row(Keyword::Staged, "staged", "what is staged for the next commit"),
    row(Keyword::Quickfix, "quickfix", "the quickfix list"),
    row(Keyword::Loclist, "loclist", "the location list of the window beside the chat"),
    row(Keyword::Clipboard, "clipboard", "the text in the clipboard"),
];

const fn row(keyword: Keyword, name: &'static str, about: &'static str) -> Row {
    Row { keyword, name, about }
}

impl Keyword {
    /// The keyword with this name; `word` is the whole word after an `@`.
    pub(super) fn of(word: &str) -> Option<Keyword> {
        TABLE.iter().find(|it| it.name == word).map(|it| it.keyword)
    }

    /// Whether a slash command that belongs to the project may use the keyword. Other keywords may add texts from
    /// outside of the project, and the user would not see this from their names.
    pub(super) fn is_of_project(self) -> bool {
        matches!(self, Keyword::Diff | Keyword::Staged)
    }
}

/// Reads the texts that a keyword means. The error is a sentence for the user: there is no such text, or the text may
/// not be read.
pub(super) async fn read(
    desk: &Desk,
    keyword: Keyword,
    mention: &Mention,
) -> Result<Vec<Excerpt>, String> {
    let read = match keyword {
        Keyword::Buffer => open::buffer(desk).await,
        Keyword::Buffers => open::buffers(desk).await,
        Keyword::Selection => open::selection(desk).await,
        Keyword::Diagnostics => code::diagnostics(desk).await,
        Keyword::Diff => changes(desk, &Target::Uncommitted).await,
        Keyword::Staged => changes(desk, &Target::Staged).await,
        Keyword::Quickfix => open::quickfix(desk).await,
        Keyword::Loclist => open::loclist(desk).await,
        Keyword::Clipboard => open::clipboard(desk).await,
    };
    let mut excerpts = read.map_err(|why| format!("`@{}`: {why}", mention.path))?;
    for it in &mut excerpts {
        it.keyword.clone_from(&mention.path);
    }
    Ok(excerpts)
}

async fn changes(desk: &Desk, target: &Target) -> Result<Vec<Excerpt>, String> {
    diff::check(desk).await?;
    let Diff { text, note } = diff::of(desk, target).await?;
    let (path, kind) = (target.say(), ExcerptKind::Diff);
    Ok(vec![Excerpt { path, kind, text, note, ..Excerpt::default() }])
}

/// The first lines of a text that fit into the limit, and a note if lines are missing. `noun` is the subject of the
/// note's sentence. `total` is the full number of lines if the text was cut before.
fn fitting(mut text: String, noun: &str, total: Option<u32>) -> (String, String) {
    let all = text.lines().count().max(total.unwrap_or(0) as usize);
    let is_long = text.len() > LIMIT;
    if is_long {
        let end = (0..=LIMIT).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
        // if the first line alone is too long, it is cut within the line
        text.truncate(text[..end].rfind('\n').map_or(end, |it| it + 1));
    }
    let kept = text.lines().count();
    let note = if kept < all {
        let (kept, all) = (grouped(kept as u64), grouped(all as u64));
        format!("{noun} is cut: {kept} of {all} lines")
    } else if is_long {
        format!("{noun} is cut: the first {} kB of its line", LIMIT / 1024)
    } else {
        String::new()
    };
    (text, note)
}
