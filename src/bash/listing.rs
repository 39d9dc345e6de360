//! Commands whose output is known in kind: names of the project's files, or words such as a commit's hash that are
//! neither options nor paths.

use super::script::{Names, Script};
use super::simple::{Simple, Word};

/// What a substitution is known to stand for.
pub(super) enum Output {
    /// A number, a date or a folder of the project: neither an option nor a protected file.
    Token,
    /// The same, or a name that somebody has given to a branch or a tag. A file may have this name.
    Name,
    Names(Names),
}

/// What a word stands for, if it is the output of one command that is known: `$(git merge-base a b)`, `"$(nproc)"`,
/// `$(git ls-files '*.rs')`.
pub(super) fn substituted(word: &Word) -> Option<Output> {
    let Word::Open(source) = word else { return None };
    let inner = source.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    let text = inner.unwrap_or(source);
    let (line, tail) =
        text.strip_prefix("-j").unwrap_or(text).strip_prefix("$(")?.split_once(')')?;
    if line.contains(['$', '`', '(']) {
        return None;
    }
    let script = Script::parse(line);
    let [simple] = &script.commands[..] else { return None };
    if !script.doubts.is_empty() || !script.inputs.is_empty() || script.folders.len() > 1 {
        return None;
    }
    if let Some(it) = token(simple) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.~^-".contains(c);
        return tail.chars().all(is_plain).then_some(it);
    }
    let is_whole = inner.is_none() && tail.is_empty() && source.starts_with('$');
    names(simple).filter(|_| is_whole).map(Output::Names)
}

/// The names that a command prints, if it is one that lists files of the project.
pub(super) fn names(simple: &Simple) -> Option<Names> {
    let words: Vec<&str> = simple.words.iter().map(Word::fixed).collect::<Option<_>>()?;
    match words[..] {
        ["find", ref rest @ ..] => found(rest),
        ["git", "ls-files", ref rest @ ..] => {
            tracked(rest, &["-z", "-m", "-o", "--exclude-standard"])
        }
        ["git", "diff", ref rest @ ..] if rest.contains(&"--name-only") => {
            let rest: Vec<&str> = rest.iter().copied().filter(|it| !plain(it)).collect();
            tracked(&rest, &["--name-only", "-z", "--cached", "--staged", "--diff-filter=d", "--"])
        }
        ["rg" | "grep", ref rest @ ..] => searched(words[0], rest),
        _ => None,
    }
}

/// Whether a word is a commit or a branch, and neither an option nor a pattern.
fn plain(word: &str) -> bool {
    let is_ref = |c: char| c.is_ascii_alphanumeric() || "_./~^@-".contains(c);
    !word.starts_with('-') && word.chars().all(is_ref)
}

fn found(rest: &[&str]) -> Option<Names> {
    let paths = rest.iter().take_while(|it| !it.starts_with(['-', '(', '!'])).count();
    let (folders, mut rest) = rest.split_at(paths);
    let (mut patterns, mut ors, mut is_file) = (Vec::new(), 0, false);
    while let Some((word, after)) = rest.split_first() {
        let value = after.first().copied();
        let is_valued = match *word {
            "-name" | "-iname" => {
                patterns.push(value?.to_owned());
                true
            }
            "-type" => {
                is_file = value? == "f";
                true
            }
            "-maxdepth" | "-mindepth" | "-newer" | "-size" | "-mtime" | "-mmin" => true,
            // further conditions only leave names out
            "-not" | "!" => {
                let (test, after) = after.split_first()?;
                rest = matches!(*test, "-path" | "-name" | "-iname").then(|| after.get(1..))??;
                continue;
            }
            "-o" | "-or" => {
                ors += 1;
                false
            }
            "(" | ")" | "-print" | "-print0" | "-a" | "-empty" => false,
            _ => return None,
        };
        rest = after.get(usize::from(is_valued)..)?;
    }
    if ors > 0 && patterns.len() != ors + 1 {
        patterns.clear();
    }
    let folders: Vec<String> = folders.iter().map(|it| (*it).to_owned()).collect();
    let folders = if folders.is_empty() { vec![".".to_owned()] } else { folders };
    let by = "find".to_owned();
    Some(Names { by, folders, patterns, has_links: !is_file || ors > 0, is_bare: false })
}

