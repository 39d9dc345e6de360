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
    /// One of them is a text in the program's own language, unless an option gives this text.
    Program,
    /// One of them is a text that the program neither runs nor takes for the name of a file, unless an option gives it.
    Text,
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
        Some((key.strip_suffix(" verbs")?, names.collect()))
    });
    named.collect()
});

fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("../options.txt").lines().filter(|it| !it.is_empty() && !it.starts_with('#'))
}

fn row(line: &'static str) -> Option<(&'static str, Row)> {
    let (head, options) = line.split_once(':')?;
    let (key, marks) = head.trim_end_matches(']').split_once(" [").unwrap_or((head, ""));
    if key.ends_with(" verbs") {
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
        Some('?') => Some(Run::Program),
        Some('*') => Some(Run::Words),
        Some('~') => Some(Run::Text),
        _ => None,
    };
    let text = if run.is_some() { &text[..text.len() - 1] } else { text };
    let mut parts = text.split('>');
    let names = parts.next().unwrap_or_default().split('=').collect();
    Group { names, takes_value, run, includes: parts.collect() }
}
