//! The words of a git command: the options before the subcommand, the subcommand, its options and its arguments.

use crate::bash::{Script, Simple};

/// Options before the subcommand that take the next word as their value.
const VALUED: [&str; 8] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
    "--attr-source",
];

/// Subcommands whose next word says what they do, and options that do so for others.
const GROUPS: [&str; 6] = ["bisect", "remote", "sparse-checkout", "stash", "submodule", "worktree"];
const ACTS: [&str; 4] = ["--continue", "--skip", "--abort", "--quit"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Invocation {
    /// The options before the subcommand.
    pub(super) globals: Vec<String>,
    pub(super) verb: String,
    /// The words after the subcommand.
    pub(super) words: Vec<String>,
}

impl Invocation {
    /// The words after `git`. `None` if there is no subcommand.
    pub(super) fn read(all: &[String]) -> Option<Invocation> {
        let mut at = 0;
        while let Some(word) = all.get(at).filter(|it| it.starts_with('-')) {
            at += if VALUED.contains(&word.as_str()) { 2 } else { 1 };
        }
        let verb = all.get(at)?.clone();
        Some(Invocation { globals: all[..at].to_vec(), verb, words: all[at + 1..].to_vec() })
    }

    /// What the command does, such as `git rebase --continue`.
    pub(super) fn named(&self) -> String {
        let is_group = GROUPS.contains(&self.verb.as_str());
        let is_word = |it: &String| it.bytes().all(|it| it.is_ascii_lowercase());
        // git takes an option that is cut as the whole one
        let act =
            |it: &String| ACTS.into_iter().find(|act| it.len() > 3 && act.starts_with(it.as_str()));
        let more = match self.words.first() {
            Some(word) if is_group && is_word(word) => Some(word.as_str()),
            _ => self.own().iter().find_map(act),
        };
        let words: Vec<&str> = ["git", &self.verb].into_iter().chain(more).collect();
        words.join(" ")
    }

    /// Whether one of these options is given, with or without a value behind `=`. Short options may be bundled.
    pub(super) fn has(&self, options: &[&str]) -> bool {
        self.options().any(|word| options.iter().any(|it| is_option(word, it)))
    }

    /// The value of an option, of which these are the spellings.
    pub(super) fn value(&self, options: &[&str]) -> Option<&str> {
        let own = self.own();
        own.iter().enumerate().find_map(|(at, word)| {
            options.iter().find_map(|it| {
                if word == it {
                    return own.get(at + 1).map(String::as_str);
                }
                let rest = word.strip_prefix(it)?;
                let is_long = it.starts_with("--");
                if is_long { rest.strip_prefix('=') } else { Some(rest) }
            })
        })
    }

    /// The words that are neither options nor values of the options `valued`, up to `--`.
    pub(super) fn plain(&self, valued: &[&str]) -> Vec<&str> {
        let mut plain = Vec::new();
        let mut is_value = false;
        for word in self.own() {
            if is_value {
                is_value = false;
            } else if valued.contains(&word.as_str()) {
                is_value = true;
            } else if !word.starts_with('-') || word == "-" {
                plain.push(word.as_str());
            }
        }
        plain
    }

    /// The paths after `--`; `None` if there is no `--`.
    pub(super) fn paths(&self) -> Option<&[String]> {
        let at = self.words.iter().position(|it| it == "--")?;
        Some(&self.words[at + 1..])
    }

    /// Whether the words may name a program that git starts.
    fn runs_others(&self) -> bool {
        let is_plain =
            |it: &String| ["-C", "-P", "--no-pager", "--no-optional-locks"].contains(&it.as_str());
        let mut globals = self.globals.iter();
        while let Some(option) = globals.next() {
            if !is_plain(option) {
                return true;
            }
            if option == "-C" {
                globals.next();
            }
        }
        let first = self.plain(&[]).first().copied();
        match self.verb.as_str() {
            "rebase" => self.has(&["-x", "--exec"]),
            "bisect" => first == Some("run"),
            "submodule" => first == Some("foreach"),
            _ => self.has(&["--upload-pack", "--exec", "--receive-pack"]),
        }
    }

    fn own(&self) -> &[String] {
        let end = self.words.iter().position(|it| it == "--").unwrap_or(self.words.len());
        &self.words[..end]
    }

    fn options(&self) -> impl Iterator<Item = &String> {
        self.own().iter().filter(|it| it.starts_with('-'))
    }
}

fn is_option(word: &str, option: &str) -> bool {
    if option.starts_with("--") {
        return word == option || word.strip_prefix(option).is_some_and(|it| it.starts_with('='));
    }
    let letter = option.trim_start_matches('-');
    !word.starts_with("--") && word.contains(letter)
}

/// Whether a command line is one git command and nothing else: no other command, also none that git would start, no
/// redirection that writes a file, and no word that is known only when the command runs.
pub(in crate::tool) fn is_git_alone(line: &str) -> bool {
    let script = Script::parse(line);
    let certain: Vec<&Simple> = script.commands.iter().filter(|it| it.is_certain()).collect();
    let [only] = certain.as_slice() else { return false };
    let is_whole =
        script.doubts.is_empty() && script.unclear.is_none() && !line.trim_end().ends_with('&');
    let is_quiet = script.outputs.iter().all(|it| it == "/dev/null");
    let words: Option<Vec<String>> =
        only.words.iter().map(|it| it.fixed().map(str::to_owned)).collect();
    let Some(words) = words.filter(|it| it.first().is_some_and(|it| it == "git")) else {
        return false;
    };
    is_whole && is_quiet && Invocation::read(&words[1..]).is_some_and(|it| !it.runs_others())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Invocation {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Invocation::read(&words).unwrap()
    }

    #[test]
    fn the_words_of_a_git_command_are_told_apart() {
        let it = read("-C sub --no-pager -c a.b=c checkout -qf -b new origin/x -- a b");
        assert_eq!(it.globals, ["-C", "sub", "--no-pager", "-c", "a.b=c"]);
        assert_eq!(it.verb, "checkout");
        assert!(it.has(&["-f", "--force"]) && !it.has(&["-d"]) && !it.has(&["--force"]));
        assert_eq!(it.plain(&["-b", "-B"]), ["origin/x"]);
        assert_eq!(it.value(&["-b"]), Some("new"));
        assert_eq!(it.paths().unwrap(), ["a", "b"]);
        let it = read("restore --source=HEAD~1 -s main a");
        assert_eq!(it.value(&["--source", "-s"]), Some("HEAD~1"));
        assert!(Invocation::read(&["-C".to_owned(), "a".to_owned()]).is_none());
    }

    #[test]
    fn a_command_is_named_with_what_it_does() {
        for (line, name) in [
            ("checkout -q other", "git checkout"),
            ("-C sub rebase --continue", "git rebase --continue"),
            ("cherry-pick --cont", "git cherry-pick --continue"),
            ("rebase -q --skip", "git rebase --skip"),
            ("checkout -- --abort", "git checkout"),
            ("stash pop", "git stash pop"),
            ("stash -u", "git stash"),
            ("submodule update --init", "git submodule update"),
            ("merge --no-ff x", "git merge"),
        ] {
            assert_eq!(read(line).named(), name);
        }
    }

    #[test]
    fn only_one_fixed_git_command_is_git_alone() {
        for line in [
            "git checkout x",
            "git -C sub pull",
            "git stash 2>/dev/null",
            "git commit -m 'a b'",
            "git submodule add x",
        ] {
            assert!(is_git_alone(line), "{line}");
        }
        for line in [
            "git checkout x && make",
            "git checkout $x",
            "git checkout x > .envrc",
            "git checkout `x`",
            "PATH=. git checkout x",
            "./git checkout x",
            "sh -c 'git checkout x; make'",
            "git checkout x | cat",
            "git checkout x &",
            "git rebase -x make main",
            "git -c core.hooksPath=x checkout main",
            "git submodule foreach make",
        ] {
            assert!(!is_git_alone(line), "{line}");
        }
    }
}
