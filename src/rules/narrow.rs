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
            words(it).map(|it| super::rule::joined(&it)).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn words(simple: &Simple) -> Option<Vec<String>> {
    let plain = simple.without_options();
    let simple = plain.as_ref().unwrap_or(simple);
    let name = simple.name()?;
    // in a rule, `*` stands for any word
    let has_star = simple.words.iter().any(|it| it.fixed() == Some("*"));
    if risk(simple, 1).is_some() && !is_own_test(simple) || is_broad(name) || has_star {
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

/// Whether a command runs the project's own tests with an interpreter: `python3 -m unittest`, `bash scripts/test.sh`.
/// The rule names all its words.
fn is_own_test(simple: &Simple) -> bool {
    const INTERPRETERS: &[&str] =
        &["bash", "bun", "deno", "node", "perl", "php", "python", "python3", "ruby", "sh"];
    const MODULES: &[&str] = &["doctest", "nose2", "nox", "pytest", "tox", "unittest"];
    let words: Vec<&str> = simple.words.iter().map(|it| it.fixed().unwrap_or("$")).collect();
    let [program, first, rest @ ..] = words.as_slice() else { return false };
    let is_part = |it: &str| matches!(it, "test" | "tests" | "spec" | "check");
    let is_script = |it: &str| {
        let is_inside = !it.starts_with(['-', '/', '~']) && it.split('/').all(|it| it != "..");
        let name = it.rsplit('/').next().unwrap_or_default();
        let (stem, kind) = name.rsplit_once('.').unwrap_or((name, ""));
        is_inside && !kind.is_empty() && stem.split(['-', '_', '.']).any(is_part)
    };
    let is_alone = INTERPRETERS.contains(program) && !words.contains(&"$");
    is_alone
        && match *first {
            "-m" => rest.first().is_some_and(|it| MODULES.contains(it)),
            "--test" => *program == "node" && rest.iter().all(|it| !it.starts_with('-')),
            "test" => {
                matches!(*program, "bun" | "deno") && rest.iter().all(|it| !it.starts_with('-'))
            }
            it => is_script(it),
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
