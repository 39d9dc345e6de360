//! The files that a command writes or removes, the folders that it enters and the hosts that it names, as far as its
//! words tell: a part of the question about the command, and of the event for scripts.

mod hosts;
mod programs;

use super::safe;
use crate::bash::Script;
use std::collections::BTreeSet;

/// The most names of one kind in a question, which a person reads.
const MOST: usize = 8;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// Files that redirections and programs write or remove.
    pub files: Vec<String>,
    /// Whether a program removes some of them.
    pub removes: bool,
    /// What is written besides.
    pub others: Others,
    /// Folders into which `cd` leads.
    pub folders: Vec<String>,
    /// Hosts in addresses, such as `https://a.org/b`, `git@a.org:b`, and `a.org` behind `curl`.
    pub hosts: Vec<String>,
    /// Whether a program is known to connect to other machines, and may reach some that its words do not name.
    pub reaches_more: bool,
}

/// What a command may write besides the files that its words name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Others {
    #[default]
    Nothing,
    /// There is a program of which nothing is known.
    Unknown,
    /// There is a program that writes files which its words do not name.
    Unnamed,
}

impl Touched {
    pub(super) fn by(script: &Script) -> Touched {
        let (mut written, mut removes, mut others) = (Vec::new(), false, Others::Nothing);
        for it in script.commands.iter().filter(|it| it.is_certain()) {
            let known = programs::by(it);
            others = others.max(match &known {
                Some(it) if it.is_blind => Others::Unnamed,
                Some(_) => Others::Nothing,
                None if safe::only_reads(it) => Others::Nothing,
                None => Others::Unknown,
            });
            let known = known.unwrap_or_default();
            removes |= known.removes && !known.files.is_empty();
            written.extend(known.files);
        }
        for it in script.commands.iter().filter(|it| !it.is_certain()).filter_map(programs::by) {
            // the words after `git` look like a command too
            let is_known = !it.is_blind && it.files.iter().all(|it| written.contains(it));
            others = others.max(if is_known { Others::Nothing } else { Others::Unnamed });
        }
        if script.unclear.is_some() {
            others = others.max(Others::Unknown);
        }
        let hosts = script.commands.iter().flat_map(hosts::named);
        let folders = script.folders.iter().filter(|it| !it.is_empty()).cloned();
        Touched {
            files: once(script.outputs.iter().cloned().chain(written)),
            removes,
            others,
            folders: once(folders),
            hosts: once(hosts),
            reaches_more: script
                .commands
                .iter()
                .any(|it| it.is_certain() && hosts::reaches_more(it)),
        }
    }

    /// A sentence for each kind; empty if nothing is known.
    pub fn text(&self) -> String {
        let writes = if self.removes { "It writes or removes" } else { "It writes" };
        let sentences = [
            (writes, "file", &self.files),
            ("It changes the folder to", "folder", &self.folders),
            ("It names the host", "host", &self.hosts),
        ];
        let mut said: Vec<String> = Vec::new();
        for (words, kind, names) in sentences.iter().filter(|it| !it.2.is_empty()) {
            let shown: Vec<String> = names.iter().take(MOST).map(|it| format!("`{it}`")).collect();
            let more = match names.len() - shown.len() {
                0 => String::new(),
                1 => format!(" and 1 more {kind}"),
                n => format!(" and {n} more {kind}s"),
            };
            let is_all = *kind != "file" || self.others == Others::Nothing;
            let rest = if is_all { "" } else { ", and perhaps others" };
            said.push(format!("{words} {}{more}{rest}.", shown.join(", ")));
        }
        if self.files.is_empty() && self.others == Others::Unnamed {
            said.insert(0, "It writes files that its words do not name.".to_owned());
        }
        said.join(" ")
    }
}

/// The names, each once and in one line.
fn once(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let lines = names.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|it| !it.is_empty() && seen.insert(it.clone())).collect()
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
        check("make | tee -a log 'a  b'", "It writes `log`, `a b`, and perhaps others.");
        check("cat x | tee -a log", "It writes `log`.");
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

    /// A command line, the files that it writes or removes, and what the question says of others.
    #[test]
    fn a_question_names_the_files_that_programs_write_or_remove() {
        let cases = [
            ("rm -rf build a.txt", "or removes `build`, `a.txt`."),
            ("timeout 5 rm -- -f", "or removes `-f`."),
            ("rm *.o", "or removes `*.o`."),
            ("rm $x", "or removes `$x`, and perhaps others."),
            ("mv a b", "or removes `a`, `b`."),
            ("cp -r a b c/", "`c/`."),
            ("cp -t c a b", "`c`."),
            ("touch a; mkdir -p b/c", "`a`, `b/c`."),
            ("truncate -s 0 log", "`log`."),
            ("chmod +x run.sh", "`run.sh`."),
            ("sed -i s/a/b/ x.rs y.rs", "`x.rs`, `y.rs`."),
            ("sed -i.bak -e s/a/b/ x.rs", "`x.rs`."),
            ("sed -Ei s/a/b/ x.rs", "`x.rs`."),
            ("perl -pi -e s/a/b/ x.rs", "`x.rs`."),
            ("dd if=a of=b bs=1", "`b`."),
            ("sort -o out in", "`out`."),
            ("curl -so page https://a.org", "`page`. It names the host `a.org`."),
            ("patch src/a.rs < fix.diff", "`src/a.rs`."),
            ("git rm -r old", "or removes `old`."),
            ("git mv a b", "or removes `a`, `b`."),
            ("git checkout -- a.txt", "`a.txt`."),
            ("gofmt -w a.go", "`a.go`."),
            ("cargo run && rm a", "or removes `a`, and perhaps others."),
            ("cargo test && rm a", "or removes `a`."),
            ("find . -name x | xargs rm", ""),
            ("patch -p1 < fix.diff", ""),
            ("git stash", ""),
            ("tar xf a.tar", ""),
        ];
        for (line, names) in cases {
            let said = match names {
                "" => "It writes files that its words do not name.".to_owned(),
                names => format!("It writes {names}"),
            };
            assert_eq!(Touched::by(&Script::parse(line)).text(), said, "{line}");
        }
        for line in [
            "sed -n 1,5p a",
            "perl -Mstrict -e 1 a",
            "git rm --cached a",
            "gzip -c a",
            "sort a",
            "curl https://a.org",
            "prettier --check a",
        ] {
            assert_eq!(Touched::by(&Script::parse(line)).files, Vec::<String>::new(), "{line}");
        }
    }
}
