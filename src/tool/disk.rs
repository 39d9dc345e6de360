//! Files on the disk, without the editor's buffers; and a `Workspace` without an editor.

use super::lsp::question::{Findings, Question};
use super::scene;
use super::workspace::{Arrival, Comment, LIMIT, Source, Stamp, Unreadable, Workspace};
use crate::edit::{Misfit, Proposal, Whole};
use crate::event::TurnId;
use crate::message::CallId;
use crate::regular::direct::{self, Replacing};
use crate::text::{Text, Undecodable, cause, reviewed_hunks};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Reads a file's text. The path must not contain symbolic links: see `direct`. Blocks the thread, but never waits for
/// a pipe: see `regular`.
pub fn load(path: &Path) -> Result<Text, Unreadable> {
    let failed = |fault: io::Error| match fault.kind() {
        _ if is_absent(&fault) => Unreadable::Absent,
        io::ErrorKind::IsADirectory => Unreadable::Folder,
        _ => Unreadable::Other(cause(&fault)),
    };
    let mut file = direct::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    if size > LIMIT {
        return Err(Unreadable::TooLarge(size));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    Text::decode(&bytes).map_err(|fault| match fault {
        Undecodable::Binary => Unreadable::Binary,
        Undecodable::NotUtf8 { .. } => Unreadable::NotUtf8,
    })
}

/// Whether the error means that there is no file of this path.
pub(super) fn is_absent(fault: &io::Error) -> bool {
    matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The stamp of a file on disk, from its metadata. Blocks.
pub fn stamp(path: &Path) -> Stamp {
    let of = |it: std::fs::Metadata| {
        let (mtime, ctime) = ((it.mtime(), it.mtime_nsec()), (it.ctime(), it.ctime_nsec()));
        format!("{} {} {mtime:?} {ctime:?}", it.ino(), it.len())
    };
    Stamp::Disk(std::fs::metadata(path).map(of).unwrap_or_default())
}

/// A workspace without an editor. Proposals are written at once; those that wait for a review are refused, because
/// nobody reviews them.
#[derive(Debug, Clone)]
pub struct Disk {
    pub root: PathBuf,
    /// Whether this is a worktree. Then all proposals are written, because the user reviews the changes when they come
    /// into the project.
    pub is_apart: bool,
}

impl Workspace for Disk {
    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Source, Unreadable>> {
        std::future::ready(load(path).map(|text| Source { text, pending: 0 })).boxed()
    }

    fn propose(&self, _turn: TurnId, proposals: Vec<Proposal>) -> BoxFuture<'_, Vec<Arrival>> {
        // nothing is written before the first poll: until then, the caller stores the files as they are
        async move { enter_all(self, &proposals) }.boxed()
    }

    fn reviews(&self) -> bool {
        false
    }

    fn save(&self, _paths: Vec<PathBuf>, _agreed: Vec<PathBuf>) -> BoxFuture<'_, Vec<PathBuf>> {
        std::future::ready(Vec::new()).boxed()
    }

    fn consult(&self, _question: Question) -> BoxFuture<'_, Result<Findings, String>> {
        std::future::ready(Err("There is no editor, so there is no language server.".to_owned()))
            .boxed()
    }

    fn changed(&self) -> BoxFuture<'_, Vec<PathBuf>> {
        std::future::ready(Vec::new()).boxed()
    }

    fn stamps(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<Stamp>> {
        std::future::ready(paths.iter().map(|it| stamp(it)).collect()).boxed()
    }

    fn scene(&self, _: scene::Part) -> BoxFuture<'_, Result<scene::Scene, String>> {
        scene::absent()
    }
    fn comment(&self, _: Vec<Comment>) {}
    fn uncomment(&self) {}
    fn model_knows(&self, _path: &Path, _text: &Text) {}

    fn halt(&self, _turn: TurnId) {}

    fn restore(&self, change: Proposal) -> BoxFuture<'_, Result<String, String>> {
        let restore = async move {
            match enter(self, &change) {
                Arrival::Written { .. } => Ok(String::new()),
                Arrival::Refused(Misfit::Refused(why)) => Err(why),
                _ => Err("it has changed meanwhile".to_owned()),
            }
        };
        restore.boxed()
    }

    fn refresh(&self, _path: PathBuf) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

