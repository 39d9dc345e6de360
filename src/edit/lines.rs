//! Finds whole lines of one text in another: equal, equal except for blanks at line ends, or all indented differently
//! by the same amount. Linear in both texts.

use std::ops::Range;

/// The most lines that are compared to check whether all lines are shifted alike. Only a text that was made to slow the
/// search down needs more; then nothing is found.
const COMPARED: usize = 2_000_000;

/// How the file's indentation differs from that of the sent text. The difference is the same for every line that is not
/// blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shift {
    None,
    /// The file has this additional indentation.
    Add(String),
    /// The sent text has this additional indentation.
    Remove(String),
    /// Only `old` lacks this indentation; the file and the new text already have it.
    Has,
}

/// The lines of a text, as byte ranges without their ends.
pub(super) struct Lines<'a> {
    content: &'a str,
    spans: Vec<Range<usize>>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(content: &'a str) -> Lines<'a> {
        let mut spans = Vec::new();
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', content.as_bytes()) {
            spans.push(from..end);
            from = end + 1;
        }
        if from < content.len() {
            spans.push(from..content.len());
        }
        Lines { content, spans }
    }

    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The byte at which a line begins. For the index after the last line, the end of the text.
    pub(super) fn start(&self, at: usize) -> usize {
        self.spans.get(at).map_or(self.content.len(), |span| span.start)
    }

    pub(super) fn get(&self, at: usize) -> &'a str {
        &self.content[self.spans[at].clone()]
    }

    /// The bytes of a range of lines, with or without the last line's end.
    pub(super) fn bytes(&self, lines: &Range<usize>, with_end: bool) -> Range<usize> {
        let (first, last) = (&self.spans[lines.start], &self.spans[lines.end - 1]);
        let end = if with_end { (last.end + 1).min(self.content.len()) } else { last.end };
        first.start..end
    }

    /// The index of the first line of each place where the lines `sought` are found, for at most `most` places.
    pub(super) fn equal(&self, sought: &[&str], most: usize) -> Vec<usize> {
        windows(&self.iter().collect::<Vec<_>>(), sought).take(most).collect()
    }

    /// Like `equal`, but ignores blanks at line ends.
    pub(super) fn alike(&self, sought: &[&str], most: usize) -> Vec<usize> {
        let keys: Vec<&str> = self.iter().map(bare).collect();
        let sought: Vec<&str> = sought.iter().map(|line| bare(line)).collect();
        windows(&keys, &sought).take(most).collect()
    }

    /// Like `alike`, but all lines of the place are indented more, or all are indented less, by the same text.
    pub(super) fn shifted(&self, sought: &[&str], most: usize) -> Vec<(usize, Shift)> {
        let inner = |line: &'a str| bare(line).trim_start_matches(BLANKS);
        let keys: Vec<&str> = self.iter().map(inner).collect();
        let bared: Vec<&str> =
            sought.iter().map(|line| bare(line).trim_start_matches(BLANKS)).collect();
        let mut left = COMPARED;
        let shift = |at: usize| {
            left = left.checked_sub(sought.len())?;
            let pairs = sought.iter().zip(at..).map(|(sent, at)| (self.get(at), *sent));
            Some((at, shift_of(pairs)?))
        };
        windows(&keys, &bared).filter_map(shift).take(most).collect()
    }

    fn iter(&self) -> impl Iterator<Item = &'a str> {
        self.spans.iter().map(|span| &self.content[span.clone()])
    }
}

const BLANKS: [char; 2] = [' ', '\t'];

/// A line without the blanks at its end. A carriage return counts as a blank, because it is invisible.
pub(super) fn bare(line: &str) -> &str {
    line.trim_end_matches([' ', '\t', '\r'])
}

/// How the indentation of a file's lines differs from that of the sent lines, which are otherwise equal.
fn shift_of<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Shift> {
    let mut shift: Option<(&str, &str)> = None;
    for (file, sent) in pairs.filter(|(file, _)| !bare(file).is_empty()) {
        let (file, sent) = (indentation(file), indentation(sent));
        let this = match (file.strip_suffix(sent), sent.strip_suffix(file)) {
            (Some(more), _) => (more, ""),
            (_, Some(less)) => ("", less),
            (None, None) => return None,
        };
        if *shift.get_or_insert(this) != this {
            return None;
        }
    }
    Some(match shift? {
        ("", "") => Shift::None,
        (more, "") => Shift::Add(more.to_owned()),
        (_, less) => Shift::Remove(less.to_owned()),
    })
}

pub(super) fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(BLANKS).len()]
}

/// Every place of `sought` in `keys`, also overlapping places, in one pass (Knuth, Morris, Pratt).
fn windows<'k>(keys: &'k [&str], sought: &'k [&str]) -> impl Iterator<Item = usize> + 'k {
    let mut back = vec![0; sought.len()];
    let mut same = 0;
    for at in 1..sought.len() {
        while same > 0 && sought[at] != sought[same] {
            same = back[same - 1];
        }
        same += usize::from(sought[at] == sought[same]);
        back[at] = same;
    }
    let mut same = 0;
    keys.iter().enumerate().filter_map(move |(at, key)| {
        while same > 0 && sought.get(same) != Some(key) {
            same = back[same - 1];
        }
        same += usize::from(sought.get(same) == Some(key));
        let found = same == sought.len() && !sought.is_empty();
        if found {
            same = back[same - 1];
            return Some(at + 1 - sought.len());
        }
        None
    })
}
