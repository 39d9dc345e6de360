//! How a program reads its arguments, from the table in `options.txt`.

mod table;

use super::simple::{Simple, Word};
use table::{ALIASES, Group, Kind, TABLE, TOLD, versionless};
pub(crate) use table::{Operands, Run, is_idle, named};

/// How a program, or one of its subcommands, reads its arguments.
pub(crate) struct Manner {
    kind: Kind,
    is_known: bool,
    is_npm: bool,
    /// Whether the words are places to which git pushes.
    is_push: bool,
    /// The number of a rule's words that name a subcommand.
    pub(crate) verbs: usize,
    groups: Vec<&'static Group>,
    /// The number of groups of the subcommand. Those of the program, which it also takes before the subcommand, follow.
    inner: usize,
    /// The names of each of the program's subcommands that has several.
    aliases: &'static [Vec<&'static str>],
    /// What the program runs of the words that are no options.
    operands: Option<Operands>,
}

/// The position of the word by which a command runs another one: an option, a subcommand, or the other command itself.
pub(super) fn at(simple: &Simple) -> Option<usize> {
    let manner = Manner::told(simple)?;
    let items = manner.placed(&simple.words[1..]);
    // a subcommand that the table does not know is a script or another program, which an allowed `yarn` runs
    let is_run = |it: &Run| it.is_command() && *it != Run::Others;
    let option = items.iter().find_map(|(at, it)| match it {
        Item::Option { names, .. } => manner.runs(names).iter().any(is_run).then_some(*at),
        Item::Text(_) | Item::Open { .. } => None,
    });
    let operand = manner.operands().filter(|it| is_run(&it.run)).and_then(|told| {
        let is_operand = |it: &&(usize, Item)| !matches!(it.1, Item::Option { .. });
        let places: Vec<usize> = items.iter().filter(is_operand).map(|it| it.0).collect();
        let verb = manner.verbs.checked_sub(1).unwrap_or(told.from);
        let dashed = || behind_dashes(&simple.words[1..]).map(|it| it - 1);
        let is_given = told.run != Run::Dashed || dashed().is_some();
        places.get(told.from).and(places.get(verb)).copied().filter(|_| is_given)
    });
    [option, operand].into_iter().flatten().min().map(|it| it + 1)
}

/// The position behind the first `--`.
pub(super) fn behind_dashes(words: &[Word]) -> Option<usize> {
    words.iter().position(|it| it.fixed() == Some("--")).map(|it| it + 1)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Name {
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
pub(crate) enum Item<'a> {
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
    pub(crate) fn text(&self) -> Option<&'a str> {
        match self {
            Item::Text(it) => Some(it),
            Item::Option { .. } | Item::Open { .. } => None,
        }
    }
}

/// Whether the table has a line about a program.
pub(crate) fn is_listed(name: &str) -> bool {
    let has = |it: &str| TABLE.keys().any(|key| key.split(' ').next() == Some(it));
    [name, versionless(name), named(name)].into_iter().any(has)
}

impl Manner {
    /// How the program reads the arguments that begin like those of a rule.
    pub(crate) fn of(program: &str, wanted: &[Word]) -> Manner {
        let texts = wanted.iter().filter_map(Word::fixed).filter(|it| !it.starts_with('-'));
        Manner::with_verbs(program, &texts.take(1).collect::<Vec<_>>())
    }

    /// How the program of a command reads its arguments, if the table tells what it runs.
    pub(crate) fn told(simple: &Simple) -> Option<Manner> {
        let name = simple.name()?;
        let names = [name, versionless(name), named(name)];
        let name = names.into_iter().find(|it| TOLD.contains(it))?;
        Some(Manner::reading(name, &simple.words[1..]))
    }

    /// How a program reads the arguments of a command, with those of its subcommand.
    pub(crate) fn reading(program: &str, words: &[Word]) -> Manner {
        let mut verbs: Vec<&str> = Vec::new();
        // the options of a subcommand may come before the next one
        while let Some(it) = Manner::with_verbs(program, &verbs).texts_at(words).get(verbs.len()) {
            verbs.push(it.1);
            if verbs.len() == 2 {
                break;
            }
        }
        Manner::with_verbs(program, &verbs)
    }

    /// Whether the table knows a subcommand by this name.
    pub(crate) fn has_verb(&self, name: &str) -> bool {
        self.aliases.iter().any(|it| it.contains(&name))
    }

