//! Decides which files may be read and changed. The rules apply in every mode and to all code that works with files.
//! `table` lists the protected paths; this module compares a path with that table.

mod index;
mod locks;
mod pattern;
mod table;
#[cfg(test)]
mod tests;

use index::Index;
pub use locks::{Leading, Lock, Locks, TAKEN_BACK, locked, started};
use pattern::{Pattern, overlap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use table::{Kind, OWN, ROWS, Row};

/// Whether a file may be read. The reason follows the file's name in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reading {
    Free,
    /// The file may be read only after the user was asked.
    Asked(&'static str),
    Never(&'static str),
}

/// Whether a file may be changed, created, deleted or renamed. The reason follows the file's name in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writing {
    Free,
    /// The file is written only after the user's review, even in auto-edit mode.
    Reviewed(&'static str),
    Never(&'static str),
}

/// The folders that the rules need to know. All paths are absolute. A folder that is reached through a symbolic link is
/// listed under both paths.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// The project's root.
    pub root: PathBuf,
    /// Folders that have a short name in the table, each with that name: the home folder is `~`.
    pub named: Vec<(PathBuf, String)>,
    /// Caliban's own folders.
    pub own: Vec<PathBuf>,
    /// Paths in Caliban's own folders or outside of the project that may be read nevertheless: outputs that were too
    /// long to show, and the user's skills and instructions.
    pub open: Vec<PathBuf>,
}

/// The rules for one project. They never read the disk. A caller that knows several spellings of a path (for example
/// through symbolic links) has to check each of them.
#[derive(Clone)]
pub struct Reach {
    root: Arc<[String]>,
    rules: Arc<Rules>,
}

struct Rules {
    /// The folders with a short name, as they were given, and in the form in which paths are compared.
    places: Vec<(PathBuf, String)>,
    named: Vec<(Vec<String>, Vec<String>)>,
    own: Vec<Vec<String>>,
    open: Vec<Vec<String>>,
    all: Vec<Rule>,
    index: Index,
    /// The rules about what is read only with consent, by the last part of their pattern.
    lasts: Index,
}

/// A pattern of the table: consecutive parts of a path.
struct Rule {
    parts: Vec<Pattern>,
    row: &'static Row,
}

/// The answers of the table's rules about a path.
#[derive(Default)]
struct Found {
    own: bool,
    open: bool,
    never: Option<&'static str>,
    asked: Option<&'static str>,
    reviewed: Option<&'static str>,
}

impl Reach {
    pub fn new(folders: &Folders) -> Reach {
        let owned = |path: &Path| {
            let folded = folded(&path.to_string_lossy());
            parts(&folded).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let all_owned = |paths: &[PathBuf]| paths.iter().map(|it| owned(it)).collect();
        let is_absolute = |it: &&(PathBuf, String)| it.0.is_absolute();
        let places: Vec<_> = folders.named.iter().filter(is_absolute).cloned().collect();
        let named = places.iter();
        let mut rules = Rules {
            named: named.map(|(path, name)| (owned(path), split(name))).collect(),
            places,
            own: all_owned(&folders.own),
            open: all_owned(&folders.open),
            all: Vec::new(),
            index: Index::default(),
            lasts: Index::default(),
        };
        for row in ROWS {
            for pattern in row.paths {
                let parts = split(pattern);
                rules.index.add(parts.first().map_or("", |it| it), rules.all.len());
                if row.kind == Kind::Ask {
                    rules.lasts.add(parts.last().map_or("", |it| it), rules.all.len());
                }
                let parts = parts.iter().map(|it| Pattern::new(it)).collect();
                rules.all.push(Rule { parts, row });
            }
        }
        Reach { root: owned(&folders.root).into(), rules: Arc::new(rules) }
    }

    /// The same rules for a worktree of the project.
    #[must_use]
    pub fn at(&self, worktree: &Path) -> Reach {
        let folded = folded(&worktree.to_string_lossy());
        let root = parts(&folded).into_iter().map(str::to_owned).collect();
        Reach { root, rules: self.rules.clone() }
    }

    /// The folders and files that have a short name in the table.
    pub fn places(&self) -> &[(PathBuf, String)] {
        &self.rules.places
    }

    pub fn reading(&self, path: &Path) -> Reading {
        let found = self.rules.find(path, &self.root);
        let never = found.never.or((found.own && !found.open).then_some(OWN));
        let asked = || found.asked.map_or(Reading::Free, Reading::Asked);
        never.map_or_else(asked, Reading::Never)
    }

    /// Whether a file with this name may be one that is read only with consent, if its folder is not. This is faster than
    /// `reading`.
    pub fn may_ask(&self, name: &str) -> bool {
        let folded = folded(name);
        let is_about = |it: &Rule| it.parts.last().is_some_and(|it| it.fits(&folded));
        self.rules.lasts.get(&folded).any(|at| is_about(&self.rules.all[at]))
    }

    /// Whether the files may be read for which a shell's pattern could stand.
    pub fn reading_all(&self, pattern: &Path) -> Reading {
        let folded = folded(&pattern.to_string_lossy());
        let parts = parts(&folded);
        let below = below(&parts, &self.root).unwrap_or(&parts);
        let is_about = |path: &str| {
            let wanted = split(path);
            let is_pair = |(it, part): (&String, &&str)| overlap(it, part);
            below.windows(wanted.len()).any(|it| wanted.iter().zip(it).all(is_pair))
        };
        let rows = ROWS.iter().filter(|it| matches!(it.kind, Kind::Ask | Kind::Never));
        let mut rows = rows.filter(|row| row.paths.iter().any(|it| is_about(it)));
        rows.next().map_or_else(|| self.reading(pattern), |it| Reading::Asked(it.why))
    }

    /// Whether the files may be read whose names fit a shell's pattern, in whatever folder they are.
    pub fn reading_named(&self, pattern: &str) -> Reading {
        let folded = folded(pattern);
        let is_about = |it: &str| overlap(split(it).last().map_or("", |it| it), &folded);
        let rows = ROWS.iter().filter(|it| matches!(it.kind, Kind::Ask | Kind::Never));
        let mut rows = rows.filter(|row| row.paths.iter().any(|it| is_about(it)));
        rows.next().map_or(Reading::Free, |it| Reading::Asked(it.why))
    }

    /// Whether a path may be written. Caliban's own paths may not be written, even if they may be read.
    pub fn writing(&self, path: &Path) -> Writing {
        let found = self.rules.find(path, &self.root);
        let never = found.never.or(found.own.then_some(OWN));
        let reviewed = || found.reviewed.map_or(Writing::Free, Writing::Reviewed);
        never.map_or_else(reviewed, Writing::Never)
    }

    /// Whether a path may be read although it is outside of the project: outputs that were too long to show, and the
    /// user's skills and instructions.
    pub fn is_open(&self, path: &Path) -> bool {
        let folded = folded(&path.to_string_lossy());
        is_in(&parts(&folded), &self.rules.open)
    }
}

/// Those patterns of the table without a `*` that are about the user's own files, as paths below the home folder.
pub fn in_home() -> impl Iterator<Item = &'static str> {
    let patterns = ROWS.iter().filter(|it| it.kind != Kind::Never).flat_map(|it| it.paths);
    patterns.filter(|it| it.starts_with(['.', '~']) && !it.contains('*')).copied()
}

/// Those patterns of the table without a `*` that are about files with secrets, as paths below the home folder.
pub fn secrets_in_home() -> impl Iterator<Item = &'static str> {
    let patterns = ROWS.iter().filter(|it| it.kind == Kind::Ask).flat_map(|it| it.paths);
    let patterns = patterns.map(|it| it.trim_start_matches("~/"));
    patterns.filter(|it| !it.starts_with('/') && !it.contains('*'))
}

impl Rules {
    fn find(&self, path: &Path, root: &[String]) -> Found {
        let folded = folded(&path.to_string_lossy());
        let parts = parts(&folded);
        let (own, open) = (is_in(&parts, &self.own), is_in(&parts, &self.open));
        let mut found = Found { own, open, ..Found::default() };
        // the project itself may be in a `.git` folder, so the parts above the project are not compared with `.git`
        let first = below(&parts, root).map_or(0, |_| root.len());
        for at in 0..parts.len() {
            self.compare(&parts[at..], at >= first, &mut found);
        }
        for (folder, name) in &self.named {
            if let Some(rest) = below(&parts, folder) {
                let named: Vec<&str> =
                    name.iter().map(String::as_str).chain(rest.iter().copied()).collect();
                self.compare(&named, false, &mut found);
            }
        }
        found
    }

    /// Compares the patterns with the beginning of `parts`.
    fn compare(&self, parts: &[&str], may_be_never: bool, found: &mut Found) {
        let Some(first) = parts.first() else { return };
        for Rule { parts: pattern, row } in self.index.get(first).map(|at| &self.all[at]) {
            let Some(last) = pattern.len().checked_sub(1).and_then(|it| parts.get(it)) else {
                continue;
            };
            if !pattern.iter().zip(parts).all(|(it, part)| it.fits(part))
                || row.but.iter().any(|it| Pattern::new(it).fits(last))
            {
                continue;
            }
            match row.kind {
                Kind::Never if may_be_never => found.never.get_or_insert(row.why),
                Kind::Never => continue,
                Kind::Ask => found.asked.get_or_insert(row.why),
                Kind::Review | Kind::Lock => found.reviewed.get_or_insert(row.why),
            };
        }
    }
}

/// A path, or a part of a path, in the form in which paths are compared: in lower case and without invisible
/// characters, because some file systems ignore these differences.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let is_passed_over = |c: &char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let seen = text.chars().filter(|c| !is_passed_over(c));
    seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// The parts of a path, without `.` and `..`. The first part is `/` if the path is absolute.
fn parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::with_capacity(16);
    let bottom = usize::from(path.starts_with('/'));
    parts.extend((bottom == 1).then_some("/"));
    for part in path.split('/') {
        match part {
            "" | "." => (),
            ".." => parts.truncate(bottom.max(parts.len().saturating_sub(1))),
            part => parts.push(part),
        }
    }
    parts
}

fn split(pattern: &str) -> Vec<String> {
    let folded = folded(pattern);
    parts(&folded).into_iter().map(str::to_owned).collect()
}

/// The parts of a path below a folder; `None` if the path is not in the folder.
fn below<'a, 'b>(parts: &'a [&'b str], folder: &[String]) -> Option<&'a [&'b str]> {
    let head = parts.get(..folder.len())?;
    // most paths differ from a folder in its last part only
    head.iter().zip(folder).rev().all(|(part, it)| part == it).then(|| &parts[folder.len()..])
}

fn is_in(parts: &[&str], folders: &[Vec<String>]) -> bool {
    folders.iter().any(|it| below(parts, it).is_some())
}
