//! The difference between two commits of a repository, file by file.

use super::super::git::Failure;
use super::super::git::checkout::Checkout;
use super::repository::{BRIEF, PATIENCE};
use crate::text::Text;
use crate::tool::LIMIT;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path below the root: the new one, if the file was renamed.
    pub path: PathBuf,
    /// The path before a renaming.
    pub from: Option<PathBuf>,
    /// `None` if the file is new.
    pub old: Option<Entry>,
    /// `None` if the file was deleted.
    pub new: Option<Entry>,
}

/// A file as git has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub mode: Mode,
    pub object: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    File,
    Executable,
    Link,
    /// A repository within the repository.
    Module,
}

/// The content of a file, before any filter of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Text(Text),
    Binary(Vec<u8>),
    TooLarge,
}

impl Content {
    pub(super) async fn of(checkout: &Checkout, entry: &Entry) -> Result<Content, Failure> {
        let (bytes, is_more) =
            checkout.beginning(["cat-file", "blob", &entry.object], BRIEF, LIMIT).await?;
        Ok(match Text::decode(&bytes) {
            _ if is_more => Content::TooLarge,
            Ok(text) => Content::Text(text),
            Err(_) => Content::Binary(bytes),
        })
    }
}

/// The files that differ between two commits, and a summary in git's words.
pub(super) async fn changes(
    checkout: &Checkout,
    from: &str,
    to: &str,
) -> Result<(Vec<Change>, String), Failure> {
    let diff = |how: [&'static str; 2]| {
        let plain = ["diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color"];
        let all = plain.into_iter().chain(how).chain([from, to]).map(str::to_owned);
        all.collect::<Vec<_>>()
    };
    let raw = [diff(["--raw", "-z"]), vec!["--no-abbrev".to_owned()]].concat();
    let listed = checkout.run(raw, PATIENCE).await?;
    let stat = checkout.line(diff(["--shortstat", "--no-relative"]), PATIENCE).await?;
    Ok((by_name(parse(&listed)), stat))
}

/// Parses the output of `git diff-tree --raw -z`.
fn parse(listed: &[u8]) -> Vec<Change> {
    let mut words = listed.split(|it| *it == 0).filter(|it| !it.is_empty());
    let mut changes = Vec::new();
    while let Some(about) = words.next() {
        let about = String::from_utf8_lossy(about);
        let about: Vec<&str> = about.trim_start_matches(':').split(' ').collect();
        let ([old, new, before, after, status], Some(path)) = (&about[..], words.next()) else {
            break;
        };
        let is_moved = status.starts_with(['R', 'C']);
        let (from, path) = match is_moved.then(|| words.next()).flatten() {
            Some(to) => (Some(path), to),
            None => (None, path),
        };
        let owned = |it: &[u8]| Path::new(OsStr::from_bytes(it)).to_owned();
        changes.push(Change {
            path: owned(path),
            from: from.filter(|_| status.starts_with('R')).map(owned),
            old: entry(old, before).filter(|_| !status.starts_with('C')),
            new: entry(new, after),
        });
    }
    changes
}

/// Of several deleted files with the same content, the one with the most similar name counts as the renamed one.
fn by_name(mut changes: Vec<Change>) -> Vec<Change> {
    for at in 0..changes.len() {
        let Change { path: to, from: Some(from), old, .. } = &changes[at] else { continue };
        let is_same = |it: &Change| it.new.is_none() && it.old == *old;
        let others = changes.iter().enumerate().filter(|it| is_same(it.1));
        let nearest = others.max_by_key(|it| likeness(&it.1.path, to));
        let Some((other, it)) = nearest.filter(|it| likeness(&it.1.path, to) > likeness(from, to))
        else {
            continue;
        };
        let (path, from) = (from.clone(), it.path.clone());
        changes[at].from = Some(from);
        changes[other].path = path;
    }
    changes
}

/// Whether two paths are in one folder, and how many bytes their names have in common at the beginning and at the end.
fn likeness(one: &Path, other: &Path) -> (bool, usize) {
    let name = |it: &Path| it.file_name().unwrap_or_default().as_bytes().to_vec();
    let (a, b) = (name(one), name(other));
    let first = a.iter().zip(&b).take_while(|it| it.0 == it.1).count();
    let last = a[first..].iter().rev().zip(b[first..].iter().rev()).take_while(|it| it.0 == it.1);
    (one.parent() == other.parent(), first + last.count())
}

fn entry(mode: &str, object: &str) -> Option<Entry> {
    let mode = match mode {
        "000000" => return None,
        "120000" => Mode::Link,
        "160000" => Mode::Module,
        "100755" => Mode::Executable,
        _ => Mode::File,
    };
    Some(Entry { mode, object: object.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_files_with_the_same_content_the_one_with_the_similar_name_is_renamed() {
        let listed = b":100644 000000 aa 00 D\0c.txt\0:100644 000000 aa 00 D\0x/c9.txt\0:100644 100644 aa aa R100\0b.txt\0c9.txt\0\
            :100644 000000 bb 00 D\0c9.txt.old\0";
        let shown = |it: &Change| {
            let name = |it: &Path| it.display().to_string();
            (name(&it.path), it.from.as_deref().map(name))
        };
        let found = by_name(parse(listed));
        let all: Vec<_> = found.iter().map(shown).collect();
        let some = |it: &str| Some(it.to_owned());
        let expected =
            [("b.txt", None), ("x/c9.txt", None), ("c9.txt", some("c.txt")), ("c9.txt.old", None)];
        assert_eq!(all, expected.map(|(path, from)| (path.to_owned(), from)));
    }

    #[test]
    fn a_raw_diff_with_hostile_names_is_parsed() {
        let listed = b":100644 100644 aa bb M\0a b\n.txt\0:000000 100755 00 cc A\0-x\0\
            :100644 000000 dd 00 D\0\xff\0:100644 120000 ee ff T\0l\0:100644 100644 11 22 R087\0old\0new\0";
        let found = parse(listed);
        let shown = |it: &Change| {
            let entry =
                |it: &Option<Entry>| it.as_ref().map(|it| format!("{:?} {}", it.mode, it.object));
            let from = it.from.as_ref().map(|it| it.display().to_string());
            (it.path.to_string_lossy().into_owned(), from, entry(&it.old), entry(&it.new))
        };
        let some = |it: &str| Some(it.to_owned());
        assert_eq!(
            found.iter().map(shown).collect::<Vec<_>>(),
            [
                ("a b\n.txt".to_owned(), None, some("File aa"), some("File bb")),
                ("-x".to_owned(), None, None, some("Executable cc")),
                ("\u{fffd}".to_owned(), None, some("File dd"), None),
                ("l".to_owned(), None, some("File ee"), some("Link ff")),
                ("new".to_owned(), some("old"), some("File 11"), some("File 22")),
            ]
        );
        assert!(parse(b"").is_empty() && parse(b":1 2\0x").is_empty());
    }
}
