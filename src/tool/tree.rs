//! The files of the disk, for the permission rules.

use super::path;
use crate::rules::Tree;
use std::fs;
use std::path::{Path, PathBuf};

/// The most names of a folder that are read to judge a pattern.
const MOST: usize = 20_000;

pub struct OnDisk;

impl Tree for OnDisk {
    fn names(&self, folder: &Path) -> Option<Vec<String>> {
        let Ok(entries) = fs::read_dir(folder) else { return Some(Vec::new()) };
        let mut names = Vec::new();
        for entry in entries {
            names.push(entry.ok()?.file_name().to_string_lossy().into_owned());
            if names.len() > MOST {
                return None;
            }
        }
        Some(names)
    }

    fn is_there(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok()
    }

    fn trail(&self, path: &Path) -> Vec<PathBuf> {
        path::trail(path).unwrap_or_default()
    }
}
