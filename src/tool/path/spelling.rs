//! Spellings of a path: as the user and the model see it, without detours, and along its links.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The most symbolic links that are followed before a path counts as a loop.
const LINKS: usize = 40;

/// Whether `path` is `root` or is inside it. `path` has to come from `resolve`.
pub fn inside(root: &Path, path: &Path) -> bool {
    path.starts_with(root)
}

/// The path as the user would write it: relative if it is inside the root.
pub fn show(root: &Path, path: &Path) -> String {
    match path.strip_prefix(root) {
        Ok(within) if within.as_os_str().is_empty() => ".".to_owned(),
        Ok(within) => within.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// Like `show`, but two different paths never have the same text, which is one line and has no backtick: backslashes,
/// control characters, backticks and bytes that are not UTF-8 are escaped.
pub fn unmistakable(root: &Path, path: &Path) -> String {
    let escaped = |c: char| match c {
        '\\' | '\n' | '\t' | '\r' => c.escape_default().to_string(),
        '`' | '\u{2028}' | '\u{2029}' => c.escape_unicode().to_string(),
        c if c.is_control() => c.escape_unicode().to_string(),
        c => c.to_string(),
    };
    match path.to_str() {
        Some(_) => show(root, path).chars().map(escaped).collect(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_paths_never_have_the_same_text_which_is_one_line() {
        let shown = |name: &str| unmistakable(Path::new("/p"), &Path::new("/p").join(name));
        assert_eq!(shown("a b.rs"), "a b.rs");
        assert_eq!(shown("a\n    b"), "a\\n    b");
        assert_eq!(shown("a\\n    b"), "a\\\\n    b");
        assert_eq!(shown("a`?\t\u{1b}[2J"), "a\\u{60}?\\t\\u{1b}[2J");
        assert_eq!(shown("\u{e4}\u{2028}"), "\u{e4}\\u{2028}");
    }
}
