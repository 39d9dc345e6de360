//! What a mention names.

use super::table::Keyword;

/// The beginning of such a mention.
pub const SYMBOL: &str = "symbol:";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mention {
    /// The mention as the user wrote it, with its `@`.
    pub written: String,
    pub path: String,
    pub lines: Option<(u32, u32)>,
    pub meant: Meant,
}

impl Mention {
    pub(super) fn of(path: String, lines: Option<(u32, u32)>) -> Mention {
        Mention { written: String::new(), path, lines, meant: Meant::Path }
    }
}

/// The meaning of a word after an `@` if no file has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meant {
    /// The path of a file that does not exist.
    Path,
    /// A keyword, even if there is a file with this name.
    Keyword(Keyword),
    /// A symbol of the project's code.
    Symbol,
    /// An address of the web.
    Page,
    /// An ordinary word, which may also be the name of a file.
    Word,
    /// Not a mention: a decorator, a mail address, a number.
    Other,
}

/// A range of lines, `10-40` or `10`, counted from 1.
pub(super) fn range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (1 <= first && first <= last).then_some((first, last))
}
