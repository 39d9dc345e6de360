//! How a program reads its arguments, from the table in `options.txt`.

use crate::bash::Word;
use std::collections::HashMap;
use std::sync::LazyLock;

/// How a program, or one of its subcommands, reads its arguments.
pub(super) struct Manner {
    kind: Kind,
    is_known: bool,
    is_npm: bool,
    /// Whether the words are places to which git pushes.
    is_push: bool,
    /// The number of a rule's words that name a subcommand.
    pub(super) verbs: usize,
    groups: Vec<&'static Group>,
    /// The names of each of the program's subcommands that has several.
    aliases: &'static [Vec<&'static str>],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Usual,
    Bundled,
    Long,
    Pairs,
}

/// The names of one option.
pub(super) struct Group {
    pub(super) names: Vec<&'static str>,
    pub(super) takes_value: bool,
}

struct Row {
    kind: Kind,
    verbs: usize,
    groups: Vec<Group>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// An option of the table: its index in the groups of the manner.
    Known(usize),
    Letter(char),
    /// A long option without its dashes.
    Long(String),
    /// A whole word with one dash, which may be one option or several.
    Word(String),
}

/// An argument, as the program reads it.
#[derive(Debug)]
pub(super) enum Item<'a> {
    Option {
        /// The names that the option may have, if it is abbreviated or unknown.
        names: Vec<Name>,
        value: Option<Word>,
        /// Whether the next word may be its value.
        may_take: bool,
    },
    Text(&'a str),
    /// Words that are known only when the command runs.
    Open {
        is_many: bool,
        may_be_option: bool,
    },
}

impl<'a> Item<'a> {
    pub(super) fn text(&self) -> Option<&'a str> {
        match self {
            Item::Text(it) => Some(it),
            Item::Option { .. } | Item::Open { .. } => None,
        }
    }
}

static TABLE: LazyLock<HashMap<&str, Row>> = LazyLock::new(|| lines().filter_map(row).collect());

type Aliases = HashMap<&'static str, Vec<Vec<&'static str>>>;

static ALIASES: LazyLock<Aliases> = LazyLock::new(|| {
    let named = lines().filter_map(|it| {
        let (key, names) = it.split_once(':')?;
        let names = names.split_whitespace().map(|it| it.split('=').collect());
        Some((key.strip_suffix(" verbs")?, names.collect()))
    });
    named.collect()
});

fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("options.txt").lines().filter(|it| !it.is_empty() && !it.starts_with('#'))
}

fn row(line: &'static str) -> Option<(&'static str, Row)> {
    let (head, options) = line.split_once(':')?;
    let (key, marks) = head.trim_end_matches(']').split_once(" [").unwrap_or((head, ""));
    if key.ends_with(" verbs") {
        return None;
    }
    let mut row = Row { kind: Kind::Usual, verbs: key.matches(' ').count(), groups: Vec::new() };
    for mark in marks.split_whitespace() {
        match mark {
            "bundled" => row.kind = Kind::Bundled,
            "long" => row.kind = Kind::Long,
            "pairs" => row.kind = Kind::Pairs,
            it => row.verbs = it.parse().ok()?,
        }
    }
    row.groups = options
        .split_whitespace()
        .map(|it| {
            let names = it.strip_suffix(':');
            let takes_value = names.is_some();
            Group { names: names.unwrap_or(it).split('=').collect(), takes_value }
        })
        .collect();
    Some((key, row))
}

impl Manner {
    /// How the program reads the arguments that begin like those of a rule.
    pub(super) fn of(program: &str, wanted: &[Word]) -> Manner {
        let program = program.to_ascii_lowercase();
        let mut texts = wanted.iter().filter_map(Word::fixed).filter(|it| !it.starts_with('-'));
        let aliases = ALIASES.get(program.as_str()).map_or(&[][..], Vec::as_slice);
        let verb = texts.next().map(|it| {
            let names = aliases.iter().find(|names| names.contains(&it));
            names.map_or(it, |names| names[0])
        });
        let of_verb = verb.and_then(|verb| TABLE.get(format!("{program} {verb}").as_str()));
        let of_program = TABLE.get(program.as_str());
        let rows = [of_verb, of_program].into_iter().flatten();
        let first = rows.clone().next();
        Manner {
            kind: first.map_or(Kind::Usual, |it| it.kind),
            is_known: first.is_some(),
            is_npm: program == "npm",
            is_push: program == "git" && verb == Some("push"),
            verbs: first.map_or(usize::MAX, |it| it.verbs),
            groups: rows.flat_map(|it| &it.groups).collect(),
            aliases,
        }
    }

    /// Whether a word of a command is the one that a rule has at position `nth` of the words that are no options.
    pub(super) fn is_same(&self, nth: usize, wanted: &str, text: &str) -> bool {
        if wanted == "*" || wanted == text {
            return true;
        }
        if nth < self.verbs {
            let is_short = self.is_npm && text.len() > 1 && wanted.starts_with(text);
            return is_short
                || self.aliases.iter().any(|it| it.contains(&wanted) && it.contains(&text));
        }
        let place = if self.is_push { pushed(text) } else { text };
        place == wanted || plain(place) == plain(wanted)
    }

