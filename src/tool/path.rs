//! Paths as a model writes them, and the files to which they lead.

mod spelling;

pub use spelling::{inside, normal, show, tilde, trail, unmistakable};

use super::desk::Desk;
use crate::reach::{self, Folders, Reach, Reading, Writing};
use std::fs;
use std::path::{Path, PathBuf};

/// The most bytes of a path: Linux has no longer ones.
const LONGEST: usize = 4_096;

/// The file to which a path of the model leads, and the rules for reading and writing this file.
pub struct Led {
    /// The path after all symbolic links are followed, even those whose target does not exist.
    pub path: PathBuf,
    pub reading: Reading,
    pub writing: Writing,
}

/// The absolute path of the file to which `written` leads. The error is text for the model.
pub fn resolve(desk: &Desk, written: &str) -> Result<PathBuf, String> {
    Ok(lead(desk, written)?.path)
}

/// Follows the symbolic links of a path that the model has written. `~` is the home folder; a relative path begins at
/// the root. The rules are applied to the path before and after each link, and the strictest result counts.
pub fn lead(desk: &Desk, written: &str) -> Result<Led, String> {
    let path = within_worktree(desk, normal(&absolute(desk, written)?));
    let trail = trail(&path).ok_or_else(|| format!("path: `{written}` is a loop of symlinks."))?;
    let mut led = Led { path, reading: Reading::Free, writing: Writing::Free };
    for path in trail {
        led.reading = led.reading.max(desk.reach.reading(&path));
        led.writing = led.writing.max(desk.reach.writing(&path));
        led.path = path;
    }
    Ok(led)
}

/// Whether `written` is a symbolic link, even if its target does not exist.
pub fn is_link(desk: &Desk, written: &str) -> Result<bool, String> {
    let path = within_worktree(desk, normal(&absolute(desk, written)?));
    Ok(fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink()))
}

/// In a worktree, a path of the project means the same path of the worktree.
fn within_worktree(desk: &Desk, path: PathBuf) -> PathBuf {
    let of_project = desk.project.as_ref().filter(|_| !path.starts_with(&desk.root));
    match of_project.and_then(|it| path.strip_prefix(it).ok()) {
        Some(below) => desk.root.join(below),
        None => path,
    }
}

fn absolute(desk: &Desk, written: &str) -> Result<PathBuf, String> {
    let plain = match written.trim().strip_prefix("file://") {
        Some(rest) => percent_decoded(rest.strip_prefix("localhost").unwrap_or(rest)),
        None => written.to_owned(),
    };
    if plain.is_empty() || plain.contains('\0') {
        return Err("path: expected a path relative to the project, or absolute.".to_owned());
    }
    if plain.len() > LONGEST {
        return Err(format!("path: it has {} bytes; a path has at most {LONGEST}.", plain.len()));
    }
    Ok(match (plain.strip_prefix('~'), &desk.home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => desk.root.join(&plain),
    })
}

/// Whether a file may be read without consent. `path` must not contain symbolic links.
pub fn is_free(desk: &Desk, path: &Path) -> bool {
    let is_near = inside(&desk.root, path) || desk.reach.is_open(path);
    is_near && desk.reach.reading(path) == Reading::Free
}

/// The rules for these folders. A rule for a folder also applies to the folder's real path. A rule for a file in the
/// home folder also applies to the target if the file is a symbolic link.
pub fn reach(mut folders: Folders) -> Reach {
    let real = |it: &PathBuf| trail(it).and_then(|it| it.into_iter().next_back());
    for list in [&mut folders.own, &mut folders.open] {
        list.extend(list.iter().filter_map(real).collect::<Vec<_>>());
    }
    let mut linked = Vec::new();
    for (folder, name) in &folders.named {
        let Some(real) = real(folder) else { continue };
        for pattern in reach::in_home().filter(|_| name == "~") {
            let rest = pattern.strip_prefix("~/").unwrap_or(pattern);
            if let Ok(leads) = fs::canonicalize(real.join(rest))
                && leads != real.join(rest)
            {
                linked.push((leads, pattern.to_owned()));
            }
        }
        linked.push((real, name.clone()));
    }
    folders.named.extend(linked);
    Reach::new(&folders)
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = hex.filter(|_| *first == b'%').and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
