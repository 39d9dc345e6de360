//! Recognises a terminal's escape sequences: colours, cursor moves, titles, links.

use std::str::Chars;

/// The result of `skip`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// The character does not begin a sequence.
    None,
    Whole,
    /// The text ends in the middle of the sequence.
    Cut,
}

/// If `c` begins an escape sequence, skips the rest of the sequence.
pub fn skip(c: char, chars: &mut Chars<'_>) -> Escape {
    match c {
        '\u{1b}' => escape(chars),
        '\u{9b}' => control(chars),
        '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => string(chars),
        _ => Escape::None,
    }
}

fn escape(chars: &mut Chars<'_>) -> Escape {
    while next_if(chars, |c| (' '..='/').contains(&c)).is_some() {}
    match next_if(chars, |c| c != '\n') {
        Some('[') => control(chars),
        Some(']' | 'P' | 'X' | '^' | '_') => string(chars),
        None if chars.as_str().is_empty() => Escape::Cut,
        _ => Escape::Whole,
    }
}

/// Skips a control sequence up to its final byte.
fn control(chars: &mut Chars<'_>) -> Escape {
    while next_if(chars, |c| (' '..='?').contains(&c)).is_some() {}
    let cut = chars.as_str().is_empty();
    next_if(chars, |c| ('@'..='~').contains(&c));
    if cut { Escape::Cut } else { Escape::Whole }
}

/// Skips a string sequence (a title, a link) up to its terminator, or to the end of the line.
fn string(chars: &mut Chars<'_>) -> Escape {
    while let Some(c) = next_if(chars, |c| c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' => return Escape::Whole,
            '\u{1b}' if chars.as_str().is_empty() => return Escape::Cut,
            '\u{1b}' => {
                next_if(chars, |c| c == '\\');
                return Escape::Whole;
            }
            _ => {}
        }
    }
    if chars.as_str().is_empty() { Escape::Cut } else { Escape::Whole }
}

fn next_if(chars: &mut Chars<'_>, wanted: impl Fn(char) -> bool) -> Option<char> {
    let mut ahead = chars.clone();
    let c = ahead.next().filter(|c| wanted(*c))?;
    *chars = ahead;
    Some(c)
}
