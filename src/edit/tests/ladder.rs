//! Laws of the search with tolerances (`edit::ladder`), checked against slow and simple implementations.

use super::*;
use proptest::prelude::*;

/// Four times the usual number of cases. The environment variable `PROPTEST_CASES` sets the usual number.
fn many() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: 4 * usual.cases, ..usual }
}

fn line() -> impl Strategy<Value = String> {
    let indent = prop_oneof![4 => Just(""), 2 => Just("  "), 1 => Just("\t"), 1 => Just("    ")];
    let words = prop_oneof![
        Just("a"),
        Just("b"),
        Just("}"),
        Just(""),
        Just("“a” – b"),
        Just("\"a\" - b"),
        Just("7: a"),
        Just("é…")
    ];
    let blanks = prop_oneof![6 => Just(""), 1 => Just(" "), 1 => Just("\r")];
    (indent, words, blanks).prop_map(|(indent, words, blanks)| [indent, words, blanks].concat())
}

fn block(lines: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    (proptest::collection::vec(line(), lines), any::<bool>())
        .prop_map(|(lines, ends)| if ends { lines.join("\n") + "\n" } else { lines.join("\n") })
}

/// A text with a mistake that models make.
fn mangled(text: &str, how: u8) -> String {
    let each = |change: &dyn Fn(usize, &str) -> String| {
        let body = text.strip_suffix('\n').unwrap_or(text);
        let lines: Vec<String> =
            body.split('\n').enumerate().map(|(n, line)| change(n, line)).collect();
        lines.join("\n") + if body.len() < text.len() { "\n" } else { "" }
    };
    match how {
        0 => each(&|n, line| format!("{}\t{line}", n + 40)),
        1 => each(&|_, line| line.trim_end().to_owned()),
        2 => each(&|_, line| format!("{line} ")),
        3 => each(&|_, line| {
            if line.trim().is_empty() { String::new() } else { format!("  {line}") }
        }),
        4 => each(&|_, line| line.strip_prefix("  ").unwrap_or(line).to_owned()),
        5 => text.replace(['“', '”'], "\"").replace('–', "-").replace('…', "..."),
        6 => format!("\n{text}"),
        7 => format!("{text}\n\n"),
        _ => text.to_owned(),
    }
}

/// A file, an `old` that is usually a part of it with a mistake, and a `new` that is usually similar to the `old`.
fn edit(how: std::ops::Range<u8>) -> impl Strategy<Value = (String, String, String)> {
    let parts = (block(1..9), 0usize..8, 1usize..5, how);
    (parts, block(1..4), block(1..4), 0u8..6).prop_map(
        |((file, at, count, how), other, new, way)| {
            let lines: Vec<&str> = file.split_inclusive('\n').collect();
            let at = at % lines.len().max(1);
            let part = lines[at..(at + count).min(lines.len())].concat();
            let old = if way == 0 { other } else { mangled(&part, how) };
            let new = match way {
                1 => String::new(),
                2 => format!("{old}x\n"),
                3 => old.replacen('a', "c", 1),
                4 => format!("x\n{old}"),
                _ => new,
            };
            (file, old, new)
        },
    )
}

/// A text in which all differences that the search tolerates are removed, except line numbers.
fn squashed(text: &str) -> String {
    let plain = text.replace(['“', '”'], "\"").replace('–', "-").replace('…', "...");
    plain.chars().filter(|c| !c.is_whitespace()).collect()
}

/// A text from which everything that may be a line number is removed.
fn unnumbered(text: &str) -> String {
    let bare = |line: &str| {
        let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix(['\t', ':']).unwrap_or(line).to_owned()
    };
    text.split('\n').map(bare).collect::<Vec<_>>().join("\n")
}

/// Whether `after` is `before` with one piece replaced, and the piece equals `old` apart from tolerated differences.
fn is_one_splice(before: &str, after: &str, old: &str) -> bool {
    let same = |(a, b): &(u8, u8)| a == b;
    let head = before.bytes().zip(after.bytes()).take_while(same).count();
    let tail = before.bytes().rev().zip(after.bytes().rev()).take_while(same).count();
    let wanted = [squashed(old), squashed(&unnumbered(old))];
    let cuts: Vec<usize> = (0..=before.len()).filter(|at| before.is_char_boundary(*at)).collect();
    cuts.iter().filter(|from| **from <= head).any(|from| {
        cuts.iter()
            .filter(|to| **to >= before.len() - tail && *to >= from)
            .filter(|to| *from + before.len() - **to <= after.len())
            .any(|to| wanted.contains(&squashed(&before[*from..*to])))
    })
}

