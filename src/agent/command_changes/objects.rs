//! The contents of files that git keeps.

use crate::store::checkpoints::Content;
use crate::tool;
use std::path::Path;
use std::time::Duration;

/// The longest wait for git.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// The content of a file under this object name, as git would write it into the working tree.
pub(super) async fn of_git(root: &Path, path: &Path, name: &str) -> Result<Content, String> {
    let missing = || "is missing in git".to_owned();
    let path = path.strip_prefix(root).ok().and_then(Path::to_str).ok_or_else(missing)?;
    let of = format!("--path={path}");
    let read = git(root, &["cat-file", "--filters", &of, name]).await;
    read.map(Content::of).ok_or_else(missing)
}

pub(super) async fn git(root: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    tool::git::output(root, arguments, PATIENCE).await.ok()
}
