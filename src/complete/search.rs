//! Searches the files of a project at one moment.

use super::index::{self, Chunk};
use super::near::{self, Near, OPEN, RECENT};
use super::place::{Place, relative};
use super::rank::Query;
use crate::context::mention;
use crate::reach::{Reach, Reading};
use crate::tool::path;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most items of an answer.
pub const ITEMS: usize = 50;

/// The most entries that are read from a folder outside of the index.
const ENTRIES: usize = 5000;

/// The files of a project at one moment.
pub struct Search {
    pub(super) root: PathBuf,
    pub(super) home: Option<PathBuf>,
    pub(super) reach: Reach,
    pub(super) chunks: Vec<Arc<Chunk>>,
}

impl Search {
    /// The places that match an unfinished mention, the best first. Blocks.
    pub fn places(&self, query: &str, near: &Near) -> Vec<Place> {
        let near = self.near(near);
        if query.trim().is_empty() {
            return self.first(&near);
        }
        let (folder, name) = query
            .rsplit_once('/')
            .map_or(("", query), |(folder, name)| (&query[..=folder.len()], name));
        if is_elsewhere(folder) {
            return self.of_folder(folder, name);
        }
        let mut places = Query::new(query).best_places(&self.chunks, &near, ITEMS);
        places.retain(|it| it.is_near || self.is_there(&it.path));
        if !folder.is_empty() && places.iter().all(|it| it.is_near) {
            let mut ignored = self.of_folder(folder, name);
            ignored.retain(|it| places.iter().all(|near| near.path != it.path));
            places.extend(ignored);
            places.truncate(ITEMS);
        }
        places
    }

    /// The files and folders that complete a typed path. Their texts have no `@`. Blocks.
    pub fn paths(&self, typed: &str) -> Vec<Place> {
        let (folder, name) = typed.split_at(typed.rfind('/').map_or(0, |it| it + 1));
        let mut places = self.of_folder(folder, name);
        for it in &mut places {
            it.text.clone_from(&it.path);
        }
        places
    }

    fn is_there(&self, path: &str) -> bool {
        self.root.join(path.trim_end_matches('/')).symlink_metadata().is_ok()
    }

    /// The places for an empty query: the near files, then the files and folders at the top of the project.
    fn first(&self, near: &[near::File]) -> Vec<Place> {
        let is_near = |it: &&str| near.iter().any(|near| near.is_inside && near.path == *it);
        let mut top: Vec<&str> =
            self.chunks.iter().flat_map(|it| it.top()).filter(|it| !is_near(it)).collect();
        top.sort_unstable();
        let top: Vec<Place> = top.into_iter().take(ITEMS).map(relative).collect();
        near.iter().map(near::File::place).chain(top).take(ITEMS).collect()
    }

    /// The places in one folder that match `name`, ignored files too.
    fn of_folder(&self, folder: &str, name: &str) -> Vec<Place> {
        let absolute = index::absolute(&self.root, self.home.as_deref(), folder);
        let mut entries = index::entries(&self.reach, &absolute, ENTRIES);
        entries.sort();
        let entries = entries.into_iter().map(|(it, is_folder)| {
            let slash = if is_folder { "/" } else { "" };
            let path = format!("{folder}{it}{slash}");
            Place { text: mention::spell(&path), path, is_near: false }
        });
        let after = folder.len();
        let best = Query::new(name).best(entries, move |it| &it.path[after..], ITEMS);
        best.into_iter().collect()
    }

    /// The near files that may be mentioned, each once: the open ones first. An open file may be missing on disk,
    /// because it was never written.
    fn near(&self, near: &Near) -> Vec<near::File> {
        let open = near.open.iter().map(|it| (it, OPEN));
        let recent = near.recent.iter().filter(|it| it.starts_with(&self.root));
        let recent = recent.map(|it| (it, RECENT));
        let mut seen = HashSet::new();
        let all = open.chain(recent).filter(|(it, _)| seen.insert(it.as_path()));
        all.filter_map(|(path, bonus)| self.file(path, bonus)).collect()
    }

    fn file(&self, path: &Path, bonus: u32) -> Option<near::File> {
        let is_free = !matches!(self.reach.reading(path), Reading::Never(_));
        // a path with replacement characters is not the file's real path: the name is not UTF-8
        let may_be_new = bonus == OPEN && !path.to_str()?.contains(char::REPLACEMENT_CHARACTER);
        let is_file = || path.metadata().map_or(may_be_new, |it| it.is_file());
        let is_inside = path.starts_with(&self.root);
        let shown = path::tilde(&self.root, self.home.as_deref(), path);
        (path.is_absolute() && is_free && is_file()).then_some(near::File {
            path: shown,
            is_inside,
            bonus,
        })
    }
}

/// Whether the index lacks the entries of a folder: the folder lies outside of the project, or its path is not written
/// as the index writes paths.
fn is_elsewhere(folder: &str) -> bool {
    let begins = ["/", "~/", "./", "../"].iter().any(|it| folder.starts_with(it));
    begins || folder.contains("/../")
}
