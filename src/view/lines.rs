//! The chat's lines for each kind of block.

use crate::message::{Block as Part, Excerpt, ExcerptKind};
use crate::session::MAX_CALLS;
use crate::text::escape::{Escape, skip};
use crate::text::{counted, grouped, noun, unseen};
use std::borrow::Cow;

/// The sign for what is left out.
pub(super) const MORE: &str = "…";
/// The most characters of one argument in a call's line.
pub(super) const ARGUMENT: usize = 60;
/// The most lines of a prompt that are painted.
const PROMPT: usize = 300;
/// The most lines of a plan that are shown with the user's comment on them.
const QUOTED: usize = 3;
/// The most characters of one line of a prompt or a result that are painted.
pub(super) const LINE: usize = 2000;

/// The blocks of a reply as the chat shows them: blocks in the provider's own format are left out, and the texts before
/// and after such a block are joined.
pub(super) fn run_together(blocks: &[Part]) -> Vec<Cow<'_, Part>> {
    let mut heard: Vec<Cow<'_, Part>> = Vec::new();
    let mut goes_on = false;
    for block in blocks {
        let before = heard.last_mut().filter(|it| goes_on && matches!(***it, Part::Text { .. }));
        match (before, block) {
            (_, Part::Raw { .. }) => (),
            (Some(before), Part::Text { text: more }) => {
                if let Part::Text { text } = before.to_mut() {
                    text.push_str(more);
                }
            }
            _ => heard.push(Cow::Borrowed(block)),
        }
        goes_on = matches!(block, Part::Raw { .. });
    }
    heard
}

/// A text fit for a buffer: without escape sequences, carriage returns and control characters except tab and newline.
/// Invisible characters are spelt out.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_clean(&mut out, text, &mut String::new());
    out
}

