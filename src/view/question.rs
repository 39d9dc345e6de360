//! A question that waits for the user's answer, as rows and folds. Each fold says how much it hides and can be opened.
//! The user can consent only when all folds are open.

#[cfg(test)]
mod tests;

use super::lines::count;
use crate::event::Offer;
use crate::text::unseen;
use serde::Serialize;
use std::ops::Range;

/// A question of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Asks {
    /// Which of the call's questions it is, from 0.
    pub question: u32,
    pub options: u32,
    /// Whether several options may be chosen.
    pub multiple: bool,
}

/// A line with more than `LINE` characters is shown in rows of at most `ROW` characters. A row ends after a blank if one is
/// in the second half of the row.
const LINE: usize = 400;
const ROW: usize = 200;
/// A question with more than `MOST` rows and folds shows only its first `HEAD` and its last `TAIL` rows and folds.
const MOST: usize = 40;
const HEAD: usize = 20;
const TAIL: usize = 12;
/// A run of more than `BLANKS` blanks, and a run of at least `EMPTY` empty lines, is replaced by its length.
const BLANKS: usize = 40;
const EMPTY: usize = 3;
/// The bytes before the text of a line, and the sign before the continuation of a long line.
const SIGN: usize = "? ".len();
const GOES_ON: &str = "↪";
/// Keys whose words stay together where the line wraps, by blanks that do not break.
const NO: &str = "e\u{a0}no,\u{a0}because\u{a0}…";
const WHY: &str = "i\u{a0}explain";
/// At least this many lines in a row that begin with `#` are folded.
const COMMENTS: usize = 5;
/// At least this many rows in the middle of a long line are folded.
const PARTS: usize = 5;
/// So many lines of an explanation are shown first.
const FIRST: usize = 13;
/// The most rows of a fold that one key press opens. Painting more would delay the editor.
const STEP: usize = 100;

/// The subject of a question, which decides the meaning of the question's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    Call,
    /// About a command that the user may change.
    Command,
    /// About a command for which a rule is proposed.
    Always,
    Limit,
    /// About something of the project that is used only with the user's consent.
    Project,
    /// About the provider to which the conversation is to be sent.
    Recipient,
    /// About a port of a job.
    Port,
    /// Asked by the model, with this many options.
    Choice {
        options: usize,
        is_first: bool,
        multiple: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    text: String,
    rows: Vec<Row>,
    /// The hidden rows, as ranges in ascending order.
    folds: Vec<Range<usize>>,
    keys: Keys,
    /// The part of `text` that the user decides on. The rest is dim.
    subject: Range<usize>,
    /// Whether the subject is a command for a shell.
    pub(super) is_shell: bool,
    /// The command, if the user may change it; else empty.
    pub(super) command: String,
    /// Why the user is asked, in lines that are shown above the keys; empty while they are hidden.
    why: Vec<String>,
    /// In a question of the model, which of the call's questions it is, from 0.
    at: usize,
    /// Whether the call's own line is hidden meanwhile, because the question says the same.
    pub(super) covers: bool,
}

/// A row of the question: a line, or a part of a long line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    from: usize,
    to: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Line,
    /// The continuation of a long line. The row begins with an arrow to the left of the command's lines, so that nobody
    /// takes the row for a line of the command.
    GoesOn,
    /// This many empty lines.
    Empty(usize),
}

impl Keys {
    /// The line that names the keys. `changes` says whether the user may change the command.
    fn line(self, changes: bool) -> String {
        let change = if changes { "   c change" } else { "" };
        let line = match self {
            Keys::Choice { options, is_first, multiple } => {
                let choose = if multiple { "mark   <CR> send" } else { "choose" };
                let back = if is_first { "" } else { "   u back" };
                return format!("  1-{options} {choose}   e own words   x skip{back}");
            }
            Keys::Call => return format!("  y once   s this session   n no   {NO}   {WHY}"),
            Keys::Command => return format!("  y once   s session{change}   n no   {NO}   {WHY}"),
            // one row of 80 columns has room for all of these
            Keys::Always => {
                let change = change.get(1..).unwrap_or_default();
                return format!("  y once  s session  a always{change}  n no  {NO}  {WHY}");
            }
            Keys::Project => {
                "  y use them   s only in this conversation   n leave them out   e leave them out, because …"
            }
            Keys::Recipient => "  y send it there   n do not send it",
            Keys::Port => "  y open it   n leave it closed",
            Keys::Limit => "  y once more   s no limit   n stop   e stop, because …",
        };
        line.to_owned()
    }
}

