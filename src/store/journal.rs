//! The journal: one JSON line per event since the last save, and per piece of a reply that is arriving. A line
//! that a crash tore is set aside, never glued to the next and never deleted.

use crate::event::Event;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Journal {
    pub(super) file: File,
    /// Bytes of whole lines.
    len: u64,
    /// The save that its events follow.
    saves: u64,
}

/// The first line: the save that the events follow. Events after an older save are in the file already.
#[derive(Serialize, Deserialize)]
struct Header {
    after_save: u64,
}

/// Text of a reply between events. It is no fact yet: the event that ends the request takes its place.
#[derive(Serialize, Deserialize)]
pub(super) struct Piece<'a> {
    pub(super) piece: Cow<'a, str>,
}

/// What a journal has beyond a save.
#[derive(Debug, Default)]
pub(super) struct Tail {
    pub(super) events: Vec<Event>,
    /// The pieces of a reply that came to no end.
    pub(super) partial: String,
}

impl Tail {
    fn take(&mut self, line: Line) {
        match line {
            Line::Event(event) => {
                if matches!(
                    event,
                    Event::Replied { .. }
                        | Event::Retried { .. }
                        | Event::ThoughtsDropped { .. }
                        | Event::Ended { .. }
                ) {
                    self.partial.clear();
                }
                self.events.push(event);
            }
            Line::Piece(piece) => self.partial.push_str(&piece),
        }
    }
}

enum Line {
    Event(Event),
    Piece(String),
}

impl Line {
    fn parse(line: &[u8]) -> Option<Line> {
        if let Ok(event) = serde_json::from_slice(line) {
            return Some(Line::Event(event));
        }
        let Piece { piece } = serde_json::from_slice(line).ok()?;
        Some(Line::Piece(piece.into_owned()))
    }
}

impl Journal {
    /// Opens the journal and gives what it has beyond save number `saves`.
    pub(super) fn open(
        path: &Path,
        saves: u64,
        warnings: &mut Vec<String>,
    ) -> io::Result<(Journal, Tail)> {
        let mut bytes = Vec::new();
        let mut file =
            File::options().create(true).read(true).append(true).mode(0o600).open(path)?;
        file.read_to_end(&mut bytes)?;
        let (tail, good) = read(&bytes, saves);
        let mut journal = Journal { file, len: u64::try_from(good).unwrap_or(0), saves };
        if good < bytes.len() {
            let torn = set_aside(path, &bytes[good..])?;
            journal.file.set_len(journal.len)?;
            warnings.push(format!(
                "The end of the journal could not be read and was set aside as {}.",
                torn.display()
            ));
        }
        if tail.events.is_empty() {
            journal.restart(saves)?;
        }
        Ok((journal, tail))
    }

    /// Adds events or pieces, all or none: what a full disk took of them is cut off again.
    pub(super) fn append<T: Serialize>(&mut self, added: &[T], sync: bool) -> io::Result<()> {
        let mut lines = Vec::new();
        if self.len == 0 {
            write_line(&mut lines, &Header { after_save: self.saves })?;
        }
        for it in added {
            write_line(&mut lines, it)?;
        }
        let mut written = self.file.write_all(&lines);
        if sync && written.is_ok() {
            written = self.file.sync_data();
        }
        match &written {
            Ok(()) => self.len += u64::try_from(lines.len()).unwrap_or(0),
            Err(_) => drop(self.file.set_len(self.len)),
        }
        written
    }

    /// Begins anew after a save.
    pub(super) fn restart(&mut self, saves: u64) -> io::Result<()> {
        self.file.set_len(0)?;
        self.len = 0;
        self.saves = saves;
        self.append::<Event>(&[], false)
    }
}

fn write_line<T: Serialize>(lines: &mut Vec<u8>, it: &T) -> io::Result<()> {
    serde_json::to_writer(&mut *lines, it).map_err(io::Error::other)?;
    lines.push(b'\n');
    Ok(())
}

/// What a journal's whole lines hold, and how many bytes could be read: none of what follows a save that
/// the session file has not seen.
fn read(bytes: &[u8], saves: u64) -> (Tail, usize) {
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

fn set_aside(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let mut n = 1;
    loop {
        let torn = path.with_extension(format!("journal.torn-{n}"));
        match File::options().write(true).create_new(true).open(&torn) {
            Ok(mut file) => {
                file.write_all(bytes)?;
                return Ok(torn);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => n += 1,
            Err(error) => return Err(error),
        }
    }
}
