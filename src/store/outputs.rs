//! Long outputs of tools. Each is in a separate file, in the folder `name.outputs` beside the session's file.

use super::disk::Disk;
use super::open::{Project, Store};
use crate::event::SessionId;
use crate::message::{Block, ToolAnswer};
use crate::session::Session;
use crate::text::cause;
use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most bytes of an output that is stored in the session's file: about two hundred lines, which people can still
/// read there. A longer output gets a file of its own, so that it is not rewritten with each save.
const LONG: usize = 8 * 1024;

const MISSING: &str = "The output of this call is missing: its file beside the conversation is gone or cannot be read.";

/// Reads the output files of one project's sessions.
#[derive(Debug, Clone)]
pub struct Outputs {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
}

impl Outputs {
    /// The text of an output, or a sentence that says that the output is missing.
    pub fn read(&self, session: &SessionId, file: &str) -> String {
        self.find(&session.0, file).unwrap_or_else(|| MISSING.to_owned())
    }

    fn find(&self, session: &str, file: &str) -> Option<String> {
        // anybody may have written the session's file, so the name `file` may be any text
        let bytes = if is_output(file) { self.bytes(session, file)? } else { return None };
        // An empty file means that a loss of power has destroyed the content, because only long texts are stored.
        (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The content of an output file. The caller has to check the file's name first.
    pub(super) fn bytes(&self, session: &str, file: &str) -> Option<Vec<u8>> {
        self.disk.read(&folder(&self.dir, session).join(file)).ok()
    }

    /// Loads the outputs of a session that were not loaded yet. Returns the number of missing outputs.
    pub(super) fn read_all(&self, name: &str, session: &mut Session) -> usize {
        let mut missing = 0;
        for answer in answers(session).filter(|it| it.text.is_empty()) {
            let Some(file) = &answer.output else { continue };
            answer.text = self.find(name, file).unwrap_or_else(|| {
                missing += 1;
                MISSING.to_owned()
            });
        }
        missing
    }
}

impl Project {
    pub(super) fn outputs(&self) -> Outputs {
        outputs(&self.disk, &self.dir)
    }
}

fn outputs(disk: &Arc<dyn Disk>, dir: &Path) -> Outputs {
    Outputs { disk: disk.clone(), dir: dir.to_owned() }
}

impl Store {
    pub fn outputs(&self) -> Outputs {
        outputs(&self.disk, &self.dir)
    }

    /// Loads the session's outputs that were not loaded yet. Returns the number of missing outputs.
    pub fn read_outputs(&self, session: &mut Session) -> usize {
        self.outputs().read_all(&self.name, session)
    }

    /// Writes a long output to a file. This has to be done before the session's file or journal refers to the output.
    /// If the file cannot be written, the output is stored in the session's file.
    pub fn keep_output(&mut self, answer: &mut ToolAnswer) {
        if answer.output.is_some() || answer.text.len() <= LONG {
            return;
        }
        let digest = Sha256::digest(&answer.text);
        let file = format!("{}.txt", &format!("{digest:x}")[..32]);
        if !self.kept.contains(&file) {
            if let Err(error) = self.write_output(&file, &answer.text) {
                return tracing::warn!(
                    "a long output could not be written to its own file, so it is saved in the session's file: {}",
                    cause(&error)
                );
            }
            self.kept.insert(file.clone());
            self.unsynced.push(file.clone());
        }
        answer.output = Some(file);
    }

    /// Like `keep_output`, for all answers of a session that was copied or recovered. Its outputs have to be loaded.
    /// Also writes the session's images.
    pub fn keep_outputs(&mut self, session: &mut Session) {
        self.keep_images(session);
        for answer in answers(session) {
            answer.output = None;
            self.keep_output(answer);
        }
    }

    fn write_output(&self, file: &str, text: &str) -> io::Result<()> {
        let dir = folder(&self.dir, &self.name);
        self.disk.create_dir(&dir)?;
        let path = dir.join(file);
        self.disk.write(&path, text.as_bytes()).inspect_err(|_| {
            let _ = self.disk.remove_if_there(&path);
        })
    }

    /// Syncs the output files to disk. Only afterwards may a synced journal or session's file refer to them.
    pub(super) fn sync_outputs(&mut self) -> io::Result<()> {
        if self.unsynced.is_empty() {
            return Ok(());
        }
        let dir = folder(&self.dir, &self.name);
        for file in &self.unsynced {
            self.disk.sync(&dir.join(file))?;
        }
        self.disk.sync_dir(&dir)?;
        self.disk.sync_dir(&self.dir)?;
        self.unsynced.clear();
        Ok(())
    }
}

pub(super) fn folder(dir: &Path, session: &str) -> PathBuf {
    dir.join(format!("{session}.outputs"))
}

/// The names of the output files of a session.
pub(super) fn named(session: &Session) -> impl Iterator<Item = &String> {
    let blocks = session.messages.iter().flat_map(|it| &it.blocks);
    blocks.filter_map(|it| match it {
        Block::Answer(answer) => answer.output.as_ref(),
        _ => None,
    })
}

fn answers(session: &mut Session) -> impl Iterator<Item = &mut ToolAnswer> {
    let blocks = session.messages.iter_mut().flat_map(|it| &mut it.blocks);
    blocks.filter_map(|it| match it {
        Block::Answer(answer) => Some(answer),
        _ => None,
    })
}

/// Whether this is a valid name of an output. A valid name cannot lead to another folder.
fn is_output(file: &str) -> bool {
    file.strip_suffix(".txt")
        .is_some_and(|it| it.len() == 32 && it.bytes().all(|b| b.is_ascii_hexdigit()))
}
