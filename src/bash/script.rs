//! What a command line may run and read, as it is gathered.

use super::simple::{Simple, Surety, Word};
use std::collections::HashMap;
use std::mem;

/// A command that gets names of files as further arguments: from `$(git ls-files)`, or by `xargs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The command without these names.
    pub reader: Simple,
    pub names: Names,
}

/// The names that a command prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The program that prints them.
    pub by: String,
    /// The folders in which the files are, at any depth.
    pub folders: Vec<String>,
    /// Patterns of which each file's name fits one.
    pub patterns: Vec<String>,
    /// Whether links may be among the files.
    pub has_links: bool,
    /// Whether a name may begin with a dash because no folder stands before it.
    pub is_bare: bool,
}

/// How many command lines may be nested in one.
const NESTED: usize = 100;

/// How deep command lines may be nested, such as in `sh -c "sh -c …"`.
pub(super) const DEPTH: usize = 4;

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
    pub(super) nested: HashMap<String, (usize, Surety)>,
    /// The command whose output the next command of a pipeline reads.
    pub(super) source: Option<Simple>,
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
    /// Whether the words are the arguments of a program of which nothing is known.
    pub are_arguments: bool,
}

impl Script {
    /// Whether a text was not added before, nested no deeper than now. It counts as added from now on.
    pub(super) fn is_new(&mut self, text: &str, depth: usize, surety: Surety) -> bool {
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
    pub(super) fn within(&mut self, surety: Surety, add: impl FnOnce(&mut Script)) {
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
    pub(super) fn last(&self) -> Option<Simple> {
        self.commands.iter().rev().find(|it| it.is_certain()).cloned()
    }

    /// Adds a doubt: the line may run commands that are not in `commands`.
    pub(super) fn blind(&mut self, clause: String) {
        self.unclear(clause.clone());
        self.doubt(clause);
    }

    pub(super) fn unclear(&mut self, clause: String) {
        self.unclear.get_or_insert(clause);
    }

    pub(super) fn doubt(&mut self, clause: String) {
        if !self.doubts.contains(&clause) {
            self.doubts.push(clause);
        }
    }
}
