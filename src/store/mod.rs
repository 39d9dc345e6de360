//! Sessions on disk: one pretty-printed JSON file each, a journal of events beside it while a turn runs,
//! and what stands unsent in the composer. Everything is written whole to a temporary file and renamed.

mod file;
mod journal;
mod listing;
pub mod tally;
#[cfg(test)]
mod tests;

pub use file::{Draft, SCHEMA};
pub use listing::Listed;

use crate::event::{Event, SessionId};
use crate::session::Session;
use file::SessionFile;
use journal::{Journal, Piece};
use sha2::{Digest, Sha256};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Whether this may name a session: `[A-Za-z0-9_-]{1,64}`.
pub fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// The sessions of one project.
#[derive(Debug, Clone)]
pub struct Project {
    dir: PathBuf,
    root: PathBuf,
}

/// An opened session's place on disk. Holds the lock for as long as it lives.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    name: String,
    header: SessionFile,
    journal: Journal,
    /// Events that a failing disk has not taken yet.
    backlog: Vec<Event>,
    _lock: File,
}

/// What opening gave.
#[derive(Debug)]
pub struct Opened {
    pub store: Store,
    /// `None`: there was no such session.
    pub session: Option<Session>,
    /// The journal had events beyond the saved state.
    pub replayed: bool,
    /// What it had of a reply that did not end.
    pub partial: String,
    pub draft: Draft,
    /// Sentences for the user: what was set aside, what could not be read.
    pub warnings: Vec<String>,
}

/// Why a session cannot be opened under its name. It is left as it is.
#[derive(Debug)]
pub enum Barred {
    /// Another Neovim has it.
    Held,
    Damaged(String),
    Newer(u32),
    Io(io::Error),
}

impl Barred {
    /// One sentence for the user.
    pub fn say(&self, name: &str) -> String {
        match self {
            Barred::Held => format!("The conversation `{name}` is open in another Neovim."),
            Barred::Damaged(why) => {
                format!(
                    "The file of the conversation `{name}` is damaged ({why}) and was left as it is."
                )
            }
            Barred::Newer(version) => format!(
                "The conversation `{name}` was written by a newer Caliban (format {version}) and was left as it is."
            ),
            Barred::Io(error) => format!("The conversation `{name}` cannot be opened: {error}."),
        }
    }
}

impl Project {
    /// `data` is the folder of all sessions: `$XDG_DATA_HOME/caliban/sessions`. `root` is canonical.
    pub fn new(data: &Path, root: &Path) -> Project {
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
        Project { dir, root: root.to_owned() }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The session that was used last.
    pub fn last(&self) -> Option<SessionId> {
        let name = fs::read_to_string(self.dir.join("last")).ok()?;
        let name = name.trim();
        is_name(name).then(|| SessionId(name.to_owned()))
    }

    pub fn set_last(&self, id: &SessionId) -> io::Result<()> {
        write_whole(&self.dir, "last", id.0.as_bytes())
    }

    /// Names of the sessions there are, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|it| Some(it.file_name().to_str()?.strip_suffix(".json")?.to_owned()))
            .filter(|it| is_name(it))
            .collect();
        names.sort();
        names
    }

    /// Whether nothing on disk goes by this name.
    pub fn is_free(&self, name: &str) -> bool {
        let has = |ending| self.dir.join(format!("{name}.{ending}")).exists();
        !["json", "journal", "draft"].into_iter().any(has)
    }

    /// A name that no session has: `base`, else `base-2`, `base-3` … `taken` tells of those that are not on disk.
    pub fn free_name(&self, base: &str, taken: impl Fn(&str) -> bool) -> String {
        let stem = &base[..base.len().min(58)];
        let others = (2..=u32::MAX).map(|n| format!("{stem}-{n}"));
        std::iter::once(base.to_owned())
            .chain(others)
            .find(|name| self.is_free(name) && !taken(name))
            .unwrap_or_else(|| base.to_owned())
    }

