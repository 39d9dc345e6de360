//! The history of prompts that the user has sent in a project: one JSON string on each line, the newest last.

use super::Store;
use std::fs;
use std::io;

const FILE: &str = "history";
/// The most bytes of a prompt in the history. A longer prompt is not added.
const LONGEST: usize = 10_000;
/// The most bytes of the file. If it gets larger, its older half is removed.
const LIMIT: u64 = 400_000;

impl Store {
    /// Adds a prompt to the project's history, which all its sessions share. Lines that several programs write at the
    /// same time do not get mixed.
    pub fn remember(&self, prompt: &str) -> io::Result<()> {
        if prompt.trim().is_empty() || prompt.len() > LONGEST {
            return Ok(());
        }
        let mut line = serde_json::to_vec(prompt).map_err(io::Error::other)?;
        line.push(b'\n');
        let path = self.dir.join(FILE);
        self.disk.append(&path, &line)?;
        if fs::metadata(&path)?.len() < LIMIT {
            return Ok(());
        }
        let all = self.disk.read(&path)?;
        let half = all.len() / 2;
        let from = all[half..].iter().position(|it| *it == b'\n').map_or(0, |it| half + it + 1);
        self.disk.replace_among_others(&self.dir, FILE, &all[from..])?;
        self.disk.sync_dir(&self.dir)
    }
}
