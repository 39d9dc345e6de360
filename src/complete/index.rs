//! The files and folders of a project, which are searched at each typed key. A walk finds them on other threads; the
//! paths found so far can be searched before the walk ends.

use crate::reach::{Reach, Reading};
use crate::tool::walk;
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkState};
use memchr::memmem::Finder;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

/// The most paths of one chunk. A thread searches this many paths in about 0.2 ms.
const CHUNK: usize = 1024;
/// The most paths of an index, so that it has at most 80 MB.
const PATHS: usize = 400_000;

/// A part of the index: paths relative to the project. The path of a folder ends in a slash.
#[derive(Default)]
pub(super) struct Chunk {
    text: String,
    /// `text` with its ASCII letters in lower case. `None` if `text` has no ASCII capitals.
    folded: Option<String>,
    paths: Vec<Entry>,
}

/// One path of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Where the path begins and ends in its chunk's text, and where its last part begins.
    start: u32,
    end: u32,
    name: u32,
    /// The characters of the path, and of its last part.
    all: Letters,
    last: Letters,
}

/// The ways in which a path may match a query, the best way first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likely {
    /// The last part of the path contains the query.
    InName,
    /// Another part of the path contains the query.
    InPath,
    /// The last part of the path has the characters of the query.
    LettersInName,
    /// The path has the characters of the query.
    Letters,
}

/// The number of values of `Likely`.
pub(super) const WAYS: usize = 4;

impl Chunk {
    fn push(&mut self, path: &str) {
        let start = self.text.len();
        self.text.push_str(path);
        let name = path.trim_end_matches('/').rfind('/').map_or(0, |it| it + 1);
        let offset = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        self.paths.push(Entry {
            start: offset(start),
            end: offset(self.text.len()),
            name: offset(start + name),
            all: Letters::of(path),
            last: Letters::of(&path[name..]),
        });
    }

    /// Prepares the chunk for searches. No path is added afterwards.
    fn finish(mut self) -> Chunk {
        let has_capitals = self.text.bytes().any(|it| it.is_ascii_uppercase());
        self.folded = has_capitals.then(|| self.text.to_ascii_lowercase());
        self
    }

    pub(super) fn path(&self, entry: &Entry) -> &str {
        &self.text[entry.start as usize..entry.end as usize]
    }

    /// The files and folders at the top of the project.
    pub(super) fn top(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().filter(|it| it.start == it.name).map(|it| self.path(it))
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(|it| self.path(it))
    }

    pub(super) fn len(&self) -> usize {
        self.paths.len()
    }

    /// Sorts the paths that may match `query` into the lists of `into`, one list for each value of `Likely`.
    pub(super) fn sift<'a>(
        &'a self,
        query: &Sieve<'_>,
        into: &mut [Vec<(&'a Chunk, &'a Entry)>; WAYS],
    ) {
        let folded = self.folded.as_ref().filter(|_| !query.has_capitals);
        let text = folded.unwrap_or(&self.text);
        let find = |from: usize| Some(from + query.finder.find(text.as_bytes().get(from..)?)?);
        let mut found = find(0);
        for entry in &self.paths {
            let (name, end) = (entry.name as usize, entry.end as usize);
            let mut likely = None;
            while let Some(at) = found.filter(|at| *at < end) {
                // of the matches in one path at most two are visited: the first one, and the first one in the name
                let (way, rest) = match at {
                    at if at >= name => (Likely::InName, end),
                    _ => (Likely::InPath, name),
                };
                let is_whole = at + query.finder.needle().len() <= end;
                likely = is_whole.then_some(way).or(likely);
                found = find(if is_whole { rest } else { end });
            }
            let by_letters = || {
                entry.all.may_match(query.letters).then(|| match entry.last {
                    it if it.may_match(query.letters) => Likely::LettersInName,
                    _ => Likely::Letters,
                })
            };
            if let Some(way) = likely.or_else(by_letters) {
                into[way as usize].push((self, entry));
            }
        }
    }
}

/// Tells quickly which paths may match a query.
pub(super) struct Sieve<'a> {
    finder: Finder<'a>,
    has_capitals: bool,
    letters: Letters,
}

impl<'a> Sieve<'a> {
    /// `query` must not contain blanks.
    pub(super) fn new(query: &'a str) -> Sieve<'a> {
        Sieve {
            finder: Finder::new(query),
            has_capitals: query.chars().any(char::is_uppercase),
            letters: Letters::of(query),
        }
    }
}

/// The set of a text's characters, ignoring case. A path that lacks a character of the query cannot match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Letters(u64);

impl Letters {
    fn of(text: &str) -> Letters {
        let bit = |byte: u8| match byte {
            b'a'..=b'z' => 1 << (byte - b'a'),
            b'A'..=b'Z' => 1 << (byte - b'A'),
            b'0'..=b'9' => 1 << (26 + byte - b'0'),
            b'.' => 1 << 36,
            b'_' => 1 << 37,
            b'-' => 1 << 38,
            b'/' => 1 << 39,
            b' ' => 1 << 40,
            // an ASCII letter in a query matches some letters that are not ASCII, such as `é` for `e`
            0x80.. => ALL,
            _ => 0,
        };
        Letters(text.bytes().fold(0, |all, byte| all | bit(byte)))
    }

