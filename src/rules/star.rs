//! The stars of a rule. A star stands for any word, but it names none: the words for which it stands are checked like words
//! that the rule does not mention.

use super::rule::STAR;
use crate::bash::{self, Simple};

/// Whether a rule with these words names the word at this position.
pub(super) fn is_named(rule: &[String], at: usize) -> bool {
    rule.get(at).is_some_and(|it| it != STAR)
}

/// Why a command is risky by a word that the rule does not name, as a clause for the user.
pub(super) fn risk(command: &Simple, rule: &[String]) -> Option<String> {
    unnamed(rule, |from| bash::risk(command, from))
}

/// Why a command publishes, installs or runs other programs by a word that the rule does not name, as a clause for the user.
pub(super) fn task(command: &Simple, rule: &[String]) -> Option<String> {
    unnamed(rule, |from| bash::task(command, from))
}

/// The first reason that stands at a word which the rule does not name. `next` gives the first one from a position on.
fn unnamed(rule: &[String], next: impl Fn(usize) -> Option<(usize, String)>) -> Option<String> {
    let mut from = (0..rule.len()).find(|at| !is_named(rule, *at)).unwrap_or(rule.len());
    loop {
        let (at, why) = next(from)?;
        if !is_named(rule, at) {
            return Some(why);
        }
        from = at.max(from) + 1;
    }
}
