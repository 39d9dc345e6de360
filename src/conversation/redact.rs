//! Replaces known keys in everything that a session takes in from outside: answers of tools, mentioned files, changes
//! in those files.

use crate::message::{Excerpt, ToolAnswer};
use crate::session::{Consult, Input, WorkerInput};
use crate::text::secret;

/// Replaces these keys in the texts of an input, and adds the number of replaced keys to each changed text. The user's
/// and the model's own words stay unchanged. A text that only looks like a key stays unchanged too, because the model's
/// edits have to match the text of the file.
pub(super) fn without_keys(input: &mut Input, keys: &[String]) {
    if keys.is_empty() {
        return;
    }
    match input {
        Input::Answered { answer, .. } | Input::Applied { answer, .. } => in_answer(answer, keys),
        Input::Reviewed { answers, .. } => answers.iter_mut().for_each(|it| in_answer(it, keys)),
        Input::Entered { entry, .. } => {
            let hunks = entry.diff.iter_mut().flat_map(|it| &mut it.hunks);
            hunks.flat_map(|it| &mut it.lines).for_each(|it| *it = secret::without(it, keys).0);
        }
        Input::Stop { landed } => landed.iter_mut().for_each(|it| without_keys(it, keys)),
        Input::Open { instructions: files, .. }
        | Input::Send { context: files, .. }
        | Input::ChooseSystem { instructions: files, .. }
        | Input::Instruct { files } => files.iter_mut().for_each(|it| in_excerpt(it, keys)),
        Input::Note { text }
        | Input::Consult(Consult { question: text, .. })
        | Input::Worker(WorkerInput::Noticed { text, .. }) => mark(text, keys),
        Input::Worker(WorkerInput::Ended { result, .. }) => mark(&mut result.text, keys),
        _ => (),
    }
}

fn in_answer(answer: &mut ToolAnswer, keys: &[String]) {
    mark(&mut answer.text, keys);
}

fn in_excerpt(excerpt: &mut Excerpt, keys: &[String]) {
    mark(&mut excerpt.text, keys);
}

fn mark(text: &mut String, keys: &[String]) {
    let (marked, count) = secret::without(text, keys);
    if count == 0 {
        return;
    }
    *text = marked;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&secret::told(count));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::TurnId;
    use crate::message::CallId;

    fn answer(text: &str) -> ToolAnswer {
        let (id, summary) = (CallId("c".into()), String::new());
        ToolAnswer {
            id,
            text: text.into(),
            failed: false,
            summary,
            output: None,
            images: Vec::new(),
            job_end: None,
            foreign: None,
            inquiry: None,
            fault: false,
            verdict: false,
            reversed: false,
            session: None,
            diff: Vec::new(),
            shown: None,
            changed: None,
        }
    }

    #[test]
    fn keys_in_results_and_excerpts_are_replaced_but_not_in_the_users_own_text() {
        let keys = ["key-1234".to_owned()];
        let marked = "a [secret]\n[1 secret was replaced by [secret]]";
        let mut input = Input::Stop {
            landed: vec![Input::Answered { turn: TurnId(1), answer: answer("a key-1234") }],
        };
        without_keys(&mut input, &keys);
        assert!(format!("{input:?}").contains(&format!("{marked:?}")), "{input:?}");
        let excerpt = Excerpt { path: "a".into(), text: "a key-1234".into(), ..Excerpt::default() };
        let (text, steer) = ("my key-1234".to_owned(), false);
        let mut input = Input::Send { text: text.clone(), context: vec![excerpt], steer };
        without_keys(&mut input, &keys);
        let Input::Send { text: said, context, .. } = input else { return };
        assert_eq!((said, context[0].text.as_str()), (text, marked));
        let mut input =
            Input::Applied { files: Vec::new(), answer: answer("none"), claims: Vec::new() };
        without_keys(&mut input, &keys);
        assert_eq!(
            input,
            Input::Applied { files: Vec::new(), answer: answer("none"), claims: Vec::new() }
        );
    }
}
