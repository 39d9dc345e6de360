//! Decides which blocks are shown, and which of them have an empty line above. Folds a run of reading calls, with the
//! thoughts between the calls, to one line when the run is over.

use super::blocks::{Block, Content, Run, Shape, View};
use super::lines::{ARGUMENT, MORE, Shown};
use super::tool::Tool;
use crate::message::Input;
use crate::text::unseen;
use std::collections::HashSet;

/// The tools whose runs are folded, each with the argument that the run's line lists, and the noun for it.
const FOLDED: [(&str, &str, &str); 4] = [
    ("read", "path", "files"),
    ("list", "path", "folders"),
    ("glob", "pattern", "patterns"),
    ("grep", "pattern", "patterns"),
];

impl Block {
    pub(super) fn is_shown(&self) -> bool {
        !self.covered && self.has_place()
    }

    /// Whether the block is shown, or hidden only until a question is answered.
    fn has_place(&self) -> bool {
        !self.hidden && !matches!(self.content, Content::Gone)
    }

    /// Whether the user sees the part of the block that is folded at first.
    fn is_open(&self) -> bool {
        match &self.content {
            Content::Tool(tool) => tool.open,
            Content::Thinking { open, .. } => *open,
            _ => false,
        }
    }

    /// Whether the block may begin, continue or end a run. A thought may not.
    fn counts(&self) -> bool {
        self.has_place() && self.shape != Shape::Thinking
    }

    /// The call, if it may belong to a run: it has succeeded, belongs to no run yet, and its tool is in `FOLDED`.
    fn member(&self) -> Option<&Tool> {
        let Content::Tool(tool) = &self.content else { return None };
        let is_done = tool.answer.as_ref().is_some_and(|it| !super::call_line::is_failure(it));
        let is_member =
            self.is_shown() && is_done && tool.run.is_none() && folded(&tool.name).is_some();
        is_member.then_some(tool)
    }
}

fn folded(name: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    FOLDED.iter().find(|it| it.0 == name)
}

impl View {
    /// The nearest block above a block that has a place and is no thought.
    fn before(&self, at: usize) -> Option<usize> {
        self.blocks[..at].iter().rposition(Block::counts)
    }

    /// The nearest block below a block that has a place and is no thought.
    fn after(&self, at: usize) -> Option<usize> {
        let below = self.blocks.iter().skip(at + 1).position(Block::counts);
        below.map(|it| at + 1 + it)
    }

    /// The nearest shown block above a block.
    fn shown_above(&self, at: usize) -> Option<usize> {
        self.blocks[..at].iter().rposition(Block::is_shown)
    }

    /// The nearest shown block below a block.
    fn shown_below(&self, at: usize) -> Option<usize> {
        let below = self.blocks.iter().skip(at + 1).position(Block::is_shown);
        below.map(|it| at + 1 + it)
    }

    /// Whether an empty line separates a block from the one above. There is none between two blocks that are calls or
    /// thoughts, and none between a thought and the text after it.
    pub(super) fn has_gap(&self, at: usize) -> bool {
        let Some(above) = self.shown_above(at) else { return false };
        !matches!(
            (self.blocks[above].shape, self.blocks[at].shape),
            (Shape::Tool | Shape::Thinking, Shape::Tool | Shape::Thinking)
                | (Shape::Thinking, Shape::Text)
        )
    }

    /// Updates the gap above the next shown block after block `at`, because `at` was shown, hidden or removed.
    pub(super) fn close_gap(&mut self, at: usize) {
        let Some(below) = self.shown_below(at) else { return };
        // the first line of a growing text is painted only once, so the gap above it stays
        let is_stream = matches!(self.blocks[below].content, Content::Stream { .. });
        let gap = self.has_gap(below);
        if !is_stream && self.blocks[below].gap != gap {
            self.blocks[below].gap = gap;
            self.changed(below);
        }
    }

    fn set_hidden(&mut self, at: usize, hidden: bool) {
        self.blocks[at].hidden = hidden;
        self.regap(at);
    }

    /// Paints a block again, with or without an empty line above.
    pub(super) fn regap(&mut self, at: usize) {
        self.blocks[at].gap = self.has_gap(at);
        self.changed(at);
    }

    /// Reserves a block above a call for the line of a run that begins with this call.
    pub(super) fn push_place_of_run(&mut self, name: &str) {
        if folded(name).is_some() {
            let at = self.push(Shape::Tool, Content::Gone);
            self.blocks[at].content = Content::Run(Run { name: name.to_owned(), ..Run::default() });
            self.blocks[at].hidden = true;
        }
    }

    /// Folds the run above a block that has been added or removed.
    pub(super) fn fold_above(&mut self, at: usize) {
        if let Some(above) = self.before(at).filter(|_| self.blocks[at].shape != Shape::Thinking) {
            self.fold(above, false);
        }
    }

    /// Folds the runs that are over because a call has been answered.
    pub(super) fn fold_around(&mut self, at: usize) {
        if self.blocks[at].member().is_some() {
            return self.fold(at, false);
        }
        for it in [self.before(at), self.after(at)].into_iter().flatten() {
            self.fold(it, false);
        }
    }

    /// Folds the run at the end of the chat, because no turn runs any more.
    pub(super) fn fold_last(&mut self) {
        if let Some(last) = self.before(self.blocks.len()) {
            self.fold(last, true);
        }
    }

