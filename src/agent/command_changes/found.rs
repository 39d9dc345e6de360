//! The change of one file that was found after a command.

use super::objects::of_git;
use super::seen::{self, FileId, Origin, Seen, Stamp};
use crate::agent::checkpoints::Planned;
use crate::store::checkpoints::{Content, Staged};
use std::path::{Path, PathBuf};

/// The change of one file.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) origin: Origin,
    pub(super) before: Result<Content, String>,
    pub(super) after: Result<Content, String>,
    pub(super) mode: Option<u32>,
    pub(super) new_mode: Option<u32>,
    pub(super) staged: Option<Staged>,
    pub(super) branch: Option<String>,
    /// Whether git would give another content than the file has.
    pub(super) is_filtered: bool,
    /// What it was before and is after, if something was there.
    pub(super) files: [Option<FileId>; 2],
    /// Whether it may have the only copy of a text that the command has moved there.
    pub(super) is_moved: bool,
}

impl Found {
    pub(super) async fn of(
        root: &Path,
        path: PathBuf,
        seen: Seen,
        staged: Option<Staged>,
        branch: Option<String>,
        is_filtered: bool,
    ) -> Found {
        let at = path.clone();
        let now = tokio::task::spawn_blocking(move || (Stamp::of(&at), Content::at(&at))).await;
        let unknown = || "was not kept".to_owned();
        let (stamp, after) = now.unwrap_or_else(|_| (Stamp::Absent, Err(unknown())));
        let (mode, new_mode) = (seen.stamp.mode(), stamp.mode());
        let is_same = stamp.has_content_of(seen.stamp);
        let mut before = match &seen.origin {
            Origin::InMemory(content) => Ok(content.clone()),
            Origin::Git(name) => of_git(root, &path, name).await.and_then(|it| match seen.stamp {
                // the working tree had other line ends than git would write
                Stamp::There { size, .. } if it.bytes().map_or(0, |it| it.len()) as u64 != size => {
                    Err(unknown())
                }
                _ => Ok(it),
            }),
            Origin::None if is_same => after.clone(),
            Origin::None => Err(unknown()),
            Origin::Elsewhere => Ok(Content::Absent),
        };
        if (mode, before.as_ref().ok()) != (new_mode, after.as_ref().ok())
            && (seen::is_special(mode) || seen::is_special(new_mode))
        {
            let why = "is not restored, because the file has or had a set-user-ID, set-group-ID or sticky bit";
            before = Err(why.to_owned());
        }
        let (origin, files) = (seen.origin, [seen.stamp.content(), stamp.content()]);
        let is_moved = matches!(origin, Origin::Elsewhere);
        Found {
            path,
            origin,
            before,
            after,
            mode,
            new_mode,
            staged,
            branch,
            is_filtered,
            files,
            is_moved,
        }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.before == self.after && self.mode == self.new_mode && self.staged.is_none()
    }

    pub(super) fn planned(self) -> Planned {
        let Found { staged, .. } = &self;
        Planned { staged: staged.clone(), ..self.part(self.before.clone(), self.after.clone()) }
    }

    /// A part of this change.
    pub(super) fn part(
        &self,
        before: Result<Content, String>,
        after: Result<Content, String>,
    ) -> Planned {
        Planned {
            path: self.path.clone(),
            to: None,
            before,
            after,
            mode: self.mode,
            new_mode: self.new_mode,
            staged: None,
            branch: self.branch.clone(),
            is_brought: false,
            is_moved: self.is_moved,
            folder: None,
        }
    }
}
