#![expect(clippy::needless_pass_by_value, reason = "an expectation is written in the call")]

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn frames<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<(String, String)>, TooLarge> {
    let mut sse = Sse::default();
    let mut frames = Vec::new();
    for piece in pieces {
        sse.push(piece, |frame| frames.push((frame.event.to_owned(), frame.data.to_owned())))?;
    }
    Ok(frames)
}

/// Compares the frames of `text`. They have to be the same if the text is cut at any place, or arrives byte by byte.
#[track_caller]
fn check(text: &[u8], expected: Expect) {
    let whole = frames([text]).unwrap();
    expected.assert_eq(
        &whole
            .iter()
            .fold(String::new(), |text, (event, data)| text + &format!("{event}: {data:?}\n")),
    );
    for at in 0..=text.len() {
        assert_eq!(frames([&text[..at], &text[at..]]).unwrap(), whole, "cut at {at}");
    }
    assert_eq!(frames(text.chunks(1)).unwrap(), whole);
}

#[test]
fn events_are_separated_correctly_under_any_line_end() {
    check(
        b"data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\r\ndata: e\r\n\n",
        expect![[r#"
            : "a"
            : "b"
            : "c"
            : "d"
            : "e"
        "#]],
    );
}

#[test]
fn the_data_lines_of_an_event_are_joined_under_any_line_end() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["event: e", "data: a", "data: b", "", ""].join(end);
        check(
            text.as_bytes(),
            expect![[r#"
                e: "a\nb"
            "#]],
        );
    }
}

#[test]
fn event_and_data_fields_are_read_and_other_fields_ignored() {
    check(
        "\u{feff}event: ping\ndata:x\ndata:  y\ndata\nid: 7\nretry: 10\nother: z\n: note\n\ndata: é\u{2028}\n\n".as_bytes(),
        expect![[r#"
            ping: "x\n y\n"
            : "é\u{2028}"
        "#]],
    );
}

#[test]
fn events_without_data_or_without_a_blank_line_after_them_are_dropped() {
    check(
        b": only\n\nevent: gone\n\ndata: kept\n\ndata: cut\n",
        expect![[r#"
        : "kept"
    "#]],
    );
}

#[test]
fn invalid_utf_8_is_replaced_by_a_replacement_character() {
    check(
        b"data: a\xFFb\n\n",
        expect![[r#"
        : "a�b"
    "#]],
    );
}

#[test]
fn an_event_has_a_size_limit() {
    let half = vec![b'x'; LIMIT / 2 + 1];
    assert_eq!(frames([&b"data: "[..], &half, &half]), Err(TooLarge));
    assert_eq!(frames([&b"data:"[..], &half, b"\ndata:", &half, b"\n"]), Err(TooLarge));
    let whole = [&b"data:"[..], &half, b"\n\n"].concat();
    assert_eq!(frames([&whole[..], &whole, &whole]).map(|frames| frames.len()), Ok(3));
}

proptest! {
    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut(text in "[ad:t \\r\\n\u{feff}é]{0,60}", cuts in prop::collection::vec(1usize..9, 0..40)) {
        let bytes = text.as_bytes();
        let mut pieces = Vec::new();
        let mut rest = bytes;
        for cut in cuts {
            let (piece, tail) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            rest = tail;
        }
        pieces.push(rest);
        prop_assert_eq!(frames(pieces), frames([bytes]));
    }
}
