//! The files of the disk, for the permission rules.

mod index;

use super::path;
use crate::regular;
use crate::rules::{Tracked, Tree};
use std::fs;
use std::path::{Path, PathBuf};

/// The most names of a folder that are read to judge a pattern.
const MOST: usize = 20_000;

/// The files that tell git and searches what to leave out.
const IGNORING: [&str; 3] = [".gitignore", ".ignore", ".rgignore"];

pub struct OnDisk;

impl Tree for OnDisk {
    fn entries(&self, folder: &Path) -> Option<Vec<(String, bool)>> {
        let Ok(entries) = fs::read_dir(folder) else { return Some(Vec::new()) };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.ok()?;
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            names.push((entry.file_name().to_string_lossy().into_owned(), is_folder));
            if names.len() > MOST {
                return None;
            }
        }
        Some(names)
    }

    fn tracked(&self, folder: &Path, keep: &mut dyn FnMut(&Path) -> bool) -> Option<Vec<Tracked>> {
        index::tracked(folder, keep)
    }

    fn ignored(&self, folder: &Path) -> Vec<String> {
        let text = |it: &str| regular::read_to_string(&folder.join(it)).unwrap_or_default();
        IGNORING
            .iter()
            .flat_map(|it| text(it).lines().map(str::to_owned).collect::<Vec<_>>())
            .collect()
    }

    fn is_there(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok()
    }

    fn trail(&self, path: &Path) -> Vec<PathBuf> {
        path::trail(path).unwrap_or_default()
    }
}