fn tracked(rest: &[&str], flags: &[&str]) -> Option<Names> {
    let mut patterns = Vec::new();
    for it in rest.iter().filter(|it| **it != "--" && !flags.contains(it)) {
        if it.starts_with(['-', ':']) {
            return None;
        }
        patterns.push(it.rsplit('/').next().unwrap_or_default().to_owned());
    }
    // the name of a folder stands for all files in it
    if !patterns.iter().all(|it| it.contains(['*', '.'])) {
        patterns.clear();
    }
    let (by, folders) = ("git".to_owned(), vec![".".to_owned()]);
    Some(Names { by, folders, patterns, has_links: true, is_bare: true })
}

/// The files in which `rg` or `grep` finds something.
fn searched(by: &str, rest: &[&str]) -> Option<Names> {
    let (mut patterns, mut texts, mut lists, mut recurses) =
        (Vec::new(), Vec::new(), false, by == "rg");
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match *word {
            "--files-with-matches" => lists = true,
            "-g" => patterns.push((*words.next()?).to_owned()),
            "--fixed-strings" | "--ignore-case" | "--word-regexp" => (),
            it if it.starts_with("--include=") => {
                patterns.push(it["--include=".len()..].to_owned());
            }
            it if it.starts_with("--") => return None,
            it if it.starts_with('-') && it.len() > 1 => {
                let letters = &it[1..];
                // `-r` and `-E` of rg take a value
                let known = if by == "rg" { "linwF" } else { "lrinwFE" };
                if !letters.chars().all(|c| known.contains(c)) {
                    return None;
                }
                lists |= letters.contains('l');
                recurses |= letters.contains('r');
            }
            it => texts.push(it),
        }
    }
    let is_sure =
        lists && recurses && !texts.is_empty() && !patterns.iter().any(|it| it.starts_with('!'));
    let folders: Vec<String> = texts.iter().skip(1).map(|it| (*it).to_owned()).collect();
    let is_bare = folders.is_empty();
    let folders = if is_bare { vec![".".to_owned()] } else { folders };
    is_sure.then(|| Names { by: by.to_owned(), folders, patterns, has_links: false, is_bare })
}

/// The kind of the words that a command prints, if they are no options.
fn token(simple: &Simple) -> Option<Output> {
    let words: Vec<&str> = simple.words.iter().map(Word::fixed).collect::<Option<_>>()?;
    let is_ref = |it: &&str| plain(it) && !it.is_empty();
    let all =
        |rest: &[&str], flags: &[&str]| rest.iter().all(|it| flags.contains(it) || is_ref(it));
    let name = match words[..] {
        ["nproc" | "whoami" | "pwd" | "arch"] | ["uname", "-s" | "-m" | "-r"] => {
            return Some(Output::Token);
        }
        ["date", format] | ["date", "-u", format] => {
            return is_date(format).then_some(Output::Token);
        }
        ["git", "merge-base", ref rest @ ..] => all(rest, &["--fork-point", "--octopus"]),
        ["git", "rev-parse", ref rest @ ..] => {
            all(rest, &["--short", "--verify", "--abbrev-ref", "--show-toplevel", "-q"])
        }
        ["git", "describe", ref rest @ ..] => {
            all(rest, &["--tags", "--always", "--abbrev=0", "--dirty", "--long", "--all"])
        }
        ["git", "rev-list", ref rest @ ..] => {
            all(rest, &["-1", "--count", "--max-parents=0", "--first-parent", "-n1"])
        }
        ["git", "symbolic-ref", ref rest @ ..] => all(rest, &["--short", "-q"]) && rest.len() < 3,
        ["git", "branch", "--show-current"] => true,
        _ => false,
    };
    name.then_some(Output::Name)
}

/// Whether a format of `date` yields only digits and signs: `+%Y-%m-%d`.
fn is_date(format: &str) -> bool {
    let Some(mut rest) = format.strip_prefix("+%").map(|_| &format[1..]) else { return false };
    while let Some(c) = rest.chars().next() {
        rest = match c {
            '%' if rest[1..].starts_with(|c| "FHMSTVYdjmsuy".contains(c)) => &rest[2..],
            '-' | '_' | ':' | '.' | 'T' => &rest[1..],
            _ => return false,
        };
    }
    true
}
