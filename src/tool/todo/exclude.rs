//! Keeps the file of the to-do list out of the user's commits: `git add -A` would stage it.

use super::list::FILE;
use crate::regular::direct;
use crate::tool::git::{common_of, folder_of, top};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The most bytes of the file `info/exclude` that are read. A larger one stays as it is.
const LARGEST: u64 = 1_000_000;

/// Names the list's file in `.git/info/exclude`, which lists ignored files of this clone and is in no commit. Does
/// nothing without git. Blocks.
pub(super) fn exclude(root: &Path) -> io::Result<()> {
    let Some(info) = info(root) else { return Ok(()) };
    let path = info.join("exclude");
    let mut known = Vec::new();
    match direct::open(&path) {
        Ok(file) => drop(file.take(LARGEST + 1).read_to_end(&mut known)?),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => (),
        Err(fault) => return Err(fault),
    }
    let is_listed = known.split(|it| *it == b'\n').any(|it| it.trim_ascii_end() == FILE.as_bytes());
    if is_listed || known.len() as u64 > LARGEST {
        return Ok(());
    }
    if !known.is_empty() && !known.ends_with(b"\n") {
        known.push(b'\n');
    }
    known.extend([FILE.as_bytes(), b"\n"].concat());
    let new = info.join("exclude.caliban");
    let mut file = direct::create(&new)?;
    file.write_all(&known)?;
    drop(file);
    direct::rename(&new, &path)
}

/// The folder `info` of the repository to which the project belongs. A file `.git` may name any folder, so it has to be
/// one of a repository.
fn info(root: &Path) -> Option<PathBuf> {
    let common = common_of(&folder_of(top(root))?).canonicalize().ok()?;
    let is_repository = common.join("HEAD").is_file() && common.join("objects").is_dir();
    is_repository.then(|| common.join("info"))
}
