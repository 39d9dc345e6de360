//! The table `options.txt`, read once.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The words from one on, of those that are no options, that a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operands {
    pub(crate) run: Run,
    pub(crate) from: usize,
}

/// How a program runs some of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// They are a command.
    Words,
    /// They are joined to a command line.
    Line,
    /// One of them is a command line.
    One,
    /// Each of them is a command line.
    Each,
    /// Those behind `--` are a command.
    Dashed,
    /// They are a command, unless the first of them is a subcommand.
    Others,
    /// It is a command with commas between its words.
    Commas,
    /// One of them is a text in the program's own language, unless an option gives this text.
    Program,
    /// One of them is a text that the program neither runs nor takes for the name of a file, unless an option gives it.
    Text,
    /// It is a pattern that leaves files out.
    Out,
    /// So is it if it begins with `!`.
    Negated,
}

impl Run {
    /// Whether it starts other programs by what is a command for the shell, too.
    pub(crate) fn is_command(self) -> bool {
        !matches!(self, Run::Program | Run::Text | Run::Out | Run::Negated)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Usual,
    Bundled,
    Long,
    Pairs,
}

/// The names of one option.
pub(crate) struct Group {
    pub(crate) names: Vec<&'static str>,
    pub(crate) takes_value: bool,
    /// What the program runs: the option's value, or for `Words` all words behind the option.
    pub(crate) run: Option<Run>,
    /// Other options that this one includes.
    pub(super) includes: Vec<&'static str>,
}

pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) verbs: usize,
    pub(super) groups: Vec<Group>,
    pub(super) operands: Option<Operands>,
}

pub(super) static TABLE: LazyLock<HashMap<&str, Row>> =
    LazyLock::new(|| lines().filter_map(row).collect());

/// The programs of which the table tells what they run.
pub(super) static TOLD: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let runs = |it: &&Row| it.operands.is_some() || it.groups.iter().any(|it| it.run.is_some());
    let keys = TABLE.iter().filter(|(_, row)| runs(row)).map(|it| *it.0);
    keys.filter_map(|it| it.split(' ').next()).collect()
});

pub(super) type Aliases = HashMap<&'static str, Vec<Vec<&'static str>>>;

pub(super) static ALIASES: LazyLock<Aliases> = LazyLock::new(|| {
    let named = lines().filter_map(|it| {
        let (key, names) = it.split_once(':')?;
        let names = names.split_whitespace().map(|it| it.split('=').collect());
        Some((key.strip_suffix(" verbs")?, names))
    });
    named.fold(Aliases::new(), |mut all, (key, names)| {
        all.entry(key).or_default().extend(names);
        all
    })
});

/// Other names of programs, each with the name that the table uses.
static NAMES: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
    let of = |key: &str| {
        let found = lines().filter_map(|it| it.split_once(':')).find(|it| it.0 == key);
        found.map_or("", |it| it.1).split_whitespace()
    };
    let mut names = HashMap::new();
    for all in of("program names") {
        let first = all.split('=').next().unwrap_or_default();
        names.extend(all.split('=').map(|it| (it.to_owned(), first)));
    }
    for name in of("prefixed names") {
        names.extend(of("prefix names").map(|it| (format!("{it}{name}"), name)));
    }
    names
});

/// The programs that do nothing without arguments.
static IDLE: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let found = lines().filter_map(|it| it.split_once(':')).filter(|it| it.0 == "idle names");
    found.flat_map(|it| it.1.split_whitespace()).collect()
});

/// Whether a program does nothing without arguments: `rm`.
pub(crate) fn is_idle(program: &str) -> bool {
    IDLE.contains(named(program))
}

/// The name that the table uses for a program: `rm` for `grm`, and `pip` for `pip3.12`.
pub(crate) fn named(program: &str) -> &str {
    let program = program.strip_suffix(".exe").unwrap_or(program);
    let known = |it: &str| NAMES.get(it).copied();
    known(program).or_else(|| known(versionless(program))).unwrap_or(program)
}

/// A program's name without its version: `gcc` for `gcc-12`.
pub(super) fn versionless(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'))
}

fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("../options.txt").lines().filter(|it| !it.is_empty() && !it.starts_with('#'))
}

fn row(line: &'static str) -> Option<(&'static str, Row)> {
    let (head, options) = line.split_once(':')?;
    let (key, marks) = head.trim_end_matches(']').split_once(" [").unwrap_or((head, ""));
    if key.ends_with(" verbs") || key.ends_with(" names") {
        return None;
    }
    let verbs = key.matches(' ').count();
    let mut row = Row { kind: Kind::Usual, verbs, groups: Vec::new(), operands: None };
    for mark in marks.split_whitespace() {
        let (word, from) = mark.split_once('-').unwrap_or((mark, "0"));
        let run = match word {
            "words" => Some(Run::Words),
            "line" => Some(Run::Line),
            "one" => Some(Run::One),
            "each" => Some(Run::Each),
            "dashed" => Some(Run::Dashed),
            "others" => Some(Run::Others),
            "program" => Some(Run::Program),
            "text" => Some(Run::Text),
            _ => None,
        };
        match word {
            "bundled" => row.kind = Kind::Bundled,
            "long" => row.kind = Kind::Long,
            "pairs" => row.kind = Kind::Pairs,
            it => match run {
                Some(run) => row.operands = Some(Operands { run, from: from.parse().ok()? }),
                None => row.verbs = it.parse().ok()?,
            },
        }
    }
    row.groups = options.split_whitespace().map(group).collect();
    Some((key, row))
}

fn group(text: &'static str) -> Group {
    let (text, takes_value) = text.strip_suffix(':').map_or((text, false), |it| (it, true));
    let run = match text.chars().last() {
        Some('!') => Some(Run::One),
        Some(',') => Some(Run::Commas),
        Some('?') => Some(Run::Program),
        Some('*') => Some(Run::Words),
        Some('~') => Some(Run::Text),
        Some('^') => Some(Run::Out),
        Some('%') => Some(Run::Negated),
        _ => None,
    };
    let text = if run.is_some() { &text[..text.len() - 1] } else { text };
    let mut parts = text.split('>');
    let names = parts.next().unwrap_or_default().split('=').collect();
    Group { names, takes_value, run, includes: parts.collect() }
}