/// The first line of each place where the lines of `old` occur. `same` normalises each line.
fn windows(file: &str, old: &str, same: impl Fn(&str) -> String) -> Vec<usize> {
    let split = |text: &str| -> Vec<String> {
        text.strip_suffix('\n').unwrap_or(text).split('\n').map(&same).collect()
    };
    let (file, old) = (split(file), split(old));
    (0..file.len()).filter(|at| file[*at..].starts_with(&old)).collect()
}

proptest! {
    #![proptest_config(many())]

    /// Only one piece of the file changes, and that piece equals `old` apart from tolerated differences.
    #[test]
    fn an_edit_changes_one_place_and_keeps_line_ends_and_byte_order_mark((file, old, new) in edit(0..12), dos in any::<bool>(), mark in any::<bool>()) {
        let file = if dos { file.replace('\n', "\r\n") } else { file };
        let file = if mark { format!("\u{feff}{file}") } else { file };
        let text = Text::decode(file.as_bytes()).unwrap();
        if let Ok(fit) = resolve(Some(&text), &replace(&old, &new)) {
            let after = String::from_utf8(fit.text.encode()).unwrap();
            prop_assert!(is_one_splice(&file, &after, &old), "{fit:?}");
            // a file without text has no newline style to keep
            let is_empty = file.trim_start_matches('\u{feff}').is_empty();
            let newline = if is_empty { fit.text.newline } else { text.newline };
            prop_assert_eq!((fit.text.newline, fit.text.bom), (newline, text.bom));
        }
    }

    /// If `old` is at two places, nothing is replaced. If `old` is at one place, the edit finds this place.
    #[test]
    fn an_edit_is_applied_only_if_it_matches_at_one_place((file, old, new) in edit(0..12)) {
        let text = Text::new(file.clone());
        let exact = (0..file.len()).filter(|at| file.as_bytes()[*at..].starts_with(old.as_bytes())).count();
        let bare = |line: &str| line.trim_end_matches([' ', '\t', '\r']).to_owned();
        let blank = windows(&file, &old, bare).len();
        let is_numbered = crate::edit::numbers::stripped(&old, &new).is_some();
        prop_assume!(!old.trim().is_empty() && old != new);
        let answer = resolve(Some(&text), &replace(&old, &new));
        match (exact, blank) {
            (1, _) => prop_assert!(answer.is_ok(), "{answer:?}"),
            (2.., _) => prop_assert!(matches!(answer, Err(Misfit::Ambiguous { .. })), "{answer:?}"),
            (0, _) if is_numbered => (),
            (0, 1) => prop_assert!(matches!(answer, Ok(_) | Err(Misfit::Unchanged)), "{answer:?}"),
            (0, 2..) => prop_assert!(matches!(answer, Err(Misfit::Ambiguous { .. })), "{answer:?}"),
            _ => (),
        }
    }

    /// A block that the file indents differently is found, and `new` gets the file's indentation.
    #[test]
    fn a_block_at_another_indentation_is_matched_and_its_new_text_reindented(
        (file, old, new) in edit(8..9), shift in prop_oneof![Just("  "), Just("\t"), Just("        ")],
    ) {
        let shifted = |text: &str| -> String {
            let lines = text.split('\n').map(|line| if line.trim().is_empty() { line.to_owned() } else { format!("{shift}{line}") });
            lines.collect::<Vec<_>>().join("\n")
        };
        let text = Text::new(file.clone());
        let straight = resolve(Some(&text), &replace(&old, &new));
        let bare = |line: &str| line.trim_end().replace(['“', '”'], "\"").replace('–', "-");
        let is_plain = straight.as_ref().is_ok_and(|it| it.note.is_empty())
            && windows(&file, &old, str::to_owned).len() == 1
            // an exact match may begin within a line; then the indentation is not adapted
            && file.find(&old).is_none_or(|at| at == 0 || file.as_bytes()[at - 1] == b'\n')
            && windows(&file, &shifted(&old), bare).is_empty()
            && !file.contains(&shifted(&old))
            && crate::edit::numbers::stripped(&old, &new).is_none()
            && !old.trim().is_empty();
        if !is_plain {
            return Ok(());
        }
        let answer = resolve(Some(&text), &replace(&shifted(&old), &shifted(&new)));
        let wanted = straight.unwrap().text.content;
        let squash = |text: &str| -> String { text.chars().filter(|c| *c != '\r').collect() };
        match answer {
            Ok(fit) if old.ends_with('\n') <= file.contains(&old) => {
                let lines = |text: &str| -> Vec<String> {
                    squash(text).split('\n').map(|line| line.trim_end().to_owned()).collect()
                };
                prop_assert_eq!(lines(&fit.text.content), lines(&wanted));
            }
            Ok(_) => (),
            // lines keep the file's carriage returns
            Err(Misfit::Unchanged) => prop_assert_eq!(squash(&wanted), squash(&file)),
            Err(misfit) => prop_assert!(matches!(misfit, Misfit::Ambiguous { .. }), "{misfit:?}"),
        }
    }
}