/// Writes proposals. The proposals of one call are written together or not at all, unless the disk fails in between.
fn enter_all(disk: &Disk, proposals: &[Proposal]) -> Vec<Arrival> {
    let mut arrivals: Vec<Option<Arrival>> =
        proposals.iter().map(|it| check(disk, it).err()).collect();
    let calls = |it: &Proposal| it.parts.iter().map(|it| it.call.clone()).collect::<BTreeSet<_>>();
    // if one file of a call cannot be written, no file of the call is written; if such a file belongs to several calls,
    // no file of these calls is written
    loop {
        let held = proposals.iter().zip(&arrivals).filter(|it| it.1.is_some());
        let held: BTreeSet<CallId> = held.flat_map(|it| calls(it.0)).collect();
        let both = proposals.iter().zip(&mut arrivals);
        let more = both.filter(|it| it.1.is_none() && !calls(it.0).is_disjoint(&held));
        let more: Vec<&mut Option<Arrival>> = more.map(|it| it.1).collect();
        if more.is_empty() {
            break;
        }
        for it in more {
            *it = Some(Arrival::Withheld);
        }
    }
    let written = proposals.iter().zip(arrivals);
    written.map(|(proposal, held)| held.unwrap_or_else(|| enter(disk, proposal))).collect()
}

fn refused(why: impl Into<String>) -> Arrival {
    Arrival::Refused(Misfit::Refused(why.into()))
}

/// Fails if the proposal cannot be written. Returns the file's present text; `None` for a new or a binary file.
fn check(disk: &Disk, proposal: &Proposal) -> Result<Option<Text>, Arrival> {
    if !proposal.at_once && !disk.is_apart {
        return Err(refused("its changes are always reviewed, and nobody is here to review them"));
    }
    let to = proposal.whole.as_ref().and_then(Whole::to);
    if !proposal.path.starts_with(&disk.root) || to.is_some_and(|it| !it.starts_with(&disk.root)) {
        return Err(refused("it is outside the project"));
    }
    if to.is_some_and(|it| it.symlink_metadata().is_ok()) {
        return Err(refused("a file with the new name already exists"));
    }
    match load(&proposal.path) {
        Ok(text) if proposal.before.as_ref() == Some(&text) => Ok(Some(text)),
        Err(Unreadable::Absent) if proposal.before.is_none() && proposal.whole.is_none() => {
            Ok(None)
        }
        Err(Unreadable::Binary | Unreadable::NotUtf8) if proposal.is_binary => Ok(None),
        Ok(text) => Err(Arrival::Moved(Some(text))),
        Err(Unreadable::Absent) => Err(Arrival::Moved(None)),
        Err(why) => Err(refused(format!("it {}", why.say()))),
    }
}

fn enter(disk: &Disk, proposal: &Proposal) -> Arrival {
    let now = match check(disk, proposal) {
        Ok(now) => now.unwrap_or_default(),
        Err(arrival) => return arrival,
    };
    let path = &proposal.path;
    let (written, hunks) = match &proposal.whole {
        None => {
            let bytes = proposal.after.encode();
            let ready = match Replacing::begin(path, &bytes) {
                Ok(ready) => ready,
                Err(fault) => return refused(cause(&fault)),
            };
            // another program may have written the file meanwhile
            if let Err(arrival) = check(disk, proposal) {
                return arrival;
            }
            (ready.finish(), reviewed_hunks(&now, &proposal.after).len())
        }
        Some(Whole::Delete) => (direct::remove(path), 0),
        Some(Whole::Rename { to }) => (direct::rename(path, to), 0),
    };
    match written {
        Ok(()) => {
            let hunks = u32::try_from(hunks).unwrap_or(u32::MAX);
            Arrival::Written { hunks, unsaved: String::new(), text: None }
        }
        Err(fault) => refused(cause(&fault)),
    }
}
