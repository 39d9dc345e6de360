//! The first matches in the order of paths. The threads of a search find files in no order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The most matching lines that are shown, and the most characters of each.
pub(super) const CAP: usize = 100;

/// The result of a search.
#[derive(Default)]
pub(super) struct Found {
    pub(super) lines: Vec<String>,
    pub(super) matches: usize,
    /// Whether there are more matches than are shown.
    pub(super) capped: bool,
    /// Files under review that have matches, and the number of their undecided hunks.
    pub(super) pending: Vec<(String, u32)>,
    /// Files that were left out, because reading them needs the user's consent.
    pub(super) kept: Vec<String>,
}

/// What a search found in one file.
pub(super) enum InFile {
    Hits(Hits),
    /// The file was left out, because reading it needs the user's consent.
    Kept(String),
}

/// The first matches of one file.
#[derive(Default)]
pub(super) struct Hits {
    /// The file's name as it is shown.
    pub(super) name: String,
    pub(super) lines: Vec<String>,
    /// For each match the number of lines before it.
    pub(super) starts: Vec<usize>,
    pub(super) has_more: bool,
    /// The number of undecided hunks.
    pub(super) pending: u32,
}

impl InFile {
    fn matches(&self) -> usize {
        match self {
            InFile::Hits(hits) => hits.starts.len() + usize::from(hits.has_more),
            InFile::Kept(_) => 0,
        }
    }
}

/// The files that have the first matches in the order of paths, up to the file with the first match that is not shown.
#[derive(Default)]
pub(super) struct First {
    files: BTreeMap<PathBuf, InFile>,
    matches: usize,
}

impl First {
    pub(super) fn add(&mut self, path: PathBuf, file: InFile) {
        self.matches += file.matches();
        self.files.insert(path, file);
        while let Some(last) = self.files.last_entry()
            && self.matches - last.get().matches() > CAP
        {
            self.matches -= last.remove().matches();
        }
    }

    /// Whether this path comes after all files that are needed.
    pub(super) fn is_beyond(&self, path: &Path) -> bool {
        self.matches > CAP && self.files.last_key_value().is_some_and(|(last, _)| path > last)
    }

    /// Joins what several threads have found.
    pub(super) fn joined(all: impl Iterator<Item = First>) -> Found {
        let mut first = First::default();
        for (path, file) in all.flat_map(|it| it.files) {
            first.add(path, file);
        }
        let mut found = Found::default();
        first.files.into_values().for_each(|it| found.add(it));
        found
    }
}

impl Found {
    /// Adds the next file.
    pub(super) fn add(&mut self, file: InFile) {
        if self.capped {
            return;
        }
        let mut hits = match file {
            InFile::Hits(hits) => hits,
            InFile::Kept(name) => return self.kept.push(name),
        };
        let left = CAP - self.matches;
        if let Some(start) = hits.starts.get(left) {
            hits.lines.truncate(*start);
        }
        let shown = hits.starts.len().min(left);
        self.capped = hits.has_more || hits.starts.len() > left;
        self.matches += shown;
        self.lines.append(&mut hits.lines);
        if hits.pending > 0 && shown > 0 {
            self.pending.push((hits.name, hits.pending));
        }
    }
}
