//! Diffs of the project's repository: for `/review`, and for the mentions `@diff` and `@staged`.

use super::mention;
use crate::reach::Reading;
use crate::tool::Desk;
use crate::tool::git::{self, Failure};
use crate::view::grouped;
use std::time::Duration;

/// The longest time that one run of git may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// The most bytes of a diff that are sent, and that are read to count its lines.
const LIMIT: usize = 256 * 1024;
const READ: u64 = 64 * 1024 * 1024;
/// The most names of untracked files and of files that are left out.
const NAMES: usize = 50;

/// Which changes a diff shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// All changes that are not committed.
    Uncommitted,
    Staged,
    /// The changes of the working tree compared with this branch.
    Since {
        branch: String,
        reference: String,
    },
    /// The changes of one commit.
    Commit(String),
}

impl Target {
    /// The arguments of `git diff` for these changes, without options and paths. Git does not look for uncommitted
    /// changes in submodules, because it would run their filters.
    fn arguments(&self) -> Vec<&str> {
        const APART: &str = "--ignore-submodules=dirty";
        match self {
            Target::Uncommitted => vec!["diff", APART, "HEAD"],
            Target::Staged => vec!["diff", APART, "--cached"],
            Target::Since { reference, .. } => vec!["diff", APART, "--merge-base", reference],
            Target::Commit(commit) => {
                vec!["show", APART, "--format=", "--diff-merges=first-parent", commit]
            }
        }
    }

    pub(super) fn say(&self) -> String {
        match self {
            Target::Uncommitted => "the uncommitted changes".to_owned(),
            Target::Staged => "the staged changes".to_owned(),
            Target::Since { branch, .. } => format!("the changes since the branch `{branch}`"),
            Target::Commit(commit) => format!("the changes in the commit `{commit}`"),
        }
    }
}

/// A diff, and the names of the files that it leaves out.
pub(super) struct Diff {
    pub(super) text: String,
    /// A sentence about the missing part of the diff; empty if the diff is complete.
    pub(super) note: String,
}

/// Fails if the project is not in a git repository, because outside of a repository `git diff` compares files.
pub(super) async fn check(desk: &Desk) -> Result<(), String> {
    let repository = git::output(&desk.root, &["rev-parse", "--git-dir"], PATIENCE).await;
    repository.map(drop).map_err(|it| said(&it))
}

/// The diff of these changes. It leaves out files that may be read only with the user's consent. The error is a
/// sentence for the user.
pub(super) async fn of(desk: &Desk, target: &Target) -> Result<Diff, String> {
    let protected = protected(desk, target).await?;
    let (mut text, note) = text(desk, target, &protected).await?;
    let untracked = match target {
        Target::Uncommitted => untracked(desk).await?,
        _ => Vec::new(),
    };
    if text.trim().is_empty() && untracked.is_empty() {
        let lack =
            if protected.is_empty() { "is empty" } else { "has no text that the model may read" };
        return Err(format!("The diff of {} {lack}.", target.say()));
    }
    for (names, about) in [
        (&untracked, "New files that git does not track yet. Read them too"),
        (&protected, "Changed files that are left out because they may contain secrets"),
    ] {
        if !names.is_empty() {
            text.push_str(&format!("\n[{about}: {}]\n", listed(names)));
        }
    }
    Ok(Diff { text, note })
}

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES).map(|it| mention::write(it)).collect();
    let more = names.len().saturating_sub(NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(" "))
}

/// The changed files that may be read only with the user's consent.
async fn protected(desk: &Desk, target: &Target) -> Result<Vec<String>, String> {
    let mut arguments = target.arguments();
    arguments.extend(["--name-only", "-z", "--no-renames", "--relative", "--", "."]);
    let names = git::output(&desk.root, &arguments, PATIENCE).await.map_err(|it| said(&it))?;
    let names = names.split(|it| *it == 0).filter(|it| !it.is_empty());
    let names = names.map(|it| String::from_utf8_lossy(it).into_owned());
    let is_protected = |it: &String| desk.reach.reading(&desk.root.join(it)) != Reading::Free;
    Ok(names.filter(is_protected).collect())
}

/// The text of the diff without these files, and a note if it was cut.
async fn text(
    desk: &Desk,
    target: &Target,
    protected: &[String],
) -> Result<(String, String), String> {
    let left_out: Vec<String> =
        protected.iter().map(|it| format!(":(exclude,literal){it}")).collect();
    let mut arguments = vec!["-c", "core.quotePath=false"];
    arguments.extend(target.arguments());
    arguments.extend(["--no-color", "--no-ext-diff", "--no-textconv", "--relative"]);
    arguments.extend(["--src-prefix=a/", "--dst-prefix=b/", "--", "."]);
    arguments.extend(left_out.iter().map(String::as_str));
    let (mut bytes, has_more) =
        git::beginning(&desk.root, &arguments, PATIENCE, READ).await.map_err(|it| said(&it))?;
    if bytes.len() <= LIMIT {
        return Ok((String::from_utf8_lossy(&bytes).into_owned(), String::new()));
    }
    let count =
        |bytes: &[u8]| bytes.split_inclusive(|it| *it == b'\n').fold(0u64, |count, _| count + 1);
    let all = count(&bytes);
    bytes.truncate(LIMIT);
    // Only whole lines are kept.
    bytes.truncate(bytes.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1));
    let (kept, all) = (grouped(count(&bytes)), grouped(all));
    let of = if has_more { "of more than " } else { "of " };
    let note = format!(
        "The diff is cut: {kept} {of}{all} lines. Read the changed files that are missing."
    );
    Ok((String::from_utf8_lossy(&bytes).into_owned(), note))
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

/// Tells the user why there is no diff.
pub(super) fn said(failure: &Failure) -> String {
    match failure {
        Failure::Missing => "git is not installed, so there is no diff.".to_owned(),
        Failure::Slow => "git took too long to make the diff.".to_owned(),
        Failure::Refused(why) if why.contains("not a git repository") => {
            "This project is not in a git repository, so there is no diff.".to_owned()
        }
        Failure::Refused(why) if why.contains("'HEAD'") => {
            "The repository has no commit yet, so there is no diff.".to_owned()
        }
        Failure::Refused(why) => format!("git could not make the diff ({why})."),
    }
}
