//! Typographic characters taken for the plain ones that keyboards have. Only compared, never written.

use std::ops::Range;

/// The plain form of a quote, dash, space or ellipsis; absent for any other character.
fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' => "'",
        '\u{201c}'..='\u{201f}' | '\u{2033}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => " ",
        '\u{2026}' => "...",
        _ => return None,
    })
}

/// A text in plain characters, and where each of its bytes comes from.
pub(super) struct Folded {
    text: String,
    /// For each byte, and the end, the first byte of the character it came of.
    from: Vec<usize>,
}

impl Folded {
    pub(super) fn of(text: &str) -> Folded {
        let mut folded = Folded { text: String::with_capacity(text.len()), from: Vec::new() };
        folded.from.reserve(text.len() + 1);
        for (at, c) in text.char_indices() {
            match plain(c) {
                Some(plain) => folded.text.push_str(plain),
                None => folded.text.push(c),
            }
            folded.from.resize(folded.text.len(), at);
        }
        folded.from.push(text.len());
        folded
    }

    /// Bytes of the text where `sought` stands, both in plain characters; at most `most`.
    pub(super) fn places(&self, sought: &str, most: usize) -> Vec<Range<usize>> {
        let sought = Folded::of(sought).text;
        let step = sought.chars().next().map_or(1, char::len_utf8);
        let mut from = 0;
        let next = || {
            let at = from + self.text.get(from..)?.find(&sought)?;
            from = at + step;
            Some(at..at + sought.len())
        };
        std::iter::from_fn(next)
            .filter(|it| self.is_edge(it.start) && self.is_edge(it.end))
            .map(|it| self.from[it.start]..self.from[it.end])
            .take(most)
            .collect()
    }

    /// The first byte of the text that a plain beginning of `length` bytes does not cover whole characters of.
    fn covered(&self, length: usize) -> usize {
        self.from[length]
    }

    /// Whether no character of the text is cut there.
    fn is_edge(&self, at: usize) -> bool {
        at == 0 || self.from[at] != self.from[at - 1]
    }
}

/// A line of a file changed as `sent` was to become `new`: where those agree, at the beginning and at the end, the
/// file's own characters stay.
pub(super) fn changed(line: &str, sent: &str, new: &str) -> String {
    let folded = Folded::of(line);
    if folded.text != Folded::of(sent).text {
        return new.to_owned();
    }
    let alike = |(a, b): &(char, char)| a == b;
    let width = |pairs: &mut dyn Iterator<Item = (char, char)>| {
        pairs.take_while(alike).map(|(c, _)| c.len_utf8()).sum::<usize>()
    };
    let head = width(&mut sent.chars().zip(new.chars()));
    let (sent_rest, new_rest) = (&sent[head..], &new[head..]);
    let tail = width(&mut sent_rest.chars().rev().zip(new_rest.chars().rev()));
    let from = Folded::of(&sent[..head]).text.len();
    let until = folded.text.len() - Folded::of(&sent[sent.len() - tail..]).text.len();
    if !folded.is_edge(from) || !folded.is_edge(until) {
        return new.to_owned();
    }
    let middle = &new_rest[..new_rest.len() - tail];
    [&line[..folded.covered(from)], middle, &line[folded.covered(until)..]].concat()
}
