//! `/review`: the diff of the uncommitted changes, of a branch or of a commit, for the model to review.

use super::diff::{self, Diff, PATIENCE, Target, said};
use crate::message::{Excerpt, ExcerptKind};
use crate::tool::Desk;
use crate::tool::git::{self, Failure};

const TASK: &str = include_str!("review.md");

/// The message to the model, its task and the diff. `rest` is what the user wrote after `/review`, and `typed` is the
/// whole text that the user wrote. The error is a sentence for the user.
pub async fn prepare(
    desk: &Desk,
    rest: &str,
    typed: &str,
) -> Result<(String, Vec<Excerpt>), String> {
    let (word, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    diff::check(desk).await?;
    let (target, words) = match target(desk, word).await? {
        Some(target) => (target, words),
        // if the first of several words names no branch or commit, all words say what the user wants of the review
        None if !words.trim().is_empty() => (Target::Uncommitted, rest),
        None => return Err(unknown(word)),
    };
    let Diff { text, note } = diff::of(desk, &target).await?;
    let what = target.say();
    let message = format!("Review {what}, as the skill `review` says. {}", words.trim());
    let made = Excerpt { keyword: typed.to_owned(), ..Excerpt::default() };
    let (path, text_of_task) = ("review".to_owned(), TASK.to_owned());
    let task = Excerpt { path, kind: ExcerptKind::Skill, text: text_of_task, ..made.clone() };
    let diff = Excerpt { path: what, kind: ExcerptKind::Diff, text, note, ..made };
    Ok((message.trim_end().to_owned(), vec![task, diff]))
}

fn unknown(word: &str) -> String {
    format!(
        "There is no branch or commit `{word}`. `/review` alone reviews the changes that are not committed."
    )
}

/// The changes that a word stands for: those since a branch, or those of a commit if no branch has this name. `None` if
/// the word names neither.
async fn target(desk: &Desk, word: &str) -> Result<Option<Target>, String> {
    match word {
        "" | "@diff" => return Ok(Some(Target::Uncommitted)),
        "@staged" => return Ok(Some(Target::Staged)),
        _ => (),
    }
    // Git would read such a word as an option or as a range.
    if word.starts_with('-') || word.contains("..") || word.contains(':') {
        return Err(unknown(word));
    }
    for namespace in ["heads", "remotes"] {
        let reference = format!("refs/{namespace}/{word}");
        let arguments = ["show-ref", "--verify", "--quiet", "--", &reference];
        match git::output(&desk.root, &arguments, PATIENCE).await {
            Ok(_) => return Ok(Some(Target::Since { branch: word.to_owned(), reference })),
            Err(Failure::Refused(_)) => (),
            Err(why) => return Err(said(&why)),
        }
    }
    let commit = format!("{word}^{{commit}}");
    let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
    match git::output(&desk.root, &arguments, PATIENCE).await {
        Ok(_) => Ok(Some(Target::Commit(word.to_owned()))),
        Err(Failure::Refused(why)) if why.is_empty() => Ok(None),
        Err(why) => Err(said(&why)),
    }
}