/// A text of the model's that may be run: like `clean`, but escape sequences and control characters are spelt out, because
/// what a sequence encloses is run like the rest.
pub(super) fn spelled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' if chars.peek() == Some(&'\n') => (),
            _ if c.is_control() || unseen::is_marked(c, out.chars().next_back()) => {
                unseen::spell(&mut out, c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Like `clean`, for a text that arrives in pieces. If a piece ends within an escape sequence, the beginning of the
/// sequence is kept in `unfinished`.
pub(super) fn push_clean(out: &mut String, text: &str, unfinished: &mut String) {
    let is_plain = |it: u8| matches!(it, b' '..=b'~' | b'\n' | b'\t');
    if unfinished.is_empty() && text.bytes().all(is_plain) {
        return out.push_str(text);
    }
    let text = std::mem::take(unfinished) + text;
    let mut chars = text.chars();
    loop {
        let from = chars.as_str();
        let Some(c) = chars.next() else { return };
        let before = out.chars().next_back();
        match skip(c, &mut chars) {
            Escape::None if unseen::is_marked(c, before) => unseen::spell(out, c),
            Escape::None if !c.is_control() || c == '\n' || c == '\t' => out.push(c),
            Escape::None | Escape::Whole => (),
            Escape::Cut => from.clone_into(unfinished),
        }
    }
}

/// The lines of a user's message, as the user typed it, and a line for each of its excerpts.
pub(super) fn user(blocks: &[Part]) -> (Vec<String>, Vec<String>) {
    let mut keywords = blocks.iter().filter_map(|it| match it {
        Part::Excerpt(it) => Some(it.keyword.as_str()),
        _ => None,
    });
    let typed = keywords.find(|it| it.starts_with('/'));
    let mut lines = Vec::new();
    let (mut below, mut remarks) = (Vec::new(), Vec::new());
    for block in blocks {
        match block {
            Part::Text { text } => lines.extend(prompt(typed.unwrap_or(text))),
            Part::Excerpt(Excerpt {
                kind:
                    ExcerptKind::Instructions
                    | ExcerptKind::Skills
                    | ExcerptKind::Agents
                    | ExcerptKind::Changes
                    | ExcerptKind::Result,
                ..
            }) => (),
            Part::Excerpt(it) if it.kind == ExcerptKind::Answers => lines.extend(prompt(&it.text)),
            Part::Excerpt(it) if it.kind == ExcerptKind::Remark => remarks.extend(remark(it)),
            Part::Excerpt(excerpt) => below.push(format!("▏{}", sized(excerpt))),
            _ => (),
        }
    }
    lines.append(&mut remarks);
    if lines.is_empty() && !below.is_empty() {
        lines.push("(context)".into());
    }
    (lines, below)
}

/// The lines of a comment on a plan: the beginning of the lines that it is about, and the user's words.
fn remark(it: &Excerpt) -> Vec<String> {
    let about = it.lines.map_or(0, |(first, last)| last.saturating_sub(first) as usize + 1);
    let is_quoted = |it: &&str| it.starts_with('>');
    let quoted: Vec<&str> = it.text.lines().take(about).take_while(is_quoted).collect();
    let words: Vec<&str> = it.text.lines().skip(quoted.len()).collect();
    let mut lines = vec![String::new()];
    lines.extend(quoted.iter().take(QUOTED).map(|it| clip(&flat(it), 2 * ARGUMENT)));
    match quoted.len().saturating_sub(QUOTED) {
        0 => (),
        1 => lines.push(format!("> {MORE} 1 more line")),
        more => lines.push(format!("> {MORE} {more} more lines")),
    }
    lines.extend(prompt(&words.join("\n")));
    lines
}

/// The lines of a prompt. Only the beginning of a very long prompt is shown; the model gets all of it.
fn prompt(text: &str) -> Vec<String> {
    let text = clean(text);
    let mut lines: Vec<String> =
        text.trim_end().lines().take(PROMPT).map(|it| clip(it, LINE)).collect();
    let more = text.trim_end().lines().count().saturating_sub(PROMPT);
    if more > 0 {
        lines.push(format!("… {more} more lines"));
    }
    lines
}

/// The tokens of a text in a chip: one for every four bytes. The estimate is the same for each model, so that a chip in
/// the composer has the number that it has below the sent message.
fn tokens(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}

/// The number of several excerpts, and their size: `3 parts  120 tokens`.
pub fn sized_together(excerpts: &[Excerpt]) -> String {
    let all = excerpts.iter().map(|it| tokens(&it.text)).sum();
    format!("{} parts  {}", excerpts.len(), in_words(all))
}

/// An excerpt's name and size: `src/a.rs:10-40  31 lines  120 tokens`, and what was cut.
pub fn sized(excerpt: &Excerpt) -> String {
    if excerpt.kind == ExcerptKind::Hunk {
        return comment(excerpt);
    }
    if let Some(image) = &excerpt.image {
        let size = in_words(image.tokens());
        return format!("{}  {}  {size}", flat(&excerpt.path), image.label());
    }
    // the last line of a range has no line break behind it, also if the line is empty
    let lines = match excerpt.lines {
        Some(_) => excerpt.text.split('\n').count(),
        None => excerpt.text.lines().count(),
    };
    let range = excerpt.lines.map(|it| format!(":{}", span(it))).unwrap_or_default();
    let name = flat(&format!("{}{range}", excerpt.path));
    let size = format!("{}  {}", counted(lines, "line"), in_words(tokens(&excerpt.text)));
    let note = flat(&excerpt.note);
    let has_text = !excerpt.text.is_empty() || excerpt.note.is_empty();
    let parts = [
        if excerpt.kind == ExcerptKind::Selection { "selection" } else { "" },
        &name,
        if has_text { &size } else { "" },
        &note,
    ];
    parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("  ")
}

/// A number of tokens in words: `640 tokens`.
fn in_words(tokens: u64) -> String {
    format!("{} {}", count(usize::try_from(tokens).unwrap_or(usize::MAX)), noun(tokens, "token"))
}

/// The label of a comment on a hunk: `comment on src/a.rs:10-12  -1 +3`.
fn comment(excerpt: &Excerpt) -> String {
    let lines = excerpt.lines.map(|it| format!(":{}", span(it))).unwrap_or_default();
    let signed = |sign: char| excerpt.text.lines().filter(|it| it.starts_with(sign)).count();
    let counts = [('-', signed('-')), ('+', signed('+'))];
    let counts = counts.iter().filter(|it| it.1 > 0).map(|(sign, n)| format!(" {sign}{n}"));
    let counts: String = counts.collect();
    let gap = if counts.is_empty() { "" } else { " " };
    format!("comment on {}{gap}{counts}", flat(&format!("{}{lines}", excerpt.path)))
}

/// A range of lines: `7`, `10-40`.
fn span((first, last): (u32, u32)) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// `1234` as `1.2k`.
pub(super) fn count(n: usize) -> String {
    if n < 1000 { n.to_string() } else { format!("{}.{}k", n / 1000, n % 1000 / 100) }
}

/// The line about calls that exceed the limit of one reply.
pub(super) fn over_limit(calls: usize) -> String {
    let count = grouped(u64::try_from(calls).unwrap_or(u64::MAX));
    let were = if calls == 1 { "call was" } else { "calls were" };
    format!("{count} more {were} not run: Caliban runs at most {MAX_CALLS} calls of one reply.")
}

pub(super) fn notice(text: &str) -> Vec<String> {
    let text = clean(text);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if let Some(first) = lines.first_mut() {
        *first = format!("! {first}");
    }
    lines
}

/// The state of a thought: still arriving, or over. Times are in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Thought {
    Arriving {
        began: u64,
    },
    /// The thought is complete or was interrupted. The duration is not saved, so it is not known when a chat is opened
    /// again.
    Over {
        took: Option<u64>,
    },
}

pub(super) fn thought(open: bool, far: Thought) -> String {
    let mark = mark(open);
    match far {
        Thought::Arriving { .. } => format!("{mark} Thinking"),
        Thought::Over { took: Some(ms) } => format!("{mark} Thought for {}", time(ms)),
        Thought::Over { took: None } => format!("{mark} Thought"),
    }
}

/// The line that shows a compaction.
pub(super) fn boundary(open: bool, told: &str) -> String {
    format!("{} {told}", mark(open))
}

pub(super) fn mark(open: bool) -> &'static str {
    if open { "▾" } else { "▸" }
}

