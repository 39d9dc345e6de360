//! Completion in the composer: files and folders after an `@`, slash commands and their arguments.

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
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// The most items of an answer.
pub const ITEMS: usize = 50;
/// How many open files, at most, are listed before the keywords.
const LATELY: usize = 3;
/// The most entries that are read from a folder outside of the index.
const ENTRIES: usize = 5000;
/// An index is renewed when it is this old, or ten times as old as its walk took if that is longer.
const FRESH: Duration = Duration::from_secs(2);

/// A file or folder that a mention may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path as it is shown: relative to the project, or as the user began to write it. A folder's path ends in a
    /// slash.
    pub path: String,
    /// The text of the mention.
    pub text: String,
}

/// The keywords, such as `buffer`, that begin with the unfinished mention `query`.
pub fn keywords(query: &str) -> impl Iterator<Item = &'static mention::Row> {
    mention::TABLE.iter().filter(move |it| it.name.starts_with(query))
}

/// The beginning of a web page's address.
pub const PAGE: &str = "https://";

/// Whether completion offers `https://` for an unfinished mention.
pub fn offers_page(query: &str) -> bool {
    !query.is_empty() && ["url", PAGE].iter().any(|it| it.starts_with(query) && *it != query)
        || query == "url"
}

/// Whether completion offers `symbol:` for an unfinished mention.
pub fn offers_symbol(query: &str) -> bool {
    !query.is_empty() && mention::SYMBOL.starts_with(query) && query != mention::SYMBOL
}

/// The part of the symbol's name that has been typed, if an unfinished mention begins with `symbol:`.
pub fn of_symbol(query: &str) -> Option<&str> {
    query.strip_prefix(mention::SYMBOL)
}

/// How many places are listed before the keywords. As long as nothing is typed, open files come first. Afterwards
/// keywords that begin with the typed text come first.
pub fn before_keywords(query: &str, open: usize) -> usize {
    if query.is_empty() { open.min(LATELY) } else { 0 }
}

/// The files of one project, and the walk that finds them.
pub struct Files {
    root: PathBuf,
    home: Option<PathBuf>,
    reach: Reach,
    chunks: Vec<Arc<Chunk>>,
    /// The running walk, if any.
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
        // one thread is enough for a walk that only renews the index: nobody waits for the end of the walk
        let threads = if self.ended.is_some() { 1 } else { index::threads() };
        Some(move || index::walk(&reach, &root, threads, &sender))
    }

    /// Takes the paths that the running walk has found so far. The old index is used until the new one is complete.
    fn take_up(&mut self, now: Instant) {
        let Some(running) = &self.running else { return };
        loop {
            match running.found.try_recv() {
                Ok(Found::Some(chunk)) if self.ended.is_none() => self.chunks.push(chunk),
                Ok(Found::Some(_)) => (),
                Ok(Found::All(chunks)) => self.chunks = chunks,
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => break,
            }
        }
        self.ended = Some((now, now - running.begun));
        self.running = None;
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
    /// The places that match an unfinished mention, the best first. `open` has the absolute paths of the files that are
    /// open in the editor, the one used last first. Blocks.
    pub fn places(&self, query: &str, open: &[PathBuf]) -> Vec<Place> {
        let open: Vec<&str> =
            open.iter().filter_map(|it| it.strip_prefix(&self.root).ok()?.to_str()).collect();
        if query.trim().is_empty() {
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

    /// The places for an empty query: the open files, then the files and folders at the top of the project.
    fn first(&self, open: &[&str]) -> Vec<Place> {
        let is_top = |it: &&str| !it.trim_end_matches('/').contains('/') && !open.contains(it);
        let mut top: Vec<&str> =
            self.chunks.iter().flat_map(|it| it.paths()).filter(is_top).collect();
        top.sort_unstable();
        let all = open.iter().copied().chain(top).take(ITEMS);
        all.map(|it| relative(it.to_owned())).collect()
    }

    /// The places in one folder that match `name`, ignored files too.
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

/// Whether the index lacks the entries of a folder: the folder lies outside of the project, or its path is not written
/// as the index writes paths.
fn is_elsewhere(folder: &str) -> bool {
    let begins = ["/", "~/", "./", "../"].iter().any(|it| folder.starts_with(it));
    begins || folder.contains("/../")
}
