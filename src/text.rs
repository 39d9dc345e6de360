//! A file's text as Neovim would show it, and the way back to its bytes: newline style, byte order
//! mark and final newline are kept. Line differences between two texts.

use std::ops::Range;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Newline {
    #[default]
    Unix,
    /// Every line ends in CR LF. A file with mixed ends is `Unix` with the CRs in its lines, as in Neovim.
    Dos,
}

/// Lines joined by `\n`. `content` ends in `\n` exactly when the file does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    pub content: String,
    pub newline: Newline,
    pub bom: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecodable {
    /// A NUL within: not a text.
    Binary,
    /// Not UTF-8; the offset in bytes of the first fault.
    NotUtf8 { at: usize },
}

/// Lines `old` of one text stand for lines `new` of another; from 0, half open; either may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    pub old: Range<u32>,
    pub new: Range<u32>,
}

impl Text {
    /// A new Unix text.
    pub fn new(content: impl Into<String>) -> Text {
        Text { content: content.into(), ..Text::default() }
    }
}
