//! Finds quotations of a key in a sentence: a provider that refuses a key often quotes the key, or a part of it.

use std::ops::Range;

/// If a text contains this many consecutive characters of the key, it quotes a part of the key.
const RUN: usize = 8;
/// A word with this many characters, including a digit or a capital letter, is a quotation if the key ends with the
/// word.
const LAST: std::ops::RangeInclusive<usize> = 4..=7;

/// Replaces with `mark` the key, long parts of the key, and masked quotations of the key such as `sk-1****9f`.
pub fn without_parts(text: &str, key: &str, mark: &str) -> String {
    if key.is_empty() {
        return text.to_owned();
    }
    let text = text.replace(key, mark);
    if key.len() < RUN {
        return text;
    }
    let (chars, key): (Vec<char>, Vec<char>) = (text.chars().collect(), key.chars().collect());
    let mut found = runs(&chars, &key);
    found.extend(masked(&chars, &key));
    found.extend(last(&chars, &key));
    found.sort_by_key(|it| it.start);
    let (mut out, mut at) = (String::new(), 0);
    for it in found {
        if it.start >= at {
            out.extend(&chars[at..it.start]);
            out.push_str(mark);
        }
        at = at.max(it.end);
    }
    out.extend(&chars[at..]);
    out
}

fn runs(text: &[char], key: &[char]) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let common = |from| text[at..].iter().zip(&key[from..]).take_while(|(a, b)| a == b).count();
        let len = (0..key.len()).map(common).max().unwrap_or(0);
        if len >= RUN {
            found.push(at..at + len);
        }
        at += if len >= RUN { len } else { 1 };
    }
    found
}

/// Finds masked quotations of the key: its beginning, its end or both, with asterisks, dots or similar characters
/// instead of the rest.
fn masked(text: &[char], key: &[char]) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let len = text[at..].iter().take_while(|it| **it == text[at]).count();
        let least = match text[at] {
            '…' => 1,
            '*' | '•' | '●' => 2,
            '.' | '#' | '-' | '_' => 3,
            'x' | 'X' => 4,
            _ => usize::MAX,
        };
        if len >= least {
            let (head, tail) = (head(&text[..at], key), tail(&text[at + len..], key));
            if head + tail > 0 {
                found.push(at - head..at + len + tail);
            }
        }
        at += len;
    }
    found
}

/// The length of the longest prefix of the key with which the text ends. A single character does not count.
fn head(text: &[char], key: &[char]) -> usize {
    (2..=key.len().min(text.len())).rev().find(|it| text.ends_with(&key[..*it])).unwrap_or(0)
}

fn tail(text: &[char], key: &[char]) -> usize {
    let from = |it: usize| &key[key.len() - it..];
    (2..=key.len().min(text.len())).rev().find(|it| text.starts_with(from(*it))).unwrap_or(0)
}

/// Finds words that consist of the key's last characters.
fn last(text: &[char], key: &[char]) -> Vec<Range<usize>> {
    let is_part = |it: &char| it.is_alphanumeric();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let len = text[at..].iter().take_while(|it| is_part(it)).count();
        let word = &text[at..at + len];
        let is_odd = word.iter().any(|it| it.is_ascii_digit() || it.is_uppercase());
        if LAST.contains(&len) && is_odd && key.ends_with(word) {
            found.push(at..at + len);
        }
        at += len.max(1);
    }
    found
}
