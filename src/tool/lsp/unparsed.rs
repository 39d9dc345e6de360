//! The syntax errors that an edit adds to a file, in words.

use super::question::Finding;
use crate::text::counted;
use crate::tool::{clip, path};
use std::path::{Path, PathBuf};

/// The most characters of an error with its line.
const WIDE: usize = 300;

/// The syntax errors that an edit adds to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unparsed {
    /// The file's absolute path.
    pub path: PathBuf,
    /// The language of the parser.
    pub language: String,
    /// The first errors.
    pub errors: Vec<Finding>,
    /// The number of errors beyond these.
    pub more: u32,
}

impl Unparsed {
    /// Leaves only the places of the errors.
    pub fn hide_text(&mut self) {
        self.errors.iter_mut().for_each(|it| it.text.clear());
    }

    /// The text for the model.
    pub fn say(&self, root: &Path) -> String {
        let shown = path::show(root, &self.path);
        let count = self.more as usize + self.errors.len();
        let errors = counted(count, "new syntax error");
        let head = format!(
            "{shown} does not parse: {errors}, according to Neovim's parser for {}. Correct the text, \
             unless this parser does not know the syntax.",
            clip::clean(&self.language)
        );
        let one = |it: &Finding| {
            let place = format!("{shown}:{}", u64::from(it.line) + 1);
            match clip::clean(&it.text).replace('\n', " ") {
                text if text.is_empty() => place,
                text => format!("{place}: {}", clip::line(&text, WIDE)),
            }
        };
        let more = (self.more > 0).then(|| format!("… {} more", self.more));
        let lines = self.errors.iter().map(one).chain(more);
        std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
    }
}
