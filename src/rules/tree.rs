//! What the words of a command stand for in the tree of files: the names that a pattern matches, and the files to which
//! links lead.

use super::project::{Rules, Tree};
use crate::bash::{Script, Simple, Word};
use crate::reach::{Reading, Writing};
use crate::text::unseen;
use std::path::{Path, PathBuf};

/// Programs that write, move or remove the files in their arguments.
pub(super) const WRITERS: &[&str] = &[
    "chmod", "chown", "cp", "dd", "install", "ln", "mkdir", "mv", "patch", "rm", "rmdir", "rsync",
    "scp", "tar", "tee", "touch", "truncate", "unlink", "unzip",
];

/// The most names for which one pattern may stand. Nobody can judge more.
const MOST: usize = 2_000;

impl Rules {
    /// The commands for which a command may stand, once the shell has replaced its patterns by names, in each folder in
    /// which it may run. Each pattern may also stay as it is. `None` if the tree does not tell. An error is a sentence
    /// that says why the rules cannot allow the command.
    pub(super) fn forms(
        &self,
        script: &Script,
        simple: &Simple,
    ) -> Option<Result<Vec<Simple>, String>> {
        let tree = self.tree.as_ref()?;
        let first = simple.words.iter().position(|it| matches!(it, Word::Glob(_)))?;
        // a program that moves files may change what a pattern of a later one stands for
        let moves = |it: &&Simple| it.name().is_some_and(|it| WRITERS.contains(&it));
        if script.commands.iter().filter(moves).any(|it| it != simple) {
            return None;
        }
        let as_written = |it: &Word| Word::Fixed(it.shown().to_owned());
        let mut forms = vec![simple.with(|it| vec![as_written(it)])];
        for folder in &script.folders {
            let folder = self.root.join(folder);
            let mut matched = Vec::with_capacity(simple.words.len());
            for word in &simple.words {
                matched.push(match word {
                    Word::Glob(it) => expanded(tree.as_ref(), &folder, it)?,
                    Word::Fixed(_) | Word::Open(_) => Vec::new(),
                });
            }
            let option = matched.iter().zip(&simple.words).find_map(|(names, word)| {
                names.iter().find(|it| it.starts_with(['-', '+'])).map(|it| (word, it))
            });
            if let Some((glob, name)) = option {
                let glob = glob.shown();
                return Some(Err(format!("`{glob}` stands for `{name}`, which may be an option.")));
            }
            if !matched[first].is_empty() && is_program(simple, first) {
                let (glob, name) = (simple.words[first].shown(), simple.name().unwrap_or_default());
                return Some(Err(format!("`{glob}` stands for names that `{name}` would run.")));
            }
            let mut names = matched.into_iter();
            forms.push(simple.with(|word| match names.next() {
                Some(names) if !names.is_empty() => names.into_iter().map(Word::Fixed).collect(),
                _ => vec![as_written(word)],
            }));
        }
        Some(Ok(forms))
    }

    /// If a path leads through a link out of the project or to a file that may be read only with consent, a sentence
    /// that says so.
    pub(super) fn astray(&self, folder: &str, written: &str) -> Option<String> {
        let reach = self.reach.as_ref()?;
        self.led(folder, written).into_iter().find_map(|it| match reach.reading(&it) {
            _ if !self.roots.iter().any(|root| it.starts_with(root)) => Some(format!(
                "`{written}` leads through a link out of the project, to `{}`.",
                self.shown(&it)
            )),
            Reading::Asked(why) | Reading::Never(why) => Some(format!(
                "`{written}` leads through a link to `{}`, which {why}.",
                self.shown(&it)
            )),
            Reading::Free => None,
        })
    }

    /// If a path leads through a link to a file that is always reviewed before it is written, a sentence that says so.
    pub(super) fn kept_behind(&self, folder: &str, written: &str) -> Option<String> {
        let reach = self.reach.as_ref()?;
        self.led(folder, written).into_iter().find_map(|it| match reach.writing(&it) {
            Writing::Reviewed(why) | Writing::Never(why) => Some(format!(
                "`{written}` leads through a link to `{}`, which {why}.",
                self.shown(&it)
            )),
            Writing::Free => None,
        })
    }

    /// A path for a sentence, in one line and with each deceptive character spelt out.
    pub(super) fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        unseen::name(&unseen::exact(&below.to_string_lossy())).into_owned()
    }

    /// The paths to which a word of a command leads.
    fn led(&self, folder: &str, written: &str) -> Vec<PathBuf> {
        let path = self.root.join(folder).join(written);
        self.tree.as_ref().map(|it| it.trail(&path)).unwrap_or_default()
    }
}

