//! A conversation's title: one short line without control characters.

use crate::text::escape::{self, Escape};
use crate::text::unseen;

/// The greatest width of a title on the screen, in cells, so that it fits into a line of a picker together with the
/// session's name, age and size.
const CELLS: usize = 60;

/// The first line of a text that is not blank, without terminal sequences and invisible characters.
pub fn title(text: &str) -> String {
    text.lines().map(one_line).find(|it| !it.is_empty()).unwrap_or_default()
}

fn one_line(line: &str) -> String {
    let mut plain = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if escape::skip(c, &mut chars) == Escape::None {
            plain.push(if c.is_control() || unseen::is_hidden(c) { ' ' } else { c });
        }
    }
    let words: Vec<&str> = plain.split_whitespace().collect();
    clip(&words.join(" "))
}

fn clip(line: &str) -> String {
    let mut width = 0;
    for (at, c) in line.char_indices() {
        width += cells(c);
        // the last cell is left for the ellipsis, unless nothing follows
        if width > CELLS || (width == CELLS && at + c.len_utf8() < line.len()) {
            return format!("{}…", line[..at].trim_end());
        }
    }
    line.to_owned()
}

/// The width of a text in one line.
pub fn width(line: &str) -> usize {
    line.chars().map(cells).sum()
}

/// The width of a character. Wide scripts and emoji count as two cells. If a terminal shows one of them in a single
/// cell, the title is only a little shorter than possible.
fn cells(c: char) -> usize {
    if c >= '\u{1100}' && !('\u{2000}'..='\u{206f}').contains(&c) { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_title_is_the_first_line_that_is_not_blank() {
        let cases = [
            ("fix the parser\nand the tests", "fix the parser"),
            ("\n \n  second\tline  here", "second line here"),
            ("\u{1b}[31mred\u{1b}[0m \u{1b}]0;owned\u{7}alert", "red alert"),
            ("left\u{202e}right\u{200b}", "left right"),
            ("a\u{7}b\rc", "a b c"),
            ("", ""),
            ("\u{1b}[2J", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(title(text), expected, "{text:?}");
        }
        assert_eq!(title(&"x".repeat(60)), "x".repeat(60));
        assert_eq!(title(&"x".repeat(61)), format!("{}…", "x".repeat(59)));
        assert_eq!(title(&"語".repeat(31)), format!("{}…", "語".repeat(29)));
    }

    proptest! {
        #[test]
        fn a_title_fits_its_width_and_its_own_title_is_the_same(text in "\\PC*|.*") {
            let made = title(&text);
            prop_assert!(made.chars().map(cells).sum::<usize>() <= CELLS + 1);
            prop_assert!(!made.chars().any(char::is_control));
            prop_assert_eq!(title(&made), made);
        }
    }
}
