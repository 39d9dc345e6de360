//! The journal: one line of JSON for each event since the last save, and for each piece of a reply that is arriving. If
//! a crash has left an incomplete line, that line is moved to another file. It is never joined with the next line and
//! never deleted.

use super::disk::Disk;
use crate::event::{End, Event};
use crate::message::{self, Block, Searched};
use crate::session::Session;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The journal's path and the disk. The path changes when the session is renamed.
#[derive(Clone, Copy)]
pub(super) struct Location<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) path: &'a Path,
}

#[derive(Debug)]
pub(super) struct Journal {
    /// The size of the journal's complete lines, in bytes.
    len: u64,
    /// Whether bytes after the complete lines have to be removed before lines are added.
    has_rest: bool,
    /// Whether the journal's folder was synced to disk since the journal was created, so that the journal survives a
    /// loss of power.
    is_named: bool,
    /// The number of the save after which the journal's events happened.
    saves: u64,
}

/// The journal's first line: the number of the save after which its events happened. A session's file with a higher
/// number contains these events already.
#[derive(Serialize, Deserialize)]
struct Header {
    after_save: u64,
}

#[derive(Debug)]
enum Line {
    Event(Event),
    Piece(Piece),
}

/// A piece of the text of a reply that is arriving, or a search by the provider. When the reply is complete, its event
/// replaces all pieces.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Piece {
    pub(super) piece: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) searched: Option<Searched>,
}

/// The part of a session that is only in the journal.
#[derive(Debug, Default)]
pub(super) struct Tail {
    pub(super) events: Vec<Event>,
    /// The part of an interrupted reply that had already arrived.
    pub(super) partial: Vec<Block>,
}

impl Tail {
    /// Applies the journal's events to a saved session. Removes the permissions for the session, because they apply
    /// only until the session is closed.
    pub(super) fn replay(&self, session: &mut Session) {
        self.events.iter().for_each(|event| session.apply(event));
        session.granted.clear();
        session.unsaved.clear();
    }

    /// Whether the last turn was interrupted, or has no end in the journal.
    pub(super) fn is_interrupted(&self) -> bool {
        let ends = self.events.iter().rev().find_map(|it| match it {
            Event::Prompted { .. } => Some(false),
            Event::Ended { why, .. } => Some(*why != End::Interrupted),
            _ => None,
        });
        ends.is_some_and(|it| !it)
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Event(event) => {
                if matches!(
                    event,
                    Event::Replied { .. }
                        | Event::Retried { .. }
                        | Event::ThoughtsDropped { .. }
                        | Event::Compacting { .. }
                        | Event::Ended { .. }
                ) {
                    self.partial.clear();
                }
                self.events.push(event);
            }
            Line::Piece(Piece { searched: Some(it), .. }) => {
                self.partial.push(Block::Searched(it));
            }
            Line::Piece(Piece { piece, .. }) => {
                message::arrive(&mut self.partial, Block::Text { text: piece });
            }
        }
    }
}

impl Line {
    fn parse(line: &[u8]) -> Option<Line> {
        let event = serde_json::from_slice(line).map(Line::Event);
        event.or_else(|_| serde_json::from_slice(line).map(Line::Piece)).ok()
    }
}

