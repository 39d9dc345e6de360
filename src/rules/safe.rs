//! Everyday commands that only read, build or test. If the sandbox is complete, they run without a question, except
//! with arguments that `bash::risk` lists because they write files or run other programs.

use super::rule::{Origin, Rule};
use super::written::WrittenRule;
use crate::bash::{Simple, Word, risk};

/// The first words of the commands. None of them changes files of the project by itself.
const COMMANDS: &[&str] = &[
    "awk",
    "basename",
    "cargo --version",
    "cargo bench",
    "cargo build",
    "cargo check",
    "cargo clippy",
    "cargo doc",
    "cargo fmt --check",
    "cargo metadata",
    "cargo nextest run",
    "cargo test",
    "cargo tree",
    "cat",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "eslint",
    "exit",
    "false",
    "fd",
    "fgrep",
    "file",
    "find",
    "fold",
    "git --version",
    "git blame",
    "git branch --list",
    "git branch --show-current",
    "git branch -a",
    "git branch -r",
    "git branch -v",
    "git describe",
    "git diff",
    "git grep",
    "git log",
    "git ls-files",
    "git ls-tree",
    "git merge-base",
    "git reflog show",
    "git remote -v",
    "git rev-list",
    "git rev-parse",
    "git shortlog",
    "git show",
    "git stash list",
    "git stash show",
    "git status",
    "git tag --list",
    "git worktree list",
    "go doc",
    "go list",
    "go test",
    "go version",
    "go vet",
    "grep",
    "head",
    "id",
    "join",
    "jq",
    "ls",
    "make check",
    "make lint",
    "make test",
    "md5sum",
    "mypy",
    "nl",
    "node --version",
    "npm --version",
    "npm ls",
    "npm run build",
    "npm run lint",
    "npm run test",
    "npm run typecheck",
    "npm test",
    "nproc",
    "od",
    "paste",
    "pnpm test",
    "prettier --check",
    "printf",
    "pwd",
    "pytest",
    "python -m pytest",
    "python -m unittest",
    "python3 --version",
    "python3 -m pytest",
    "python3 -m unittest",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "ruff check",
    "ruff format --check",
    "rustc --version",
    "sed",
    "seq",
    "sha256sum",
    "sleep",
    "sort",
    "stat",
    "tac",
    "tail",
    "test",
    "tr",
    "tree",
    "true",
    "tsc --noEmit",
    "type",
    "uname",
    "uniq",
    "wc",
    "which",
    "whoami",
    "yarn test",
];

/// Words of the shell, and commands of git that write only its own repository.
const OWN: &[&str] = &[
    "[",
    "cd",
    "command",
    "declare",
    "export",
    "git add",
    "git branch",
    "git commit",
    "git fetch",
    "git push",
    "git tag",
    "local",
    "nice",
    "nohup",
    "popd",
    "pushd",
    "read",
    "set",
    "shift",
    "shopt",
    "stdbuf",
    "time",
    "timeout",
    "trap",
    "ulimit",
    "umask",
    "unset",
    "wait",
];

/// Whether a command is known to change no files of the project.
pub(super) fn only_reads(simple: &Simple) -> bool {
    let words: Vec<&str> = simple.words.iter().map(|it| it.fixed().unwrap_or_default()).collect();
    let begins = |it: &str| it.split(' ').zip(&words).all(|(one, word)| one == *word);
    let is_whole = |it: &str| it.split(' ').count() <= words.len();
    COMMANDS.iter().chain(OWN).any(|it| is_whole(it) && begins(it)) && risk(simple, 1).is_none()
}

/// Rules that allow these commands.
pub fn rules() -> Vec<Rule> {
    COMMANDS.iter().filter_map(|it| WrittenRule::always(it).rule(Origin::Safe).ok()).collect()
}

/// Why a command that begins like an everyday command is not one, because of its further words: a clause for the user.
/// If the user has a rule with the same first words, that rule allows the command.
pub(super) fn beyond(simple: &Simple, covered: usize) -> Option<String> {
    let words: Vec<&str> = simple.words.iter().map(Word::shown).collect();
    let rest = &words[covered.min(words.len())..];
    let found = match words[..] {
        ["git", "branch", first, ..] => listing(rest, first == "--list"),
        ["git", "tag", ..] => listing(rest, true),
        ["make", ..] => rest.iter().find(|it| !it.starts_with('-') && !is_count(it)),
        ["date", ..] => rest.iter().find(|it| !it.starts_with(['+', '-'])),
        ["git", "remote" | "worktree", ..] | [_, "--version" | "version", ..] => {
            rest.iter().find(|it| **it != "--porcelain")
        }
        _ => None,
    };
    let name = simple.name().unwrap_or_default();
    found.map(|it| format!("`{it}` makes `{name}` do more than read or test"))
}

/// Whether a word is a number, such as that of jobs.
fn is_count(word: &str) -> bool {
    matches!(word, "$(nproc)" | "\"$(nproc)\"") || word.bytes().all(|it| it.is_ascii_digit())
}

/// The first word by which the command does more than select and show branches or tags. With `has_patterns`, words
/// without a dash are patterns that select them.
fn listing<'a>(rest: &'a [&'a str], has_patterns: bool) -> Option<&'a &'a str> {
    const SHOWS: &[&str] = &[
        "-a",
        "-i",
        "-n",
        "-r",
        "-v",
        "-vv",
        "--all",
        "--column",
        "--ignore-case",
        "--list",
        "--no-color",
        "--no-column",
        "--remotes",
        "--verbose",
    ];
    const VALUED: &[&str] = &[
        "--contains",
        "--format",
        "--merged",
        "--no-contains",
        "--no-merged",
        "--points-at",
        "--sort",
    ];
    let mut is_value = false;
    rest.iter().find(|it| {
        let option = it.split('=').next().unwrap_or_default();
        let is_known = SHOWS.contains(it)
            || VALUED.contains(&option)
            || matches!(option, "--abbrev" | "--color")
            || !it.starts_with('-') && (has_patterns || is_value);
        is_value = VALUED.contains(it);
        !is_known
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_in_order_and_each_is_a_rule() {
        assert!(COMMANDS.is_sorted());
        assert_eq!(rules().len(), COMMANDS.len());
    }
}
