//! Walks the folders and searches each file.

use crate::reach::{Reach, Reading};
use crate::regular::direct;
use crate::tool::{Source, clip, path, walk};
use globset::GlobMatcher;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The most matching lines that are shown, and the most characters of each.
const CAP: usize = 100;
const WIDE: usize = 500;
/// How many characters are shown before a match in a line that is too long.
const LEAD: usize = 100;
/// The most memory for one line, in bytes. A file with a longer line is skipped.
const HEAP: usize = 64_000_000;

pub(super) struct Search {
    pub(super) root: PathBuf,
    pub(super) target: PathBuf,
    pub(super) glob: Option<GlobMatcher>,
    pub(super) matcher: RegexMatcher,
    pub(super) context: usize,
    pub(super) buffers: BTreeMap<PathBuf, Source>,
    /// Whether the user has consented to the search of exactly this file or folder. Then only files that are never read
    /// are left out.
    pub(super) agreed: bool,
    pub(super) reach: Reach,
}

#[derive(Default)]
pub(super) struct Found {
    pub(super) lines: Vec<String>,
    pub(super) matches: usize,
    /// Whether there are more matches than are shown.
    pub(super) capped: bool,
    /// Files under review that have matches, and the number of their undecided hunks.
    pub(super) pending: Vec<(String, u32)>,
    /// Files that were left out, because reading them needs the user's consent.
    pub(super) kept: Vec<String>,
}

impl Search {
    pub(super) fn run(mut self, halt: &walk::Halt) -> Found {
        let mut found = Found::default();
        let mut searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(HEAP))
            .before_context(self.context)
            .after_context(self.context)
            .build();
        let mut walker = walk::walker(&self.reach, &self.target);
        walker.sort_by_file_path(Ord::cmp);
        for entry in walker.build().flatten() {
            if halt.is_set() || found.capped {
                return found;
            }
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                let buffer = self.buffers.remove(entry.path());
                self.file(&mut searcher, entry.path(), buffer.as_ref(), &mut found);
            }
        }
        let unwritten = std::mem::take(&mut self.buffers);
        for (path, buffer) in unwritten.iter().filter(|(path, _)| !path.exists()) {
            self.file(&mut searcher, path, Some(buffer), &mut found);
        }
        found
    }

    fn file(
        &self,
        searcher: &mut Searcher,
        file: &Path,
        buffer: Option<&Source>,
        found: &mut Found,
    ) {
        let within = file.strip_prefix(&self.target).ok().filter(|path| path.parent().is_some());
        let name = within.or(file.file_name().map(Path::new)).unwrap_or(file);
        if self.glob.as_ref().is_some_and(|glob| !glob.is_match(name)) {
            return;
        }
        let shown = path::show(&self.root, file).replace(char::is_control, "?");
        match self.reach.reading(file) {
            Reading::Never(_) => return,
            Reading::Asked(_) if !self.agreed => return found.kept.push(shown),
            _ => (),
        }
        let before = found.matches;
        let sink = Hits { path: &shown, matcher: &self.matcher, found };
        // a file that cannot be read or searched has no matches
        let _ = match buffer {
            Some(source) => {
                searcher.search_slice(&self.matcher, source.text.content.as_bytes(), sink)
            }
            None => {
                direct::open(file).and_then(|it| searcher.search_file(&self.matcher, &it, sink))
            }
        };
        if let Some(source) = buffer.filter(|source| source.pending > 0)
            && found.matches > before
        {
            found.pending.push((shown, source.pending));
        }
    }
}

struct Hits<'a> {
    path: &'a str,
    matcher: &'a RegexMatcher,
    found: &'a mut Found,
}

impl Hits<'_> {
    fn put(&mut self, number: Option<u64>, sign: char, text: &str) {
        let line = format!("{}{sign}{}{sign} {text}", self.path, number.unwrap_or(0));
        self.found.lines.push(line);
    }
}

impl Sink for Hits<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, hit: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.found.matches == CAP {
            self.found.capped = true;
            return Ok(false);
        }
        self.found.matches += 1;
        let at = self.matcher.find(hit.bytes()).ok().flatten().map_or(0, |span| span.start());
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
        self.found.lines.push("--".to_owned());
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
