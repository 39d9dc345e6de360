//! Carries a rewind out, file by file.

use super::plan::{self, File};
use super::{disk, index, keep};
use crate::agent::checkpoints::{ChangedBy, Keeper, Planned};
use crate::edit::{Proposal, Whole};
use crate::store::checkpoints::{Change, Content, FileMode, Staged};
use crate::text::{Text, cause};
use crate::tool::{self, Desk};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The most files that are named of those that the user has not chosen.
const NAMED: usize = 20;

pub(super) struct Job {
    pub(super) desk: Desk,
    pub(super) keeper: Keeper,
}

/// One step of a rewind.
enum Step {
    /// The editor makes the change in the file's buffer. Before it, the file gets the first permissions, after it the
    /// second ones.
    InBuffer(Box<Proposal>, [Option<FileMode>; 2]),
    /// The program replaces the file, byte for byte.
    OnDisk { path: PathBuf, was: Content, now: Content, mode: Option<FileMode> },
    /// The file gets permissions.
    Mode(PathBuf, FileMode),
    /// The file gets another entry in git's index only.
    Entry,
}

/// A step, with the change that the checkpoints record for it.
struct Planning {
    /// The index of the file.
    at: usize,
    planned: Planned,
    step: Step,
}

impl Job {
    /// Undoes the changes. Returns a line about each file.
    pub(super) async fn run(
        &self,
        title: &str,
        changes: &[Change],
        paths: &[PathBuf],
    ) -> Vec<String> {
        let mut files = keep::plan(&self.desk, &self.keeper.blobs, changes).await;
        let is_chosen = |it: &mut File| paths.contains(&it.path);
        let others: Vec<File> = files.extract_if(.., |it| !is_chosen(it)).collect();
        keep::keep_only_texts(&self.desk, &mut files, &others);
        let mut todo = Vec::new();
        for (at, file) in files.iter().enumerate().filter(|it| it.1.is_to_do()) {
            todo.extend(steps(file).into_iter().map(|it| Planning {
                at,
                planned: it.0,
                step: it.1,
            }));
        }
        sort(&mut todo);
        let (planned, steps): (Vec<_>, Vec<_>) =
            todo.into_iter().map(|it| (it.planned, (it.at, it.step))).unzip();
        let by = ChangedBy::Rewind(title.to_owned());
        let mut ids = self.keeper.begin(by, planned).await.into_iter();
        for (at, step) in steps {
            let id = ids.next();
            let kept = self.kept(&files, at);
            let file = &mut files[at];
            file.skipped = file.skipped.take().or(kept);
            let done = match file.skipped.clone() {
                Some(why) => Err(why),
                None => self.step(file, step).await,
            };
            if let Err(why) = done {
                file.skipped = Some(why);
                if let Some(id) = id {
                    self.keeper.void(id);
                }
            }
        }
        let root = &self.desk.root;
        let done = files.iter().filter(|it| it.skipped.is_none()).map(|it| &*it.path);
        remove_folders(&self.desk, changes, &done.collect());
        let stays = others.iter().chain(files.iter().filter(|it| it.skipped.is_some()));
        self.refresh(changes, stays.map(|it| &*it.path).collect()).await;
        let line = |it: &File| format!("{} {}", tool::path::show(root, &it.path), it.say(root));
        let mut lines: Vec<String> = files.iter().map(line).collect();
        if !lines.is_empty() {
            lines.extend(others.iter().filter(|it| it.skipped.is_some()).map(line));
            lines.extend(left_out(&others, root));
        }
        lines
    }

    /// Tells the editor which files are as they were before the changes, also if nothing was to be done: what is under
    /// review of them is taken back. `stays` are the files that are not.
    async fn refresh(&self, changes: &[Change], stays: BTreeSet<&Path>) {
        let paths = changes.iter().flat_map(|it| [Some(&it.path), it.to.as_ref()]).flatten();
        let all: BTreeSet<&Path> = paths.map(|it| &**it).filter(|it| !stays.contains(it)).collect();
        for path in all {
            self.desk.workspace.refresh(path.to_owned()).await;
        }
    }

