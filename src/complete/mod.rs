//! Completion in the composer: files and folders after an `@`, slash commands and their arguments.

mod index;
mod near;
mod rank;
mod token;
#[cfg(test)]
mod tests;

pub use near::Near;
pub use rank::Query;
pub use token::{Kind, Token, at};

use crate::context::mention;
use crate::reach::Reach;
use index::{Chunk, Found};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// The most items of an answer.
pub const ITEMS: usize = 50;
/// The most open and recent files that come before the keywords.
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
    /// Whether the file is open or was used recently.
    pub is_near: bool,
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

/// How many of the places come before the keywords. Before anything is typed, a few open and recent files come first;
/// after that, the keywords that begin with the typed text.
pub fn before_keywords(query: &str, places: &[Place]) -> usize {
    let most = if query.is_empty() { LATELY } else { 0 };
    places.iter().take(most).take_while(|it| it.is_near).count()
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
    /// The places that match an unfinished mention, the best first. Blocks.
    pub fn places(&self, query: &str, near: &Near) -> Vec<Place> {
        let near = self.near(near);
        if query.trim().is_empty() {
            return self.first(&near);
        }
        let (folder, name) = query
            .rsplit_once('/')
            .map_or(("", query), |(folder, name)| (&query[..=folder.len()], name));
        if is_elsewhere(folder) {
            return self.of_folder(folder, name);
        }
        let mut places = Query::new(query).best_places(&self.chunks, &near, ITEMS);
        places.retain(|it| it.is_near || self.is_there(&it.path));
        if !folder.is_empty() && places.iter().all(|it| it.is_near) {
            let mut ignored = self.of_folder(folder, name);
            ignored.retain(|it| places.iter().all(|near| near.path != it.path));
            places.extend(ignored);
            places.truncate(ITEMS);
        }
        places
    }

    /// The files and folders that complete a typed path. Their texts have no `@`. Blocks.
    pub fn paths(&self, typed: &str) -> Vec<Place> {
        let (folder, name) = typed.split_at(typed.rfind('/').map_or(0, |it| it + 1));
        let mut places = self.of_folder(folder, name);
        for it in &mut places {
            it.text.clone_from(&it.path);
        }
        places
    }

    fn is_there(&self, path: &str) -> bool {
        self.root.join(path.trim_end_matches('/')).symlink_metadata().is_ok()
    }

    /// The places for an empty query: the near files, then the files and folders at the top of the project.
    fn first(&self, near: &[near::File]) -> Vec<Place> {
        let is_near = |it: &&str| near.iter().any(|near| near.is_inside && near.path == *it);
        let mut top: Vec<&str> =
            self.chunks.iter().flat_map(|it| it.top()).filter(|it| !is_near(it)).collect();
        top.sort_unstable();
        let top: Vec<Place> = top.into_iter().take(ITEMS).map(relative).collect();
        near.iter().map(near::File::place).chain(top).take(ITEMS).collect()
    }

    /// The places in one folder that match `name`, ignored files too.
    fn of_folder(&self, folder: &str, name: &str) -> Vec<Place> {
        let absolute = index::absolute(&self.root, self.home.as_deref(), folder);
        let mut entries = index::entries(&self.reach, &absolute, ENTRIES);
        entries.sort();
        let entries = entries.into_iter().map(|(it, is_folder)| {
            let slash = if is_folder { "/" } else { "" };
            let path = format!("{folder}{it}{slash}");
            Place { text: mention::spell(&path), path, is_near: false }
        });
        let after = folder.len();
        let best = Query::new(name).best(entries, move |it| &it.path[after..], ITEMS);
        best.into_iter().collect()
    }
}

fn relative(path: &str) -> Place {
    Place { text: mention::write(path), path: path.to_owned(), is_near: false }
}

/// Whether the index lacks the entries of a folder: the folder lies outside of the project, or its path is not written
/// as the index writes paths.
fn is_elsewhere(folder: &str) -> bool {
    let begins = ["/", "~/", "./", "../"].iter().any(|it| folder.starts_with(it));
    begins || folder.contains("/../")
}
