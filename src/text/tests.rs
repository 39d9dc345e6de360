use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use std::ops::Range;

fn check(bytes: &[u8], expect: &Expect) {
    let shown = match Text::decode(bytes) {
        Ok(text) => {
            assert_eq!(text.encode(), bytes);
            let lines: Vec<_> = text.lines().collect();
            assert_eq!(lines.len(), text.line_count());
            let bom = if text.bom { " bom" } else { "" };
            format!("{:?}{bom} eol={} {lines:?}", text.newline, text.eol())
        }
        Err(fault) => format!("{fault:?}"),
    };
    expect.assert_eq(&shown);
}

#[test]
fn bytes_are_decoded_as_in_neovim() {
    check(b"", &expect![[r#"Unix eol=true [""]"#]]);
    check(b"\n", &expect![[r#"Unix eol=true [""]"#]]);
    check(b"\r\n", &expect![[r#"Dos eol=true [""]"#]]);
    check(b"\r", &expect![[r#"Unix eol=false ["\r"]"#]]);
    check(b"\xef\xbb\xbf", &expect![[r#"Unix bom eol=true [""]"#]]);
    check(b"\xef\xbb\xbfa\r\nb\r\n", &expect![[r#"Dos bom eol=true ["a", "b"]"#]]);
    check(b"a\nb", &expect![[r#"Unix eol=false ["a", "b"]"#]]);
    check(b"a\r\nb", &expect![[r#"Dos eol=false ["a", "b"]"#]]);
    check(b"a\r\nb\r", &expect![[r#"Dos eol=false ["a", "b\r"]"#]]);
    check(b"a\r\r\n", &expect![[r#"Dos eol=true ["a\r"]"#]]);
    check(b"a\r\nb\nc\r\n", &expect![[r#"Unix eol=true ["a\r", "b", "c\r"]"#]]);
    check(b"a\0b", &expect!["Binary"]);
    check(b"ab\xff", &expect!["NotUtf8 { at: 2 }"]);
    check(b"\xff\xfea\0", &expect!["NotUtf8 { at: 0 }"]);
}

#[test]
fn the_hash_of_a_text_ignores_its_final_newline() {
    let text = Text::new("abc\n");
    assert_eq!(
        text.sha256_hex(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert_eq!(text.sha256_hex(), Text::new("abc").sha256_hex());
}

#[test]
fn a_diff_ignores_a_changed_final_newline() {
    assert_eq!(diff(&Text::new("a\nb"), &Text::new("a\nb\n")), []);
    assert_eq!(diff(&Text::new(""), &Text::new("\n")), []);
    assert_eq!(diff(&Text::new(""), &Text::new("a\n")), [Hunk { old: 0..1, new: 0..1 }]);
}

#[test]
fn two_thousand_changed_lines_that_are_not_adjacent_give_two_thousand_hunks() {
    let old = (0..20_000).map(|n| format!("line {}\n", n % 700)).collect::<Vec<_>>().concat();
    let new = (0..20_000)
        .map(|n| if n % 10 == 5 { format!("new {n}\n") } else { format!("line {}\n", n % 700) })
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(diff(&Text::new(old), &Text::new(new)).len(), 2_000);
}

fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec("[ab}]{0,2}|\r|é", 0..12)
        .prop_flat_map(|lines| ("\n|\r\n|", Just(lines)))
        .prop_map(|(end, lines)| {
            lines.iter().map(|line| format!("{line}{end}")).collect::<Vec<_>>().concat()
        })
}

fn patched(old: &Text, new: &Text, hunks: &[Hunk]) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let range = |span: &Range<u32>| span.start as usize..span.end as usize;
    let mut lines: Vec<&str> = Vec::new();
    let mut at = 0;
    for hunk in hunks {
        lines.extend(&old[at..hunk.old.start as usize]);
        lines.extend(&new[range(&hunk.new)]);
        at = hunk.old.end as usize;
    }
    lines.extend(&old[at..]);
    lines.join("\n")
}

proptest! {
    #[test]
    fn encoding_a_decoded_text_gives_the_same_bytes(text in "(\u{feff})?([a\r\né]|\r\n){0,12}") {
        let decoded = Text::decode(text.as_bytes()).unwrap();
        prop_assert_eq!(decoded.encode(), text.as_bytes());
        if decoded.content != "\n" {
            let dos = decoded.newline == Newline::Dos;
            let back =
                Text::from_lines_joined(decoded.joined(), decoded.content.ends_with('\n'), dos, decoded.bom);
            prop_assert_eq!(back, decoded);
        }
    }

    #[test]
    fn the_hunks_of_a_diff_make_the_new_text(old in texts(), new in texts()) {
        let (old, new) = (Text::new(old), Text::new(new));
        let hunks = diff(&old, &new);
        prop_assert_eq!(patched(&old, &new, &hunks), new.joined());
        for pair in hunks.windows(2) {
            prop_assert!(pair[0].old.end < pair[1].old.start);
            prop_assert!(pair[0].new.end < pair[1].new.start);
        }
    }
}

/// The test of the Lua plugin, `tests/lua/long_test.lua`, has the same text and hash.
#[test]
fn the_program_and_the_editor_compute_the_same_hash_of_a_long_text() {
    let long = Text::new("a line of text\n".repeat(10_000));
    expect!["5161a798306eecf8e9e1dc5792592a8c9206f35275756651bdf854952490aa1f"]
        .assert_eq(&long.hash_of_parts());
    let short = Text::new("a line of text\n");
    assert_eq!(short.hash_of_parts(), short.sha256_hex());
}
