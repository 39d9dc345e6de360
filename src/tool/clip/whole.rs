//! A whole output on its way to a file. A small output gets no file.

use sha2::{Digest, Sha256};
use std::fs::DirBuilder;
use std::io::Write;
use std::mem;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The most bytes of one output that are stored.
const KEPT: usize = 50_000_000;

/// The words before and after the path in a note about an output of which something is left out.
const KEPT_IN: (&str, &str) = (" is in ", ": read it with offset, or grep it]");

pub(in crate::tool) struct Whole {
    folder: PathBuf,
    /// The most bytes of the output that are kept in memory before they are written to the file.
    most: usize,
    /// The part of the output that is not yet in the file.
    text: String,
    written: usize,
    /// The file cannot be written, for example because the disk is full.
    is_lost: bool,
    hash: Sha256,
    file: Option<NamedTempFile>,
}

impl Whole {
    /// `folder` is created if needed. Only the user can read the file.
    pub(in crate::tool) fn new(folder: &Path, most: usize) -> Whole {
        Whole {
            folder: folder.to_owned(),
            most,
            text: String::new(),
            written: 0,
            is_lost: false,
            hash: Sha256::new(),
            file: None,
        }
    }

    pub(in crate::tool) fn push(&mut self, line: &str) {
        if self.is_lost || self.written + line.len() >= KEPT {
            self.written = KEPT;
            return;
        }
        self.written += line.len() + 1;
        self.text.push_str(line);
        self.text.push('\n');
        if self.text.len() > self.most {
            self.spill();
        }
    }

    /// Whether further lines do not get into the file.
    pub(in crate::tool) fn is_full(&self) -> bool {
        self.written >= KEPT
    }

    /// Moves the text in memory to the file. If the disk fails, the rest is missing from the file.
    fn spill(&mut self) {
        let text = mem::take(&mut self.text);
        if self.is_lost {
            return;
        }
        if self.file.is_none() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
            let file = || {
                let mut file = tempfile::Builder::new();
                file.prefix("job-").suffix(".txt").tempfile_in(&self.folder)
            };
            self.file = made.and_then(|()| file()).ok();
        }
        self.hash.update(&text);
        let done = self.file.as_mut().map(|file| file.write_all(text.as_bytes()));
        if !matches!(done, Some(Ok(()))) {
            self.is_lost = true;
            self.file = None;
        }
    }

    /// Ends the output: names its file after the hash of the content. Returns the end of a note that begins with `left`.
    pub(super) fn finish(&mut self, left: &str) -> String {
        self.spill();
        let name = format!("{:x}", mem::take(&mut self.hash).finalize());
        let path = self.folder.join(format!("{}.txt", &name[..16]));
        let kept = self.file.take().and_then(|it| it.persist(&path).ok());
        self.note(left, kept.map(|_| path.as_path()))
    }

    /// A note that begins with `left` and names the file of the output so far. The file stays.
    pub(in crate::tool) fn so_far(&mut self, left: &str) -> String {
        self.spill();
        if let Some(file) = &mut self.file {
            file.disable_cleanup(true);
        }
        self.note(left, self.file.as_ref().map(NamedTempFile::path))
    }

    fn note(&self, left: &str, path: Option<&Path>) -> String {
        let Some(path) = path else { return format!("[{left}]") };
        let part = if self.written < KEPT { "the whole output" } else { "the first 50 MB" };
        format!("[{left}; {part}{}{}{}", KEPT_IN.0, path.display(), KEPT_IN.1)
    }
}

/// The path of the stored output, as the note in a text names it.
pub fn kept_in(text: &str) -> Option<&str> {
    let notes = text.lines().rev().filter_map(|it| it.strip_suffix(KEPT_IN.1)?.strip_prefix('['));
    notes.filter_map(|it| Some(it.rsplit_once(KEPT_IN.0)?.1)).find(|it| it.starts_with('/'))
}
