//! What completion offers in the composer: files and folders behind an `@`, slash commands and their arguments.

mod index;
mod rank;
mod token;
#[cfg(test)]
mod tests;

pub use rank::Query;
pub use token::{Kind, Token, at};

use crate::context::mention;
use crate::reach::Reach;
use index::{Chunk, Found};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
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
    chunks: Vec<Arc<Chunk>>,
    /// The walk that runs.
    running: Option<Running>,
    /// When the last walk ended, and how long it took.
    ended: Option<(Instant, Duration)>,
}

struct Running {
    found: Receiver<Found>,
    begun: Instant,
}

impl Files {
    pub fn new(root: PathBuf, home: Option<PathBuf>, reach: Reach) -> Files {
        Files { root, home, reach, chunks: Vec::new(), running: None, ended: None }
    }

    /// Whether no walk has begun yet.
    pub fn is_new(&self) -> bool {
        self.ended.is_none() && self.running.is_none()
    }

    /// Returns a walk to run on a thread of its own, if the index is old and no walk runs.
    pub fn refresh(&mut self, now: Instant) -> Option<impl FnOnce() + Send + use<>> {
        self.take_up(now);
        let is_fresh = |(at, took): (Instant, Duration)| now - at < FRESH.max(10 * took);
        if self.running.is_some() || self.ended.is_some_and(is_fresh) {
            return None;
        }
        let (sender, found) = channel();
        self.running = Some(Running { found, begun: now });
        let (reach, root) = (self.reach.clone(), self.root.clone());
        // nobody waits for a walk that only renews the index
        let threads = if self.ended.is_some() { 1 } else { index::threads() };
        Some(move || index::walk(&reach, &root, threads, &sender))
    }

    /// Takes up what the running walk has found. The old index is used until a new one is whole.
    fn take_up(&mut self, now: Instant) {
        let Some(running) = &self.running else { return };
        let mut all = None;
        for found in running.found.try_iter() {
            match found {
                Found::Some(chunk) if self.ended.is_none() => self.chunks.push(chunk),
                Found::Some(_) => (),
                Found::All(chunks) => all = Some(chunks),
            }
        }
        if let Some(chunks) = all {
            (self.chunks, self.ended) = (chunks, Some((now, now - running.begun)));
            self.running = None;
        }
    }

    /// Whether a search finds only some of the files, because the first walk still runs.
    pub fn is_partial(&mut self, now: Instant) -> bool {
        self.take_up(now);
        self.ended.is_none() && self.running.is_some()
    }

    /// A search of the files that are known now, to be done on another thread.
    pub fn search(&self) -> Search {
        Search {
            root: self.root.clone(),
            home: self.home.clone(),
            reach: self.reach.clone(),
            chunks: self.chunks.clone(),
        }
    }
}

/// The files of a project at one moment.
pub struct Search {
    root: PathBuf,
    home: Option<PathBuf>,
    reach: Reach,
    chunks: Vec<Arc<Chunk>>,
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
