//! The files and folders of a project, to be searched at each key. A walk fills the index on threads of its own; what
//! it has found so far can be searched meanwhile.

use crate::reach::{Reach, Reading};
use crate::tool::walk;
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The paths of one chunk: so many are searched by one thread in about 0.2 ms.
const CHUNK: usize = 1024;
/// The most paths of an index. At 60 bytes a path, an index of this many has 80 MB.
const PATHS: usize = 1_000_000;

/// A part of the index: paths relative to the project, those of folders with a slash at the end.
#[derive(Default)]
pub struct Chunk {
    text: String,
    /// Where each path ends in `text`.
    ends: Vec<u32>,
    /// For each path, which characters it has.
    has: Vec<Letters>,
}

impl Chunk {
    fn push(&mut self, path: &str, is_folder: bool) {
        let start = self.text.len();
        self.text.push_str(path);
        if is_folder {
            self.text.push('/');
        }
        self.has.push(Letters::of(&self.text[start..]));
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
    }

    /// Each path with its characters.
    pub fn paths(&self) -> impl Iterator<Item = (&str, Letters)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .zip(&self.has)
            .map(|((start, end), has)| (&self.text[start as usize..*end as usize], *has))
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }
}

/// Which characters a text has, without their case: most paths that cannot match a query are known by this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Letters(u64);

impl Letters {
    pub fn of(text: &str) -> Letters {
        let bit = |byte: u8| match byte {
            b'a'..=b'z' => 1 << (byte - b'a'),
            b'A'..=b'Z' => 1 << (byte - b'A'),
            b'0'..=b'9' => 1 << (26 + byte - b'0'),
            b'.' => 1 << 36,
            b'_' => 1 << 37,
            b'-' => 1 << 38,
            b'/' => 1 << 39,
            b' ' => 1 << 40,
            // the matcher folds some letters that are not ASCII into ASCII ones
            0x80.. => ALL,
            _ => 0,
        };
        Letters(text.bytes().fold(0, |all, byte| all | bit(byte)))
    }

    /// Whether a text with these characters may match a query. A query with characters that are not ASCII is not
    /// judged.
    pub fn may_match(self, query: Letters) -> bool {
        query.0 == ALL || self.0 & query.0 == query.0
    }
}

const ALL: u64 = u64::MAX;

/// What a walk has found, while it runs and after.
#[derive(Default)]
pub struct Found {
    chunks: Mutex<Vec<Arc<Chunk>>>,
    is_whole: AtomicBool,
    is_unwanted: AtomicBool,
}

impl Found {
    /// The chunks so far.
    pub fn chunks(&self) -> Vec<Arc<Chunk>> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn is_whole(&self) -> bool {
        self.is_whole.load(Ordering::Acquire)
    }

    /// Ends the walk.
    pub fn stop(&self) {
        self.is_unwanted.store(true, Ordering::Relaxed);
    }

    /// Walks the project until all is found. Blocks.
    pub fn walk(&self, reach: &Reach, root: &Path) {
        let walker = walk::walker(reach, root).threads(threads()).build_parallel();
        walker.visit(&mut Builder { found: self, root });
        self.is_whole.store(true, Ordering::Release);
    }

    fn add(&self, chunk: Chunk) -> WalkState {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        chunks.push(Arc::new(chunk));
        let is_full = chunks.len() * CHUNK >= PATHS;
        let ends = is_full || self.is_unwanted.load(Ordering::Relaxed);
        if ends { WalkState::Quit } else { WalkState::Continue }
    }
}

/// The threads of a walk or a search.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |it| it.get().min(4))
}

struct Builder<'a> {
    found: &'a Found,
    root: &'a Path,
}

impl<'a> ParallelVisitorBuilder<'a> for Builder<'a> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'a> {
        Box::new(Visitor { found: self.found, root: self.root, chunk: Chunk::default() })
    }
}

/// Gathers what one thread of the walk finds.
struct Visitor<'a> {
    found: &'a Found,
    root: &'a Path,
    chunk: Chunk,
}

impl ParallelVisitor for Visitor<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        let Ok(entry) = entry else { return WalkState::Continue };
        let path = entry.path().strip_prefix(self.root).ok().and_then(Path::to_str);
        let kind = entry.file_type();
        match (path, kind) {
            // links are files here: they are not followed, and a mention of one is judged by where it leads
            (Some(path), Some(kind)) if !path.is_empty() => self.chunk.push(path, kind.is_dir()),
            _ => (),
        }
        if self.chunk.len() < CHUNK {
            return WalkState::Continue;
        }
        self.found.add(std::mem::take(&mut self.chunk))
    }
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        if self.chunk.len() > 0 {
            self.found.add(std::mem::take(&mut self.chunk));
        }
    }
}

/// The entries of one folder and whether each is a folder, at most `most`. Ignored files count, files that are never
/// read do not. Blocks.
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
