//! What completion offers in the composer: files and folders behind an `@`, slash commands and their arguments.

mod index;
mod rank;
mod token;
#[cfg(test)]
mod tests;

pub use index::Found;
pub use rank::Query;
pub use token::{Kind, Token, at};

use crate::context::mention;
use crate::reach::Reach;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most items of an answer.
pub const ITEMS: usize = 50;
/// The most entries that are read of a folder that no index has.
const ENTRIES: usize = 5000;
/// An index is made anew once it is this old, or ten times as old as its walk took if that is longer.
const FRESH: Duration = Duration::from_secs(2);

/// A file or folder that a mention may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path as it is shown: relative to the project, or as the user began to write it. That of a folder ends in
    /// a slash.
    pub path: String,
    /// The mention.
    pub text: String,
}

/// The files of one project.
pub struct Files {
    root: PathBuf,
    home: Option<PathBuf>,
    reach: Reach,
    /// The walk that has ended, and the one that runs.
    whole: Option<Walked>,
    running: Option<(Arc<Found>, Instant)>,
}

struct Walked {
    found: Arc<Found>,
    ended: Instant,
    took: Duration,
}

impl Files {
    pub fn new(root: PathBuf, home: Option<PathBuf>, reach: Reach) -> Files {
        Files { root, home, reach, whole: None, running: None }
    }

    /// Whether no walk has begun yet.
    pub fn is_new(&self) -> bool {
        self.whole.is_none() && self.running.is_none()
    }

    /// Takes up a walk that has ended. Returns the one to run on a thread of its own if there is none and the index is
    /// old.
    pub fn refresh(&mut self, now: Instant) -> Option<impl FnOnce() + Send + use<>> {
        if let Some((found, begun)) = self.running.take_if(|(found, _)| found.is_whole()) {
            self.whole = Some(Walked { found, ended: now, took: now - begun });
        }
        let is_fresh = |it: &Walked| now - it.ended < FRESH.max(10 * it.took);
        if self.running.is_some() || self.whole.as_ref().is_some_and(is_fresh) {
            return None;
        }
        let found = Arc::new(Found::default());
        self.running = Some((found.clone(), now));
        let (reach, root) = (self.reach.clone(), self.root.clone());
        // nobody waits for a walk that only renews the index
        let threads = if self.whole.is_some() { 1 } else { index::threads() };
        Some(move || found.walk(&reach, &root, threads))
    }

    /// Whether a search finds only a part of the files, because the first walk still runs.
    pub fn is_partial(&self) -> bool {
        self.whole.is_none() && self.running.as_ref().is_some_and(|(found, _)| !found.is_whole())
    }

    /// What a search of the files as they are known now needs, to be done on another thread.
    pub fn search(&self) -> Search {
        let found = self.whole.as_ref().map(|it| &it.found);
        let found = found.or(self.running.as_ref().map(|(found, _)| found));
        Search {
            root: self.root.clone(),
            home: self.home.clone(),
            reach: self.reach.clone(),
            chunks: found.map(|it| it.chunks()).unwrap_or_default(),
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if let Some((found, _)) = &self.running {
            found.stop();
        }
    }
}

/// The files of a project at one moment.
pub struct Search {
    root: PathBuf,
    home: Option<PathBuf>,
    reach: Reach,
    chunks: Vec<Arc<index::Chunk>>,
}

impl Search {
    /// The places that match a mention as far as it is written, the best first. `open`: absolute paths of the files
    /// that are open in the editor, the one used last first. Blocks.
    pub fn places(&self, query: &str, open: &[PathBuf]) -> Vec<Place> {
        let open: Vec<&str> =
            open.iter().filter_map(|it| it.strip_prefix(&self.root).ok()?.to_str()).collect();
        if query.is_empty() {
            return self.first(&open);
        }
        let (folder, name) = query
            .rsplit_once('/')
            .map_or(("", query), |(folder, name)| (&query[..=folder.len()], name));
        if is_elsewhere(folder) {
            return self.of_folder(folder, name);
        }
        let open: HashSet<&str> = open.into_iter().collect();
        let paths = Query::new(query).best_paths(&self.chunks, |it| open.contains(it), ITEMS);
        if paths.is_empty() && !folder.is_empty() {
            return self.of_folder(folder, name);
        }
        let is_there =
            |it: &String| self.root.join(it.trim_end_matches('/')).symlink_metadata().is_ok();
        paths.into_iter().filter(is_there).map(relative).collect()
    }

    /// Of an empty query: the open files, then what lies directly in the project.
    fn first(&self, open: &[&str]) -> Vec<Place> {
        let is_top = |it: &&str| !it.trim_end_matches('/').contains('/') && !open.contains(it);
        let mut top: Vec<&str> =
            self.chunks.iter().flat_map(|it| it.paths()).filter(is_top).collect();
        top.sort_unstable();
        let all = open.iter().copied().chain(top).take(ITEMS);
        all.map(|it| relative(it.to_owned())).collect()
    }

    /// The entries of one folder, ignored ones too.
    fn of_folder(&self, folder: &str, name: &str) -> Vec<Place> {
        let absolute = index::absolute(&self.root, self.home.as_deref(), folder);
        let mut entries = index::entries(&self.reach, &absolute, ENTRIES);
        entries.sort();
        let entries = entries.into_iter().map(|(it, is_folder)| {
            let slash = if is_folder { "/" } else { "" };
            let path = format!("{folder}{it}{slash}");
            Place { text: mention::spell(&path), path }
        });
        let after = folder.len();
        let best = Query::new(name).best(entries, move |it| &it.path[after..], ITEMS);
        best.into_iter().collect()
    }
}

fn relative(path: String) -> Place {
    Place { text: mention::write(&path), path }
}

/// Whether no index can have the entries of a folder: it lies outside of the project or is spelt otherwise.
fn is_elsewhere(folder: &str) -> bool {
    let begins = ["/", "~/", "./", "../"].iter().any(|it| folder.starts_with(it));
    begins || folder.contains("/../")
}
