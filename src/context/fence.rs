//! Tags around texts in requests. No text can close its own tag. The tag around a stranger's text holds the session's
//! mark, a random word. The mark is removed from the text, so the text can forge neither an end tag nor a new tag.

use crate::message::Origin;
use std::collections::VecDeque;

/// A text in a tag. If the text contains the end tag, the name gets a number that makes it unique.
pub fn tagged(name: &str, attributes: &str, text: &str) -> String {
    let numbered = (2..=u32::MAX).map(|n| format!("{name}-{n}"));
    let name = std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|it| !text.contains(&format!("</{it}>")))
        .unwrap_or_default();
    format!("<{name}{attributes}>\n{text}\n</{name}>")
}

/// A stranger's text in a tag with the session's mark.
pub fn fenced(mark: &str, from: &Origin, text: &str) -> String {
    let from = attribute(&unmarked(mark, &from.to_string()));
    let text = unmarked(mark, text);
    tagged(&name(mark), &format!(" from=\"{from}\""), &text)
}

/// The name of the tag around a stranger's text. A session that an older version saved gets its mark when it is opened.
pub fn name(mark: &str) -> String {
    if mark.is_empty() { "untrusted".to_owned() } else { format!("untrusted-{mark}") }
}

/// A text as the value of an attribute in double quotes, on one line.
pub fn attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace(['\n', '\r'], " ")
}

/// Replaces the mark in a text. Spellings that a model may take for the mark are replaced too: those in capitals or
/// wide letters, and those with characters other than letters and digits in between.
fn unmarked(mark: &str, text: &str) -> String {
    let length = mark.chars().count();
    let (mut clean, mut copied) = (String::new(), 0);
    let mut last: VecDeque<(usize, char)> = VecDeque::with_capacity(length + 1);
    for (at, c) in text.char_indices() {
        let Some(letter) = plain(c) else { continue };
        last.push_back((at, letter));
        if last.len() > length {
            last.pop_front();
        }
        if length > 0 && last.iter().map(|it| it.1).eq(mark.chars()) {
            let from = last.front().map_or(at, |it| it.0);
            clean.push_str(&text[copied..from]);
            clean.push_str("[mark removed]");
            copied = at + c.len_utf8();
            last.clear();
        }
    }
    clean + &text[copied..]
}

/// A letter or digit in its usual width, ASCII letters in lower case; `None` for any other character.
fn plain(c: char) -> Option<char> {
    let wide = u32::from(c).checked_sub(0xfee0).and_then(char::from_u32);
    let c = wide.filter(char::is_ascii_alphanumeric).unwrap_or(c);
    c.is_alphanumeric().then(|| c.to_ascii_lowercase())
}

#[cfg(test)]
mod tests;
