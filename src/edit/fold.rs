//! Replaces typographic characters by the plain characters of a keyboard, only to compare texts. The result is never
//! written to a file.

use memchr::{memchr3_iter, memmem};
use std::ops::Range;

/// The first bytes, in UTF-8, of the characters that `plain` replaces. In a text, these values begin a character
/// wherever they occur.
const LEADS: [u8; 3] = [0xc2, 0xe2, 0xe3];

/// The plain form of a quote, dash, space or ellipsis; `None` for any other character.
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

/// A text whose typographic characters were replaced by plain characters.
pub(super) struct Folded {
    text: String,
    /// The replaced characters in ascending order: for each, its byte ranges in the plain text and in the original.
    replaced: Vec<(Range<usize>, Range<usize>)>,
}

impl Folded {
    pub(super) fn of(text: &str) -> Folded {
        let mut folded = Folded { text: String::with_capacity(text.len()), replaced: Vec::new() };
        let mut from = 0;
        let [a, b, c] = LEADS;
        for at in memchr3_iter(a, b, c, text.as_bytes()) {
            let Some(it) = text[at..].chars().next() else { continue };
            let Some(plain) = plain(it) else { continue };
            folded.text.push_str(&text[from..at]);
            let start = folded.text.len();
            folded.text.push_str(plain);
            from = at + it.len_utf8();
            folded.replaced.push((start..folded.text.len(), at..from));
        }
        folded.text.push_str(&text[from..]);
        folded
    }

    /// At most `most` places of `sought`, as byte ranges of the original text. Both texts are compared in plain
    /// characters.
    pub(super) fn places(&self, sought: &str, most: usize) -> Vec<Range<usize>> {
        let sought = Folded::of(sought).text;
        let step = sought.chars().next().map_or(1, char::len_utf8);
        let finder = memmem::Finder::new(&sought);
        let mut from = 0;
        let next = || {
            let at = from + finder.find(self.text.as_bytes().get(from..)?)?;
            from = at + step;
            Some(at..at + sought.len())
        };
        std::iter::from_fn(next)
            .filter_map(|it| Some(self.origin(it.start)?..self.origin(it.end)?))
            .take(most)
            .collect()
    }

    /// The position in the original for a position in the plain text; `None` within a character that was replaced.
    fn origin(&self, at: usize) -> Option<usize> {
        let before = self.replaced.partition_point(|(plain, _)| plain.start < at);
        let Some((plain, own)) = self.replaced[..before].last() else { return Some(at) };
        (plain.end <= at).then(|| own.end + (at - plain.end))
    }
}

/// Applies the change from `sent` to `new` to a line of a file. At the beginning and at the end of the line, the file's
/// own characters stay as far as `sent` and `new` are equal.
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
    let from = folded.origin(Folded::of(&sent[..head]).text.len());
    let tail_length = Folded::of(&sent[sent.len() - tail..]).text.len();
    let until = folded.origin(folded.text.len() - tail_length);
    let (Some(from), Some(until)) = (from, until) else { return new.to_owned() };
    let middle = &new_rest[..new_rest.len() - tail];
    [&line[..from], middle, &line[until..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_replaced_character_begins_with_one_of_the_sought_bytes() {
        for c in ('\0'..=char::MAX).filter(|&c| plain(c).is_some()) {
            assert!(LEADS.contains(&c.to_string().as_bytes()[0]), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn each_typographic_character_is_replaced_and_no_other(text in "[a-z–“”…\u{a0}\u{3000}€ち©é漢🦀]{0,20}") {
            let expected: String = text.chars().map(|c| plain(c).map_or(c.to_string(), str::to_owned)).collect();
            let folded = Folded::of(&text);
            prop_assert_eq!(&folded.text, &expected);
            for (plain_bytes, own) in &folded.replaced {
                prop_assert_eq!(text[own.clone()].chars().next().and_then(plain), Some(&expected[plain_bytes.clone()]));
            }
        }
    }
}
