//! The keywords that a mention may name.

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
