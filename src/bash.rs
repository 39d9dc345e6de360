//! Splits a command line of bash into the simple commands that it may run. Runs nothing.
//!
//! The parser is tree-sitter-bash. Each kind of syntax node that this code does not know becomes a doubt. A doubt has
//! the effect that the user is asked, so a form of the language that is missing here is never allowed silently.

mod awk;
mod dash;
mod feed;
mod language;
mod listing;
pub(crate) mod options;
mod plain;
mod risk;
mod runs;
mod variables;
mod walk;
mod word;
mod wrapper;
#[cfg(test)]
mod tests;

pub use listing::Listed;
pub use risk::{risk, task};
pub use variables::runs_value;

use std::collections::HashMap;
use std::mem;
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, Parser};

/// The most bytes of a command line that is split. Nobody writes a rule for a longer line.
const LONGEST: usize = 4_000;
/// The most bytes of a file of commands that is read as one.
const LARGEST: usize = 50_000;
/// The parser is stopped after this many reports of its progress. It reports after each hundred operations.
const STEPS: u32 = 20_000;
/// How many command lines may be nested in one.
const NESTED: usize = 100;
/// How deep command lines may be nested, such as in `sh -c "sh -c …"`.
const DEPTH: usize = 4;

/// Stands for the words that `xargs` reads from its input.
pub const INPUT: &str = "words of the input";

/// All that a command line may run and read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    pub commands: Vec<Simple>,
    /// Texts by which the commands may run other commands. Only rules that ask or deny apply to them.
    pub programs: Vec<Program>,
    /// Reasons why the line may do more than run `commands`: clauses for the user, such as `` `echo a` writes to `b`
    /// ``.
    pub doubts: Vec<String>,
    /// Why the line may run commands that are not in `commands`: a clause as in `doubts`. `None` if it runs no others.
    pub unclear: Option<String>,
    /// Commands that get names of files as further arguments. Who allows such a command allows these names too.
    pub listed: Vec<Listed>,
    /// Files that redirections read.
    pub inputs: Vec<String>,
    /// Files that redirections write.
    pub outputs: Vec<String>,
    /// The folders in which the commands may run because of `cd`: absolute, or relative to the folder in which the line
    /// starts.
    pub folders: Vec<String>,
    /// The variables that are set, with the texts of their values. The words over which a loop goes have no name.
    pub assigned: Vec<(String, String)>,
    /// The texts that were taken for command lines, each with its depth. Nested programs, such as `watch "watch …"`,
    /// would add the same text many times.
    nested: HashMap<String, (usize, Surety)>,
    /// The command whose output the next command of a pipeline reads.
    source: Option<Simple>,
}

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

/// A text that an interpreter runs, or a risky argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The command that runs the text.
    pub name: String,
    /// The words of the text, whatever is between them. Each of them may begin a command.
    pub words: Vec<Word>,
    /// Whether the text has a word that starts programs, such as `system`.
    pub is_sure: bool,
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
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Script {
    pub fn parse(line: &str) -> Script {
        let mut script = Script { folders: vec![String::new()], ..Script::default() };
        script.add(line, 0);
        script
    }

    /// What a file of commands may run. `None` if the file is too long or does not parse.
    pub fn of_file(text: &str) -> Option<Script> {
        let mut script = Script { folders: vec![String::new()], ..Script::default() };
        let tree = dash::tree(text).filter(|_| text.len() <= LARGEST)?;
        let mut walk =
            walk::Walk { text, script: &mut script, depth: 0, level: 0, texts: Vec::new() };
        walk.program(&tree);
        (!tree.root_node().has_error()).then_some(script)
    }

    /// Adds what another command line, such as the text of `sh -c`, may run.
    fn add(&mut self, line: &str, depth: usize) {
        if line.len() > LONGEST {
            return self.blind(format!("The command is longer than {LONGEST} bytes"));
        }
        if depth > DEPTH {
            return self.blind("The command has too many commands nested in each other".into());
        }
        let Some(commands) = plain::commands(line) else { return self.parsed(line, depth) };
        for (words, is_piped) in commands {
            self.source = if is_piped { self.last() } else { None };
            wrapper::unwrapped(self, Simple { words, surety: Surety::Certain }, depth);
        }
        self.source = None;
        feed::feed(self, &[], depth);
    }

    /// Adds what the parser finds in a line.
    fn parsed(&mut self, line: &str, depth: usize) {
        if line.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
            self.blind("The command contains control characters".into());
        }
        if holds_split_word(line) {
            self.doubt("The command has a word that continues on the next line".into());
            self.nested(&line.replace("\\\n", ""), depth, Surety::Inner);
        }
        let Some(tree) = dash::tree(line) else {
            return self.blind(
                "The command is too complicated for Caliban to split into its commands".into(),
            );
        };
        walk::Walk { text: line, script: self, depth, level: 0, texts: Vec::new() }.program(&tree);
    }

    /// Adds the commands of a line that another command may run. Does nothing if the line was added before, nested no
    /// deeper than now.
    fn nested(&mut self, line: &str, depth: usize, surety: Surety) {
        if self.is_new(line, depth, surety) {
            self.within(surety, |it| it.add(line, depth + 1));
        }
    }

    /// Whether a text was not added before, nested no deeper than now. It counts as added from now on.
    fn is_new(&mut self, text: &str, depth: usize, surety: Surety) -> bool {
        if self.nested.get(text).is_some_and(|(at, it)| *at <= depth && *it <= surety) {
            return false;
        }
        if self.nested.len() > NESTED {
            self.unclear("The command has too many commands nested in each other".into());
            return false;
        }
        self.nested.insert(text.to_owned(), (depth, surety));
        true
    }

    /// Adds commands that another command may run. Only rules that ask or deny apply to them.
    fn within(&mut self, surety: Surety, add: impl FnOnce(&mut Script)) {
        let nested = mem::take(&mut self.nested);
        let mut inner = Script { nested, ..Script::default() };
        add(&mut inner);
        self.nested = inner.nested;
        self.unclear = self.unclear.take().or(inner.unclear);
        self.assigned.extend(inner.assigned);
        let commands = inner.commands.into_iter();
        self.commands.extend(commands.map(|it| Simple { surety: it.surety.max(surety), ..it }));
        let is_guess = surety == Surety::Guess;
        let programs = inner.programs.into_iter();
        self.programs.extend(programs.map(|it| Program { is_sure: it.is_sure && !is_guess, ..it }));
    }

    /// The last command that the shell runs.
    fn last(&self) -> Option<Simple> {
        self.commands.iter().rev().find(|it| it.is_certain()).cloned()
    }

    /// Adds a doubt: the line may run commands that are not in `commands`.
    fn blind(&mut self, clause: String) {
        self.unclear(clause.clone());
        self.doubt(clause);
    }

    fn unclear(&mut self, clause: String) {
        self.unclear.get_or_insert(clause);
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
