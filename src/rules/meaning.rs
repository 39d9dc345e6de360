//! Whether a command is one that a rule asks about or denies. What counts is what the program does, not how its
//! arguments are written: options count in any order, at any place and by any of their names.

use crate::bash::options::{Item, Manner, Name, named};
use crate::bash::{Word, shown as joined};

/// How surely a rule is about a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    No,
    /// It may be, because words of the command are known only when it runs.
    Perhaps,
    Sure,
}

/// Whether a command has the first words of a rule: `wanted` begins with the name of a program. Upper and lower case of
/// the program are the same.
pub(super) fn fit(wanted: &[String], words: &[Word]) -> Fit {
    let Some((first, rest)) = wanted.split_first() else { return Fit::Sure };
    let Some((name, others)) = words.split_first() else { return Fit::No };
    let wanted = first.to_ascii_lowercase();
    if matches!(name, Word::Glob(_)) {
        // the name of a file that is run
        return fit_arguments(first, rest, others).min(Fit::Perhaps);
    }
    let name = name.fixed();
    let base = name.map(|it| it.rsplit('/').next().unwrap_or(it));
    let is_same = |it: &str| {
        let it = it.to_ascii_lowercase();
        it == wanted || named(&it) == named(&wanted)
    };
    let is_named = first == "*" || [name, base].into_iter().flatten().any(is_same);
    if is_named { fit_arguments(base.unwrap_or(first), rest, others) } else { Fit::No }
}

/// Whether the arguments of a program have those that a rule names.
pub(super) fn fit_arguments(program: &str, wanted: &[String], words: &[Word]) -> Fit {
    if wanted.is_empty() {
        return Fit::Sure;
    }
    let wanted: Vec<Word> = wanted.iter().cloned().map(Word::Fixed).collect();
    let manner = Manner::of(program, &wanted);
    let (wanted, items) = (manner.rule(&wanted), manner.command(words));
    let texts: Vec<&str> = wanted.iter().filter_map(Item::text).collect();
    let options = wanted.iter().filter(|it| matches!(it, Item::Option { .. }));
    let order = if in_order(&manner, &texts, &items, false) {
        Fit::Sure
    } else if in_order(&manner, &texts, &items, true) {
        Fit::Perhaps
    } else {
        return Fit::No;
    };
    options.map(|it| given(it, &items)).min().map_or(order, |it| it.min(order))
}

/// Whether a command has an option of a rule.
fn given(wanted: &Item, items: &[Item]) -> Fit {
    let fits = items.iter().map(|it| match (wanted, it) {
        (
            Item::Option { names, value, .. },
            Item::Option { names: found, value: given, may_take },
        ) if found.iter().any(|it| names.iter().any(|wanted| it.is_for(wanted))) => {
            match (value, given) {
                (None, _) => Fit::Sure,
                (Some(one), Some(other)) if one == other || one.fixed() == Some("*") => Fit::Sure,
                (Some(_), Some(Word::Fixed(_))) => Fit::No,
                (Some(_), None) if !may_take => Fit::No,
                (Some(_), _) => Fit::Perhaps,
            }
        }
        (_, Item::Open { may_be_option: true, .. }) => Fit::Perhaps,
        _ => Fit::No,
    });
    fits.max().unwrap_or(Fit::No)
}

/// Whether the items have the wanted words. Those that name a subcommand follow each other, with only options between
/// them; the others are in the same order. An open word counts as any subcommand. If `is_lenient`, it counts as any
/// words.
fn in_order(manner: &Manner, wanted: &[&str], items: &[Item], is_lenient: bool) -> bool {
    // the positions in `items` at which the next wanted word may be
    let mut next = vec![false; items.len() + 1];
    next[0] = true;
    for (nth, wanted) in wanted.iter().enumerate() {
        let mut after = vec![false; items.len() + 1];
        for (at, item) in items.iter().enumerate() {
            if !next[at] {
                continue;
            }
            let skipped = match item {
                Item::Text(text) => {
                    after[at + 1] |= manner.is_same(nth, wanted, text);
                    usize::from(nth >= manner.verbs)
                }
                Item::Option { may_take, .. } => 1 + usize::from(*may_take),
                Item::Open { is_many, .. } => {
                    let fits = is_lenient || nth < manner.verbs;
                    after[at + 1] |= fits;
                    after[at] |= fits && *is_many;
                    2
                }
            };
            for it in &mut next[at..=(at + skipped).min(items.len())] {
                *it = true;
            }
        }
        next = after;
    }
    next.contains(&true)
}

impl Name {
    /// Whether this option of a command is the one that a rule names. A long option may be abbreviated.
    fn is_for(&self, wanted: &Name) -> bool {
        match (self, wanted) {
            (Name::Long(it), Name::Long(wanted)) => wanted.starts_with(it.as_str()),
            _ => self == wanted,
        }
    }
}

/// A command of a rule, in one line for the user.
pub(super) fn shown(wanted: &[String]) -> String {
    joined(&wanted.iter().cloned().map(Word::Fixed).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