/// A time in milliseconds as it is shown to the user: `12 ms`, `4 s`, `2 min`.
pub(super) fn time(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..120_000 => format!("{} s", ms / 1000),
        _ => format!("{} min", ms / 60_000),
    }
}

pub(super) fn flat(text: &str) -> String {
    spelled(text).replace('\n', "⏎").replace('\t', " ")
}

/// A text that somebody else wrote, in one line, with Caliban's signs for the ends of lines and for what is left out.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    pub(super) text: String,
    /// The byte positions of Caliban's signs.
    pub(super) own: Vec<usize>,
}

impl Shown {
    /// The beginning of a text that may be very long.
    pub(super) fn of(text: &str, limit: usize) -> Shown {
        // a return before the end of a line is not shown
        let end = text.char_indices().nth(2 * limit).map_or(text.len(), |(at, _)| at);
        let mut shown = Shown::default();
        for (n, c) in spelled(&text[..end]).chars().enumerate() {
            match c {
                _ if n == limit => return shown.and(MORE),
                '\n' => shown = shown.and("⏎"),
                '\t' => shown.text.push(' '),
                c => shown.text.push(c),
            }
        }
        if end < text.len() { shown.and(MORE) } else { shown }
    }

    /// The text with one of Caliban's signs after it.
    pub(super) fn and(mut self, sign: &str) -> Shown {
        self.own.push(self.text.len());
        self.text.push_str(sign);
        self
    }
}

pub(super) fn clip(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// More output of a running command, indented so that it can be appended under the command's line.
pub(super) fn indented(text: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        out.push_str("\n    ");
        out.push_str(&clip(line, LINE));
        out
    })
}

/// Adds lines of output until `limit` lines are shown. Returns false if nothing was added.
pub(super) fn push_live(live: &mut String, text: &str, limit: usize) -> bool {
    let shown = live.lines().count();
    if shown > limit {
        return false;
    }
    for line in clean(text).lines().take(limit + 1 - shown) {
        live.push_str(line);
        live.push('\n');
    }
    if live.lines().count() > limit {
        live.push_str("… the rest is shown when the command ends\n");
    }
    true
}