    /// Whether a text with these characters may match a query. Always true if the query has characters that are not
    /// ASCII.
    fn may_match(self, query: Letters) -> bool {
        query.0 == ALL || self.0 & query.0 == query.0
    }
}

const ALL: u64 = u64::MAX;

/// The messages of a walk: each chunk when it is found, and at the end all chunks, sorted.
pub(super) enum Found {
    Some(Arc<Chunk>),
    All(Vec<Arc<Chunk>>),
}

/// Walks the project on `threads` threads and sends the chunks to `found`. Ends early if the receiver is dropped, or at
/// about `PATHS` paths. Blocks.
pub(super) fn walk(reach: &Reach, root: &Path, threads: usize, found: &Sender<Found>) {
    walk_at_most(PATHS, reach, root, threads, found);
}

/// Like `walk`, but ends at about `most` paths: the last chunk of each thread may go beyond `most`.
fn walk_at_most(most: usize, reach: &Reach, root: &Path, threads: usize, found: &Sender<Found>) {
    let (chunks, all) = channel();
    let walker = walk::walker(reach, root).threads(threads).build_parallel();
    let left = &AtomicUsize::new(most);
    walker.visit(&mut Builder { root, found, chunks, left });
    let all: Vec<Arc<Chunk>> = all.try_iter().collect();
    let _ = found.send(Found::All(sorted(&all)));
}

/// The paths of these chunks, sorted by number of folders, then by length.
fn sorted(chunks: &[Arc<Chunk>]) -> Vec<Arc<Chunk>> {
    let depth = |path: &str| path.trim_end_matches('/').bytes().filter(|it| *it == b'/').count();
    let mut paths: Vec<_> =
        chunks.iter().flat_map(|it| it.paths()).map(|it| (depth(it), it.len(), it)).collect();
    paths.sort_unstable();
    let chunk = |paths: &[(usize, usize, &str)]| {
        let mut chunk = Chunk::default();
        for (_, _, path) in paths {
            chunk.push(path);
        }
        Arc::new(chunk.finish())
    };
    paths.chunks(CHUNK).map(chunk).collect()
}

/// The number of threads of a walk or a search.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |it| it.get().min(4))
}

struct Builder<'a> {
    root: &'a Path,
    found: &'a Sender<Found>,
    chunks: Sender<Arc<Chunk>>,
    /// How many more paths the threads may find.
    left: &'a AtomicUsize,
}

impl<'a> ParallelVisitorBuilder<'a> for Builder<'a> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'a> {
        Box::new(Visitor {
            root: self.root,
            found: self.found.clone(),
            chunks: self.chunks.clone(),
            chunk: Chunk::default(),
            left: self.left,
        })
    }
}

/// Gathers the paths that one thread of the walk finds.
struct Visitor<'a> {
    root: &'a Path,
    found: Sender<Found>,
    chunks: Sender<Arc<Chunk>>,
    chunk: Chunk,
    left: &'a AtomicUsize,
}

impl Visitor<'_> {
    /// Sends the chunk. Returns whether the walk goes on.
    fn send(&mut self) -> bool {
        let chunk = Arc::new(std::mem::take(&mut self.chunk).finish());
        let (order, found) = (Ordering::Relaxed, chunk.len());
        let before = self.left.fetch_update(order, order, |it| Some(it.saturating_sub(found)));
        let is_full = before.is_ok_and(|it| it <= found);
        let _ = self.chunks.send(chunk.clone());
        self.found.send(Found::Some(chunk)).is_ok() && !is_full
    }
}

impl ParallelVisitor for Visitor<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        let Ok(entry) = entry else { return WalkState::Continue };
        let path = entry.path().strip_prefix(self.root).ok().and_then(Path::to_str);
        let kind = entry.file_type();
        match (path, kind) {
            // A symbolic link counts as a file, because the walk does not follow links. If a mention names a link, the
            // rules for reading apply to the link's target.
            (Some(path), Some(kind)) if !path.is_empty() && kind.is_dir() => {
                self.chunk.push(&format!("{path}/"));
            }
            (Some(path), Some(_)) if !path.is_empty() => self.chunk.push(path),
            _ => (),
        }
        if self.chunk.len() < CHUNK {
            return WalkState::Continue;
        }
        if self.send() { WalkState::Continue } else { WalkState::Quit }
    }
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        if self.chunk.len() > 0 {
            self.send();
        }
    }
}

/// At most `most` entries of one folder, and whether each is a folder. Includes ignored files, but not files that
/// Caliban never reads. Blocks.
pub(super) fn entries(reach: &Reach, folder: &Path, most: usize) -> Vec<(String, bool)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_free = |path: &Path| !matches!(reach.reading(path), Reading::Never(_));
    let free = entries.map(|it| it.path()).filter(|it| is_free(it)).take(most);
    let named = free.filter_map(|it| Some((it.file_name()?.to_str()?.to_owned(), it.is_dir())));
    named.collect()
}

/// The absolute path of a folder as it is written in a mention.
pub(super) fn absolute(root: &Path, home: Option<&Path>, folder: &str) -> PathBuf {
    match (folder.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => root.join(folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::Folders;

    #[test]
    fn a_walk_on_one_thread_finds_as_many_paths_as_one_on_four() {
        let root = tempfile::tempdir().unwrap();
        for at in 0..3 * CHUNK {
            std::fs::write(root.path().join(at.to_string()), "").unwrap();
        }
        let reach = Reach::new(&Folders { root: root.path().to_owned(), ..Folders::default() });
        for threads in [1, 4] {
            let (found, listener) = channel();
            walk_at_most(2 * CHUNK, &reach, root.path(), threads, &found);
            let Some(Found::All(all)) = listener.try_iter().last() else { panic!("no end") };
            let count: usize = all.iter().map(|it| it.len()).sum();
            assert!((2 * CHUNK..=(2 + threads) * CHUNK).contains(&count), "{threads}: {count}");
        }
    }
}
