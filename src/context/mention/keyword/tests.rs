use super::open::fitting;
use expect_test::{Expect, expect};

#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(text: &str, total: Option<u32>, expect: Expect) {
    let (kept, note) = fitting(text.to_owned(), "The text", total);
    assert!(text.starts_with(&kept));
    expect.assert_eq(&format!("{} bytes. {note}", kept.len()));
}

#[test]
fn a_long_text_is_cut_at_the_end_of_a_line_with_a_note_about_the_cut() {
    check("a\nb\n", None, expect!["4 bytes. "]);
    check("a\nb\n", Some(2), expect!["4 bytes. "]);
    check("a\nb", Some(2000), expect!["3 bytes. The text is cut: 2 of 2,000 lines"]);
    check(
        &"1234567\n".repeat(40_000),
        None,
        expect!["262144 bytes. The text is cut: 32,768 of 40,000 lines"],
    );
    check(
        &"123456\n".repeat(40_000),
        None,
        expect!["262143 bytes. The text is cut: 37,449 of 40,000 lines"],
    );
    check(
        &"é".repeat(200_000),
        None,
        expect!["262144 bytes. The text is cut: the first 256 kB of its line"],
    );
    check(
        &format!("x{}", "é".repeat(200_000)),
        None,
        expect!["262143 bytes. The text is cut: the first 256 kB of its line"],
    );
    check(
        &format!("a\n{}", "é".repeat(200_000)),
        None,
        expect!["2 bytes. The text is cut: 1 of 2 lines"],
    );
}
