//! Finds the value of a word, if the value is clear from the word's text.

use super::Word;

/// Characters that have no special meaning in a word without quotes.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./:=@%+,^~#!]".contains(c)
}

/// A part of a word.
pub(super) enum Part {
    /// Text in quotes: it is never a pattern.
    Quoted(String),
    Bare(String),
    Open,
}

/// Joins the parts of a word. `source` is the word as it is written.
pub(super) fn joined(parts: Vec<Part>, source: &str) -> Word {
    let (mut value, mut is_pattern, mut is_braced) = (String::new(), false, false);
    for part in parts {
        match part {
            Part::Open => return Word::Open(source.to_owned()),
            Part::Quoted(text) => value.push_str(&text),
            Part::Bare(text) => {
                let Some(bare) = bare(&text) else { return Word::Open(source.to_owned()) };
                is_pattern |= bare.is_pattern;
                is_braced |= bare.is_braced;
                value.push_str(&bare.value);
            }
        }
    }
    if is_braced && value != "{}" {
        return Word::Open(source.to_owned());
    }
    if !is_pattern {
        return Word::Fixed(value);
    }
    // a pattern may match a file whose name reads as an option, or a hidden file such as `.env`
    let is_hidden = value.split('/').any(|it| it.starts_with('.') && it != ".");
    let is_safe = value.starts_with(|c: char| !"-*?[".contains(c)) && !is_hidden;
    if is_safe { Word::Glob(value) } else { Word::Open(source.to_owned()) }
}

struct Bare {
    value: String,
    is_pattern: bool,
    is_braced: bool,
}

/// The value of text without quotes, with its backslashes resolved. `None` if a character may have a special meaning.
fn bare(text: &str) -> Option<Bare> {
    let mut bare = Bare { value: String::new(), is_pattern: false, is_braced: false };
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                '\n' => (),
                it => bare.value.push(it),
            },
            '*' | '?' | '[' => {
                bare.is_pattern = true;
                bare.value.push(c);
            }
            '{' | '}' => {
                bare.is_braced = true;
                bare.value.push(c);
            }
            it if is_plain(it) => bare.value.push(it),
            _ => return None,
        }
    }
    Some(bare)
}

/// The value of text between double quotes.
pub(super) fn in_double_quotes(text: &str) -> String {
    let mut value = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        match chars.peek() {
            Some('\n') => drop(chars.next()),
            Some(&it @ ('$' | '`' | '"' | '\\')) => {
                chars.next();
                value.push(it);
            }
            _ => value.push('\\'),
        }
    }
    value
}
