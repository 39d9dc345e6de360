//! The ledger that `/context` shows: how many tokens of the next request each section has, and which parts of the
//! request are the largest.

mod name;
#[cfg(test)]
mod tests;

use super::parts::{self, Part, Section, Source};
use super::size::{self, Limits};
use super::trim;
use crate::event::{Item, Trim};
use crate::session::Session;
use crate::view::grouped;
pub use name::Name;

/// How many of the largest parts are listed.
const LARGEST: usize = 5;
/// The number of characters in the bar.
const BAR: u64 = 50;
/// Parts with fewer bytes cannot be taken out: the line that replaces them would save nothing.
const LEAST: u64 = 200;
/// The letters of the sections in the bar, in the order of `Section::ALL`.
const LETTERS: [char; Section::ALL.len()] = ['s', 't', 'i', 'k', 'f', 'c', 'r', 'p'];

#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    /// The tokens of the next request.
    pub total: u64,
    /// The tokens of each section, in the order of `Section::ALL`. Their sum is the total.
    pub sections: [u64; Section::ALL.len()],
    /// The largest parts except the system prompt and the tools, the largest first.
    pub largest: Vec<Entry>,
    limits: Limits,
    model: String,
    /// Whether a provider has counted the conversation.
    is_counted: bool,
    /// Whether the user has turned automatic compaction off by undoing a compaction.
    keeps_whole: bool,
    is_bound: bool,
}

/// One part of the request.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub name: String,
    pub tokens: u64,
    /// The item to take out of the conversation; `None` if the part cannot be taken out.
    pub item: Option<Item>,
}

/// A part that the user takes out of later requests.
#[derive(Debug, PartialEq, Eq)]
pub struct Removal {
    pub items: Vec<Trim>,
    pub tokens: u64,
    /// The sentence for the user.
    pub told: String,
}

impl Ledger {
    /// Notes whether the model's thoughts are bound to the messages before them. With such a model no message may
    /// change, so nothing can be taken out.
    #[must_use]
    pub fn bound(self, is_bound: bool) -> Ledger {
        Ledger { is_bound, ..self }
    }

    /// Whether the model's thoughts are bound to the messages before them, so that nothing can be taken out.
    pub fn is_bound(&self) -> bool {
        self.is_bound
    }

    /// The ledger of the session's next request. `tools` is the size of the request's tools in bytes.
    pub fn of(session: &Session, tools: u64, limits: Limits) -> Ledger {
        let total = parts::of_next(session, tools);
        let parts = parts::of(session, tools);
        let weights = Section::ALL.map(|section| {
            parts.iter().filter(|it| it.section == section).map(|it| it.bytes).sum::<u64>()
        });
        Ledger {
            total,
            sections: split(total, weights),
            largest: largest(&parts, total),
            limits,
            model: session.model.clone(),
            is_counted: session.context > 0,
            keeps_whole: session.keeps_whole,
            is_bound: false,
        }
    }

    /// One line that tells the size, and at which sizes the conversation is made shorter.
    pub fn line(&self) -> String {
        format!("{}. {}", self.size(), self.thresholds())
    }

    /// The bar, the sections and the largest parts.
    pub fn table(&self) -> String {
        let widest = Section::ALL.map(|it| it.name().len()).into_iter().max().unwrap_or_default();
        let figures = grouped(self.total.max(self.limits.window)).len();
        let row = |letter: char, name: &str, tokens: u64| {
            let share = self.share(tokens);
            format!("{letter}  {name:<widest$}  {:>figures$}  {share:>5}", grouped(tokens))
        };
        let mut rows = vec![self.size(), self.bar()];
        for ((section, letter), tokens) in Section::ALL.iter().zip(LETTERS).zip(self.sections) {
            if tokens > 0 {
                rows.push(row(letter, section.name(), tokens));
            }
        }
        rows.push(row(' ', "in all", self.total));
        if self.limits.window > 0 {
            rows.push(row('·', "free", self.limits.window.saturating_sub(self.total)));
        }
        rows.push(if self.is_counted {
            "The provider counted the last request and its reply; the shares of the sections are estimates.".into()
        } else {
            "No reply has been counted yet, so all figures are estimates.".into()
        });
        rows.push(self.thresholds());
        if !self.largest.is_empty() {
            rows.push(if self.is_bound {
                "The largest items (this model needs all of them, so none can be taken out):".into()
            } else {
                "The largest items (`x` takes out the file or the result under the cursor; so does `/context drop N`):"
                    .into()
            });
        }
        for (n, it) in (1..).zip(&self.largest) {
            rows.push(format!("{n}. {:>figures$}  {}", grouped(it.tokens), it.name));
        }
        rows.join("\n")
    }

    /// `About 45,000 of 200,000 tokens (22 %)`.
    fn size(&self) -> String {
        let total = size::rounded(self.total);
        match self.limits.window {
            0 => format!("About {total} tokens"),
            window => format!(
                "About {total} of {} tokens ({} %)",
                grouped(window),
                size::percent(self.total, window)
            ),
        }
    }

    /// The sentence that tells at which sizes old results are trimmed and the conversation is compacted.
    fn thresholds(&self) -> String {
        let Limits { window, trim, compact, .. } = self.limits;
        if window == 0 {
            return format!(
                "The window of {} is not known, so only `/compact` makes the conversation shorter.",
                if self.model.is_empty() { "the model" } else { &self.model }
            );
        }
        let at = |it: u64| format!("{} ({} %)", size::rounded(it), size::percent(it, window));
        let trim = match trim {
            Some(it) => format!("Old results are trimmed at {}", at(it)),
            None => "Old results are never trimmed".to_owned(),
        };
        match compact.filter(|_| !self.keeps_whole) {
            Some(it) => format!("{trim}, and the conversation is compacted at {}.", at(it)),
            None => format!("{trim}, and only `/compact` compacts the conversation."),
        }
    }

