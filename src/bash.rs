//! Takes a command line of bash apart into the simple commands that it may run, without running anything.
//!
//! The parser is tree-sitter-bash. Each kind of node that the walk does not know becomes a doubt, so a form of the
//! language that is missing here asks the user instead of being allowed.

mod risk;
mod walk;
mod word;
mod wrapper;
#[cfg(test)]
mod tests;

pub use risk::risk;

use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, Parser};

/// Longer command lines are not taken apart, in bytes. A user does not write a rule for such a line.
const LONGEST: usize = 4_000;
/// The parser is stopped after this many reports of its progress; each stands for a hundred operations.
const STEPS: u32 = 20_000;
/// How deep command lines may be nested, such as in `sh -c "sh -c …"`.
const DEPTH: usize = 4;

/// What a command line may run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    pub commands: Vec<Simple>,
    /// Why the commands are not all that the line does: clauses for the user, such as `` `echo a` writes to `b` ``.
    pub doubts: Vec<String>,
    /// Whether the line may run commands that are not in `commands`.
    pub is_open: bool,
    /// Files that redirections read.
    pub inputs: Vec<String>,
    /// Files that redirections write.
    pub outputs: Vec<String>,
    /// The folders into which `cd` may lead, relative to the first one or absolute.
    pub folders: Vec<String>,
}

/// A simple command: its name and its arguments, without redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    pub words: Vec<Word>,
    /// False if a program such as `find` may run these words, which then only count for rules that ask or deny.
    pub is_certain: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// The word's value, without quotes.
    Fixed(String),
    /// A pattern for files that begins with a fixed character other than `-` and names no hidden file.
    Glob(String),
    /// A word whose value is known only when the command runs, as it is written.
    Open(String),
}

impl Word {
    pub fn fixed(&self) -> Option<&str> {
        match self {
            Word::Fixed(it) => Some(it),
            Word::Glob(_) | Word::Open(_) => None,
        }
    }

    /// The word for the user.
    fn shown(&self) -> &str {
        let (Word::Fixed(it) | Word::Glob(it) | Word::Open(it)) = self;
        it
    }
}

impl Simple {
    /// The command in one line for the user.
    pub fn shown(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(Word::shown).collect();
        words.join(" ")
    }

    /// The name of the command without its folder; `None` if it is known only when the command runs.
    pub fn name(&self) -> Option<&str> {
        self.words.first().and_then(Word::fixed).map(base)
    }
}

/// The last part of a path.
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Script {
    pub fn parse(line: &str) -> Script {
        let mut script = Script { folders: vec![String::new()], ..Script::default() };
        script.add(line, 0);
        script
    }

    /// Adds what a further command line may run.
    fn add(&mut self, line: &str, depth: usize) {
        if line.len() > LONGEST {
            return self.blind(format!("The command is longer than {LONGEST} bytes"));
        }
        if depth > DEPTH {
            return self.blind("The command holds commands within commands within commands".into());
        }
        if line.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
            self.blind("The command holds control characters".into());
        }
        if holds_split_word(line) {
            self.doubt("The command has a word that goes on in the next line".into());
            self.suspect(&line.replace("\\\n", ""), depth);
        }
        let Some(tree) = tree(line) else {
            return self.blind("The command is too complicated to be taken apart".into());
        };
        walk::Walk { text: line, script: self, depth, level: 0 }.program(tree.root_node());
    }

    /// Adds the commands of a line for rules that ask or deny.
    fn suspect(&mut self, line: &str, depth: usize) {
        let mut inner = Script::default();
        inner.add(line, depth + 1);
        self.is_open |= inner.is_open;
        let suspected = inner.commands.into_iter();
        self.commands.extend(suspected.map(|it| Simple { is_certain: false, ..it }));
    }

    /// A doubt about which commands the line runs.
    fn blind(&mut self, clause: String) {
        self.is_open = true;
        self.doubt(clause);
    }

    fn doubt(&mut self, clause: String) {
        if !self.doubts.contains(&clause) {
            self.doubts.push(clause);
        }
    }
}

/// Whether a backslash at the end of a line may join a word to the next line. The parser ends the word there.
fn holds_split_word(line: &str) -> bool {
    let is_blank = |c: char| matches!(c, ' ' | '\t');
    let pieces: Vec<&str> = line.split("\\\n").collect();
    let mut joints = pieces.windows(2);
    joints.any(|it| !it[0].ends_with(is_blank) && !it[1].starts_with(is_blank))
}

fn tree(line: &str) -> Option<tree_sitter::Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut steps = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        steps += 1;
        if steps > STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = line.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}
