#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use super::*;
use expect_test::expect;
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;

const SMALL: Limits = Limits { lines: 10, bytes: 60, wide: 20, head: 20 };

#[test]
fn escape_sequences_and_control_characters_are_removed() {
    for (dirty, wanted) in [
        ("\u{1b}[1;31mred\u{1b}[0m", "red"),
        ("a\u{1b}]0;title\u{7}b\u{1b}]8;;http://x\u{1b}\\c", "abc"),
        ("\u{1b}(Bx\u{1b}=y", "xy"),
        ("a\u{9b}31mb\u{85}c\0d\u{8}\te\u{7f}", "abcd\te"),
        ("10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
        ("ends\r", "ends"),
        ("\u{1b}]never ends\nnext", "\nnext"),
        ("\u{1b}", ""),
        ("naïve 日本語", "naïve 日本語"),
    ] {
        assert_eq!(clean(dirty), wanted, "{dirty:?}");
    }
}

#[test]
fn a_long_output_is_cut_in_the_middle_and_kept_whole_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let text: String = (1..=100).map(|n| format!("{n} line\n")).collect::<Vec<_>>().concat();
    let said = clip(dir.path(), SMALL, &text);
    let files: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(std::fs::read_to_string(&files[0]).unwrap(), text);
    assert_eq!(std::fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    expect![[r#"
        1 line
        [lines 2-94 of 100 left out; the whole output is in FILE: read it with offset, or grep it]
        95 line
        96 line
        97 line
        98 line
        99 line
        100 line"#]]
    .assert_eq(&said.replace(&files[0].display().to_string(), "FILE"));
    assert_eq!(clip(dir.path(), SMALL, &text), said, "named by content");
}

#[test]
fn long_lines_of_an_output_are_cut() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits { bytes: 200, ..SMALL };
    let said = clip(dir.path(), limits, &format!("{}\nb", "é".repeat(30)));
    let note = said.lines().last().unwrap();
    assert!(note.starts_with("[long lines cut, 2 lines in all; the whole output is in "), "{note}");
    assert!(said.starts_with(&format!("{}… [10 more characters]\nb\n", "é".repeat(20))), "{said}");
}

#[test]
fn an_output_is_shortened_even_if_its_file_cannot_be_written() {
    let said = clip(Path::new("/dev/null/x"), SMALL, &"line\n".repeat(50));
    expect![[r#"
        line
        line
        [lines 3-42 of 50 left out]
        line
        line
        line
        line
        line
        line
        line
        line"#]]
    .assert_eq(&said);
}

proptest! {
    #[test]
    fn a_cleaned_text_has_no_control_characters_and_as_many_lines_as_before(text in "([a\u{1b}\\[\\]0-9;m\r\n\t\u{7}\u{9b}\u{9d}é]|\\PC){0,40}") {
        let cleaned = clean(&text);
        prop_assert!(!cleaned.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
        prop_assert_eq!(clean(&cleaned), cleaned.as_str());
        prop_assert_eq!(cleaned.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn an_output_within_the_limits_is_unchanged(lines in proptest::collection::vec("[a-z]{0,5}", 0..8)) {
        let text = lines.join("\n");
        let said = clip(Path::new("/dev/null/x"), SMALL, &text);
        let shown: Vec<&str> = text.lines().collect();
        prop_assert_eq!(said, shown.join("\n"));
    }
}