    /// Folds the run to which this block belongs, if the run is over. `at_rest` says whether no turn runs.
    fn fold(&mut self, at: usize, at_rest: bool) {
        let Some(name) = self.blocks[at].member().map(|it| it.name.clone()) else { return };
        let is_member = |it: &usize| self.blocks[*it].member().is_some_and(|it| it.name == name);
        let is_pending = |it: usize| {
            let block = &self.blocks[it];
            !block.done && matches!(&block.content, Content::Tool(it) if it.name == name)
        };
        let above = |it: &usize| self.before(*it).filter(is_member);
        let below = |it: &usize| self.after(*it).filter(is_member);
        let mut members: Vec<usize> = std::iter::successors(Some(at), below).collect();
        // checks the end of the run first, because a long run goes on more often than it ends
        let last = members[members.len() - 1];
        if !self.after(last).map_or(at_rest, |it| !is_pending(it)) {
            return;
        }
        members.extend(std::iter::successors(above(&at), above));
        members.sort_unstable();
        let [first, _, ..] = members[..] else { return };
        let is_over = !self.before(first).is_some_and(is_pending);
        if is_over && let Some(place) = first.checked_sub(1) {
            // the thoughts between the calls go with them
            let last = members[members.len() - 1];
            let all = (first..=last).filter(|it| self.blocks[*it].has_place());
            self.fold_to(place, &all.collect::<Vec<_>>());
        }
    }

    /// Folds these calls, and the thoughts between them, to the line that was reserved for them. The run stays open if
    /// the user has opened a call or a thought in it.
    fn fold_to(&mut self, place: usize, members: &[usize]) {
        let calls: Vec<&Tool> = members.iter().filter_map(|it| self.blocks[*it].member()).collect();
        let open = members.iter().any(|it| self.blocks[*it].is_open());
        let summaries = calls.iter().filter_map(|it| it.answer.as_ref()).map(|it| &*it.summary);
        let (right, (count, (names, starts))) = (total(summaries), names(&calls));
        let block = &mut self.blocks[place];
        let Content::Run(run) = &mut block.content else { return };
        (run.count, run.names, run.starts) = (count, names, starts);
        (run.open, run.members) = (open, members.to_vec());
        (block.right, block.done) = (right, true);
        self.set_hidden(place, false);
        for at in members {
            match &mut self.blocks[*at].content {
                Content::Tool(tool) => tool.run = Some(place),
                Content::Thinking { in_run, .. } => *in_run = true,
                _ => (),
            }
            self.set_hidden(*at, !open);
        }
    }

    /// Shows or hides the calls and thoughts of a folded run.
    pub(super) fn toggle_run(&mut self, place: usize) {
        let Content::Run(run) = &mut self.blocks[place].content else { return };
        run.open = !run.open;
        let (open, members) = (run.open, run.members.clone());
        for at in members {
            self.set_hidden(at, !open);
        }
    }
}

/// How many files or patterns the calls are about, and their names.
fn names(calls: &[&Tool]) -> (String, (Shown, Vec<usize>)) {
    let Some((_, key, noun)) = calls.first().and_then(|it| folded(&it.name)) else {
        return Default::default();
    };
    let name = |it: &&Tool| match it.call.as_ref().map(|it| &it.input) {
        Some(Input::Json(input)) => {
            let name = input[*key].as_str().unwrap_or(".");
            if *key == "path" { unseen::name(name).into_owned() } else { name.to_owned() }
        }
        _ => String::new(),
    };
    let mut seen = HashSet::new();
    let names: Vec<String> = calls.iter().map(name).filter(|it| seen.insert(it.clone())).collect();
    let count = match names.len() {
        1 => format!("{} times", calls.len()),
        n => format!("{n} {noun}"),
    };
    (count, joined(&names))
}

/// Names in one line, as many as fit, and the first byte of each but the first.
pub(super) fn joined(names: &[String]) -> (Shown, Vec<usize>) {
    let (mut line, mut starts) = (Shown::default(), Vec::new());
    for (n, name) in names.iter().enumerate() {
        let name = Shown::of(name, ARGUMENT);
        if n > 0 {
            line.text.push_str(", ");
            starts.push(line.text.len());
        }
        if n > 0 && line.text.chars().count() + name.text.chars().count() > 2 * ARGUMENT {
            return (line.and(MORE), starts);
        }
        line.own.extend(name.own.iter().map(|at| line.text.len() + at));
        line.text.push_str(&name.text);
    }
    (line, starts)
}

/// The sum of the calls' results if all count the same: `2 lines` and `1 line` are `3 lines`.
fn total<'a>(summaries: impl Iterator<Item = &'a str>) -> String {
    let mut sum = (0_u64, "");
    for summary in summaries {
        let Some((count, unit)) = summary.split_once(' ') else { return String::new() };
        let (Ok(count), Some(unit)) = (count.parse::<u64>(), plural(sum.1, unit)) else {
            return String::new();
        };
        sum = (sum.0.saturating_add(count), unit);
    }
    let (count, unit) = sum;
    let ending = match unit {
        _ if count == 1 || unit.ends_with('s') => "",
        _ if unit.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {unit}{ending}")
}

/// The longer of two forms of one noun.
fn plural<'a>(one: &'a str, other: &'a str) -> Option<&'a str> {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let ending = long.strip_prefix(short)?;
    (short.is_empty() || matches!(ending, "" | "s" | "es")).then_some(long)
}
