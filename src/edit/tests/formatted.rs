//! Tests that a formatter's changes do not count as changes by the user.

use super::super::*;
use super::part;
use crate::text::Text;
use expect_test::expect;
use proptest::prelude::*;

/// The settled text, the texts before and after each formatter, and the fates of two hunks.
type Case = (&'static str, &'static [(&'static str, &'static str)], [Fate; 2]);

/// The fates of the hunks between `before` and `after`.
fn fates(before: &str, after: &str, settled: &str, formattings: &[(&str, &str)]) -> Vec<Fate> {
    let part = part(before, after);
    let seen: Vec<Formatting> = formattings
        .iter()
        .map(|(before, after)| Formatting { before: Text::new(*before), after: Text::new(*after) })
        .collect();
    let outcome = outcome_among(&[part], 0, Some(&Text::new(settled)), &seen);
    outcome.hunks.iter().map(|it| it.fate).collect()
}

/// A formatter's run: the text before and after it.
const RAN: (&str, &str) = ("a\nB( x )\nc\nD\ne\n", "a\nB('x')\nc\nD\ne\n");

#[test]
fn hunks_that_a_formatter_changed_count_as_formatted() {
    use Fate::{Formatted, Kept, Reworked, Undone};
    let (before, after) = ("a\nb\nc\nd\ne\n", "a\nB( x )\nc\nD\ne\n");
    let cases: [Case; 8] = [
        ("a\nB('x')\nc\nD\ne\n", &[RAN], [Formatted, Kept]),
        // the editor has seen no formatter
        ("a\nB('x')\nc\nD\ne\n", &[], [Reworked, Kept]),
        // the user typed after the formatter ran, or before it ran
        ("a\nB('y')\nc\nD\ne\n", &[RAN], [Reworked, Kept]),
        (
            "a\nB('y')\nc\nD\ne\n",
            &[("a\nB( y )\nc\nD\ne\n", "a\nB('y')\nc\nD\ne\n")],
            [Reworked, Kept],
        ),
        // the formatting was undone
        ("a\nB( x )\nc\nD\ne\n", &[RAN], [Kept, Kept]),
        ("a\nb\nc\nD\ne\n", &[RAN], [Undone, Kept]),
        // two runs, with the user's own change elsewhere between them
        (
            "mine\na\nB('x')\nc\nD;\ne\n",
            &[RAN, ("mine\na\nB('x')\nc\nD\ne\n", "mine\na\nB('x')\nc\nD;\ne\n")],
            [Formatted, Formatted],
        ),
        // one hunk was formatted, the other reworked
        ("a\nB('x')\nc\nmine\ne\n", &[RAN], [Formatted, Reworked]),
    ];
    for (settled, formattings, wanted) in cases {
        assert_eq!(fates(before, after, settled, formattings), wanted, "{settled}");
    }
}

#[test]
fn changed_blanks_count_as_formatting_unless_only_blanks_were_proposed() {
    use Fate::{Formatted, Reworked};
    let cases = [
        ("a\nb\nc\n", "a\nf(x,y)\nc\n", "a\n  f(x, y)\nc\n", Formatted),
        ("a\nb\nc\n", "a\nf(x,y)\nc\n", "a\nf(\n  x,\n  y\n)\nc\n", Formatted),
        ("a\nb\nc\n", "a\nf(x,y)\nc\n", "a\nf(y,x)\nc\n", Reworked),
        ("a\nb\nc\n", "a\n  b\nc\n", "a\n    b\nc\n", Reworked),
    ];
    for (before, after, settled, fate) in cases {
        assert_eq!(fates(before, after, settled, &[]), [fate], "{settled}");
    }
}

#[test]
fn a_verdict_says_that_an_accepted_change_was_formatted() {
    let part = part("a\nb\nc\n", "a\nf(x,y)\nc\n");
    let settled = Text::new("a\nf(x, y)\nc\n");
    let said =
        outcome_among(&[part], 0, Some(&settled), &[]).say("a.rs", &[], &mut Reported::default());
    expect![[r#"
        Of the change in a.rs: 1 accepted and formatted.
        line 2, accepted and formatted, now reads:
        f(x, y)"#]]
    .assert_eq(&said);
}

/// Two edits of a file, each formatted as it was written.
#[test]
fn a_later_edit_of_formatted_lines_counts_as_the_models() {
    use Fate::{Formatted, Kept, Superseded};
    let [one, other] = [part("a\nb\nc\n", "a\nB\nc\n"), part("a\nB;\nc\n", "a\nBB\nc\n")];
    let run = |before: &str, after: &str| Formatting {
        before: Text::new(before),
        after: Text::new(after),
    };
    let ran = [run("a\nB\nc\n", "a\nB;\nc\n"), run("a\nBB\nc\n", "a\nBB;\nc\n")];
    let fates = |settled: &str| {
        let of =
            |at| outcome_among(&[one, other], at, Some(&Text::new(settled)), &ran).hunks[0].fate;
        [of(0), of(1)]
    };
    assert_eq!(fates("a\nBB;\nc\n"), [Superseded, Formatted]);
    assert_eq!(fates("a\nBB\nc\n"), [Superseded, Kept]);
}

proptest! {
    /// Whatever a formatter changes in an accepted proposal, no hunk counts as reworked by the user.
    #[test]
    fn hunks_changed_only_by_a_formatter_never_count_as_reworked_by_the_user(
        lines in prop::collection::vec("[abc]{1,2}", 1..8),
        new in prop::collection::vec("[abcX]{1,2}", 1..8),
        formatted in prop::collection::vec("[abcXY]{1,2}", 1..8),
    ) {
        let [before, after, settled] = [lines, new, formatted].map(|it| it.join("\n") + "\n");
        let heard = fates(&before, &after, &settled, &[(&after, &settled)]);
        prop_assert!(!heard.contains(&Fate::Reworked), "{:?}", heard);
    }
}
