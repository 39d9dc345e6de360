//! The entries of files in git's index, which a rewind restores with the files.

use crate::store::checkpoints::IndexEntry;
use crate::tool::git;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest wait for git.
const PATIENCE: Duration = Duration::from_secs(5);

/// The entries of all files. `None` without git.
pub(super) async fn read(root: &Path) -> Option<BTreeMap<PathBuf, IndexEntry>> {
    let listed = git::output(root, &["ls-files", "-s", "-z"], PATIENCE).await.ok()?;
    let line = |it: &[u8]| {
        let (about, path) = std::str::from_utf8(it).ok()?.split_once('\t')?;
        let words: Vec<&str> = about.split(' ').collect();
        let [kind, name, "0"] = words[..] else { return None };
        Some((root.join(path), IndexEntry::new(kind, name)?))
    };
    Some(listed.split(|it| *it == 0).filter_map(line).collect())
}

/// Gives a file this entry, or none. The error is git's.
pub(super) async fn write(
    root: &Path,
    path: &Path,
    entry: Option<&IndexEntry>,
) -> Result<(), String> {
    let name = path.strip_prefix(root).ok().and_then(Path::to_str).unwrap_or_default();
    let written = if let Some(it) = entry {
        let entry = format!("{},{},{name}", it.kind(), it.name());
        let arguments = ["update-index", "--add", "--replace", "--cacheinfo", &entry];
        git::output(root, &arguments, PATIENCE).await
    } else {
        let arguments = ["update-index", "--force-remove", "--", name];
        git::output(root, &arguments, PATIENCE).await
    };
    written.map(drop).map_err(|it| it.say())
}