    /// Why a text that a command has put somewhere is not taken away, if a file with the same text could not be restored.
    fn kept(&self, files: &[File], at: usize) -> Option<String> {
        let is_lost = |it: &&File| it.missed().is_some_and(|it| files[at].has_text_of(it));
        let lost = files.iter().find(is_lost)?;
        Some(keep::only_text(&self.desk, &lost.path))
    }

    async fn step(&self, file: &mut File, step: Step) -> Result<(), String> {
        let is_entry = matches!(step, Step::Entry);
        match step {
            Step::InBuffer(change, [first, last]) => {
                for path in [Some(&*change.path), change.to()].into_iter().flatten() {
                    plan::check_no_link(&self.desk, path)?;
                }
                let path = change.path.clone();
                self.set_mode(&path, first).await?;
                let is_renaming = change.to().is_some();
                let unsaved = match self.desk.workspace.restore(*change).await {
                    Ok(unsaved) => unsaved,
                    Err(why) => {
                        let was = file.was_mode.filter(|_| first.is_some());
                        if let Err(why) = self.set_mode(&path, was).await {
                            file.left.push(format!("its permissions are narrower now: {why}"));
                        }
                        return Err(why);
                    }
                };
                file.unsaved = Some(unsaved).filter(|it| !it.is_empty());
                file.is_renamed |= is_renaming;
                if let Err(why) = self.set_mode(&path, last).await {
                    // the text is restored
                    file.mode = None;
                    file.left.push(format!("its permissions are not restored: {why}"));
                }
            }
            Step::OnDisk { path, was, now, mode } => {
                plan::check_way(&self.desk, &path)?;
                if was.is_file() {
                    plan::unmodified(&self.desk, &path).await?;
                }
                let to = path.clone();
                let replace = move || disk::replace(&to, &was, &now, mode);
                tokio::task::spawn_blocking(replace).await.map_err(|it| cause(&it))??;
                self.desk.workspace.refresh(path).await;
            }
            Step::Mode(path, mode) => {
                plan::check_no_link(&self.desk, &path)?;
                self.set_mode(&path, Some(mode)).await?;
            }
            Step::Entry => (),
        }
        if let Some(Staged { before, after }) = file.staged.take_if(|it| it.before != it.after) {
            match index::write(&self.desk.root, &file.path, after.as_ref()).await {
                Ok(()) => file.staged = Some(Staged { before, after }),
                Err(why) if is_entry => {
                    return Err(format!("its entry in git's index stays: {why}"));
                }
                // the rest of the file is restored
                Err(why) => file.left.push(format!("its entry in git's index stays: {why}")),
            }
        }
        Ok(())
    }

    async fn set_mode(&self, path: &Path, mode: Option<FileMode>) -> Result<(), String> {
        let Some(mode) = mode else { return Ok(()) };
        let to = path.to_owned();
        let set = tokio::task::spawn_blocking(move || disk::set_mode(&to, mode));
        set.await.map_err(|it| cause(&it))??;
        self.desk.workspace.refresh(path.to_owned()).await;
        Ok(())
    }
}

/// Names the files that the user has not chosen, so that they keep their changes.
fn left_out(others: &[File], root: &Path) -> Option<String> {
    let left = others.iter().filter(|it| it.is_to_do());
    let names: Vec<String> = left.map(|it| tool::path::show(root, &it.path)).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let keep = if names.len() == 1 { "keeps its changes" } else { "keep their changes" };
    (!names.is_empty())
        .then(|| format!("{}{more} {keep}", names[..names.len().min(NAMED)].join(", ")))
}

/// Puts the deletions after all other steps, because a deleted file may have the only text of one that cannot be restored.
/// But what is deleted may be a folder, or lie in one, that another file replaces: then it goes first.
fn sort(todo: &mut [Planning]) {
    let is_made =
        |it: &Planning| it.planned.to.is_some() || it.planned.after != Ok(Content::Absent);
    let place = |it: &Planning| it.planned.to.clone().unwrap_or_else(|| it.planned.path.clone());
    let all: Vec<(PathBuf, bool)> = todo.iter().map(|it| (place(it), is_made(it))).collect();
    todo.sort_by_cached_key(|it| {
        let (path, made) = (place(it), is_made(it));
        let meets = |other: &(PathBuf, bool)| {
            other.1 != made && (other.0.starts_with(&path) || path.starts_with(&other.0))
        };
        match (made, all.iter().any(meets)) {
            (true, false) => 0,
            (false, true) => 1,
            (true, true) => 2,
            (false, false) => 3,
        }
    });
}

