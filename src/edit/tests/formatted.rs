//! A formatter's changes are not the user's.

use super::super::*;
use expect_test::expect;
use proptest::prelude::*;

fn part(before: &str, after: &str) -> Part {
    Part {
        call: CallId("e1".into()),
        before: Text::new(before),
        after: Text::new(after),
        note: String::new(),
    }
}

/// What was settled on, the texts before and after each formatter, and the fates of two hunks.
type Case = (&'static str, &'static [(&'static str, &'static str)], [Fate; 2]);

/// The fates of the hunks that `before` and `after` differ by.
fn fates(before: &str, after: &str, settled: &str, formattings: &[(&str, &str)]) -> Vec<Fate> {
    let part = part(before, after);
    let seen: Vec<Formatting> = formattings
        .iter()
        .map(|(before, after)| Formatting { before: Text::new(*before), after: Text::new(*after) })
        .collect();
    let outcome = outcome_among(&[&part], 0, Some(&Text::new(settled)), &seen);
    outcome.hunks.iter().map(|it| it.fate).collect()
}

/// One formatter at work.
const RAN: (&str, &str) = ("a\nB( x )\nc\nD\ne\n", "a\nB('x')\nc\nD\ne\n");

#[test]
fn what_a_formatter_was_seen_to_change_is_formatted() {
    use Fate::{Formatted, Kept, Reworked, Undone};
    let (before, after) = ("a\nb\nc\nd\ne\n", "a\nB( x )\nc\nD\ne\n");
    let cases: [Case; 8] = [
        ("a\nB('x')\nc\nD\ne\n", &[RAN], [Formatted, Kept]),
        // nobody saw a formatter
        ("a\nB('x')\nc\nD\ne\n", &[], [Reworked, Kept]),
        // the user typed behind it, and before it
        ("a\nB('y')\nc\nD\ne\n", &[RAN], [Reworked, Kept]),
        (
            "a\nB('y')\nc\nD\ne\n",
            &[("a\nB( y )\nc\nD\ne\n", "a\nB('y')\nc\nD\ne\n")],
            [Reworked, Kept],
        ),
        // it was undone
        ("a\nB( x )\nc\nD\ne\n", &[RAN], [Kept, Kept]),
        ("a\nb\nc\nD\ne\n", &[RAN], [Undone, Kept]),
        // two runs, and the user's own work elsewhere between them
        (
            "mine\na\nB('x')\nc\nD;\ne\n",
            &[RAN, ("mine\na\nB('x')\nc\nD\ne\n", "mine\na\nB('x')\nc\nD;\ne\n")],
            [Formatted, Formatted],
        ),
        // one formatted, one reworked
        ("a\nB('x')\nc\nmine\ne\n", &[RAN], [Formatted, Reworked]),
    ];
    for (settled, formattings, wanted) in cases {
        assert_eq!(fates(before, after, settled, formattings), wanted, "{settled}");
    }
}

#[test]
fn other_blanks_are_formatting_where_more_than_blanks_was_proposed() {
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
fn the_model_hears_that_it_was_formatted() {
    let part = part("a\nb\nc\n", "a\nf(x,y)\nc\n");
    let settled = Text::new("a\nf(x, y)\nc\n");
    let said =
        outcome_among(&[&part], 0, Some(&settled), &[]).say("a.rs", &[], &mut Told::default());
    expect![[r#"
        Of the change in a.rs: 1 accepted and formatted.
        line 2, accepted and formatted, now reads:
        f(x, y)"#]]
    .assert_eq(&said);
}

proptest! {
    /// Whatever a formatter makes of an accepted proposal, no hunk of it is told as the user's work.
    #[test]
    fn a_formatter_alone_is_never_the_user(
        lines in prop::collection::vec("[abc]{1,2}", 1..8),
        new in prop::collection::vec("[abcX]{1,2}", 1..8),
        formatted in prop::collection::vec("[abcXY]{1,2}", 1..8),
    ) {
        let [before, after, settled] = [lines, new, formatted].map(|it| it.join("\n") + "\n");
        let heard = fates(&before, &after, &settled, &[(&after, &settled)]);
        prop_assert!(!heard.contains(&Fate::Reworked), "{:?}", heard);
    }
}
