//! A simple command and its words.

/// The part of a word because of which the word is known only when the command runs: `$PWD` in `"a $PWD"`.
pub(super) fn cause(source: &str) -> &str {
    let Some(at) = source.find(['$', '`']) else { return source };
    let text = &source[at..];
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let rest = &text[1..];
    let end = match rest.chars().next() {
        Some('{') => text.find('}').map(|it| it + 1),
        Some(c) if text.starts_with('$') && is_name(c) => {
            Some(rest.find(|c| !is_name(c)).map_or(text.len(), |it| it + 1))
        }
        _ => None,
    };
    end.map_or(source, |it| &text[..it])
}

/// Quotes text of the command for a sentence: its first line, cut if it is long.
pub(super) fn quoted(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    let mut shown: String = line.chars().take(60).collect();
    if shown.len() < text.trim().len() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// Stands for the words that `xargs` reads from its input.
pub const INPUT: &str = "words of the input";

/// A simple command: its name and its arguments, without redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    pub words: Vec<Word>,
    pub surety: Surety,
}

/// How surely a line runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Surety {
    /// The shell runs it.
    Certain,
    /// A program such as `find` or a variable such as `EDITOR` runs it. Only rules that ask or deny apply to it.
    Inner,
    /// A program may run it. A rule that denies it asks.
    Guess,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// The word's value, without quotes.
    Fixed(String),
    /// A file name pattern such as `src/*.rs`. It does not begin with `-`, and matches no hidden file.
    Glob(String),
    /// The source of a word whose value is known only when the command runs, such as `$HOME`.
    Open(String),
}

impl Word {
    pub fn fixed(&self) -> Option<&str> {
        match self {
            Word::Fixed(it) => Some(it),
            Word::Glob(_) | Word::Open(_) => None,
        }
    }

    /// The word as it is shown to the user.
    pub fn shown(&self) -> &str {
        let (Word::Fixed(it) | Word::Glob(it) | Word::Open(it)) = self;
        it
    }
}

impl Simple {
    pub fn is_certain(&self) -> bool {
        self.surety == Surety::Certain
    }

    /// The command in one line for the user.
    pub fn shown(&self) -> String {
        shown(&self.words)
    }

    /// The name of the command without its folder; `None` if it is known only when the command runs.
    pub fn name(&self) -> Option<&str> {
        self.words.first().and_then(Word::fixed).map(base)
    }
}

/// Words in one line for the user.
pub fn shown(words: &[Word]) -> String {
    let words: Vec<&str> = words.iter().map(Word::shown).collect();
    words.join(" ")
}

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
