//! Completion in the composer: files and folders after an `@`, slash commands and their arguments.

mod index;
mod near;
mod place;
mod rank;
mod search;
mod token;
#[cfg(test)]
mod tests;

pub use near::Near;
pub use place::Place;
pub use rank::Query;
pub use search::{ITEMS, Search};
pub use token::{Kind, Token, at};

use crate::context::mention;
use crate::reach::Reach;
use index::{Chunk, Found};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// The most open and recent files that come before the keywords.
const LATELY: usize = 3;
/// An index is renewed when it is this old, or ten times as old as its walk took if that is longer.
const FRESH: Duration = Duration::from_secs(2);

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
