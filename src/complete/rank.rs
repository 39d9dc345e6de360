//! Finds the paths that match a query best.

use super::index::{Chunk, Sieve, WAYS, threads};
use super::near::File;
use super::place::{Place, relative};
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most paths that are compared for one query: at 0.3 µs each they take 1 ms on two threads.
const COMPARED: usize = 6_000;

/// A match. A better match is greater. Of two equally good matches the nearer file is greater, then the shorter path,
/// then the first in the alphabet.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Match<'a> {
    score: u32,
    /// The place in the list of near files; `usize::MAX` for other paths.
    near: Reverse<usize>,
    short: Reverse<usize>,
    path: Reverse<&'a str>,
}

/// Compares texts with one query. A word of the query without capitals ignores case; a word with capitals does not.
pub struct Query {
    pattern: Pattern,
    /// The query without blanks.
    text: String,
}

impl Query {
    pub fn new(query: &str) -> Query {
        let (case, normal) = (CaseMatching::Smart, Normalization::Smart);
        let pattern = Pattern::new(query, case, normal, AtomKind::Fuzzy);
        Query { pattern, text: query.split_whitespace().collect() }
    }

    /// How well a text matches. `None` if it does not match.
    fn score(&self, text: &str, matcher: &mut Matcher, buffer: &mut Vec<char>) -> Option<u32> {
        self.pattern.score(Utf32Str::new(text, buffer), matcher)
    }

    /// The `most` best of `texts`, the best first. Equally good texts keep their order.
    pub fn best<'a, T>(
        &self,
        texts: impl IntoIterator<Item = T>,
        text: impl Fn(&T) -> &str + 'a,
        most: usize,
    ) -> Vec<T> {
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut buffer = Vec::new();
        let scored = texts
            .into_iter()
            .filter_map(|it| Some((self.score(text(&it), &mut matcher, &mut buffer)?, it)));
        let mut scored: Vec<_> = scored.collect();
        scored.sort_by_key(|(score, _)| Reverse(*score));
        scored.into_iter().map(|(_, it)| it).take(most).collect()
    }

    /// The best `most` of the near files and the paths of an index, the best first. In a large index only the likeliest
    /// paths are compared: paths that contain the query before paths that have its letters, and paths in few folders
    /// before paths in many.
    pub(super) fn best_places(
        &self,
        chunks: &[Arc<Chunk>],
        near: &[File],
        most: usize,
    ) -> Vec<Place> {
        let sieve = Sieve::new(&self.text);
        // each part has a number, by which the results are sorted: the threads return the results in any order
        let parts: Vec<_> = chunks.chunks(16).enumerate().collect();
        let mut sifted = in_parallel(&parts, |(at, chunks)| {
            let mut sifted = <[Vec<_>; WAYS]>::default();
            for chunk in *chunks {
                chunk.sift(&sieve, &mut sifted);
            }
            (*at, sifted)
        });
        sifted.sort_unstable_by_key(|(at, _)| *at);
        let likely = (0..WAYS).flat_map(|way| sifted.iter().flat_map(move |(_, it)| &it[way]));
        let likely: Vec<_> = likely.take(COMPARED).collect();
        let inside: HashSet<&str> =
            near.iter().filter(|it| it.is_inside).map(|it| it.path.as_str()).collect();
        let parts: Vec<_> = likely.chunks(1024).collect();
        let mut best = in_parallel(&parts, |likely| {
            let paths = likely.iter().map(|(chunk, entry)| chunk.path(entry));
            let others = paths.filter(|it| !inside.contains(it));
            least(self.matches(others.map(|it| (it, usize::MAX, 0))), most)
        });
        let near_files = near.iter().enumerate().map(|(at, it)| (it.path.as_str(), at, it.bonus));
        best.push(least(self.matches(near_files), most));
        let best = least(best.into_iter().flatten().collect(), most);
        let place = |Reverse(it): Reverse<Match<'_>>| match near.get(it.near.0) {
            Some(file) => file.place(),
            None => relative(it.path.0),
        };
        best.into_iter().map(place).collect()
    }

    /// The paths that match. Each path is given with its place in the list of near files and its bonus.
    fn matches<'a>(
        &self,
        paths: impl Iterator<Item = (&'a str, usize, u32)>,
    ) -> Vec<Reverse<Match<'a>>> {
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let mut buffer = Vec::new();
        let found = paths.filter_map(|(path, near, bonus)| {
            let score = self.score(path, &mut matcher, &mut buffer)?.saturating_add(bonus);
            let (near, short) = (Reverse(near), Reverse(path.len()));
            Some(Reverse(Match { score, near, short, path: Reverse(path) }))
        });
        found.collect()
    }
}

/// The `most` smallest values in ascending order.
fn least<T: Ord>(mut values: Vec<T>, most: usize) -> Vec<T> {
    if values.len() > most {
        values.select_nth_unstable(most);
        values.truncate(most);
    }
    values.sort_unstable();
    values
}

/// Does the work for each item, on a few threads. The results come in any order.
fn in_parallel<I: Sync, T: Send>(items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push(work(item));
        }
        done
    };
    if items.len() < 2 {
        return run();
    }
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads()).map(|_| scope.spawn(run)).collect();
        let mut done = run();
        done.extend(others.into_iter().flat_map(|it| it.join().unwrap_or_default()));
        done
    })
}
