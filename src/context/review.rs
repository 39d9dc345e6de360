//! `/review`: the diff of the uncommitted changes, of a branch or of a commit, for the model to review.

use super::diff::{self, Diff, PATIENCE, Target, said};
use crate::message::{Excerpt, ExcerptKind};
use crate::tool::Desk;
use crate::tool::git::{self, Failure};

const TASK: &str = include_str!("review.md");

/// The message to the model, its task and the diff. `rest` is what the user wrote behind `/review`. The error is a
/// sentence for the user.
pub async fn prepare(desk: &Desk, rest: &str) -> Result<(String, Vec<Excerpt>), String> {
    let (word, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    diff::check(desk).await?;
    let target = target(desk, word).await?;
    let diff = diff::of(desk, &target).await?;
    let what = target.say();
    let message = format!("Review {what}, as the skill `review` says. {}", words.trim());
    Ok((message.trim_end().to_owned(), vec![skill(), excerpt(&what, diff)]))
}

fn skill() -> Excerpt {
    Excerpt {
        path: "review".to_owned(),
        kind: ExcerptKind::Skill,
        text: TASK.to_owned(),
        ..Excerpt::default()
    }
}

fn excerpt(what: &str, Diff { text, note }: Diff) -> Excerpt {
    let (path, filetype) = (what.to_owned(), "diff".to_owned());
    Excerpt { path, filetype, text, note, ..Excerpt::default() }
}

/// The changes that a word names: a branch, or else a commit.
async fn target(desk: &Desk, word: &str) -> Result<Target, String> {
    match word {
        "" | "@diff" => return Ok(Target::Uncommitted),
        "@staged" => return Ok(Target::Staged),
        _ => (),
    }
    let unknown = || {
        format!(
            "There is no branch or commit `{word}`. `/review` alone reviews what is not committed."
        )
    };
    // Git would read it as an option or as a range.
    if word.starts_with('-') || word.contains("..") || word.contains(':') {
        return Err(unknown());
    }
    for namespace in ["heads", "remotes"] {
        let reference = format!("refs/{namespace}/{word}");
        let arguments = ["show-ref", "--verify", "--quiet", "--", &reference];
        match git::output(&desk.root, &arguments, PATIENCE).await {
            Ok(_) => return Ok(Target::Since { branch: word.to_owned(), reference }),
            Err(Failure::Refused(_)) => (),
            Err(why) => return Err(said(&why)),
        }
    }
    let commit = format!("{word}^{{commit}}");
    let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
    match git::output(&desk.root, &arguments, PATIENCE).await {
        Ok(_) => Ok(Target::Commit(word.to_owned())),
        Err(Failure::Refused(why)) if why.is_empty() => Err(unknown()),
        Err(why) => Err(said(&why)),
    }
}
