//! Which of their words programs write or remove, from the programs' manuals.

use crate::bash::{INPUT, Simple, Word};

/// Which operands of a program are written or removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    All,
    /// The first operand is a script or a mode.
    Rest,
    Last,
    None,
}

struct Row {
    names: &'static [&'static str],
    /// The program writes only with one of these options; empty if always.
    only: &'static [&'static str],
    /// Options without which the program writes, such as one to print instead.
    but: &'static [&'static str],
    /// Options whose value is the next word.
    values: &'static [&'static str],
    /// Options whose value is written.
    outputs: &'static [&'static str],
    written: Written,
    removes: bool,
}

const ROW: Row = Row {
    names: &[],
    only: &[],
    but: &[],
    values: &[],
    outputs: &[],
    written: Written::All,
    removes: false,
};

const ROWS: &[Row] = &[
    Row {
        names: &["rm", "rmdir", "unlink", "git rm"],
        but: &["--cached", "-n"],
        removes: true,
        ..ROW
    },
    Row { names: &["shred"], values: &["-n", "-s"], removes: true, ..ROW },
    Row { names: &["mv", "git mv"], values: &["-S", "-t"], removes: true, ..ROW },
    Row { names: &["tee", "mkfifo"], ..ROW },
    Row { names: &["touch"], values: &["-d", "-r", "-t"], ..ROW },
    Row { names: &["mkdir"], values: &["-m"], ..ROW },
    Row { names: &["truncate"], values: &["-s", "--size", "-r", "--reference"], ..ROW },
    Row {
        names: &["cp", "install", "ln", "rsync", "scp"],
        values: &["-S", "-m", "-o", "-g", "-e"],
        outputs: &["-t", "--target-directory"],
        written: Written::Last,
        ..ROW
    },
    Row { names: &["chmod", "chown", "chgrp"], written: Written::Rest, ..ROW },
    Row {
        names: &["sed", "gsed", "perl"],
        only: &["-i", "--in-place"],
        values: &["-e", "--expression", "-f", "--file", "-l"],
        written: Written::Rest,
        ..ROW
    },
    Row {
        names: &["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd"],
        but: &["-c", "--stdout", "-l", "-t"],
        removes: true,
        ..ROW
    },
    Row {
        names: &["patch"],
        but: &["--dry-run"],
        values: &["-i", "--input", "-p", "-d", "-D", "-B", "-z"],
        outputs: &["-o", "--output"],
        ..ROW
    },
    Row {
        names: &["sort"],
        only: &["-o", "--output"],
        outputs: &["-o", "--output"],
        written: Written::None,
        ..ROW
    },
    Row {
        names: &["curl"],
        only: &["-o", "--output"],
        outputs: &["-o", "--output"],
        written: Written::None,
        ..ROW
    },
    Row { names: &["wget"], outputs: &["-O", "--output-document"], written: Written::None, ..ROW },
    Row {
        names: &["gofmt", "goimports", "prettier", "clang-format", "shfmt"],
        only: &["-w", "--write", "-i"],
        ..ROW
    },
    Row {
        names: &["git checkout", "git restore"],
        outputs: &["--"],
        written: Written::None,
        ..ROW
    },
];

/// Programs that write files which their words do not name.
const BLIND: &[&str] = &[
    "csplit",
    "git am",
    "git apply",
    "git cherry-pick",
    "git clean",
    "git merge",
    "git pull",
    "git rebase",
    "git reset",
    "git revert",
    "git stash",
    "git switch",
    "split",
    "tar",
    "unzip",
];

/// What a command writes, as far as its words tell.
#[derive(Debug, Default)]
pub(super) struct Writes {
    pub(super) files: Vec<String>,
    pub(super) removes: bool,
    /// Whether the command writes files that its words do not name.
    pub(super) is_blind: bool,
}

/// What a command writes; `None` if nothing is known of the program.
pub(super) fn by(command: &Simple) -> Option<Writes> {
    let name = command.name()?;
    let second = command.words.get(1).and_then(Word::fixed).unwrap_or_default();
    let both = format!("{name} {second}");
    let is_it = |it: &&str| *it == name || *it == both;
    if BLIND.iter().any(&is_it) {
        return Some(Writes { is_blind: true, ..Writes::default() });
    }
    if name == "dd" {
        let fixed = command.words.iter().filter_map(Word::fixed);
        let files = fixed.filter_map(|it| it.strip_prefix("of=")).map(str::to_owned).collect();
        return Some(Writes { files, ..Writes::default() });
    }
    let row = ROWS.iter().find(|row| row.names.iter().any(&is_it))?;
    let from = if row.names.contains(&name) { 1 } else { 2 };
    Some(row.writes(&command.words[from..]))
}

impl Row {
    fn writes(&self, words: &[Word]) -> Writes {
        let has =
            |options: &[&str]| words.iter().any(|it| options.iter().any(|o| is_option(it, o)));
        if !self.only.is_empty() && !has(self.only) || has(self.but) {
            return Writes::default();
        }
        let (mut operands, mut files, mut is_literal) = (Vec::new(), Vec::new(), false);
        let mut has_script = false;
        let mut all = words.iter();
        while let Some(word) = all.next() {
            let text = word.shown();
            match () {
                () if is_literal || !text.starts_with('-') || text == "-" => operands.push(word),
                () if text == "--" => {
                    is_literal = true;
                    if self.outputs.contains(&"--") {
                        files.extend(all.by_ref());
                    }
                }
                () if self.outputs.iter().any(|it| ends_in(text, it)) => files.extend(all.next()),
                () if self.values.contains(&text) => {
                    has_script |= text != "-l";
                    all.next();
                }
                () => has_script |= is_option(word, "-e") && self.values.contains(&"-e"),
            }
        }
        match self.written {
            Written::All => files.extend(&operands),
            Written::Rest if has_script => files.extend(&operands),
            Written::Rest => files.extend(operands.iter().skip(1)),
            Written::Last if files.is_empty() => files.extend(operands.last()),
            Written::Last | Written::None => (),
        }
        files.retain(|it| it.shown() != INPUT);
        // a value that only the running command knows may be several files
        let is_open = files.iter().any(|it| matches!(it, Word::Open(_)));
        let is_blind = files.is_empty() || is_open;
        let files = files.iter().map(|it| it.shown().to_owned()).collect();
        Writes { files, removes: self.removes, is_blind }
    }
}

/// Whether a word is this option, or several letters of which the option is the last, as in `-so`.
fn ends_in(text: &str, option: &str) -> bool {
    let is_bundle = option.len() == 2 && text.len() > 2 && !text.starts_with("--");
    text == option || is_bundle && text.ends_with(&option[1..]) && option != "--"
}

/// Whether a word is this option: alone, with its value, or among other letters as in `-pi`.
fn is_option(word: &Word, option: &str) -> bool {
    let Some(text) = word.fixed() else { return false };
    if option.starts_with("--") {
        return text.split('=').next() == Some(option);
    }
    let Some(letters) = text.strip_prefix('-').filter(|it| !it.starts_with('-')) else {
        return false;
    };
    // `-Mstrict` and `-i.bak` have a value after the letter
    let end = letters.find(|it: char| !it.is_ascii_lowercase() && !"EO".contains(it));
    letters[..end.unwrap_or(letters.len())].contains(option.trim_start_matches('-'))
}
