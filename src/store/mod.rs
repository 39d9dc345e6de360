//! Sessions on disk. Each session has an indented JSON file, a journal of the events since the last save, and a file
//! with the unsent draft. JSON files are written to a temporary file, which is then renamed.

mod agreed;
mod audit;
pub mod checkpoints;
mod disk;
mod edited;
mod file;
mod head;
mod hints;
mod history;
mod images;
mod index;
mod journal;
mod listing;
mod lock;
mod open;
pub mod measures;
mod reading;
mod outputs;
mod peek;
mod permitted;
mod plan;
mod shared;
mod shelf;
mod stamp;
pub mod tally;
#[cfg(test)]
mod tests;
mod unavailable;
mod unknown;

pub use agreed::Agreed;
pub use disk::{Disk, RealDisk, is_name};
pub use file::{Draft, SCHEMA};
pub use listing::Listed;
pub use open::{Opened, Project, Store};
pub use outputs::Outputs;
pub use permitted::Permitted;
pub use reading::Recorded;
pub use unavailable::{Holder, Unavailable};

use crate::event::{Event, SessionId};
use crate::message::Searched;
use crate::session::{Phase, Session};
use file::SessionFile;
use journal::{Journal, Location, Piece, write_line};
use sha2::{Digest, Sha256};
use stamp::Stamp;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use unknown::Unknown;

/// A session's file with at most this many bytes is rewritten whenever a turn ends. Such a file has about a hundred
/// messages and is written in a few milliseconds. The events of a larger session go to its journal.
const SMALL: u64 = 128 * 1024;
/// The journal of a large session is merged into the session's file once the file is at most this many times as large
/// as the journal. So for each byte that was added to the journal, at most this many bytes are rewritten.
const PART: u64 = 4;

/// The names of the sessions in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|it| Some(it.file_name().to_str()?.strip_suffix(".json")?.to_owned()))
        .filter(|it| is_name(it))
        .collect();
    names.sort();
    names
}

impl Project {
    /// The sessions of the project with this root, which has to be canonical. `data` is the folder with the sessions of
    /// all projects: `$XDG_DATA_HOME/caliban/sessions`.
    pub fn new(data: &Path, root: &Path) -> Project {
        Project::on(Arc::new(RealDisk), data, root)
    }

