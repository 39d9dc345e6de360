//! Finds the paths that match a query best.

use super::index::{Chunk, Letters, threads};
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a match is worth more in a file that is open in the editor: about as much as a letter at the beginning of a word.
const OPEN: u32 = 24;

/// A match: a better one is greater. Of equals the shorter path is, then the first of the alphabet.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Match<'a> {
    score: u32,
    short: Reverse<usize>,
    path: Reverse<&'a str>,
}

/// Compares texts with one query. Lower-case letters of the query match both cases.
pub struct Query {
    pattern: Pattern,
    letters: Letters,
}

impl Query {
    pub fn new(query: &str) -> Query {
        let (case, normal) = (CaseMatching::Smart, Normalization::Smart);
        let pattern = Pattern::new(query, case, normal, AtomKind::Fuzzy);
        let letters: String = query.split_whitespace().collect();
        Query { pattern, letters: Letters::of(&letters) }
    }

    /// How well a text matches, if it does.
    fn score(&self, text: &str, matcher: &mut Matcher, buffer: &mut Vec<char>) -> Option<u32> {
        self.pattern.score(Utf32Str::new(text, buffer), matcher)
    }

    /// The `most` best of `texts`, the best first. Of equals the earlier one comes first.
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

    /// The `most` best paths of an index, the best first. `is_open` tells the files that are open in the editor.
    pub fn best_paths(
        &self,
        chunks: &[Arc<Chunk>],
        is_open: impl Fn(&str) -> bool + Sync,
        most: usize,
    ) -> Vec<String> {
        let next = AtomicUsize::new(0);
        let search = || {
            let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
            let mut buffer = Vec::new();
            let mut best = BinaryHeap::with_capacity(most + 1);
            while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                for (path, letters) in chunk.paths() {
                    if !letters.may_match(self.letters) {
                        continue;
                    }
                    let Some(score) = self.score(path, &mut matcher, &mut buffer) else { continue };
                    let score = if is_open(path) { score + OPEN } else { score };
                    let found = Match { score, short: Reverse(path.len()), path: Reverse(path) };
                    let is_full = best.len() >= most;
                    if is_full && best.peek().is_some_and(|Reverse(worst)| found <= *worst) {
                        continue;
                    }
                    best.push(Reverse(found));
                    if is_full {
                        best.pop();
                    }
                }
            }
            best.into_vec()
        };
        let mut best: Vec<Reverse<Match<'_>>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads()).map(|_| scope.spawn(search)).collect();
            let mut best = search();
            best.extend(others.into_iter().flat_map(|it| it.join().unwrap_or_default()));
            best
        });
        best.sort();
        best.into_iter().take(most).map(|Reverse(it)| it.path.0.to_owned()).collect()
    }
}