impl Question {
    pub(super) fn new(question: &str, keys: Keys) -> Question {
        let text = without_blanks(&unseen::exact(question));
        let rows = rows(&text);
        let folds = folds(&text, &rows);
        let subject = 0..text.len();
        Question {
            text,
            rows,
            folds,
            keys,
            subject,
            is_shell: false,
            command: String::new(),
            why: Vec::new(),
            at: 0,
            covers: false,
        }
    }

    /// The same question with the subject and the command of `offer`.
    pub(super) fn about(self, offer: &Offer) -> Question {
        let subject = subject(&self.text, &offer.subject).unwrap_or(self.subject);
        Question { subject, is_shell: offer.is_shell, command: offer.command.clone(), ..self }
    }

    /// The same question, in whose place the call's own line is hidden if `covers`.
    pub(super) fn covering(self, covers: bool) -> Question {
        Question { covers, ..self }
    }

    /// The same question, as one of several questions of a call. `at` is its number, from 0.
    pub(super) fn of_call(self, at: usize) -> Question {
        Question { at, ..self }
    }

    /// The number and the options of a question that the model asks.
    pub(super) fn asks(&self) -> Option<Asks> {
        let Keys::Choice { options, multiple, .. } = self.keys else { return None };
        let [question, options] = [self.at, options].map(|it| u32::try_from(it).unwrap_or(0));
        Some(Asks { question, options, multiple })
    }

    /// Whether Caliban can say why it asks.
    pub(super) fn explains(&self) -> bool {
        matches!(self.keys, Keys::Call | Keys::Command | Keys::Always)
    }

    /// Shows the first of these lines, which say why the user is asked; next all of them; then hides them.
    pub(super) fn explain(&mut self, why: &[String]) {
        let shown = |it: &String| format!("  {}", without_blanks(&unseen::exact(it)));
        let is_long = why.len() > FIRST + 1;
        self.why = match self.why.len() {
            0 if is_long => {
                let more = format!("  … and {} more (i shows them)", why.len() - FIRST);
                why[..FIRST].iter().map(shown).chain([more]).collect()
            }
            0 => why.iter().map(shown).collect(),
            n if is_long && n < why.len() => why.iter().map(shown).collect(),
            _ => Vec::new(),
        };
    }

    /// Whether nothing waits for the answer, so that other questions come first.
    pub(super) fn can_wait(&self) -> bool {
        self.keys == Keys::Port
    }

    pub(super) fn proposes_rule(&self) -> bool {
        self.keys == Keys::Always
    }

    /// The question's lines in the chat.
    pub(super) fn lines(&self) -> Vec<String> {
        let lines = self.shown().map(|it| match it {
            Shown::Row(at) => self.row(at),
            Shown::Fold(hidden) => self.label(hidden),
        });
        let keys = self.keys.line(!self.command.is_empty());
        lines.chain(self.why.iter().cloned()).chain([keys]).collect()
    }

    /// The parts of the lines that belong to the subject: for each the index of the line, its first byte and the byte
    /// after its last.
    pub(super) fn subject(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let part = |it: &Shown| {
            let row = &self.rows[it.row()?];
            let (from, to) = (row.from.max(self.subject.start), row.to.min(self.subject.end));
            let sign = if row.kind == Kind::GoesOn { GOES_ON.len() } else { SIGN };
            let at = |byte: usize| u32::try_from(sign + byte - row.from).unwrap_or(u32::MAX);
            (from < to).then(|| (at(from), at(to)))
        };
        let parts = (0..).zip(self.shown()).map(move |(n, it)| (n, part(&it)));
        parts.filter_map(|(n, part)| part.map(|(from, to)| (n, from, to)))
    }

