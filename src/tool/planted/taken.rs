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
    /// Why it could not be renamed. The command is ended.
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
                "{path}, which {why} (it could not be renamed: {fault}. The command was ended because of this)"
            ))
        }
        What::Kept(_) | What::Remote(_) | What::Unseen(_) => None,
    });
    let refused = refused.collect::<Vec<_>>().join("; ");
    let refused = (!refused.is_empty()).then(|| {
        format!(
            "[the sandbox refused files that commands may not create: {refused}. Propose such a file with the tool \
             write: the user reviews it]"
        )
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
    let all: Vec<String> = refused.into_iter().chain(kept).chain(unseen).collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// What the user is told about them.
pub(in crate::tool) fn shown(taken: &[Taken]) -> Option<String> {
    let renamed: Vec<String> = taken
        .iter()
        .filter_map(|it| match &it.what {
            What::Renamed(to) => {
                Some(format!("`{}` is now `{}`", it.path.escape_debug(), to.escape_debug()))
            }
            _ => None,
        })
        .collect();
    let more = if renamed.len() > SHOWN { ", …" } else { "" };
    let named = renamed.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let renamed = (!renamed.is_empty()).then(|| {
        format!("The sandbox renamed files that a command created and that would run outside of it or tell agents what to do: {named}{more}.")
    });
    let all: Vec<String> = renamed.into_iter().chain(added(taken)).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// What the user is told about remotes that commands have added.
fn added(taken: &[Taken]) -> Option<String> {
    let all = taken.iter().filter_map(|it| match &it.what {
        What::Remote(url) => {
            Some(format!("`{}` (`{}`)", it.path.escape_debug(), url.escape_debug()))
        }
        _ => None,
    });
    let named = all.take(SHOWN).collect::<Vec<_>>().join(", ");
    (!named.is_empty()).then(|| {
        format!("A command added a remote to the repository: {named}. `git fetch --all` leaves it out (`skipFetchAll`). `git remote remove` takes it away.")
    })
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
        let verb = match self.what {
            What::Kept(_) => "check out",
            _ => "create",
        };
        format!("refused: {verb} {}, which {}; for {}", self.path, self.why, first.escape_debug())
    }
}
