//! Makes a picture constant: times, frames of a spinner, and the number of a test's folder differ from run to run.

use crate::kit::picture::{Look, Picture, Row};

const UNITS: [&str; 3] = ["ms", "s", "min"];

/// The picture with `N s` in place of each time. The text to the right of the time, or to its left if the time is at
/// the right edge, stays where it is.
pub(super) fn constant(picture: Picture) -> Picture {
    let mut picture = placed(picture);
    for row in &mut picture.rows {
        still(row);
        let mut from = 0;
        while let Some((start, end)) = time(row, from) {
            from = replace(row, start, end);
        }
    }
    picture
}

/// The picture with a short name in place of the folder of the test's project.
pub(super) fn placed(mut picture: Picture) -> Picture {
    for row in &mut picture.rows {
        let text: Vec<&str> = row.iter().map(|it| it.0.as_str()).collect();
        let Some(mark) = text.windows(11).position(|it| it.concat() == "caliban-it-") else {
            continue;
        };
        let start = text[..mark].iter().rposition(|it| *it == " ").map_or(0, |it| it + 1);
        let length = text[start..].iter().take_while(|it| **it != " ").count();
        let look = row[start].1;
        let name = "~/shop".chars().chain(std::iter::repeat(' ')).take(length);
        for (at, sign) in name.enumerate() {
            row[start + at] = (sign.to_string(), look);
        }
    }
    picture
}

/// Writes the first frame of a spinner.
fn still(row: &mut Row) {
    for (text, _) in row {
        if text.starts_with(|it| ('\u{2801}'..='\u{28ff}').contains(&it)) {
            "⠋".clone_into(text);
        }
    }
}

/// The first and the last cell of the next time, such as `12 ms`, at or after the cell `from`.
fn time(row: &Row, from: usize) -> Option<(usize, usize)> {
    let is_digit =
        |at: usize| row.get(at).is_some_and(|it| it.0.starts_with(|c: char| c.is_ascii_digit()));
    let mut at = from;
    while at < row.len() {
        if !is_digit(at) {
            at += 1;
            continue;
        }
        let start = at;
        while is_digit(at) || (is_digit(at + 1) && row[at].0 == ".") {
            at += 1;
        }
        let unit: String = row[at..].iter().take(5).map(|it| it.0.as_str()).collect();
        let is_unit = |it: &str| {
            let rest = unit.strip_prefix(' ').and_then(|rest| rest.strip_prefix(it));
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        if let Some(unit) = UNITS.iter().find(|it| is_unit(it)) {
            return Some((start, at + 1 + unit.len()));
        }
    }
    None
}

/// Writes `N s` into these cells. Returns the cell after it.
fn replace(row: &mut Row, start: usize, end: usize) -> usize {
    let look = row[start].1;
    let with = ["N", " ", "s"];
    let length = end - start;
    row.splice(start..end, with.iter().map(|it| ((*it).to_owned(), look)));
    let gap = gap(row, start);
    let at = gap.unwrap_or_else(|| edge(row, start + with.len()));
    let shorter = length.saturating_sub(with.len());
    let ground: Look = row[at.min(row.len() - 1)].1;
    row.splice(at..at, std::iter::repeat_n((" ".to_owned(), ground), shorter));
    start + with.len() + if gap.is_some() { shorter } else { 0 }
}

/// The blanks to the left of a text at the right edge: more than two, after other text of the same window.
fn gap(row: &Row, start: usize) -> Option<usize> {
    let mut end = start;
    while end > 0 && row[end - 1].0 != "│" {
        let blanks = row[..end].iter().rev().take_while(|it| it.0 == " ").count();
        if blanks > 2 {
            let first = end - blanks;
            let is_inside = first > 0 && row[first - 1].0 != "│";
            return is_inside.then_some(end - 1);
        }
        end -= 1;
    }
    None
}

/// The cell after the text from `start` on, where the window has blanks or ends.
fn edge(row: &Row, start: usize) -> usize {
    let mut at = start;
    while at < row.len()
        && row[at].0 != "│"
        && (row[at].0 != " " || row.get(at + 1).is_some_and(|it| it.0 != " "))
    {
        at += 1;
    }
    at
}