    /// The indices of the lines that are folds.
    pub(super) fn closed(&self) -> impl Iterator<Item = u32> {
        (0..).zip(self.shown()).filter(|(_, it)| matches!(it, Shown::Fold(_))).map(|(at, _)| at)
    }

    /// Opens the fold at this line. Of a very long fold, opens only the first rows. Returns false if there is no fold
    /// at this line.
    pub(super) fn open(&mut self, line: usize) -> bool {
        let Some(Shown::Fold(hidden)) = self.shown().nth(line) else { return false };
        let Some(at) = self.folds.iter().position(|it| *it == hidden) else { return false };
        self.folds[at].start += STEP;
        if self.folds[at].is_empty() {
            self.folds.remove(at);
        }
        true
    }

    fn shown(&self) -> impl Iterator<Item = Shown> {
        shown(self.rows.len(), &self.folds)
    }

    fn row(&self, at: usize) -> String {
        let row = &self.rows[at];
        let text = &self.text[row.from..row.to];
        match row.kind {
            _ if at == 0 => format!("? {text}"),
            Kind::Line => format!("  {text}"),
            Kind::GoesOn => format!("{GOES_ON}{text}"),
            Kind::Empty(n) => format!("  [{n} blank lines]"),
        }
    }

    /// The text of a fold, which says how much it hides.
    fn label(&self, hidden: Range<usize>) -> String {
        let rows = &self.rows[hidden.clone()];
        let (from, to) = (rows[0].from, rows[rows.len() - 1].to);
        let characters = count(self.text[from..to].chars().count());
        let size = |it: &Row| match it.kind {
            Kind::Line => 1,
            Kind::GoesOn => 0,
            Kind::Empty(n) => n,
        };
        let what = match rows.iter().map(size).sum::<usize>() {
            0 if self.follows_hash(hidden.start) => {
                format!("{characters} characters that follow a #")
            }
            0 => format!("{characters} characters"),
            n if rows.iter().all(|it| self.is_comment(it)) => {
                format!("{n} lines that begin with #, {characters} characters")
            }
            n => format!("{n} lines, {characters} characters"),
        };
        format!("▸ [{what}: <CR> opens]")
    }

    fn is_comment(&self, row: &Row) -> bool {
        is_comment(&self.text, row)
    }

    /// Whether a comment (a `#` at the beginning of a word) begins in an earlier row of the same line.
    fn follows_hash(&self, at: usize) -> bool {
        let starts = self.rows[..at].iter().rposition(|it| it.kind == Kind::Line);
        let before =
            starts.map_or("", |start| &self.text[self.rows[start].from..self.rows[at].from]);
        before.starts_with('#') || before.contains(" #") || before.contains(";#")
    }
}

/// Finds the subject in the text of a question: between backticks, or in lines of its own.
fn subject(text: &str, subject: &str) -> Option<Range<usize>> {
    let subject = without_blanks(&unseen::exact(subject));
    if subject.is_empty() {
        return None;
    }
    let quoted = || text.find(&format!("`{subject}`"));
    let before = if subject.contains('\n') {
        text.rfind(&format!("\n{subject}"))
    } else {
        quoted().or_else(|| text.rfind(&format!("\n{subject}")))
    };
    before.map(|it| it + 1..it + 1 + subject.len())
}