    pub(super) fn rule<'a>(&self, words: &'a [Word]) -> Vec<Item<'a>> {
        self.items(words, true)
    }

    pub(super) fn command<'a>(&self, words: &'a [Word]) -> Vec<Item<'a>> {
        self.items(words, false)
    }

    fn items<'a>(&self, words: &'a [Word], is_rule: bool) -> Vec<Item<'a>> {
        let mut items = Vec::new();
        let mut rest = words.iter().enumerate();
        let mut is_over = false;
        while let Some((at, word)) = rest.next() {
            let Word::Fixed(text) = word else {
                items.push(open(word));
                continue;
            };
            let is_bundle = self.kind == Kind::Bundled
                && at == 0
                && text.bytes().all(|it| it.is_ascii_alphanumeric());
            match text.as_str() {
                "--" if self.is_known => is_over = true,
                it if is_over => {
                    items.extend(self.headed(it));
                    items.push(Item::Text(it));
                }
                it if self.kind == Kind::Pairs && it.contains('=') => items.push(long(vec![], it)),
                it if it.starts_with("--") && it.len() > 2 => items.push(self.long(&it[2..])),
                it if it.len() > 1 && (is_bundle || it.starts_with('-')) => {
                    items.extend(self.short(it, is_rule));
                }
                it => {
                    items.extend(self.headed(it));
                    items.push(Item::Text(it));
                }
            }
            if let Some(Item::Option { value: value @ None, may_take: may_take @ true, names }) =
                items.last_mut()
                && matches!(names[..], [Name::Known(it)] if self.groups[it].takes_value)
            {
                *value = rest.next().map(|it| it.1.clone());
                *may_take = false;
            }
        }
        items
    }

    /// The option that begins with `--`, without these dashes.
    fn long(&self, word: &str) -> Item<'static> {
        let name = word.split('=').next().unwrap_or_default();
        let all = || self.groups.iter().enumerate();
        let is_long = |it: &&'static str| it.len() > 1;
        let exact =
            all().find(|(_, it)| it.names.iter().filter(|it| is_long(it)).any(|it| *it == name));
        let short = |group: &Group| {
            group.names.iter().filter(|it| is_long(it)).any(|it| it.starts_with(name))
        };
        let mut known: Vec<usize> = match exact {
            Some((at, _)) => vec![at],
            None => all().filter(|(_, it)| short(it)).map(|(at, _)| at).collect(),
        };
        known.dedup();
        let takes = matches!(known[..], [it] if self.groups[it].takes_value) || known.is_empty();
        let names = known.into_iter().map(Name::Known).collect();
        match long(names, word) {
            Item::Option { names, value, .. } => {
                let may_take = value.is_none() && takes;
                Item::Option { names, value, may_take }
            }
            it => it,
        }
    }

    /// The options in a word that begins with one dash, or in the first word of `tar`.
    fn short(&self, word: &str, is_rule: bool) -> Vec<Item<'static>> {
        let letters = word.strip_prefix('-').unwrap_or(word);
        if self.kind == Kind::Long {
            return vec![self.long(letters)];
        }
        let named = self.groups.iter().position(|it| it.names.contains(&letters));
        if let Some(at) = named.filter(|_| letters.len() > 1) {
            let may_take = self.groups[at].takes_value;
            return vec![Item::Option { names: vec![Name::Known(at)], value: None, may_take }];
        }
        let mut items = Vec::new();
        let whole = || Item::Option {
            names: vec![Name::Word(letters.to_owned())],
            value: None,
            may_take: true,
        };
        if !self.is_known && !is_rule {
            items.push(whole());
        }
        if !self.is_known && is_rule && letters.chars().count() > 3 {
            return vec![whole()];
        }
        for (at, letter) in letters.char_indices() {
            let known = self.lettered(letter);
            let takes = known.is_some_and(|it| self.groups[it].takes_value);
            let after = &letters[at + letter.len_utf8()..];
            // without the dash, as in `tar fx`, the values are the next words
            let is_glued = takes && !after.is_empty() && word.starts_with('-');
            let value = is_glued.then(|| Word::Fixed(after.to_owned()));
            let is_end = value.is_some();
            let may_take = after.is_empty() && known.is_none_or(|_| takes);
            let name = known.map_or(Name::Letter(letter), Name::Known);
            items.push(Item::Option { names: vec![name], value, may_take });
            if is_end {
                break;
            }
        }
        items
    }

    fn lettered(&self, letter: char) -> Option<usize> {
        let is_it = |it: &&str| it.chars().eq([letter]);
        self.groups.iter().position(|it| it.names.iter().any(is_it))
    }

    /// The option that a word is because of its first character: `+main` forces a push.
    fn headed(&self, word: &str) -> Option<Item<'static>> {
        let sign = match word.chars().next()? {
            '+' => '+',
            ':' => '@',
            _ => return None,
        };
        let names = vec![Name::Known(self.lettered(sign)?)];
        Some(Item::Option { names, value: None, may_take: false })
    }
}

/// A long option, which keeps its own name if there are no others.
fn long(mut names: Vec<Name>, word: &str) -> Item<'static> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(Word::Fixed(value.to_owned()))),
        None => (word, None),
    };
    if names.is_empty() {
        names.push(Name::Long(name.to_owned()));
    }
    let may_take = value.is_none();
    Item::Option { names, value, may_take }
}

/// What may be in the place of a word that is known only when the command runs.
fn open(word: &Word) -> Item<'static> {
    let shown = word.shown();
    if matches!(word, Word::Glob(_)) {
        return Item::Open { is_many: true, may_be_option: shown.starts_with(['*', '?', '[']) };
    }
    let inner = shown.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    let inner = inner.filter(|it| !it.contains(['"', '@']));
    let may_be_option = inner.is_none_or(|it| it.is_empty() || it.starts_with(['-', '$', '`']));
    Item::Open { is_many: inner.is_none(), may_be_option }
}

/// The branch to which a word of `git push` pushes.
fn pushed(text: &str) -> &str {
    let to = text.trim_start_matches('+').rsplit(':').next().unwrap_or(text);
    to.strip_prefix("refs/heads/").unwrap_or(to)
}

/// A path without the parts that change nothing.
fn plain(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    let parts: Vec<&str> = path.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
    format!("{root}{}", parts.join("/"))
}