    /// The words that are no options, each with its position, up to the first one that is not known.
    pub(crate) fn texts_at<'a>(&self, words: &'a [Word]) -> Vec<(usize, &'a str)> {
        let is_known = |it: &(usize, Item)| !matches!(it.1, Item::Open { .. });
        let items = self.placed(words).into_iter().take_while(is_known);
        items.filter_map(|(at, it)| Some((at, it.text()?))).collect()
    }

    /// Whether a word names a subcommand: it may be one of its other names.
    pub(crate) fn is_verb(&self, nth: usize, wanted: &str, text: &str) -> bool {
        wanted == text || self.verbs != usize::MAX && nth == 0 && self.is_same(0, wanted, text)
    }

    fn with_verbs(program: &str, verbs: &[&str]) -> Manner {
        let program = program.to_ascii_lowercase();
        let program = named(&program);
        let aliases = ALIASES.get(program).map_or(&[][..], Vec::as_slice);
        let verb = verbs.first().map(|it| {
            let names = aliases.iter().find(|names| names.contains(it));
            names.map_or(*it, |names| names[0])
        });
        let row = |it: String| TABLE.get(it.as_str());
        let of_verb = verb.and_then(|verb| row(format!("{program} {verb}")));
        let of_both = verb.zip(verbs.get(1));
        let of_both = of_both.and_then(|(one, two)| row(format!("{program} {one} {two}")));
        let rows = [of_both, of_verb, TABLE.get(program)].into_iter().flatten();
        let first = rows.clone().next();
        Manner {
            kind: first.map_or(Kind::Usual, |it| it.kind),
            is_known: first.is_some(),
            is_npm: program == "npm",
            is_push: program == "git" && verb == Some("push"),
            verbs: first.map_or(usize::MAX, |it| it.verbs),
            inner: [of_both, of_verb].into_iter().flatten().map(|it| it.groups.len()).sum(),
            groups: rows.flat_map(|it| &it.groups).collect(),
            aliases,
            operands: first.and_then(|it| it.operands),
        }
    }

    /// The arguments, each with its position, as the program reads them.
    pub(crate) fn placed<'a>(&self, words: &'a [Word]) -> Vec<(usize, Item<'a>)> {
        self.items(words, false)
    }

    /// What the program runs of the words that are no options. The subcommand's words do not count.
    pub(crate) fn operands(&self) -> Option<Operands> {
        let before = |it: &Operands| if it.run == Run::Others { 0 } else { self.verbs };
        self.operands.map(|it| Operands { from: it.from + before(&it), ..it })
    }

    /// The ways in which the program runs the value of an option or the words behind it.
    pub(crate) fn runs(&self, names: &[Name]) -> Vec<Run> {
        names.iter().filter_map(|it| self.known(it)?.run).collect()
    }

    /// The positions of the arguments that are texts, such as patterns and scripts, and no names of files.
    pub(crate) fn texts(&self, words: &[Word]) -> Vec<usize> {
        let items = self.placed(words);
        let is_text = |it: &Run| matches!(it, Run::Program | Run::Text);
        let gives = |names: &[Name]| self.runs(names).iter().any(is_text);
        // a value has no item of its own
        let is_value = |at: usize| at < words.len() && !items.iter().any(|it| it.0 == at);
        let is_out = |it: &Run, value: &Word| match it {
            Run::Out => true,
            Run::Negated => value.shown().starts_with('!'),
            _ => false,
        };
        let leaves_out =
            |names: &[Name], value: &Word| self.runs(names).iter().any(|it| is_out(it, value));
        let values = items.iter().filter_map(|(at, it)| match it {
            Item::Option { names, .. } if gives(names) && is_value(at + 1) => Some(at + 1),
            Item::Option { names, value: Some(value), .. } if leaves_out(names, value) => {
                Some(if is_value(at + 1) { at + 1 } else { *at })
            }
            _ => None,
        });
        let values: Vec<usize> = values.collect();
        match self.operands().filter(|it| is_text(&it.run)) {
            Some(it) if !self.is_given(&items) => {
                let is_operand = |it: &&(usize, Item)| !matches!(it.1, Item::Option { .. });
                let place = items.iter().filter(is_operand).nth(it.from).map(|it| it.0);
                // the word after an option that is not known may be its value
                let is_unclear = |at: &usize| {
                    let mut before = items.iter().filter(|it| it.0 < *at);
                    before.any(|it| matches!(it.1, Item::Option { may_take: true, .. }))
                };
                values.into_iter().chain(place.filter(|at| !is_unclear(at))).collect()
            }
            _ => values,
        }
    }

    /// Whether an option gives the text that would be a word otherwise.
    pub(crate) fn is_given(&self, items: &[(usize, Item<'_>)]) -> bool {
        items.iter().any(|(_, it)| match it {
            Item::Option { names, .. } => {
                let runs = self.runs(names);
                let is_file = self.is(names, "f") || self.is(names, "files");
                is_file || runs.iter().any(|it| matches!(it, Run::Program | Run::Text))
            }
            Item::Text(_) | Item::Open { .. } => false,
        })
    }

    /// Whether an option is the one with this name.
    pub(crate) fn is(&self, names: &[Name], name: &str) -> bool {
        names.iter().filter_map(|it| self.known(it)).any(|it| it.names.contains(&name))
    }

    fn known(&self, name: &Name) -> Option<&'static Group> {
        match name {
            Name::Known(at) => self.groups.get(*at).copied(),
            Name::Letter(_) | Name::Long(_) | Name::Word(_) => None,
        }
    }

    /// Whether a word of a command is the one that a rule has at position `nth` of the words that are no options.
    pub(crate) fn is_same(&self, nth: usize, wanted: &str, text: &str) -> bool {
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

    pub(crate) fn rule<'a>(&self, words: &'a [Word]) -> Vec<Item<'a>> {
        self.items(words, true).into_iter().map(|it| it.1).collect()
    }

    pub(crate) fn command<'a>(&self, words: &'a [Word]) -> Vec<Item<'a>> {
        self.items(words, false).into_iter().map(|it| self.whole(it.1)).collect()
    }

    /// An option with the names of those that it includes.
    fn whole<'a>(&self, item: Item<'a>) -> Item<'a> {
        let Item::Option { mut names, value, may_take } = item else { return item };
        let known = names.iter().filter_map(|it| self.known(it));
        let place = |name: &&str| self.groups.iter().position(|it| it.names.contains(name));
        let included = known.flat_map(|it| &it.includes).filter_map(place).map(Name::Known);
        let included: Vec<Name> = included.collect();
        names.extend(included);
        Item::Option { names, value, may_take }
    }

    fn items<'a>(&self, words: &'a [Word], is_rule: bool) -> Vec<(usize, Item<'a>)> {
        let mut items = Vec::new();
        let mut rest = words.iter().enumerate();
        let mut is_over = false;
        // the program's own options come before the subcommand
        let mut from = if is_rule { 0 } else { self.inner };
        while let Some((at, word)) = rest.next() {
            let read = self.read((at, word), is_rule, is_over, from);
            if read.iter().any(|it| it.text().is_some()) {
                from = 0;
            }
            items.extend(read.into_iter().map(|it| (at, it)));
            is_over |= self.is_known && word.fixed() == Some("--");
            if let Some((_, Item::Option { value: value @ None, may_take: may_take @ true, names })) =
                items.last_mut()
                && matches!(names[..], [Name::Known(it)] if self.groups[it].takes_value)
            {
                *value = rest.next().map(|it| it.1.clone());
                *may_take = false;
            }
        }
        items
    }

    /// What a word at a position means. `is_over` says whether the options have ended before; `from` is the first group
    /// of options that are looked for.
    fn read<'a>(
        &self,
        (at, word): (usize, &'a Word),
        is_rule: bool,
        is_over: bool,
        from: usize,
    ) -> Vec<Item<'a>> {
        let Word::Fixed(text) = word else { return vec![open(word)] };
        let is_bundle = self.kind == Kind::Bundled
            && at == 0
            && text.bytes().all(|it| it.is_ascii_alphanumeric());
        match text.as_str() {
            "--" if self.is_known && !is_over => Vec::new(),
            it if self.kind == Kind::Pairs && it.contains('=') => vec![long(vec![], it)],
            it if !is_over && it.starts_with("--") && it.len() > 2 => {
                vec![self.long(&it[2..], from)]
            }
            it if !is_over && it.len() > 1 && (is_bundle || it.starts_with('-')) => {
                self.short(it, is_rule, from)
            }
            it => self.headed(it).into_iter().chain([Item::Text(it)]).collect(),
        }
    }

    /// The option that begins with `--`, without these dashes.
    fn long(&self, word: &str, from: usize) -> Item<'static> {
        let name = word.split('=').next().unwrap_or_default();
        let all = || self.groups.iter().enumerate();
        // with one dash, one letter is a whole option too
        let is_long = |it: &&'static str| it.len() > 1 || self.kind == Kind::Long;
        let exact = self.named(from, |it| is_long(&it) && it == name);
        let short = |group: &Group| {
            group.names.iter().filter(|it| is_long(it)).any(|it| it.starts_with(name))
        };
        let mut known: Vec<usize> = match exact {
            Some(at) => vec![at],
            // programs with one dash take no abbreviations
            None if self.kind == Kind::Long => Vec::new(),
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
    fn short(&self, word: &str, is_rule: bool, from: usize) -> Vec<Item<'static>> {
        let letters = word.strip_prefix('-').unwrap_or(word);
        if self.kind == Kind::Long {
            return vec![self.long(letters, from)];
        }
        let named = self.named(from, |it| it == letters);
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
            let known = self.lettered(letter, from);
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

    fn lettered(&self, letter: char, from: usize) -> Option<usize> {
        self.named(from, |it| it.chars().eq([letter]))
    }

    /// The first group from one on, else the first of all, with such a name.
    fn named(&self, from: usize, is_it: impl Fn(&'static str) -> bool) -> Option<usize> {
        let has = |it: &&'static Group| it.names.iter().any(|it| is_it(it));
        let later = self.groups[from..].iter().position(has).map(|it| it + from);
        later.or_else(|| self.groups.iter().position(has))
    }

    /// The option that a word is because of its first character: `+main` forces a push.
    fn headed(&self, word: &str) -> Option<Item<'static>> {
        let sign = match word.chars().next()? {
            '+' => '+',
            ':' if word.len() > 1 => '@',
            _ => return None,
        };
        let names = vec![Name::Known(self.lettered(sign, 0)?)];
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