    /// Like `new`, but with another disk.
    pub fn on(disk: Arc<dyn Disk>, data: &Path, root: &Path) -> Project {
        let slug: String = root
            .file_name()
            .map(|it| it.to_string_lossy().to_lowercase())
            .unwrap_or_default()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(40)
            .collect();
        let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
        let [a, b, c, d] = [digest[0], digest[1], digest[2], digest[3]];
        let slug = slug.trim_matches('-');
        let dir = data.join(format!("{slug}-{a:02x}{b:02x}{c:02x}{d:02x}"));
        Project { disk, dir, root: root.to_owned() }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The session that was used last.
    pub fn last(&self) -> Option<SessionId> {
        let name = String::from_utf8(self.disk.read(&self.dir.join("last")).ok()?).ok()?;
        let name = name.trim();
        let moved = is_name(name).then(|| self.moved(name)).flatten();
        let name = moved.as_deref().filter(|it| is_name(it)).unwrap_or(name);
        is_name(name).then(|| SessionId(name.to_owned()))
    }

    pub fn set_last(&self, id: &SessionId) -> io::Result<()> {
        self.disk.replace_now(&self.dir, "last", id.0.as_bytes())
    }

    /// The names of the existing sessions, sorted.
    pub fn names(&self) -> Vec<String> {
        names(&self.dir)
    }

    /// Whether no session on disk has this name.
    pub fn is_free(&self, name: &str) -> bool {
        let has = |ending| self.dir.join(format!("{name}.{ending}")).exists();
        !["json", "journal", "draft"].into_iter().any(has)
    }

    /// A name that no session has: `base`, otherwise `base-2`, `base-3` and so on. `taken` says whether a session that
    /// is not on disk yet has a given name.
    pub fn free_name(&self, base: &str, taken: impl Fn(&str) -> bool) -> String {
        let stem = &base[..base.len().min(58)];
        let others = (2..=u32::MAX).map(|n| format!("{stem}-{n}"));
        std::iter::once(base.to_owned())
            .chain(others)
            .find(|name| self.like(name).is_none() && !taken(name))
            .unwrap_or_else(|| base.to_owned())
    }

    /// Opens a session under a free name. If another Neovim takes the name first, the next name is tried.
    pub fn open_free(
        &self,
        base: &str,
        taken: &[String],
    ) -> (SessionId, Result<Opened, Unavailable>) {
        let mut taken = taken.to_vec();
        loop {
            let is_taken = |name: &str| taken.iter().any(|it| it.eq_ignore_ascii_case(name));
            let name = self.free_name(base, is_taken);
            let is_new = !is_taken(&name);
            let id = SessionId(name);
            match self.open(&id) {
                Err(Unavailable::Locked(_)) if is_new => taken.push(id.0),
                opened => return (id, opened),
            }
        }
    }

    /// Opens a session: takes its lock, reads the saved state, and applies the journal's events.
    pub fn open(&self, id: &SessionId) -> Result<Opened, Unavailable> {
        self.disk.create_dir(&self.dir).map_err(Unavailable::Io)?;
        let lock = self.lock(id)?;
        self.finish_move(&id.0);
        let path = self.dir.join(format!("{id}.json"));
        let stamp = Stamp::at(&path);
        let (header, mut session, size) = match self.disk.read(&path) {
            Ok(bytes) => {
                let (mut header, session) = SessionFile::parse(&bytes)?;
                self.finish_rename(&header.name, id);
                header.name.clone_from(&id.0);
                (header, Some(session), u64::try_from(bytes.len()).unwrap_or(0))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                (SessionFile::new(&id.0, &self.root), None, 0)
            }
            Err(error) => return Err(Unavailable::Io(error)),
        };
        let mut warnings = Vec::new();
        let journal_path = self.dir.join(format!("{id}.journal"));
        let at = Location { disk: &*self.disk, path: &journal_path };
        let (journal, tail) =
            Journal::open(at, header.saves, &mut warnings).map_err(Unavailable::Io)?;
        let replayed = !tail.events.is_empty();
        if replayed {
            tail.replay(session.get_or_insert_default());
        }
        let interrupted = tail.is_interrupted();
        let draft = self.take_draft(id);
        let (disk, dir) = (self.disk.clone(), self.dir.clone());
        let (name, backlog) = (id.0.clone(), Vec::new());
        let kept = session.iter().flat_map(outputs::named).cloned().collect();
        let store = Store {
            disk,
            dir,
            root: self.root.clone(),
            name,
            header,
            size,
            unknown: None,
            stamp,
            edited: None,
            journal,
            backlog,
            draft: None,
            kept,
            unsynced: Vec::new(),
            cleared: None,
            _lock: lock,
        };
        let partial = tail.partial;
        Ok(Opened { store, session, replayed, interrupted, partial, draft, warnings })
    }

    /// The part of a session before the damage in its file, with the session's outputs.
    pub fn recover(&self, id: &SessionId) -> Option<Session> {
        let mut session =
            file::recover(&self.disk.read(&self.dir.join(format!("{id}.json"))).ok()?)?;
        self.outputs().read_all(&id.0, &mut session);
        self.outputs().read_images(&id.0, &mut session);
        Some(session)
    }

    fn lock(&self, id: &SessionId) -> Result<File, Unavailable> {
        let path = self.dir.join(format!("{id}.lock"));
        let options = &mut File::options();
        let options = options.create(true).append(true).mode(0o600);
        let lock = disk::plain(options, &path).map_err(Unavailable::Io)?;
        match lock.try_lock() {
            Ok(()) => {
                // The text in the lock file is only for people. Whether the session is locked depends only on the lock
                // of the file.
                if let Err(error) = self.disk.write(&path, Holder::this_program().as_bytes()) {
                    tracing::warn!("the lock file could not name its Neovim: {error}");
                }
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => {
                let text = self.disk.read(&path).unwrap_or_default();
                Err(Unavailable::Locked(Holder::parse(&String::from_utf8_lossy(&text))))
            }
            Err(TryLockError::Error(error)) => Err(Unavailable::Io(error)),
        }
    }
}

impl Store {
    /// Records events. If no turn runs, the whole session is saved, provided that it is small or its journal has grown
    /// enough. Otherwise the events go to the journal. Lines that cannot be written are kept, and the next call writes
    /// them first.
    pub fn record(&mut self, session: &Session, events: &[Event], sync: bool) -> io::Result<()> {
        self.wait_for_disk(events)?;
        let is_at_rest = session.phase == Phase::Idle && !session.is_blank();
        let is_due = self.size <= SMALL || self.journal.len() >= self.size / PART;
        let kept =
            if is_at_rest && is_due { self.save(session) } else { self.flush(sync || is_at_rest) };
        // The caller needs only the events on disk, so it does not matter if the draft cannot be written.
        if sync {
            let _ = self.flush_draft();
            return kept;
        }
        kept.and_then(|()| self.flush_draft())
    }

    /// Writes the whole session if a part of it is only in the journal. Must not be called while a turn runs or after
    /// it was interrupted: an interrupted turn stays in the journal, where the next start of the program finds it.
    pub fn settle(&mut self, session: &Session) -> io::Result<()> {
        if self.journal.len() > 0 || !self.backlog.is_empty() { self.save(session) } else { Ok(()) }
    }

    /// Adds events to the journal. When this returns, the operating system has the events, so they survive a crash of
    /// the program. With `sync` they also survive a loss of power, which is needed before something is changed outside.
    pub fn append(&mut self, events: &[Event], sync: bool) -> io::Result<()> {
        self.wait_for_disk(events)?;
        self.flush(sync)
    }

    /// Adds a piece of a reply that is arriving. The complete reply later replaces its pieces.
    pub fn append_piece(&mut self, text: &str) -> io::Result<()> {
        let piece = Piece { piece: text.to_owned(), searched: None };
        write_line(&mut self.backlog, &piece)?;
        self.flush(false)
    }

    /// Adds a search by the provider to a reply that is arriving.
    pub fn append_search(&mut self, searched: &Searched) -> io::Result<()> {
        let (piece, searched) = (String::new(), Some(searched.clone()));
        write_line(&mut self.backlog, &Piece { piece, searched })?;
        self.flush(false)
    }

    fn wait_for_disk(&mut self, events: &[Event]) -> io::Result<()> {
        events.iter().try_for_each(|it| write_line(&mut self.backlog, it))
    }

    fn flush(&mut self, sync: bool) -> io::Result<()> {
        if sync {
            self.sync_outputs()?;
        }
        let path = self.journal_path();
        self.journal.append(Location { disk: &*self.disk, path: &path }, &self.backlog, sync)?;
        // The memory of a large buffer is freed.
        self.backlog = Vec::new();
        Ok(())
    }

    /// Writes the whole session and empties the journal. If the session's file cannot be written, the events go to the
    /// journal.
    pub fn save(&mut self, session: &Session) -> io::Result<()> {
        self.header.saves = self.header.saves.wrapping_add(1);
        let json = self.render(session)?;
        let name = format!("{}.json", self.name);
        let ready = self.keep_edit().and_then(|()| self.sync_outputs());
        let written = ready.and_then(|()| self.disk.replace(&self.dir, &name, &json));
        if let Err(error) = written {
            self.header.saves = self.header.saves.wrapping_sub(1);
            // If this fails, the next call writes the lines.
            let _ = self.flush(true);
            return Err(error);
        }
        self.size = u64::try_from(json.len()).unwrap_or(0);
        self.stamp = Stamp::at(&self.path());
        self.backlog = Vec::new();
        let is_durable = self.disk.sync_dir(&self.dir);
        self.clear_outputs();
        let path = self.journal_path();
        let at = Location { disk: &*self.disk, path: &path };
        self.journal.restart(at, self.header.saves).and(is_durable)
    }

    /// The new content of the session's file.
    fn render(&mut self, session: &Session) -> io::Result<Vec<u8>> {
        if self.unknown.is_none() {
            let file = self.disk.read(&self.path()).unwrap_or_default();
            self.unknown = Some(Unknown::of(&file));
        }
        let unknown = self.unknown.get_or_insert_default();
        self.header.render(session, unknown).map_err(io::Error::other)
    }

    /// The path of the session's file.
    pub fn path(&self) -> PathBuf {
        self.dir.join(format!("{}.json", self.name))
    }

    /// The names of the project's sessions that are open in a Neovim, unless it has started this program.
    pub fn open_elsewhere(&self) -> Vec<String> {
        let own = std::env::var("NVIM").unwrap_or_default();
        let open = lock::in_neovims(&self.dir).into_iter();
        open.filter(|it| it.0 != self.name && it.1.server != own).map(|it| it.0).collect()
    }

    /// Whether the project has another session on disk.
    pub fn has_others(&self) -> bool {
        names(&self.dir).iter().any(|it| *it != self.name)
    }

    fn journal_path(&self) -> PathBuf {
        self.dir.join(format!("{}.journal", self.name))
    }

    /// Removes the journal of a session without messages.
    pub fn discard(&self) -> io::Result<()> {
        self.disk.remove_if_there(&self.journal_path())
    }

    /// Saves the draft. If the draft cannot be written, it is written with the next events.
    pub fn save_draft(&mut self, draft: Draft) -> io::Result<()> {
        self.draft = Some(draft);
        self.flush_draft()
    }

    fn flush_draft(&mut self) -> io::Result<()> {
        let Some(draft) = &self.draft else { return Ok(()) };
        let name = format!("{}.draft", self.name);
        if draft.is_empty() {
            self.disk.remove_if_there(&self.dir.join(name))?;
        } else {
            let json = serde_json::to_vec_pretty(draft).map_err(io::Error::other)?;
            self.disk.replace_now(&self.dir, &name, &json)?;
        }
        self.draft = None;
        Ok(())
    }
}
