//! The first and the last messages of a session on disk, for the preview of a picker.

use super::Project;
use crate::event::SessionId;
use crate::message::{Block, Message, Role};

/// The most lines of one message, and the most characters of one line.
const LINES: usize = 12;
const LONG: usize = 400;

/// The sign before each line of the user's messages.
const USER: &str = "> ";

impl Project {
    /// The user's first message, the user's last one, and the model's last words. If the session cannot be read, the
    /// reason.
    pub fn peek(&self, id: &SessionId) -> Vec<String> {
        match self.read_but_outputs(id) {
            Ok((session, _)) => lines(&session.messages),
            Err(unavailable) => vec![unavailable.say(&id.0)],
        }
    }
}

fn lines(messages: &[Message]) -> Vec<String> {
    let said: Vec<(Role, String)> = messages
        .iter()
        .map(|it| (it.role, text(it)))
        .filter(|it| !it.1.trim().is_empty())
        .collect();
    let first = said.iter().position(|it| it.0 == Role::User);
    let last = said.iter().rposition(|it| it.0 == Role::User);
    let answer = said.iter().rposition(|it| it.0 == Role::Assistant);
    let mut shown = Vec::new();
    let mut before = None;
    for at in [first, last.filter(|it| Some(*it) > first), answer.filter(|it| Some(*it) > last)] {
        let Some(at) = at else { continue };
        if before.is_some_and(|it| it + 1 < at) {
            shown.extend(["…".to_owned(), String::new()]);
        }
        let sign = if said[at].0 == Role::User { USER } else { "" };
        add(&mut shown, sign, &said[at].1);
        before = Some(at);
    }
    shown.pop();
    shown
}

/// Adds the beginning of a message, and an empty line.
fn add(shown: &mut Vec<String>, sign: &str, text: &str) {
    let mut lines = text.trim().lines();
    let begin = lines.by_ref().take(LINES);
    shown.extend(begin.map(|it| format!("{sign}{}", it.chars().take(LONG).collect::<String>())));
    if lines.next().is_some() {
        shown.push(format!("{sign}…"));
    }
    shown.push(String::new());
}

fn text(message: &Message) -> String {
    let texts = message.blocks.iter().filter_map(|it| match it {
        Block::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn message(role: Role, text: &str) -> Message {
        let blocks = vec![Block::Text { text: text.to_owned() }];
        Message { role, by: String::new(), turn: None, blocks }
    }

    #[test]
    fn a_preview_has_the_first_question_the_last_one_and_the_last_answer() {
        let long = (1..=14).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
        let all = [
            message(Role::User, "One\nquestion"),
            message(Role::Assistant, "An answer"),
            message(Role::Assistant, " "),
            message(Role::User, "Another"),
            message(Role::Assistant, "I look."),
            message(Role::Assistant, &long),
        ];
        expect![[r#"
            > One
            > question

            …

            > Another

            …

            1
            2
            3
            4
            5
            6
            7
            8
            9
            10
            11
            12
            …"#]]
        .assert_eq(&lines(&all).join("\n"));
        assert_eq!(lines(&all[..2]), ["> One", "> question", "", "An answer"]);
        assert!(lines(&[]).is_empty());
    }
}
