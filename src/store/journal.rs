//! The journal: one JSON line per event since the last save. A line that a crash tore is set aside,
//! never glued to the next and never deleted.

use crate::event::Event;
use serde::{Deserialize, Serialize};
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

impl Journal {
    /// Opens the journal and gives what it has beyond save number `saves`.
    pub(super) fn open(
        path: &Path,
        saves: u64,
        warnings: &mut Vec<String>,
    ) -> io::Result<(Journal, Vec<Event>)> {
        let mut bytes = Vec::new();
        let mut file =
            File::options().create(true).read(true).append(true).mode(0o600).open(path)?;
        file.read_to_end(&mut bytes)?;
        let (events, good) = read(&bytes, saves);
        let mut journal = Journal { file, len: u64::try_from(good).unwrap_or(0), saves };
        if good < bytes.len() {
            let torn = set_aside(path, &bytes[good..])?;
            journal.file.set_len(journal.len)?;
            warnings.push(format!(
                "The end of the journal could not be read and was set aside as {}.",
                torn.display()
            ));
        }
        if events.is_empty() {
            journal.restart(saves)?;
        }
        Ok((journal, events))
    }

    /// Adds events, all or none: what a full disk took of them is cut off again.
    pub(super) fn append(&mut self, events: &[Event], sync: bool) -> io::Result<()> {
        let mut lines = Vec::new();
        if self.len == 0 {
            write_line(&mut lines, &Header { after_save: self.saves })?;
        }
        for event in events {
            write_line(&mut lines, event)?;
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
        self.append(&[], false)
    }
}

fn write_line<T: Serialize>(lines: &mut Vec<u8>, it: &T) -> io::Result<()> {
    serde_json::to_writer(&mut *lines, it).map_err(io::Error::other)?;
    lines.push(b'\n');
    Ok(())
}

/// The events of a journal's whole lines, and how many bytes could be read: none of what follows a save that
/// the session file has not seen.
fn read(bytes: &[u8], saves: u64) -> (Vec<Event>, usize) {
    let mut events = Vec::new();
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
            let Ok(event) = serde_json::from_slice::<Event>(line) else { break };
            if current == Some(true) {
                events.push(event);
            }
        }
        good += len + 1;
    }
    (events, good)
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
