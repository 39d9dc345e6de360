//! `/review`: the diff of the uncommitted changes, of a branch or of a commit, for the model to review.

use super::mention;
use crate::message::{Excerpt, ExcerptKind};
use crate::reach::Reading;
use crate::tool::Desk;
use crate::tool::git::{self, Failure};
use std::time::Duration;

const TASK: &str = include_str!("review.md");

/// How long one run of git may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most bytes of a diff.
const LIMIT: u64 = 256 * 1024;
/// Stands behind a diff that is longer.
const CUT: &str = "the diff is cut at 256 kB: read the changed files that are missing";
/// The most names of untracked files and of files that are left out.
const NAMES: usize = 50;

/// The changes to review.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    /// What is not committed.
    Uncommitted,
    Staged,
    /// What the working tree has and this branch has not.
    Since {
        branch: String,
        reference: String,
    },
    /// What one commit changed.
    Commit(String),
}

impl Target {
    /// The arguments of git, without options and paths.
    fn arguments(&self) -> Vec<&str> {
        match self {
            Target::Uncommitted => vec!["diff", "HEAD"],
            Target::Staged => vec!["diff", "--cached"],
            Target::Since { reference, .. } => vec!["diff", "--merge-base", reference],
            Target::Commit(commit) => {
                vec!["show", "--format=", "--diff-merges=first-parent", commit]
            }
        }
    }

    fn say(&self) -> String {
        match self {
            Target::Uncommitted => "the uncommitted changes".to_owned(),
            Target::Staged => "the staged changes".to_owned(),
            Target::Since { branch, .. } => format!("the changes since the branch `{branch}`"),
            Target::Commit(commit) => format!("the changes of the commit `{commit}`"),
        }
    }
}

/// The message to the model, its task and the diff. `rest` is what the user wrote behind `/review`. The error is a
/// sentence for the user.
pub async fn prepare(desk: &Desk, rest: &str) -> Result<(String, Vec<Excerpt>), String> {
    let (word, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // Outside of a repository `git diff` compares files.
    let repository = git::output(&desk.root, &["rev-parse", "--git-dir"], PATIENCE).await;
    repository.map_err(|it| said(&it))?;
    let target = target(desk, word).await?;
    let protected = protected(desk, &target).await?;
    let (diff, is_cut) = diff(desk, &target, &protected).await?;
    let untracked = match target {
        Target::Uncommitted => untracked(desk).await?,
        _ => Vec::new(),
    };
    let what = target.say();
    if diff.trim().is_empty() && untracked.is_empty() {
        let but = if protected.is_empty() { "" } else { " that the model may read" };
        return Err(format!("There is nothing to review: git shows no text{but} for {what}."));
    }
    let mut text = diff;
    for (names, about) in [
        (&untracked, "New files that git does not track yet. Read them too"),
        (&protected, "Changed files that are left out because they may hold secrets"),
    ] {
        if !names.is_empty() {
            text.push_str(&format!("\n[{about}: {}]\n", listed(names)));
        }
    }
    let message = format!("Review {what}, as the skill `review` says. {}", words.trim());
    Ok((message.trim_end().to_owned(), vec![skill(), excerpt(&what, text, is_cut)]))
}

fn skill() -> Excerpt {
    Excerpt {
        path: "review".to_owned(),
        kind: ExcerptKind::Skill,
        text: TASK.to_owned(),
        ..Excerpt::default()
    }
}

fn excerpt(what: &str, text: String, is_cut: bool) -> Excerpt {
    let note = if is_cut { CUT.to_owned() } else { String::new() };
    let (path, filetype) = (what.to_owned(), "diff".to_owned());
    Excerpt { path, filetype, text, note, ..Excerpt::default() }
}

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES).map(|it| mention::write(it)).collect();
    let more = names.len().saturating_sub(NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(" "))
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

/// The changed files that the model may not read without a question.
async fn protected(desk: &Desk, target: &Target) -> Result<Vec<String>, String> {
    let mut arguments = target.arguments();
    arguments.extend(["--name-only", "-z", "--no-renames", "--relative", "--", "."]);
    let names = git::output(&desk.root, &arguments, PATIENCE).await.map_err(|it| said(&it))?;
    let names = names.split(|it| *it == 0).filter(|it| !it.is_empty());
    let names = names.map(|it| String::from_utf8_lossy(it).into_owned());
    let is_protected = |it: &String| desk.reach.reading(&desk.root.join(it)) != Reading::Free;
    Ok(names.filter(is_protected).collect())
}

/// The text of the diff without these files, and whether it was cut.
async fn diff(
    desk: &Desk,
    target: &Target,
    protected: &[String],
) -> Result<(String, bool), String> {
    let left_out: Vec<String> =
        protected.iter().map(|it| format!(":(exclude,literal){it}")).collect();
    let mut arguments = vec!["-c", "core.quotePath=false"];
    arguments.extend(target.arguments());
    arguments.extend(["--no-color", "--no-ext-diff", "--no-textconv", "--relative"]);
    arguments.extend(["--src-prefix=a/", "--dst-prefix=b/", "--", "."]);
    arguments.extend(left_out.iter().map(String::as_str));
    let (bytes, is_cut) =
        git::beginning(&desk.root, &arguments, PATIENCE, LIMIT).await.map_err(|it| said(&it))?;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if is_cut {
        // Only whole lines are kept.
        text.truncate(text.rfind('\n').map_or(0, |it| it + 1));
    }
    Ok((text, is_cut))
}

/// The files that git neither tracks nor ignores, and that the model may read.
async fn untracked(desk: &Desk) -> Result<Vec<String>, String> {
    let arguments = ["ls-files", "--others", "--exclude-standard", "-z", "--", "."];
    let names = git::output(&desk.root, &arguments, PATIENCE).await.map_err(|it| said(&it))?;
    let names = names.split(|it| *it == 0).filter(|it| !it.is_empty());
    let names = names.map(|it| String::from_utf8_lossy(it).into_owned());
    let is_free = |it: &String| desk.reach.reading(&desk.root.join(it)) == Reading::Free;
    Ok(names.filter(is_free).collect())
}

/// A sentence for the user.
fn said(failure: &Failure) -> String {
    match failure {
        Failure::Missing => "git is not installed, so there is no diff to review.".to_owned(),
        Failure::Slow => "git took too long to make the diff.".to_owned(),
        Failure::Refused(why) if why.contains("not a git repository") => {
            "This project is in no git repository, so there is no diff to review.".to_owned()
        }
        Failure::Refused(why) if why.contains("'HEAD'") => {
            "The repository has no commit yet, so there is no diff to review.".to_owned()
        }
        Failure::Refused(why) => format!("git could not make the diff ({why})."),
    }
}