/// Replaces each long run of blanks in a text by its length, and makes lines of blanks empty.
fn without_blanks(text: &str) -> String {
    let is_blank = |c: char| c == ' ' || c == '\t';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_blank) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !is_blank(c)).unwrap_or(from.len());
        out.push_str(before);
        rest = &from[end..];
        let is_line =
            (out.is_empty() || out.ends_with('\n')) && (rest.is_empty() || rest.starts_with('\n'));
        if is_line {
            // a line that has only blanks becomes empty
        } else if end > BLANKS {
            out.push_str(&format!("[{end} blanks]"));
        } else {
            out.push_str(&from[..end]);
        }
    }
    out + rest
}

fn rows(text: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut empty = 0;
    let mut from = 0;
    for line in text.split('\n') {
        let to = from + line.len();
        if line.is_empty() {
            empty += 1;
        } else {
            push_empty(&mut rows, std::mem::take(&mut empty), from);
            push_line(&mut rows, line, from);
        }
        from = to + 1;
    }
    rows
}

fn push_empty(rows: &mut Vec<Row>, count: usize, at: usize) {
    if count >= EMPTY {
        rows.push(Row { from: at, to: at, kind: Kind::Empty(count) });
    } else {
        rows.extend((0..count).map(|_| Row { from: at, to: at, kind: Kind::Line }));
    }
}

fn push_line(rows: &mut Vec<Row>, line: &str, at: usize) {
    let end = at + line.len();
    let is_long = line.len() > LINE && line.char_indices().nth(LINE).is_some();
    let (mut from, mut kind) = (at, Kind::Line);
    while is_long && let Some((most, _)) = line[from - at..].char_indices().nth(ROW) {
        let row = &line[from - at..from - at + most];
        let cut = row.rfind(' ').map(|it| it + 1).filter(|it| *it > most / 2).unwrap_or(most);
        rows.push(Row { from, to: from + cut, kind });
        (from, kind) = (from + cut, Kind::GoesOn);
    }
    rows.push(Row { from, to: end, kind });
}

fn is_comment(text: &str, row: &Row) -> bool {
    row.kind == Kind::Line && text[row.from..row.to].trim_start().starts_with('#')
}

/// The rows that are hidden at first: the middle of long lines, long comments, and then the middle of the remaining
/// rows.
fn folds(text: &str, rows: &[Row]) -> Vec<Range<usize>> {
    let mut folds = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let of_line = rows[at + 1..].iter().take_while(|it| it.kind == Kind::GoesOn).count();
        let comments = rows[at..].iter().take_while(|it| is_comment(text, it)).count();
        if of_line > PARTS {
            folds.push(at + 1..at + of_line);
            at += of_line + 1;
        } else if comments >= COMMENTS && at > 0 {
            folds.push(at..at + comments);
            at += comments;
        } else {
            at += 1;
        }
    }
    let all: Vec<Shown> = shown(rows.len(), &folds).collect();
    if all.len() <= MOST {
        return folds;
    }
    let start = all[HEAD].rows().start;
    let end = all[all.len() - TAIL].rows().start;
    folds.retain(|it| it.end <= start || it.start >= end);
    let place = folds.iter().take_while(|it| it.end <= start).count();
    folds.insert(place, start..end);
    folds
}

enum Shown {
    Row(usize),
    Fold(Range<usize>),
}

impl Shown {
    fn row(&self) -> Option<usize> {
        match self {
            Shown::Row(at) => Some(*at),
            Shown::Fold(_) => None,
        }
    }

    fn rows(&self) -> Range<usize> {
        match self {
            Shown::Row(at) => *at..at + 1,
            Shown::Fold(hidden) => hidden.clone(),
        }
    }
}

/// The folds, and the rows outside of the folds, from top to bottom.
fn shown(rows: usize, folds: &[Range<usize>]) -> impl Iterator<Item = Shown> {
    let (mut at, mut folds) = (0, folds.iter().peekable());
    std::iter::from_fn(move || {
        if at >= rows {
            return None;
        }
        if let Some(hidden) = folds.next_if(|it| it.start == at) {
            at = hidden.end;
            return Some(Shown::Fold(hidden.clone()));
        }
        at += 1;
        Some(Shown::Row(at - 1))
    })
}
