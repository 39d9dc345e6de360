//! Tests how the user's decisions on a proposal are divided among the calls whose changes it has.

use super::*;
use Decision::{Accepted, Left, Part as InPart, Rejected, Reverted, Reworked, Thrown};

#[test]
fn each_call_of_a_proposal_gets_the_decisions_of_its_own_changes() {
    let lines = "a\nb\nc\nd\ne\n";
    let apart = [part(lines, "A\nb\nc\nd\ne\n"), part("A\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n")];
    let said = [Accepted, Rejected, InPart];
    assert_eq!(decisions(&apart, 0, &said), [Some(Accepted)]);
    assert_eq!(decisions(&apart, 1, &said), [Some(Rejected), Some(InPart)]);
    let stacked = [part(lines, "A\nb\nc\nd\ne\n"), part("A\nb\nc\nd\ne\n", "AA\nb\nc\nd\ne\n")];
    for at in [0, 1] {
        assert_eq!(decisions(&stacked, at, &[Reworked]), [Some(Reworked)]);
    }
    let joined = [part(lines, "A\nb\nC\nd\ne\n"), part("A\nb\nC\nd\ne\n", "A\nB\nC\nd\ne\n")];
    assert_eq!(decisions(&joined, 0, &[InPart]), [Some(InPart), Some(InPart)]);
    let reverted = [part(lines, "A\nb\nc\nd\ne\n"), part("A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n")];
    assert_eq!(decisions(&reverted, 0, &[Accepted]), [None]);
    // if the number of decisions is not the number of changes, the decisions are ignored
    assert_eq!(decisions(&apart, 0, &[Accepted]), []);
    assert_eq!(decisions(&apart, 0, &[]), []);
    // a changed final newline counts as one change
    assert_eq!(decisions(&[part("a\nb", "a\nb\n")], 0, &[Rejected]), [Some(Rejected)]);
}

/// What the model hears if the user's decision on the only hunk was this one, and the settled text is another.
fn told(decision: Decision, settled: &str) -> String {
    let (part, settled) = (part("a\nb\nc\n", "a\nB\nB2\nc\n"), Text::new(settled));
    let mut outcome = outcome(part, Some(&settled));
    follow(&mut outcome, part, Some(&settled), &[Some(decision)]);
    outcome.say("f", &[], &mut Reported::default())
}

#[test]
fn a_recorded_decision_sets_the_outcome_even_if_the_text_was_edited_later() {
    let cases = [
        told(Accepted, "a\nB\nB2\nc\n"),
        told(Accepted, "a\nB mine\nB2\nc\n"),
        told(Reworked, "a\nB mine\nB2\nc\n"),
        told(InPart, "a\nB\nc\n"),
        told(Rejected, "a\nb\nc\n"),
        told(Rejected, "a\nmine\nc\n"),
    ];
    expect![[r#"
        The user accepted the change in f.
        Of the change in f: 1 accepted.
        line 2, accepted, then edited, now reads:
        B mine
        B2
        Of the change in f: 1 reworked by the user.
        line 2, reworked, now reads:
        B mine
        B2
        Of the change in f: 1 accepted in part.
        line 2, accepted in part, now reads:
        B
        The user rejected the change in f: it is undone.
        Of the change in f: 1 rejected and undone.
        line 2, rejected, then edited, now reads:
        mine"#]]
    .assert_eq(&cases.join("\n"));
}

#[test]
fn a_text_that_contradicts_the_decision_is_told() {
    let cases = [
        told(Accepted, "a\nb\nc\n"),
        told(Rejected, "a\nB\nB2\nc\n"),
        told(Thrown, "a\nb\nc\n"),
        told(Thrown, "a\nB\nB2\nc\n"),
        told(Thrown, "a\nmine\nc\n"),
        told(Reverted, "a\nb\nc\n"),
        told(Reverted, "a\nB\nB2\nc\n"),
        told(Left, "a\nb\nc\n"),
        told(Left, "a\nB\nB2\nc\n"),
        told(Left, "a\nmine\nc\n"),
    ];
    expect![[r#"
        Of the change in f: 1 accepted, but not in the file any more.
        line 2, accepted, but not in the file any more, reads as before:
        b
        Of the change in f: 1 rejected, but in the file again.
        line 2, rejected, but in the file again:
        B
        B2
        The change in f was undone on disk: it is not in the file.
        Of the change in f: 1 undone on disk, but in the file again.
        line 2, undone on disk, but in the file again:
        B
        B2
        Of the change in f: 1 undone on disk.
        line 2, undone on disk, now reads:
        mine
        A formatter or an autocommand of the user's took back the change in f as the file was written: it is not in the file.
        Of the change in f: 1 taken back by a formatter, but in the file again.
        line 2, taken back by a formatter, but in the file again:
        B
        B2
        The user did not decide on the change in f: it is not in the file.
        The user did not decide on the change in f: it is in the file.
        Of the change in f: 1 not decided on.
        line 2, not decided on, now reads:
        mine"#]]
    .assert_eq(&cases.join("\n"));
}

/// What the model hears of the reasons for rejections of changes of a proposal with two calls.
fn heard(settled: &str, given: &[(&[usize], &str)]) -> String {
    let lines = "a\nb\nc\nd\ne\n";
    let parts = [part(lines, "A\nb\nc\nd\ne\n"), part("A\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n")];
    let settled = Text::new(settled);
    let told = |at: usize| {
        let reasons = reasons(&parts, at, given.iter().copied());
        let outcome = outcome_among(&parts, at, Some(&settled), &[]);
        outcome.with_reasons(format!("{at}."), &reasons)
    };
    [told(0), told(1)].join("\n")
}

#[test]
fn a_reason_is_told_with_the_call_and_the_lines_of_the_rejected_hunks() {
    let none = "a\nb\nc\nd\ne\n";
    // one reason for all that was rejected in the call
    expect![[r#"
        0.
        The user's reason: why
        1.
        The user's reason: why"#]]
    .assert_eq(&heard(none, &[(&[0], "why"), (&[1], "why"), (&[2], "why")]));
    expect![[r#"
        0.
        1.
        The user's reason for line 3: why
        The user's reason for line 5: what for"#]]
    .assert_eq(&heard(none, &[(&[1], "why"), (&[2], "what for")]));
    // the other hunk was rejected without a reason, or accepted
    expect![[r#"
        0.
        1.
        The user's reason for line 3: why"#]]
    .assert_eq(&heard(none, &[(&[1], "why")]));
    expect![[r#"
        0.
        1.
        The user's reason: why"#]]
    .assert_eq(&heard("a\nb\nc\nd\nE\n", &[(&[1], "why")]));
    // two reasons for both hunks
    expect![[r#"
        0.
        1.
        The user's reason for lines 3 and 5: why
        The user's reason for line 5: what for"#]]
    .assert_eq(&heard(none, &[(&[1], "why"), (&[2], "why"), (&[2], "what for")]));
    // a rejection that the user has undone
    expect![[r#"
        0.
        1."#]]
    .assert_eq(&heard("A\nb\nC\nd\nE\n", &[(&[0, 1, 2], "why")]));
    // the record of an older Caliban does not know the changes
    expect![[r#"
        0.
        The user's reason: why
        1.
        The user's reason: why"#]]
    .assert_eq(&heard(none, &[(&[], "why")]));
}
