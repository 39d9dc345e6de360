//! Walks the folders and searches each file, on several threads.

use super::found::{CAP, First, Found, Hits, InFile};
use crate::reach::{Reach, Reading};
use crate::regular::direct::Listed;
use crate::tool::{Source, clip, path, walk};
use globset::GlobSet;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use ignore::WalkState;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::{io, mem};

const WIDE: usize = 500;
/// How many characters are shown before a match in a line that is too long.
const LEAD: usize = 100;
/// The most memory for one line, in bytes. A file with a longer line is skipped.
const HEAP: usize = 64_000_000;

pub(super) struct Search {
    pub(super) root: PathBuf,
    pub(super) target: PathBuf,
    pub(super) glob: Option<GlobSet>,
    pub(super) matcher: RegexMatcher,
    pub(super) context: usize,
    pub(super) buffers: BTreeMap<PathBuf, Source>,
    /// Whether the user has consented to the search of exactly this file or folder. Then only files that are never read
    /// are left out.
    pub(super) agreed: bool,
    pub(super) reach: Reach,
}

impl Search {
    pub(super) fn run(&self, halt: &walk::Halt) -> Found {
        let (sender, all) = mpsc::channel();
        walk::parallel(&self.reach, &self.target).run(|| {
            let sender = sender.clone();
            let mut thread = Thread { tools: self.tools(), first: First::default(), sender };
            Box::new(move |entry| {
                if halt.is_set() {
                    return WalkState::Quit;
                }
                let Ok(entry) = entry else { return WalkState::Continue };
                if thread.first.is_beyond(entry.path()) {
                    return WalkState::Skip;
                }
                if entry.file_type().is_some_and(|kind| kind.is_file()) {
                    thread.search(self, entry.into_path());
                }
                WalkState::Continue
            })
        });
        let mut tools = self.tools();
        let mut found = First::joined(all.try_iter());
        let unwritten = self.buffers.iter().filter(|(path, _)| !path.exists());
        for (path, buffer) in unwritten {
            if let Some(it) = self.file(&mut tools, path, Some(buffer)) {
                found.add(it);
            }
        }
        found
    }

    fn tools(&self) -> Tools {
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(HEAP))
            .before_context(self.context)
            .after_context(self.context)
            .build();
        Tools { searcher, matcher: self.matcher.clone(), listed: Listed::default() }
    }

    /// Whether the pattern for names fits a file.
    fn is_named(&self, file: &Path) -> bool {
        let Some(glob) = &self.glob else { return true };
        let within = file.strip_prefix(&self.target).ok().filter(|path| path.parent().is_some());
        glob.is_match(within.or(file.file_name().map(Path::new)).unwrap_or(file))
    }

    /// Searches a file. `None` if it has no match.
    fn file(&self, tools: &mut Tools, file: &Path, buffer: Option<&Source>) -> Option<InFile> {
        if !self.is_named(file) {
            return None;
        }
        match self.reach.reading(file) {
            Reading::Never(_) => return None,
            Reading::Asked(_) if !self.agreed => return Some(InFile::Kept(self.name(file))),
            _ => (),
        }
        let mut hits = Hits::default();
        let sink = Lines { search: self, file, hits: &mut hits };
        // a file that cannot be read or searched has no matches
        let Tools { searcher, matcher, listed } = tools;
        let _ = match buffer {
            Some(source) => searcher.search_slice(&*matcher, source.text.content.as_bytes(), sink),
            None => listed.open(file).and_then(|it| searcher.search_file(&*matcher, &it, sink)),
        };
        hits.pending = buffer.map_or(0, |it| it.pending);
        (!hits.starts.is_empty()).then_some(InFile::Hits(hits))
    }

    /// The name of a file as it is shown.
    fn name(&self, file: &Path) -> String {
        path::show(&self.root, file).replace(char::is_control, "?")
    }
}

/// What a thread needs to search files.
struct Tools {
    searcher: Searcher,
    /// A copy for each thread, because threads that share a matcher wait for each other.
    matcher: RegexMatcher,
    listed: Listed,
}

/// One thread of a search. Sends what it has found when it ends.
struct Thread {
    tools: Tools,
    first: First,
    sender: Sender<First>,
}

impl Thread {
    fn search(&mut self, search: &Search, path: PathBuf) {
        let buffer = search.buffers.get(&path);
        if let Some(file) = search.file(&mut self.tools, &path, buffer) {
            self.first.add(path, file);
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        let _ = self.sender.send(mem::take(&mut self.first));
    }
}

/// Gathers the lines of one file.
struct Lines<'a> {
    search: &'a Search,
    file: &'a Path,
    hits: &'a mut Hits,
}

impl Lines<'_> {
    fn put(&mut self, number: Option<u64>, sign: char, text: &str) {
        if self.hits.name.is_empty() {
            self.hits.name = self.search.name(self.file);
        }
        let line = format!("{}{sign}{}{sign} {text}", self.hits.name, number.unwrap_or(0));
        self.hits.lines.push(line);
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, hit: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.hits.starts.len() == CAP {
            self.hits.has_more = true;
            return Ok(false);
        }
        self.hits.starts.push(self.hits.lines.len());
        let found = self.search.matcher.find(hit.bytes());
        let at = found.ok().flatten().map_or(0, |span| span.start());
        let text = around(hit.bytes(), at);
        self.put(hit.line_number(), ':', &text);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        if *line.kind() != SinkContextKind::Other {
            let text = around(line.bytes(), 0);
            self.put(line.line_number(), '-', &text);
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.hits.lines.push("--".to_owned());
        Ok(true)
    }
}

/// The part of a line that is shown: the whole line, or the part around byte `at` if the line is long.
fn around(bytes: &[u8], at: usize) -> String {
    let whole = String::from_utf8_lossy(bytes);
    let whole = whole.trim_end_matches(['\n', '\r']);
    if whole.len() <= WIDE {
        return clip::clean(whole);
    }
    let ahead = String::from_utf8_lossy(&bytes[..at.min(bytes.len())]).chars().count();
    let skip = if ahead + LEAD > WIDE { ahead.saturating_sub(LEAD) } else { 0 };
    let part: String = whole.chars().skip(skip).take(WIDE).collect();
    let lead = if skip > 0 { "…" } else { "" };
    let rest = if whole.chars().count() > skip + WIDE { "…" } else { "" };
    format!("{lead}{}{rest}", clip::clean(&part))
}
