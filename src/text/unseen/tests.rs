//! Tests which characters are spelt out in which kinds of text.

use super::*;

/// Characters of each kind that can hide something in a text.
const NAMED: &str = "\u{3164}\u{2800}\u{115f}\u{1160}\u{ffa0}\u{fe00}\u{fe0f}\u{e0100}\u{e01ef}\u{a0}\u{2000}\u{200a}\
    \u{202f}\u{205f}\u{3000}\u{ad}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2060}\u{2064}\u{feff}\u{61c}\u{202a}\
    \u{202e}\u{2066}\u{2069}\u{e0001}\u{e0020}\u{e007f}\u{2028}\u{2029}\u{34f}\u{180e}\u{1b}\u{7}\u{85}\u{7f}\r";

#[test]
fn invisible_characters_are_spelt_out_in_questions_and_instructions() {
    for c in NAMED.chars() {
        let text = format!("a{c}b");
        let spelt = format!("a[U+{:04X}]b", u32::from(c));
        assert_eq!(exact(&text), spelt);
        assert_eq!(spelt_out(&text), (Cow::Owned(spelt), 1));
    }
}

#[test]
fn letters_of_any_script_and_emoji_are_not_spelt_out() {
    let kept = "naïve Grüße, 日本語 привет \u{1f468}\u{200d}\u{1f469} ❤\u{fe0f} 1\u{fe0f}\u{20e3} می\u{200c}خواهم";
    assert_eq!(spelt_out(kept), (Cow::Borrowed(kept), 0));
    let ordinary = "naïve Grüße, 日本語 привет λ\tµs\n";
    assert_eq!(exact(ordinary), ordinary);
}

#[test]
fn the_transcript_keeps_prose_and_emoji_readable() {
    let marked = |text: &str| {
        let mut before = None;
        let mut out = String::new();
        for c in text.chars() {
            if is_marked(c, before) {
                spell(&mut out, c);
            } else {
                out.push(c);
            }
            before = Some(c);
        }
        out
    };
    for kept in [
        "oui\u{a0}! \u{3000}日",
        "\u{1f468}\u{200d}\u{1f469}❤\u{fe0f}",
        "क\u{94d}\u{200d}ष",
        "⠋\u{2800}⠙",
    ] {
        assert_eq!(marked(kept), kept);
    }
    assert_eq!(
        marked("a\u{202e}b\u{200b}c\u{3164}d\u{200d}e\u{fe0f}f\u{e0041}\u{1f468}\u{200d}\u{200d}"),
        "a[U+202E]b[U+200B]c[U+3164]d[U+200D]e[U+FE0F]f[U+E0041]\u{1f468}\u{200d}[U+200D]"
    );
}

#[test]
fn look_alike_letters_are_spelt_out_within_ascii_words() {
    for (text, shown) in [
        ("c\u{430}t x", "c[U+0430]t x"),
        ("curl g\u{456}thub.com", "curl g[U+0456]thub.com"),
        ("x.com\u{2044}evil", "x.com[U+2044]evil"),
        ("\u{ff4c}s \u{1d41a}b", "[U+FF4C]s [U+1D41A]b"),
        ("git commit -m 'об этом и о том'", "git commit -m 'об этом и о том'"),
        ("rm --\u{43e}ne", "rm --[U+043E]ne"),
    ] {
        assert_eq!(exact(text), shown);
    }
}

#[test]
fn no_mark_is_drawn_over_an_ascii_character_of_a_question_unless_both_are_one_letter() {
    let marks = ('\u{80}'..=char::MAX).filter(|it| is_combining_mark(*it));
    let mut count = 0;
    for mark in marks {
        for before in ['a', 'Z', '0', '-', '/', '.', ' ', '\u{2500}'] {
            let (text, shown) =
                (format!("{before}{mark}"), format!("{before}[U+{:04X}]", u32::from(mark)));
            if compose(before, mark).is_none() {
                assert_eq!(exact(&text), shown, "{text:?}");
                count += 1;
            }
        }
    }
    assert!(count > 10_000, "{count}");
    for c in ['\u{8e2}', '\u{110bd}', '\u{600}', '\u{6dd}'] {
        assert_eq!(exact(&format!("a{c}1")), format!("a[U+{:04X}]1", u32::from(c)));
    }
}

#[test]
fn accents_and_the_marks_of_scripts_that_need_them_stay_readable_in_questions() {
    for text in [
        "cafe\u{301} nai\u{308}ve Vie\u{323}\u{302}t",
        "\u{438}\u{306} \u{3b1}\u{301}",
        "\u{5e9}\u{5b8}\u{5dc}\u{5d5}\u{5b9}\u{5dd} \u{645}\u{64f}\u{62d}\u{64e}",
        "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940} \u{0e1b}\u{0e35}\u{0e48} \u{ba4}\u{bae}\u{bbf}\u{bb4}\u{bcd}",
    ] {
        assert_eq!(exact(text), text);
    }
}
