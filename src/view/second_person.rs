//! Changes the words of notes to the model for the user, who reads them in the chat: "the user" becomes "you".

use std::borrow::Cow;

/// Beginnings of lines in notes to the model, and the beginnings that replace them for the user.
const BEGINNINGS: [(&str, &str); 19] = [
    ("The user accepted ", "You accepted "),
    ("The user rejected ", "You rejected "),
    ("The user closed ", "You closed "),
    ("The user did not decide on ", "You did not decide on "),
    ("The user still decides on ", "You still decide on "),
    ("The user has told w", "You told w"),
    ("The user stopped w", "You stopped w"),
    ("The user took back ", "You took back "),
    ("The user decided on your changes to ", "You decided on the changes to "),
    (
        "The user refused the project's instructions, and says: ",
        "You refused the project's instructions: ",
    ),
    (
        "The user does not let the project's rules allow calls, and says: ",
        "You do not let the project's rules allow calls: ",
    ),
    (
        "The user handed you the to-do list that another conversation left. It is yours now:",
        "You handed this conversation the to-do list that another one left:",
    ),
    ("The user removed the project's to-do list.", "You removed the project's to-do list."),
    (
        "These files changed while your command ran: ",
        "These files changed while the model's command ran: ",
    ),
    (
        "These files changed while your call ran: ",
        "These files changed while the model's call ran: ",
    ),
    ("The user's reason: ", "Your reason: "),
    ("The user's reason for line", "Your reason for line"),
    ("A formatter or an autocommand of the user's ", "A formatter or an autocommand of yours "),
    ("Its buffer holds the user's own unsaved text", "Its buffer holds your own unsaved text"),
];

/// Ends of lines in notes to the model, and the ends that replace them for the user.
const ENDS: [(&str, &str); 5] = [
    (" Read them again before you rely on them.", " The model is told to read them again."),
    (" Read these files before you rely on their text.", " The model is told to read these files."),
    (" Read the file before you go on.", " The model is told to read the file."),
    ("; the user may still review it.", "; you may still review it."),
    ("; the user may still undo it.", "; you may still undo it."),
];

/// Changes Caliban's own sentences in a note. Quoted lines of files are not changed.
pub(super) fn worded(note: &str) -> String {
    let lines = note.split('\n').enumerate().map(|(n, line)| {
        // the first line of a verdict has the numbers of the user's decisions
        let line = if n == 0 && line.starts_with("Of ") {
            Cow::from(line.replace(" reworked by the user", " reworked by you"))
        } else {
            Cow::from(line)
        };
        let known = BEGINNINGS.iter().find_map(|(from, to)| Some((line.strip_prefix(from)?, *to)));
        let (line, beginning) = known.unwrap_or((&line, ""));
        let known = ENDS.iter().find_map(|(from, to)| Some((line.strip_suffix(from)?, *to)));
        let (line, end) = known.unwrap_or((line, ""));
        format!("{beginning}{line}{end}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Reason, Reported, Revision, outcome};
    use crate::text::Text;

    /// A verdict in the words for the user. `settled` is the file's text when the review is over.
    fn verdict(settled: &str, why: &str) -> String {
        let text = |it: &str| Text::from_lines_joined(it, true, false, false);
        let (before, after) = (text("a\nb\nc\nd"), text("A\nb\nc\nThe user accepted"));
        let part = Revision { before: &before, after: &after };
        let reason = Reason { hunks: vec![0], text: why.to_owned() };
        let reasons: Vec<Reason> = [reason].into_iter().filter(|_| !why.is_empty()).collect();
        worded(&outcome(part, Some(&text(settled))).say("a.rs", &reasons, &mut Reported::default()))
    }

    #[test]
    fn a_verdict_addresses_the_user_as_you() {
        expect_test::expect![[r#"
            You accepted 2 changes in a.rs.
            --
            You rejected 2 changes in a.rs: they are undone.
            Your reason for line 1: no
            --
            Of 2 changes in a.rs: 1 accepted, 1 reworked by you.
            line 1, reworked, now reads:
            AA
            line 4, accepted:
            The user accepted"#]]
        .assert_eq(
            &[
                verdict("A\nb\nc\nThe user accepted", ""),
                verdict("a\nb\nc\nd", "no"),
                verdict("AA\nb\nc\nThe user accepted", ""),
            ]
            .join("\n--\n"),
        );
    }

    #[test]
    fn every_sentence_about_the_user_is_reworded() {
        for (from, to) in BEGINNINGS {
            assert_eq!(worded(&format!("x\n{from}y")), format!("x\n{to}y"));
            assert!(!to.contains("user"));
        }
        for (from, to) in ENDS {
            assert_eq!(worded(&format!("x{from}\ny")), format!("x{to}\ny"));
        }
        assert_eq!(worded("+ The user accepted it"), "+ The user accepted it");
        assert_eq!(
            worded(
                "These files changed while your command ran: a. Read them again before you rely on them."
            ),
            "These files changed while the model's command ran: a. The model is told to read them again."
        );
    }
}
