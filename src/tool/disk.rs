//! Reads files from disk, not from the editor's buffers. Also a `Workspace` that needs no editor, for tests and for use
//! without Neovim.

use super::comment::Comment;
use super::lsp::{Findings, Question};
use super::scene;
use super::{Arrival, LIMIT, Source, Stamp, Unreadable, Workspace};
use crate::edit::{Misfit, Proposal};
use crate::event::TurnId;
use crate::regular;
use crate::text::{Text, Undecodable, cause, diff};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Reads a file's text. Blocks the thread, but never waits for a pipe: see `regular`.
pub fn load(path: &Path) -> Result<Text, Unreadable> {
    let failed = |fault: io::Error| match fault.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Unreadable::Absent,
        io::ErrorKind::IsADirectory => Unreadable::Folder,
        _ => Unreadable::Other(cause(&fault)),
    };
    let mut file = regular::open(path).map_err(failed)?;
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

/// The stamp of a file on disk, from its metadata. Blocks.
pub fn stamp(path: &Path) -> Stamp {
    let of = |it: std::fs::Metadata| {
        let (mtime, ctime) = ((it.mtime(), it.mtime_nsec()), (it.ctime(), it.ctime_nsec()));
        format!("{} {} {mtime:?} {ctime:?}", it.ino(), it.len())
    };
    Stamp::Disk(std::fs::metadata(path).map(of).unwrap_or_default())
}

/// A workspace without an editor: proposals are written at once.
#[derive(Debug, Clone)]
pub struct Disk {
    pub root: PathBuf,
}

impl Workspace for Disk {
    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Source, Unreadable>> {
        std::future::ready(load(path).map(|text| Source { text, pending: 0 })).boxed()
    }

    fn propose(&self, _turn: TurnId, proposals: Vec<Proposal>) -> BoxFuture<'_, Vec<Arrival>> {
        std::future::ready(proposals.iter().map(|one| enter(&self.root, one)).collect()).boxed()
    }

    fn save(&self, _paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<PathBuf>> {
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
        let restored = match enter(&self.root, &change) {
            Arrival::Entered { .. } => Ok(String::new()),
            Arrival::Refused(Misfit::Refused(why)) => Err(why),
            _ => Err("it has changed meanwhile".to_owned()),
        };
        std::future::ready(restored).boxed()
    }

    fn refresh(&self, _path: PathBuf) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

fn enter(root: &Path, proposal: &Proposal) -> Arrival {
    let refused = |why: String| Arrival::Refused(Misfit::Refused(why));
    if !proposal.path.starts_with(root) {
        return refused("it is outside the project".to_owned());
    }
    if proposal.whole.is_some() {
        return refused("files are deleted and renamed in the editor only".to_owned());
    }
    let now = match load(&proposal.path) {
        Ok(text) => Some(text),
        Err(Unreadable::Absent) => None,
        Err(why) => return refused(format!("{why:?}")),
    };
    if now != proposal.before {
        return Arrival::Moved(now);
    }
    let hunks = diff(&now.unwrap_or_default(), &proposal.after).len();
    let folder = proposal.path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let options = &mut File::options();
    let options = options.write(true).create(true).truncate(true);
    let written = folder
        .and_then(|()| regular::open_with(options, &proposal.path))
        .and_then(|mut it| it.write_all(&proposal.after.encode()));
    match written {
        Ok(()) => Arrival::Entered { hunks: u32::try_from(hunks).unwrap_or(u32::MAX) },
        Err(fault) => refused(cause(&fault)),
    }
}