    /// One line of letters, each for a fiftieth of the window. If the window is not known, the total fills the line.
    fn bar(&self) -> String {
        let window = self.limits.window.max(self.total).max(1);
        let cells = u128::from(self.total) * u128::from(BAR);
        let full = u64::try_from(cells.div_ceil(u128::from(window))).unwrap_or(BAR).min(BAR);
        let full = if self.limits.window == 0 { BAR } else { full };
        let cells = self.seen(split(full, self.sections));
        let mut bar = String::new();
        for (letter, count) in LETTERS.iter().zip(cells) {
            (0..count).for_each(|_| bar.push(*letter));
        }
        (full..BAR).for_each(|_| bar.push('·'));
        bar
    }

    /// Gives each section of at least one percent of the window a cell of the bar, from the section with the most cells.
    fn seen(&self, mut cells: [u64; Section::ALL.len()]) -> [u64; Section::ALL.len()] {
        let window = self.limits.window.max(self.total);
        for at in 0..cells.len() {
            let most = (0..cells.len()).max_by_key(|it| cells[*it]).unwrap_or(at);
            if cells[at] == 0 && size::percent(self.sections[at], window) > 0 && cells[most] > 1 {
                cells[most] -= 1;
                cells[at] += 1;
            }
        }
        cells
    }

    /// The share of the window that these tokens take. If the window is not known, their share of the total.
    fn share(&self, tokens: u64) -> String {
        let whole = if self.limits.window > 0 { self.limits.window } else { self.total };
        match size::percent(tokens, whole) {
            0 if tokens > 0 => "<1 %".to_owned(),
            it => format!("{it} %"),
        }
    }
}

/// Plans to take out a part that the user has chosen from a list. `is_raw` says whether the tool with a given name only
/// reads, so that its result can be got again. The error is a sentence.
pub fn removal(
    session: &Session,
    tools: u64,
    entry: &Entry,
    is_raw: impl Fn(&str) -> bool,
) -> Result<Removal, String> {
    let Entry { name, item: Some(wanted), .. } = entry else {
        return Err(format!(
            "The {} cannot be taken out: only files and results can. /compact makes the rest shorter.",
            entry.name
        ));
    };
    let parts = parts::of(session, tools);
    let is_wanted = |it: &&Part| {
        item(&it.source).as_ref() == Some(wanted) && Name(it.source).to_string() == *name
    };
    let Some(part) = parts.iter().find(is_wanted) else {
        return Err(format!(
            "The {name} is not in the conversation any more. /context lists the current items."
        ));
    };
    let line = match part.source {
        Source::Answer(answer, Some(call)) if is_raw(&call.tool) => trim::line(call, answer),
        Source::Answer(answer, call) => trim::removed_result(call, answer),
        Source::Excerpt(excerpt, _) => trim::removed_excerpt(name, excerpt),
        _ => String::new(),
    };
    let gone = part.bytes.saturating_sub(line.len() as u64);
    if gone == 0 || line.is_empty() {
        return Err(format!("The {name} is so short that taking it out would save nothing."));
    }
    let tokens = share(parts::of_next(session, tools), gone, parts.iter().map(|it| it.bytes).sum());
    let told = format!(
        "Dropped: the model now gets one line in place of the {name} (about {} tokens less).",
        size::rounded(tokens)
    );
    Ok(Removal { items: vec![Trim { item: wanted.clone(), line }], tokens, told })
}

fn largest(parts: &[Part<'_>], total: u64) -> Vec<Entry> {
    let bytes = parts.iter().map(|it| it.bytes).sum();
    let is_listed = |it: &&Part| {
        !matches!(it.source, Source::System | Source::Tools | Source::Trimmed) && it.bytes >= LEAST
    };
    let mut listed: Vec<&Part> = parts.iter().filter(is_listed).collect();
    listed.sort_by_key(|it| std::cmp::Reverse(it.bytes));
    let entry = |it: &Part| Entry {
        name: Name(it.source).to_string(),
        tokens: share(total, it.bytes, bytes),
        item: item(&it.source),
    };
    listed.into_iter().take(LARGEST).map(entry).collect()
}

/// The item to take out for a part of this source; `None` if it cannot be taken out.
fn item(source: &Source<'_>) -> Option<Item> {
    match source {
        Source::Answer(answer, _) => Some(Item::Call(answer.id.clone())),
        Source::Excerpt(_, number) => number.map(Item::Excerpt),
        _ => None,
    }
}

/// `total * part / whole`.
fn share(total: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(total) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(u64::MAX).min(total)
}

/// Divides `total` in proportion to the weights. The sum of the result is exactly `total`: the tokens that rounding
/// leaves over go to the sections that rounding cut most. If all weights are zero, the section of the conversation gets
/// all tokens.
fn split(total: u64, weights: [u64; Section::ALL.len()]) -> [u64; Section::ALL.len()] {
    let whole = weights.iter().fold(0u64, |sum, it| sum.saturating_add(*it));
    let mut shares = weights.map(|it| share(total, it, whole));
    let mut rest = total.saturating_sub(shares.iter().sum());
    let cut = |at: usize| u128::from(total) * u128::from(weights[at]) % u128::from(whole.max(1));
    let mut order: Vec<usize> = (0..weights.len()).filter(|it| weights[*it] > 0).collect();
    order.sort_by_key(|it| std::cmp::Reverse(cut(*it)));
    for at in order {
        let more = rest.min(1);
        shares[at] += more;
        rest -= more;
    }
    shares[Section::Conversation as usize] += rest;
    shares
}
