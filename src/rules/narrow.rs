//! The rule that is stored when the user answers “always” to a question: as narrow as possible, but still useful for
//! similar commands.

use crate::bash::{Script, Simple, Word, risk};

/// Commands for which the rule leaves the further arguments open: a program and some of its subcommands.
const VARIED: &[(&str, &[&str])] = &[
    (
        "cargo",
        &["bench", "build", "check", "clippy", "doc", "fmt", "metadata", "nextest", "test", "tree"],
    ),
    ("dotnet", &["build", "test"]),
    ("git", &["blame", "diff", "log", "ls-files", "rev-parse", "shortlog", "show", "status"]),
    ("go", &["build", "doc", "fmt", "list", "test", "vet"]),
    ("mix", &["compile", "format", "test"]),
    ("npm", &["ls", "outdated", "test"]),
    ("pnpm", &["test"]),
    ("tsc", &[]),
    ("pytest", &[]),
    ("ruff", &["check", "format"]),
    ("mypy", &[]),
    ("yarn", &["test"]),
    ("zig", &["build", "fmt", "test"]),
];

/// The words of a rule that would allow the script's only command that no rule allows. Empty if there is not exactly
/// one such command, or if the rule would allow too much.
pub(super) fn proposed(script: &Script, missing: &[&Simple]) -> String {
    match missing {
        [it] if script.doubts.is_empty() => {
            words(it).map(|it| super::written::joined(&it)).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn words(simple: &Simple) -> Option<Vec<String>> {
    let name = simple.name()?;
    // in a rule, `*` stands for any word
    let has_star = simple.words.iter().any(|it| it.fixed() == Some("*"));
    if risk(simple, 1).is_some() || is_broad(name) || has_star {
        return None;
    }
    let all: Option<Vec<String>> =
        simple.words.iter().map(|it| it.fixed().map(str::to_owned)).collect();
    let varied = VARIED.iter().find(|it| it.0 == name && simple.words[0].fixed() == Some(name));
    let Some((_, subcommands)) = varied else { return all };
    if subcommands.is_empty() {
        return Some(vec![name.to_owned()]);
    }
    let second = simple.words.get(1).and_then(Word::fixed);
    match second.filter(|it| subcommands.contains(it)) {
        Some(it) => Some(vec![name.to_owned(), it.to_owned()]),
        None => all,
    }
}

/// Programs for which no rule is proposed, because their arguments decide what they run.
fn is_broad(name: &str) -> bool {
    matches!(
        name,
        "find"
            | "fd"
            | "fdfind"
            | "xargs"
            | "sudo"
            | "doas"
            | "ssh"
            | "docker"
            | "podman"
            | "kubectl"
    )
}