impl Simple {
    /// The same command, with these words in place of each word.
    fn with(&self, words: impl FnMut(&Word) -> Vec<Word>) -> Simple {
        let words = self.words.iter().flat_map(words).collect();
        Simple { words, surety: self.surety }
    }
}

/// Whether the first pattern of a command may stand where the program expects a script or an expression.
fn is_program(simple: &Simple, first: usize) -> bool {
    // nothing stands before a pattern for the program's own name
    let before = simple.words.get(1..first).unwrap_or_default().iter().filter_map(Word::fixed);
    match simple.name() {
        Some("sed" | "gsed") => before.into_iter().all(|it| it.starts_with('-')),
        // some options of jq take words that are no options
        Some("jq" | "yq") => {
            let mut before = before.skip_while(|it| it.starts_with('-') && !it.starts_with("--"));
            before.next().is_none_or(|it| it.starts_with('-'))
        }
        Some("test" | "[" | "printf" | "wait") => true,
        _ => false,
    }
}

/// The names for which a pattern stands in a folder, as the shell writes them. `None` if there are too many.
fn expanded(tree: &dyn Tree, folder: &Path, glob: &str) -> Option<Vec<String>> {
    let mut found = vec![String::new()];
    for part in glob.split_inclusive('/') {
        let (name, slash) = part.strip_suffix('/').map_or((part, ""), |it| (it, "/"));
        if !name.contains(['*', '?', '[']) {
            for it in &mut found {
                it.push_str(part);
            }
            continue;
        }
        let mut longer = Vec::new();
        for base in found {
            let names = tree.names(&folder.join(&base))?;
            let fitting = names.iter().filter(|it| !it.starts_with('.') && fits(name, it));
            longer.extend(fitting.map(|it| format!("{base}{it}{slash}")));
            if longer.len() > MOST {
                return None;
            }
        }
        found = longer;
    }
    found.retain(|it| tree.is_there(&folder.join(it)));
    // the bytes of such a name are not known here
    found.iter().all(|it| !it.contains('\u{fffd}')).then_some(found)
}

/// Whether a name may fit a part of a pattern. What is between brackets counts as any characters, and a backslash as
/// itself or nothing, because the part no longer tells which of its characters were quoted.
pub(super) fn fits(part: &str, name: &str) -> bool {
    let (part, name): (Vec<char>, Vec<char>) = (part.chars().collect(), name.chars().collect());
    let last = part.iter().rposition(|it| *it == ']');
    // whether the rest of the part from each position on fits the rest of the name
    let mut fitting = vec![false; name.len() + 1];
    fitting[name.len()] = true;
    let mut at = part.len();
    while at > 0 {
        at -= 1;
        let opens = part[..at].iter().position(|it| *it == '[');
        let (begin, is_any) = match opens.filter(|_| last.is_some_and(|it| at <= it)) {
            Some(begin) if last.is_some_and(|it| begin < it) => (begin, true),
            _ => (at, part[at] == '*'),
        };
        at = begin;
        fitting = (0..=name.len())
            .map(|from| match part[at] {
                _ if is_any => fitting[from..].contains(&true),
                '?' => fitting.get(from + 1) == Some(&true),
                '\\' if fitting[from] => true,
                it => name.get(from) == Some(&it) && fitting.get(from + 1) == Some(&true),
            })
            .collect();
    }
    fitting[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_pattern_fits_at_least_the_names_that_it_fits_in_bash() {
        for (part, name) in [
            ("*", "a"),
            ("*", ""),
            ("*.md", ".md"),
            ("a*b*c", "axbxbc"),
            ("?", "ä"),
            ("[a-c]x", "bx"),
            ("[]a]", "]"),
            ("[!]a]", "b"),
            ("[[:alpha:]]1", "b1"),
            ("a[", "a["),
            ("a]", "a]"),
            ("]*[", "]x["),
            ("x[ab][cd]*.t", "xacc.t"),
            (r"\a", "a"),
            (r"\\\a*\.md", "ab.md"),
            (r"\a", r"\a"),
        ] {
            assert!(fits(part, name), "{part} {name}");
        }
        for (part, name) in [
            ("?", ""),
            ("?", "ab"),
            ("*.md", "md"),
            ("a*", "ba"),
            ("x[ab]y", "xa"),
            ("a[", "ab"),
            (r"\a", "b"),
        ] {
            assert!(!fits(part, name), "{part} {name}");
        }
    }
}
