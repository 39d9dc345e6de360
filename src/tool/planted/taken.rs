//! What a model and the user are told about files that were taken back.

use crate::tool::git::remotes::Added;

/// The most files that the user is told about.
const SHOWN: usize = 8;

/// A file that was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tool) struct Taken {
    /// The path below the root.
    pub(super) path: String,
    /// The end of a sentence that begins with the path.
    pub(super) why: &'static str,
    pub(super) what: What,
}

/// What has become of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// It has this name now.
    Renamed(String),
    /// It was a link in the folder of a repository, and it is removed. It led to this path.
    Unlinked(String),
    /// Why it could not be taken back. The command is ended.
    Stuck(String),
    /// Why nobody knows which files the command has created. The command is ended.
    Unseen(String),
    /// The path is the name of a remote that a command has added, with this address.
    Remote(String),
    /// The index has these files, and they are marked as not checked out, because the one at the path was renamed.
    Kept(Vec<String>),
}

/// What a model is told about the files that were taken back from its command.
pub(in crate::tool) fn told(taken: &[Taken]) -> Option<String> {
    let refused = taken.iter().filter_map(|Taken { path, why, what }| match what {
        What::Renamed(to) => Some(format!("{path}, which {why} (renamed to {to})")),
        What::Stuck(fault) => {
            Some(format!(
                "{path}, which {why} (it could not be taken back: {fault}. The command was ended because of this)"
            ))
        }
        What::Kept(_) | What::Remote(_) | What::Unseen(_) | What::Unlinked(_) => None,
    });
    let refused = refused.collect::<Vec<_>>().join("; ");
    let refused = (!refused.is_empty()).then(|| {
        format!(
            "[the sandbox refused files that commands may not create: {refused}. Propose such a file with the tool \
             write: the user reviews it]"
        )
    });
    let unlinked = taken.iter().filter_map(|it| match &it.what {
        What::Unlinked(to) => Some(format!("{} (it led to {to})", it.path)),
        _ => None,
    });
    let unlinked = unlinked.collect::<Vec<_>>().join("; ");
    let unlinked = (!unlinked.is_empty()).then(|| {
        format!("[the sandbox removed symbolic links from the folder of a repository, because git writes through them: {unlinked}]")
    });
    let kept = taken.iter().filter_map(|it| match &it.what {
        What::Kept(files) => Some(files.join(" ")),
        _ => None,
    });
    let kept = kept.collect::<Vec<_>>().join(" ");
    let kept = (!kept.is_empty()).then(|| {
        format!(
            "[these files are in git's index, but not on disk, because commands may not create them: {kept}. They are \
             marked (skip-worktree), so git status does not list them and commits keep them. To check them out, run \
             git update-index --no-skip-worktree -- {kept}, and then git checkout -- {kept}, each alone in a call of \
             shell: the user is asked]"
        )
    });
    let unseen = taken.iter().find_map(|it| match &it.what {
        What::Unseen(why) => Some(format!(
            "[the command was ended, because Caliban could not look for files that commands may not create: {why}]"
        )),
        _ => None,
    });
    let all: Vec<String> = refused.into_iter().chain(unlinked).chain(kept).chain(unseen).collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// What the user is told about them.
pub(in crate::tool) fn shown(taken: &[Taken]) -> Option<String> {
    let quoted = |it: &str| format!("`{}`", it.escape_debug());
    let renamed = taken.iter().filter_map(|it| match &it.what {
        What::Renamed(to) => Some(format!("{} is now {}", quoted(&it.path), quoted(to))),
        _ => None,
    });
    let unlinked = taken.iter().filter_map(|it| match &it.what {
        What::Unlinked(to) => Some(format!("{} to {}", quoted(&it.path), quoted(to))),
        _ => None,
    });
    let added = taken.iter().filter_map(|it| match &it.what {
        What::Remote(url) => Some(format!("{} ({})", quoted(&it.path), quoted(url))),
        _ => None,
    });
    let renamed = listed(&renamed.collect::<Vec<_>>()).map(|it| {
        format!("The sandbox renamed files that a command created and that would run outside of it or tell agents what to do: {it}.")
    });
    let unlinked = listed(&unlinked.collect::<Vec<_>>()).map(|it| {
        format!("The sandbox removed links that a command made in the folder of a repository, because your git would write through them: {it}.")
    });
    let added = listed(&added.collect::<Vec<_>>()).map(|it| {
        format!("A command added a remote to the repository: {it}. `git fetch --all` leaves it out (`skipFetchAll`). `git remote remove` takes it away.")
    });
    let all: Vec<String> = renamed.into_iter().chain(unlinked).chain(added).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// The first of these words; `None` if there are none.
fn listed(all: &[String]) -> Option<String> {
    let more = if all.len() > SHOWN { ", …" } else { "" };
    let named = all.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    (!all.is_empty()).then(|| format!("{named}{more}"))
}

impl Taken {
    pub(super) fn remote(it: Added) -> Taken {
        Taken { path: it.name, why: "", what: What::Remote(it.url) }
    }

    /// Whether the watch could not do its work.
    pub(super) fn is_failure(&self) -> bool {
        matches!(self.what, What::Stuck(_) | What::Unseen(_))
    }

    /// The line for the log of permissions.
    pub(in crate::tool) fn decision(&self, command: &str) -> String {
        let first: String = command.chars().take(100).collect();
        if let What::Unseen(why) = &self.what {
            return format!("ended: {why}; {}", first.escape_debug());
        }
        if let What::Remote(url) = &self.what {
            let (name, url) = (self.path.escape_debug(), url.escape_debug());
            return format!("added: remote {name} at {url}; for {}", first.escape_debug());
        }
        let verb = match &self.what {
            What::Kept(_) => "check out",
            What::Unlinked(to) => {
                let (path, to) = (&self.path, to.escape_debug());
                return format!("refused: link {path} to {to}; for {}", first.escape_debug());
            }
            _ => "create",
        };
        format!("refused: {verb} {}, which {}; for {}", self.path, self.why, first.escape_debug())
    }
}