/// The steps that rewind a file, in order, each with the change that the checkpoints record for it.
fn steps(file: &File) -> Vec<(Planned, Step)> {
    let mut steps = Vec::new();
    if let Some(from) = &file.from {
        let whole = Some(Whole::Rename { to: file.path.clone() });
        let planned = Planned::new(from.clone(), Content::Absent, Content::Absent);
        let planned = Planned { to: Some(file.path.clone()), ..planned };
        steps.push((planned, in_buffer(from, &file.was, &file.was, whole, [None; 2])));
    }
    let path = &file.path;
    let (was, now) = (&file.was, &file.now);
    let step = if was != now {
        content_step(file)
    } else if let Some(mode) = file.new_mode() {
        Step::Mode(path.clone(), mode)
    } else if file.new_entry().is_some() {
        Step::Entry
    } else {
        return steps;
    };
    let bits = |it: Option<FileMode>| it.map(FileMode::bits);
    let new_mode = file.mode.or(file.was_mode).filter(|_| now.is_file());
    let planned = Planned::new(path.clone(), was.clone(), now.clone());
    let (mode, new_mode, staged) = (bits(file.was_mode), bits(new_mode), file.new_entry().cloned());
    steps.push((Planned { mode, new_mode, staged, ..planned }, step));
    steps
}

fn content_step(file: &File) -> Step {
    let (path, was, now) = (&file.path, &file.was, &file.now);
    let is_alike = |was: &Text, now: &Text| (was.newline, was.bom) == (now.newline, now.bom);
    // the editor changes no file that is read-only
    let is_writable = file.was_mode.is_none_or(|it| it.bits() & 0o200 != 0);
    match (was, now) {
        (Content::Text(_) | Content::Bytes(_), Content::Absent) if is_writable => {
            in_buffer(path, was, now, Some(Whole::Delete), [None; 2])
        }
        (Content::Text(old), Content::Text(new)) if is_alike(old, new) && is_writable => {
            let modes = file.was_mode.zip(file.new_mode()).map(|(was, mode)| {
                // nobody else may read the earlier text before the file has its permissions
                let narrow = FileMode::of(was.bits() & mode.bits() | was.bits() & 0o600);
                [Some(narrow), Some(mode)]
            });
            in_buffer(path, was, now, None, modes.unwrap_or_default())
        }
        _ => {
            let (path, was, now) = (path.clone(), was.clone(), now.clone());
            Step::OnDisk { path, was, now, mode: file.mode }
        }
    }
}

fn in_buffer(
    path: &Path,
    was: &Content,
    now: &Content,
    whole: Option<Whole>,
    modes: [Option<FileMode>; 2],
) -> Step {
    let text = |it: &Content| match it {
        Content::Text(text) => text.clone(),
        _ => Text::default(),
    };
    let proposal = Proposal {
        parts: Vec::new(),
        path: path.to_owned(),
        before: Some(text(was)),
        after: text(now),
        at_once: true,
        whole,
        is_binary: matches!(was, Content::Bytes(_)),
    };
    Step::InBuffer(Box::new(proposal), modes)
}

/// Removes folders that a turn had created for its files, if the rewind has left them empty.
fn remove_folders(desk: &Desk, changes: &[Change], done: &BTreeSet<&Path>) {
    for change in changes {
        let Some(highest) = &change.folder else { continue };
        let made = change.to.as_ref().unwrap_or(&change.path);
        if !done.contains(&*change.path) && !done.contains(&**made) {
            continue;
        }
        let is_ours =
            |it: &&Path| it.starts_with(&**highest) && plan::check_no_link(desk, it).is_ok();
        for folder in made.ancestors().skip(1).take_while(is_ours) {
            // Fails if the folder is not empty.
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}