    /// Opens a session and takes its lock: the saved state, and what the journal has beyond it.
    pub fn open(&self, id: &SessionId) -> Result<Opened, Barred> {
        create_private(&self.dir).map_err(Barred::Io)?;
        let lock = self.lock(id)?;
        let path = self.dir.join(format!("{id}.json"));
        let (header, mut session) = match fs::read(&path) {
            Ok(bytes) => {
                let (mut header, session) = SessionFile::parse(&bytes)?;
                header.name.clone_from(&id.0);
                (header, Some(session))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                (SessionFile::new(&id.0, &self.root), None)
            }
            Err(error) => return Err(Barred::Io(error)),
        };
        let mut warnings = Vec::new();
        let journal_path = self.dir.join(format!("{id}.journal"));
        let (journal, tail) =
            Journal::open(&journal_path, header.saves, &mut warnings).map_err(Barred::Io)?;
        let replayed = !tail.events.is_empty();
        if replayed {
            let session = session.get_or_insert_default();
            for event in &tail.events {
                session.apply(event);
            }
        }
        let draft = self.draft(id);
        let (dir, name, backlog) = (self.dir.clone(), id.0.clone(), Vec::new());
        let store = Store { dir, name, header, journal, backlog, _lock: lock };
        Ok(Opened { store, session, replayed, partial: tail.partial, draft, warnings })
    }

    fn lock(&self, id: &SessionId) -> Result<File, Barred> {
        let path = self.dir.join(format!("{id}.lock"));
        let options = &mut File::options();
        let lock = options.create(true).append(true).mode(0o600).open(path).map_err(Barred::Io)?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => Err(Barred::Held),
            Err(TryLockError::Error(error)) => Err(Barred::Io(error)),
        }
    }

    fn draft(&self, id: &SessionId) -> Draft {
        fs::read(self.dir.join(format!("{id}.draft")))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }
}

impl Store {
    /// Adds events to the journal. They reach the system before this returns; `sync` makes them survive
    /// a loss of power too, as they must before a side effect.
    /// What the disk does not take is kept and goes before the next.
    pub fn append(&mut self, events: &[Event], sync: bool) -> io::Result<()> {
        self.backlog.extend_from_slice(events);
        self.journal.append(&self.backlog, sync)?;
        self.backlog.clear();
        Ok(())
    }

    /// Adds a piece of a reply that is arriving, until the reply itself takes the place of all its pieces.
    pub fn append_piece(&mut self, text: &str) -> io::Result<()> {
        self.append(&[], false)?;
        self.journal.append(&[Piece { piece: text.into() }], false)
    }

    /// Writes the whole session and empties the journal.
    pub fn save(&mut self, session: &Session) -> io::Result<()> {
        self.header.saves += 1;
        let json = self.header.render(session).map_err(io::Error::other)?;
        write_whole(&self.dir, &format!("{}.json", self.name), &json)?;
        self.backlog.clear();
        self.journal.restart(self.header.saves)
    }

    /// Takes away what was written of a session in which nothing was said.
    pub fn discard(&self) -> io::Result<()> {
        fs::remove_file(self.dir.join(format!("{}.journal", self.name)))
    }

    /// Keeps the session's last state in the project's trash folder; the session goes on under its name.
    pub fn trash(&mut self, session: &Session) -> io::Result<()> {
        let json = self.header.render(session).map_err(io::Error::other)?;
        let trash = self.dir.join("trash");
        create_private(&trash)?;
        let taken = |n: &u32| !trash.join(format!("{}-{n}.json", self.name)).exists();
        let n = (1..=u32::MAX).find(taken).unwrap_or(u32::MAX);
        write_whole(&trash, &format!("{}-{n}.json", self.name), &json)
    }

    pub fn save_draft(&self, draft: &Draft) -> io::Result<()> {
        let name = format!("{}.draft", self.name);
        if draft.is_empty() {
            return match fs::remove_file(self.dir.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let json = serde_json::to_vec_pretty(draft).map_err(io::Error::other)?;
        write_whole(&self.dir, &name, &json)
    }
}

/// Conversations are nobody else's.
fn create_private(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Replaces a file's content at once: readers see the old or the new, also after a loss of power. The
/// temporary file has one name, so that a crash leaves no more than one behind.
fn write_whole(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    create_private(dir)?;
    let temporary = dir.join(format!(".{name}.tmp"));
    let mut file =
        File::options().create(true).write(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, dir.join(name))?;
    File::open(dir)?.sync_all()
}
