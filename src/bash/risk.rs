//! Risky arguments: they make a known program run a command, write a file or do something else that one would not
//! expect from its name. They are collected from the list `GTFOBins` and the programs' manuals. A rule allows a risky
//! argument only if the rule names it.

mod table;
mod verbs;

use super::awk;
use super::language::only_edits;
use super::options::{self, Manner};
use super::simple::{Simple, Word};
use table::{INTERPRETERS, ROWS, Row};
use verbs::VERBS;

/// Options before the subcommand of git that change nothing.
const GIT_PLAIN: [&str; 4] = ["--literal-pathspecs", "--no-optional-locks", "--no-pager", "-P"];
/// Subcommands of git that only show something.
const SHOWING: [&str; 9] =
    ["blame", "diff", "grep", "log", "ls-files", "reflog", "rev-list", "shortlog", "show"];

/// The index of the first risky argument of a command that is not among its first `from` words, and the reason as a
/// clause for the user. An interpreter without arguments reads its program from its input. Then the index is that after
/// the last word.
pub fn risk(command: &Simple, from: usize) -> Option<(usize, String)> {
    let name = command.name()?;
    let from = from.max(1);
    if awk::NAMES.contains(&name) && awk::only_prints(command) {
        return None;
    }
    if is_interpreter(name) {
        return interpreted(command, name, from);
    }
    if matches!(name, "sed" | "gsed") {
        return edited(command, name, from);
    }
    let row = ROWS.iter().find(|it| it.names.contains(&name))?;
    let at = (from..command.words.len()).find(|at| row.is_risky(command, name, *at))?;
    Some((at, more(command, name, at)))
}

/// If a command publishes, logs in, installs or runs other programs or changes other machines by a word that is not among
/// its first `from` words, the position of this word and a clause for the user that says so.
pub fn task(command: &Simple, from: usize) -> Option<(usize, String)> {
    let name = command.name()?;
    let found = [verb(command, name), options::at(command)].into_iter().flatten();
    found.filter(|at| *at >= from.max(1)).min().map(|at| (at, more(command, name, at)))
}

fn more(command: &Simple, name: &str, at: usize) -> String {
    format!("`{}` makes `{name}` do more than its name says", command.words[at].shown())
}

/// The position of the subcommand's last word, if the table lists it.
fn verb(command: &Simple, name: &str) -> Option<usize> {
    let listed = VERBS.iter().find(|it| it.0.contains(&name))?.1;
    let manner = Manner::reading(name, &command.words[1..]);
    let texts = manner.texts_at(&command.words[1..]);
    let is_same = |nth: usize, wanted: &str, text: &str| match wanted.strip_suffix('*') {
        Some(head) => text.starts_with(head),
        None => manner.is_verb(nth, wanted, text),
    };
    let mut found = listed.iter().filter_map(|it| {
        let mut wanted = it.split(' ').enumerate().zip(&texts);
        let count = it.split(' ').count();
        let fits = texts.len() >= count
            && wanted.all(|((nth, wanted), (_, text))| is_same(nth, wanted, text));
        fits.then(|| texts[count - 1].0 + 1)
    });
    found.next()
}

/// Whether a program's arguments are programs or run them.
pub(super) fn is_interpreter(name: &str) -> bool {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    [name, plain].iter().any(|it| INTERPRETERS.contains(it))
}

impl Row {
    fn is_risky(&self, command: &Simple, name: &str, at: usize) -> bool {
        let is_bundle = at == 1 && matches!(name, "tar" | "bsdtar" | "gtar");
        let is_make = matches!(name, "make" | "gmake");
        let is_second = matches!(name, "uniq" | "xxd") && is_second_file(command, at);
        if let Word::Glob(it) = &command.words[at] {
            let head = it.split(['*', '?', '[']).next().unwrap_or_default();
            // the pattern may stand for several files, or for one with the name of a risky word
            return matches!(name, "uniq" | "xxd")
                || !head.is_empty() && self.words.iter().any(|it| it.starts_with(head));
        }
        command.words[at].fixed().is_some_and(|it| {
            // tsc takes its options in any case
            let lower = it.to_ascii_lowercase();
            let word = if name == "tsc" { &lower } else { it };
            self.has(word, self.letters(command, at), is_bundle) || is_make && it.contains('=')
        }) || is_second
    }

