//! The files that a command writes, the folders that it enters and the hosts that it names, as far as its words tell: a
//! part of the question about the command, and of the event for scripts.

use crate::bash::{Script, Simple, Word};
use std::collections::BTreeSet;

/// The most names of one kind in a question, which a person reads.
const MOST: usize = 8;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// Files that redirections and `tee` write.
    pub files: Vec<String>,
    /// Folders into which `cd` leads.
    pub folders: Vec<String>,
    /// Hosts in addresses, such as `https://a.org/b` and `git@a.org:b`.
    pub hosts: Vec<String>,
}

impl Touched {
    pub(super) fn by(script: &Script) -> Touched {
        let teed = script.commands.iter().filter(|it| it.name() == Some("tee")).flat_map(|it| {
            let names = it.words.iter().skip(1).filter_map(Word::fixed);
            names.filter(|it| !it.starts_with('-')).map(str::to_owned)
        });
        let words = script.commands.iter().flat_map(|it: &Simple| &it.words);
        let hosts = words.filter_map(Word::fixed).filter_map(host).map(str::to_owned);
        let folders = script.folders.iter().filter(|it| !it.is_empty()).cloned();
        Touched {
            files: once(script.outputs.iter().cloned().chain(teed)),
            folders: once(folders),
            hosts: once(hosts),
        }
    }

    /// A sentence for each kind; empty if nothing is known.
    pub fn text(&self) -> String {
        let sentences = [
            ("It writes", "file", &self.files),
            ("It changes the folder to", "folder", &self.folders),
            ("It names the host", "host", &self.hosts),
        ];
        let said = sentences.iter().filter(|it| !it.2.is_empty()).map(|(words, kind, names)| {
            let shown: Vec<String> = names.iter().take(MOST).map(|it| format!("`{it}`")).collect();
            let more = match names.len() - shown.len() {
                0 => String::new(),
                1 => format!(" and 1 more {kind}"),
                n => format!(" and {n} more {kind}s"),
            };
            format!("{words} {}{more}.", shown.join(", "))
        });
        said.collect::<Vec<_>>().join(" ")
    }
}

/// The names, each once and in one line.
fn once(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let lines = names.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|it| !it.is_empty() && seen.insert(it.clone())).collect()
}

/// The host of an address. A user's name before it is left out, a port stays.
fn host(word: &str) -> Option<&str> {
    let place = match word.split_once("://") {
        Some((scheme, rest))
            if scheme.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'+') =>
        {
            rest.split(['/', '?', '#']).next()?
        }
        Some(_) => return None,
        None => {
            let (place, _) = word.split_once(':')?;
            place.contains('@').then_some(place)?
        }
    };
    let name = place.rsplit('@').next()?;
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_the_files_folders_and_hosts_of_a_command() {
        let check = |line: &str, text: &str| {
            assert_eq!(Touched::by(&Script::parse(line)).text(), text, "{line}");
        };
        check("ls -l", "");
        check("echo a > out 2> /dev/null; echo b >> out", "It writes `out`.");
        check("make | tee -a log 'a  b'", "It writes `log`, `a b`.");
        check("cd sub && ls", "It changes the folder to `sub`.");
        check(
            "git clone git@a.org:b/c && curl -sS 'https://u:p@b.org:8080/x?y'",
            "It names the host `a.org`, `b.org:8080`.",
        );
        check("echo a:b c://", "");
        let many: Vec<String> = (0..20).map(|n| format!("echo > f{n}")).collect();
        let first = "`f0`, `f1`, `f2`, `f3`, `f4`, `f5`, `f6`, `f7`";
        check(&many[..8].join("; "), &format!("It writes {first}."));
        check(&many[..9].join("; "), &format!("It writes {first} and 1 more file."));
        check(&many.join("; "), &format!("It writes {first} and 12 more files."));
    }
}
