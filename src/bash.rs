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
mod script;
mod simple;
mod tree;
mod variables;
mod walk;
mod word;
mod wrapper;
#[cfg(test)]
mod tests;

pub use risk::{risk, task};
pub use script::{Listed, Program, Script};
pub use simple::{INPUT, Simple, Surety, Word, shown};
pub use variables::runs_value;

use script::DEPTH;

/// The most bytes of a command line that is split. Nobody writes a rule for a longer line.
const LONGEST: usize = 4_000;
/// The most bytes of a file of commands that is read as one.
const LARGEST: usize = 50_000;
impl Script {
    pub fn parse(line: &str) -> Script {
        let mut script = Script { folders: vec![String::new()], ..Script::default() };
        script.add(line, 0);
        script
    }

    /// What a command line may run if it gets a text as its input.
    pub fn fed(line: &str, text: &str) -> Script {
        let mut script = Script::parse(line);
        feed::feed(&mut script, &[text.to_owned()], 0);
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
}

/// Whether a backslash at the end of a line may join a word to the next line. The parser ends the word there.
fn holds_split_word(line: &str) -> bool {
    let is_blank = |c: char| matches!(c, ' ' | '\t');
    let pieces: Vec<&str> = line.split("\\\n").collect();
    let mut joints = pieces.windows(2);
    joints.any(|it| !it[0].ends_with(is_blank) && !it[1].starts_with(is_blank))
}