impl Journal {
    /// Opens the journal. Also returns the journal's events if they happened after save number `saves`.
    pub(super) fn open(
        at: Location<'_>,
        saves: u64,
        warnings: &mut Vec<String>,
    ) -> io::Result<(Journal, Tail)> {
        let bytes = match at.disk.read(at.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // appending nothing creates the file
                at.disk.append(at.path, &[])?;
                Vec::new()
            }
            bytes => bytes?,
        };
        let (tail, good) = read(&bytes, saves);
        if good < bytes.len() {
            let name = |n| at.path.with_extension(format!("journal.torn-{n}"));
            let torn = set_aside(at.disk, name, &bytes[good..])?;
            warnings.push(format!(
                "The end of the journal could not be read and was set aside as {}.",
                torn.display()
            ));
        }
        let is_old = tail.events.is_empty();
        let len = if is_old { 0 } else { u64::try_from(good).unwrap_or(0) };
        let has_rest = usize::try_from(len).unwrap_or(0) < bytes.len();
        let mut journal = Journal { len, has_rest, is_named: false, saves };
        journal.cut(at)?;
        Ok((journal, tail))
    }

    /// Adds either all lines or none: if the disk gets full, the bytes that were already added are removed again.
    pub(super) fn append(&mut self, at: Location<'_>, lines: &[u8], sync: bool) -> io::Result<()> {
        self.cut(at)?;
        let mut header = Vec::new();
        let mut written = Ok(());
        if self.len == 0 {
            write_line(&mut header, &Header { after_save: self.saves })?;
            written = at.disk.append(at.path, &header);
        }
        if written.is_ok() {
            written = at.disk.append(at.path, lines);
        }
        if sync && written.is_ok() {
            written = self.sync(at);
        }
        if written.is_ok() {
            self.len += u64::try_from(header.len() + lines.len()).unwrap_or(0);
        } else {
            self.has_rest = true;
            // If this fails, the next call cuts the file.
            let _ = self.cut(at);
        }
        written
    }

    /// The size of the journal's lines, in bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Empties the journal after a save.
    pub(super) fn restart(&mut self, at: Location<'_>, saves: u64) -> io::Result<()> {
        (self.len, self.saves, self.has_rest) = (0, saves, true);
        self.cut(at)
    }

    fn cut(&mut self, at: Location<'_>) -> io::Result<()> {
        if self.has_rest {
            at.disk.truncate(at.path, self.len)?;
            self.has_rest = false;
        }
        Ok(())
    }

    fn sync(&mut self, at: Location<'_>) -> io::Result<()> {
        at.disk.sync(at.path)?;
        if !self.is_named {
            at.disk.sync_dir(at.path.parent().unwrap_or(Path::new(".")))?;
            self.is_named = true;
        }
        Ok(())
    }
}

/// Adds a value as one line, or nothing if it cannot be written as JSON.
pub(super) fn write_line<T: Serialize>(lines: &mut Vec<u8>, it: &T) -> io::Result<()> {
    let complete = lines.len();
    let written = serde_json::to_writer(&mut *lines, it).map_err(io::Error::other);
    match written {
        Ok(()) => lines.push(b'\n'),
        Err(_) => lines.truncate(complete),
    }
    written
}

/// Parses the journal's complete lines. Returns their content, and the number of bytes that could be read. The content
/// is empty unless its events happened after save number `saves`, the last save of the session's file. If the events
/// happened after a later save, no bytes are read.
pub(super) fn read(bytes: &[u8], saves: u64) -> (Tail, usize) {
    let mut tail = Tail::default();
    let mut good = 0;
    let mut current = None;
    while let Some(len) = bytes[good..].iter().position(|b| *b == b'\n') {
        let line = &bytes[good..good + len];
        if current.is_none() {
            let Ok(header) = serde_json::from_slice::<Header>(line) else { break };
            if header.after_save > saves && bytes.len() > len + 1 {
                break;
            }
            current = Some(header.after_save == saves);
        } else {
            let Some(line) = Line::parse(line) else { break };
            if current == Some(true) {
                tail.take(line);
            }
        }
        good += len + 1;
    }
    (tail, good)
}

/// Whether the events of a journal with this first line happened after save number `saves`.
pub(super) fn follows(line: &[u8], saves: u64) -> bool {
    serde_json::from_slice::<Header>(line).is_ok_and(|it| it.after_save == saves)
}

/// Writes the bytes to a new file and syncs it: the first of the paths `name(1)`, `name(2)`, … at which no file exists.
pub(super) fn set_aside(
    disk: &dyn Disk,
    name: impl Fn(u32) -> PathBuf,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    let mut n = 1;
    loop {
        let aside = name(n);
        match disk.create(&aside, bytes) {
            Ok(()) => {
                disk.sync(&aside)?;
                disk.sync_dir(aside.parent().unwrap_or(Path::new(".")))?;
                return Ok(aside);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => n += 1,
            Err(error) => return Err(error),
        }
    }
}
