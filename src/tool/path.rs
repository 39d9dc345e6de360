//! Paths as a model writes them, and where they really lead.

use super::{Desk, skills};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Links that are followed before it is taken for a loop.
const LINKS: usize = 40;

/// The absolute path meant by `written`, with every symlink followed as far as it exists, a dangling one
/// too. `~` is the home folder, relative paths begin at the root. An `Err` is text for the model.
pub fn resolve(desk: &Desk, written: &str) -> Result<PathBuf, String> {
    let path = normal(&absolute(desk, written)?);
    real(&path, LINKS).ok_or_else(|| format!("path: `{written}` is a loop of symlinks."))
}

/// Whether there is a symbolic link where `written` is, wherever it leads.
pub fn is_link(desk: &Desk, written: &str) -> Result<bool, String> {
    let path = normal(&absolute(desk, written)?);
    Ok(fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink()))
}

fn absolute(desk: &Desk, written: &str) -> Result<PathBuf, String> {
    let plain = match written.trim().strip_prefix("file://") {
        Some(rest) => percent_decoded(rest.strip_prefix("localhost").unwrap_or(rest)),
        None => written.to_owned(),
    };
    if plain.is_empty() || plain.contains('\0') {
        return Err("path: expected a path relative to the project, or absolute.".to_owned());
    }
    Ok(match (plain.strip_prefix('~'), &desk.home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => desk.root.join(&plain),
    })
}

/// Whether `path`, as `resolve` gave it, is `root` or within.
pub fn inside(root: &Path, path: &Path) -> bool {
    path.starts_with(root)
}

/// Names of files and folders whose text is run when a folder is entered or opened.
const RUN: [&str; 11] = [
    ".nvim.lua",
    ".nvimrc",
    ".exrc",
    ".vimrc",
    ".envrc",
    ".lazy.lua",
    ".vscode",
    ".idea",
    ".githooks",
    ".husky",
    ".pre-commit-config.yaml",
];

/// And of those from which an agent takes its instructions, its skills or its tools.
const FOLLOWED: [&str; 16] = [
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "SKILL.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".mcp.json",
    ".caliban",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
];

/// Whether a file runs code by itself, or tells an agent what to do: nobody should find such a change afterwards.
pub fn steers(path: &Path) -> bool {
    let is_of = |part: Component, names: &[&str]| {
        names.iter().any(|it| part.as_os_str().eq_ignore_ascii_case(it))
    };
    path.components().any(|it| is_of(it, &RUN) || is_of(it, &FOLLOWED))
}

/// Whether `path` may be read without a question though it is not in the project: the rest of a clipped output,
/// and what belongs to the user's skills.
pub fn kept(desk: &Desk, path: &Path) -> bool {
    [desk.overflow.clone(), skills::users(desk)]
        .iter()
        .any(|folder| path.starts_with(fs::canonicalize(folder).as_deref().unwrap_or(folder)))
}

/// As the user would write it: relative where it lies within the root.
pub fn show(root: &Path, path: &Path) -> String {
    match path.strip_prefix(root) {
        Ok(within) if within.as_os_str().is_empty() => ".".to_owned(),
        Ok(within) => within.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// As `show`, and what lies below the home folder with a `~`.
pub fn tilde(root: &Path, home: Option<&Path>, path: &Path) -> String {
    match home.and_then(|it| path.strip_prefix(it).ok()) {
        Some(below) if !path.starts_with(root) => format!("~/{}", below.display()),
        _ => show(root, path),
    }
}

/// Without `.` and `..`, as it is written: no link is followed.
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

fn real(path: &Path, links: usize) -> Option<PathBuf> {
    if let Ok(found) = fs::canonicalize(path) {
        return Some(found);
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Some(path.to_owned());
    };
    if let Ok(target) = fs::read_link(path) {
        return real(&normal(&parent.join(target)), links.checked_sub(1)?);
    }
    Some(real(parent, links)?.join(OsString::from(name)))
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
