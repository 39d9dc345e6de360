//! The repository of a working tree apart from it.

use crate::regular;
use std::path::{Path, PathBuf};

/// If the root is a git worktree, the folder of its repository; `None` if the root has its own `.git` folder. A `.git`
/// file may be forged, so this checks that the repository lists this worktree.
pub(super) fn of_worktree(root: &Path) -> Option<PathBuf> {
    let text = |path: &Path| String::from_utf8(regular::read(path).ok()?).ok();
    let mark = root.join(".git");
    let own = root.join(text(&mark)?.strip_prefix("gitdir: ")?.trim_end());
    let back = own.join(text(&own.join("gitdir"))?.trim_end());
    let knows = back.canonicalize().ok()? == mark.canonicalize().ok()?;
    let common = own.join(text(&own.join("commondir"))?.trim_end()).canonicalize().ok()?;
    (knows && common.join("HEAD").is_file()).then_some(common)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_worktree_leads_to_its_repository_only_if_the_repository_knows_it() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (root, common) = (base.join("tree"), base.join("repo/.git"));
        let own = common.join("worktrees/tree");
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&own).unwrap();
        fs::write(common.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(own.join("gitdir"), format!("{}\n", root.join(".git").display())).unwrap();
        assert_eq!(of_worktree(&root), None);
        fs::write(root.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        assert_eq!(of_worktree(&root), Some(common));
        let forged = base.join("forged");
        fs::create_dir_all(&forged).unwrap();
        fs::write(forged.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        assert_eq!(of_worktree(&forged), None);
    }
}
