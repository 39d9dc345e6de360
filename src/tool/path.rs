//! Paths as a model writes them, and the files to which they lead.

use super::Desk;
use crate::reach::{self, Folders, Reach, Reading, Writing};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The most symbolic links that are followed before a path counts as a loop.
const LINKS: usize = 40;

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

/// Whether `path` is `root` or is inside it. `path` has to come from `resolve`.
pub fn inside(root: &Path, path: &Path) -> bool {
    path.starts_with(root)
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

/// The path as the user would write it: relative if it is inside the root.
pub fn show(root: &Path, path: &Path) -> String {
    match path.strip_prefix(root) {
        Ok(within) if within.as_os_str().is_empty() => ".".to_owned(),
        Ok(within) => within.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// Like `show`, but two different paths never have the same text: backslashes and bytes that are not UTF-8 are escaped.
pub fn unmistakable(root: &Path, path: &Path) -> String {
    match path.to_str() {
        Some(_) => show(root, path).replace('\\', "\\\\"),
        None => path.as_os_str().as_encoded_bytes().escape_ascii().to_string(),
    }
}

/// Like `show`, but with `~` for the home folder.
pub fn tilde(root: &Path, home: Option<&Path>, path: &Path) -> String {
    match home.and_then(|it| path.strip_prefix(it).ok()) {
        Some(below) if !path.starts_with(root) => format!("~/{}", below.display()),
        _ => show(root, path),
    }
}

/// The path without `.` and `..`. No link is followed.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

/// All spellings of a path that occur while its symbolic links are followed: first the given path, last the real path.
/// `None` if the links form a loop.
pub fn trail(path: &Path) -> Option<Vec<PathBuf>> {
    let mut spellings = vec![path.to_owned()];
    let mut real = PathBuf::new();
    let mut left: Vec<PathBuf> = reversed(path).collect();
    while let Some(part) = left.pop() {
        match part.components().next() {
            Some(Component::ParentDir) => drop(real.pop()),
            Some(Component::Normal(_)) => {
                let Ok(target) = fs::read_link(real.join(&part)) else {
                    real.push(part);
                    continue;
                };
                if spellings.len() > LINKS {
                    return None;
                }
                left.extend(reversed(&target));
                let spelling = left.iter().rev().fold(real.clone(), |path, it| path.join(it));
                spellings.push(normal(&spelling));
            }
            Some(Component::RootDir | Component::Prefix(_)) => real = part,
            Some(Component::CurDir) | None => (),
        }
    }
    // on a file system that ignores case, the spelling on disk may differ from the given one in upper and lower case
    spellings.push(fs::canonicalize(path).unwrap_or(real));
    Some(spellings)
}

fn reversed(path: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    path.components().rev().map(|it| PathBuf::from(it.as_os_str()))
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
