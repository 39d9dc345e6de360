//! Keeps what a rewind may not take away: folders in which files stay, and the only copies of texts.

use super::plan::{self, File};
use crate::store::checkpoints::{Blobs, Change, Content};
use crate::tool::{self, Desk};
use std::path::{Path, PathBuf};

/// The files as they will be after a rewind of these changes. `changes` has the latest change first.
pub(super) async fn plan(desk: &Desk, blobs: &Blobs, changes: &[Change]) -> Vec<File> {
    let mut files = plan::undone(desk, blobs, changes).await;
    keep_folders(desk, &mut files);
    keep_moved(desk, &mut files);
    keep_only_texts(desk, &mut files, &[]);
    keep_folders(desk, &mut files);
    files
}

/// Keeps the folders in which files stay: nothing comes back in their place.
fn keep_folders(desk: &Desk, files: &mut [File]) {
    let stays = |it: &&File| it.skipped.is_some() && it.was != Content::Absent;
    let stay: Vec<PathBuf> = files.iter().filter(stays).map(|it| it.path.clone()).collect();
    let is_folder = |it: &&mut File| it.was == Content::Folder && it.is_to_do();
    for it in files.iter_mut().filter(is_folder) {
        let inside = stay.iter().find(|other| **other != it.path && other.starts_with(&it.path));
        let why = inside.map(|inside| {
            let inside = tool::path::show(&desk.root, inside);
            format!("a folder is in its place, in which {inside} stays")
        });
        it.skipped = it.skipped.take().or(why);
    }
}

/// Keeps the files that a command made, if another file is gone and does not come back: a command may have moved it.
fn keep_moved(desk: &Desk, files: &mut [File]) {
    let lost = files.iter().find(|it| it.is_lost() && it.by_command);
    let Some(lost) = lost.map(|it| it.path.clone()) else { return };
    for it in files.iter_mut().filter(|it| it.is_to_do() && it.is_made_by_command()) {
        it.skipped = Some(only_text(desk, &lost));
    }
}

/// Keeps the texts of files that do not come back where a command has put them. `others` are files that the user has not
/// chosen.
pub(super) fn keep_only_texts(desk: &Desk, files: &mut [File], others: &[File]) {
    let left = others.iter().filter(|it| it.by_command && it.is_to_do() && it.now != it.was);
    let left: Vec<_> = left.map(|it| (it.path.clone(), it.now.clone())).collect();
    loop {
        let missed = |it: &File| Some((it.path.clone(), it.missed()?.clone()));
        let lost: Vec<_> = left.iter().cloned().chain(files.iter().filter_map(missed)).collect();
        let only = |it: &File| lost.iter().find(|lost| it.has_text_of(&lost.1));
        let mut hits = files.iter_mut().filter(|it| it.is_to_do());
        let Some((file, lost)) = hits.find_map(|it| only(it).map(|lost| (it, lost))) else {
            return;
        };
        file.skipped = Some(only_text(desk, &lost.0));
    }
}

/// Why a file is not deleted. `lost` is a file that is gone and does not come back.
pub(super) fn only_text(desk: &Desk, lost: &Path) -> String {
    let lost = tool::path::show(&desk.root, lost);
    format!("it may have the only text of {lost}, which is not restored")
}