    /// The letters of the risky short options at a position. Behind a subcommand of git that shows something, `-c` and
    /// `-C` say how much it shows.
    fn letters(&self, command: &Simple, at: usize) -> &'static str {
        let words = || command.words.iter().skip(1).map(Word::fixed);
        let before = words().take_while(|it| it.is_some_and(|it| GIT_PLAIN.contains(&it))).count();
        let verb = words().nth(before).flatten();
        let shows = verb.is_some_and(|it| SHOWING.contains(&it)) && at > before + 1;
        if shows && self.names.contains(&"git") { "O" } else { self.letters }
    }

    /// Whether a word is risky, with these letters of short options. If `is_bundle`, the word may be short options
    /// without a dash, as in `tar xzf`.
    fn has(&self, word: &str, risky: &str, is_bundle: bool) -> bool {
        if self.words.contains(&word)
            || self.heads.iter().any(|it| word.starts_with(it))
            || self.parts.iter().any(|it| word.contains(it))
        {
            return true;
        }
        if let Some(long) = word.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            return !name.is_empty()
                && self.longs.iter().any(|it| it.starts_with(name) || name.starts_with(it));
        }
        let letters =
            if is_bundle { Some(word.trim_start_matches('-')) } else { word.strip_prefix('-') };
        letters.is_some_and(|it| it.contains(|c| risky.contains(c)))
    }
}

/// Whether the word is the second file of a command, to which some programs write.
fn is_second_file(command: &Simple, at: usize) -> bool {
    let is_file = |it: &Word| it.fixed().is_none_or(|it| it == "-" || !it.starts_with('-'));
    is_file(&command.words[at]) && command.words[1..at].iter().any(is_file)
}

fn interpreted(command: &Simple, name: &str, from: usize) -> Option<(usize, String)> {
    if let [_, Word::Fixed(only)] = &command.words[..]
        && matches!(only.as_str(), "--version" | "-V" | "--help")
    {
        return None;
    }
    let Some(word) = command.words.get(1) else {
        return Some((1, format!("`{name}` runs a program from its input")));
    };
    if from == 1 {
        return Some((1, format!("`{name}` runs what `{}` says", word.shown())));
    }
    // a module of python is judged like the program of the same name
    if word.fixed() != Some("-m") {
        return None;
    }
    let module = Simple { words: command.words[2..].to_vec(), surety: command.surety };
    risk(&module, from - 2).filter(|it| it.0 + 2 >= from).map(|(at, why)| (at + 2, why))
}

/// `sed` runs commands and writes files by letters in its script; only simple scripts are known to do neither.
fn edited(command: &Simple, name: &str, from: usize) -> Option<(usize, String)> {
    let (mut has_script, mut is_next) = (false, false);
    for at in 1..command.words.len() {
        let word = command.words[at].shown();
        let script = if is_next { Some(word) } else { word.strip_prefix("--expression=") };
        let is_safe = match word {
            _ if script.is_some() => only_edits(script.unwrap_or_default()),
            "-n" | "-E" | "-r" | "-u" | "-z" | "-nE" | "-En" | "--quiet" | "--silent"
            | "--regexp-extended" | "-e" | "-ne" | "--expression" => true,
            it if it.starts_with('-') => false,
            it => has_script || only_edits(it),
        };
        if !is_safe && at >= from {
            return Some((at, format!("`{word}` may make `{name}` write files or run commands")));
        }
        is_next = script.is_none() && matches!(word, "-e" | "-ne" | "--expression");
        has_script |= script.is_some() || !is_next && !word.starts_with('-');
    }
    None
}
