//! Reads a session without locking it: who has it locked, its content, and its reviews that wait for the user.

use super::file::{self, Draft, SessionFile};
use super::open::Project;
use super::unavailable::Unavailable;
use super::{disk, journal};
use crate::event::SessionId;
use crate::place::Place;
use crate::reach::{Reach, Writing};
use crate::session::{Phase, Session};
use serde::Deserialize;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// A review that the editor has stored, to reopen it at its next start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The name of the review's file in the project's folder.
    pub name: String,
    /// The file under review.
    pub path: PathBuf,
    /// The other paths that the file has in the review, if it was renamed or is to be.
    pub others: Vec<PathBuf>,
}

/// Those fields of a stored review that are paths of files.
#[derive(Deserialize)]
struct Record {
    path: PathBuf,
    was: Option<PathBuf>,
    whole: Option<Whole>,
    #[serde(default)]
    proposals: Vec<Proposal>,
}

#[derive(Deserialize)]
struct Whole {
    from: PathBuf,
    to: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Proposal {
    to: Option<PathBuf>,
}

impl Record {
    /// The path of the file under review, and its other paths. `None` unless all files of the stored review belong to
    /// the project, may be written, and are reached without a symbolic link.
    fn paths(self, root: &Path, reach: &Reach) -> Option<(PathBuf, Vec<PathBuf>)> {
        let Record { path, was, whole, proposals } = self;
        let whole = whole.into_iter().flat_map(|it| [Some(it.from), it.to]);
        let others = whole.chain([was]).chain(proposals.into_iter().map(|it| it.to));
        let may_be = |it: &Place| !matches!(reach.writing(it), Writing::Never(_));
        let is_ours =
            |it: PathBuf| Place::within(root, it).filter(|it| may_be(it) && !has_link(root, it));
        let others = others.flatten().map(|it| is_ours(it).map(Place::into_path));
        let others: Vec<PathBuf> = others.collect::<Option<_>>()?;
        Some((is_ours(path)?.into_path(), others))
    }
}

/// Whether a place, or a folder between the root and the place, is a symbolic link.
fn has_link(root: &Path, place: &Place) -> bool {
    let within = place.ancestors().take_while(|it| *it != root);
    within.into_iter().any(|it| fs::symlink_metadata(it).is_ok_and(|it| it.is_symlink()))
}

impl Project {
    /// Reads a session without locking it or changing its files. Returns the session and the number of messages that
    /// cannot be read, which is zero unless a newer version of Caliban wrote the file.
    pub fn read(&self, id: &SessionId) -> Result<(Session, usize), Unavailable> {
        let (mut session, unread) = self.read_but_outputs(id)?;
        self.outputs().read_all(&id.0, &mut session);
        self.outputs().read_images(&id.0, &mut session);
        Ok((session, unread))
    }

    pub(super) fn read_but_outputs(&self, id: &SessionId) -> Result<(Session, usize), Unavailable> {
        let bytes = self.disk.read(&self.dir.join(format!("{id}.json")));
        let (saves, mut session, unread) = match bytes {
            Ok(bytes) => match SessionFile::parse(&bytes) {
                Ok((header, session)) => (header.saves, session, 0),
                Err(Unavailable::Newer(version)) => {
                    return file::newer(&bytes).ok_or(Unavailable::Newer(version));
                }
                Err(unavailable) => return Err(unavailable),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => (0, Session::default(), 0),
            Err(error) => return Err(Unavailable::Io(error)),
        };
        let journal = self.disk.read(&self.dir.join(format!("{id}.journal"))).unwrap_or_default();
        journal::read(&journal, saves).0.replay(&mut session);
        session.phase = Phase::Idle;
        Ok((session, unread))
    }

    /// The unsent text in the composer of a session that was open read-only. The editor writes the file with this text.
    pub fn unsent(&self, id: &SessionId) -> Draft {
        self.draft(id, "unsent")
    }

    fn draft(&self, id: &SessionId, ending: &str) -> Draft {
        let read = self.disk.read(&self.dir.join(format!("{id}.{ending}"))).ok();
        read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// A session's draft. Must be called only by a program that has the session locked. If the session was open
    /// read-only before, the unsent text from then is added to the draft.
    pub(super) fn take_draft(&self, id: &SessionId) -> Draft {
        let (mut draft, unsent) = (self.draft(id, "draft"), self.unsent(id));
        if unsent.is_empty() {
            return draft;
        }
        for it in unsent.context {
            if !draft.context.contains(&it) {
                draft.context.push(it);
            }
        }
        if unsent.text.contains(&draft.text) {
            draft.text = unsent.text;
        } else if !draft.text.contains(&unsent.text) {
            draft.text = format!("{}\n\n{}", draft.text, unsent.text);
        }
        let kept = serde_json::to_vec_pretty(&draft).map_err(io::Error::other).and_then(|json| {
            self.disk.replace_now(&self.dir, &format!("{id}.draft"), &json)?;
            self.disk.remove_if_there(&self.dir.join(format!("{id}.unsent")))
        });
        if let Err(error) = kept {
            tracing::warn!("the draft and the unsent text could not be saved together: {error}");
        }
        draft
    }

    /// The reviews of a session that the editor has stored, to reopen them at its next start. The editor writes their
    /// files itself, even if this program has ended. The first line of such a file is JSON with the paths of the
    /// reviewed files. A review is left out if a path is outside of the project or may not be written. The editor
    /// reopens only the returned reviews.
    pub fn under_review(&self, id: &SessionId, reach: &Reach) -> Vec<Recorded> {
        let prefix = format!("{id}.review-");
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let names = entries.filter_map(|it| it.file_name().into_string().ok());
        let recorded = |name: String| {
            let mut line = String::new();
            BufReader::new(disk::open(&self.dir.join(&name)).ok()?).read_line(&mut line).ok()?;
            let record = serde_json::from_str::<Record>(&line).ok()?;
            let (path, others) = record.paths(&self.root, reach)?;
            Some(Recorded { name, path, others })
        };
        names.filter(|it| it.starts_with(&prefix)).filter_map(recorded).collect()
    }
}
