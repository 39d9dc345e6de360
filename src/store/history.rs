//! The prompts of all sessions of a project: one JSON string a line, the newest last.

use super::Store;
use std::fs;
use std::io;

const FILE: &str = "history";
/// The most bytes of a prompt; a longer prompt is not kept.
const LONGEST: usize = 10_000;
/// The most bytes of the file. A larger file is cut to its newer half.
const LIMIT: u64 = 400_000;

impl Store {
    /// Adds a prompt to the project's history, which all its sessions share. Lines of several programs do not mix.
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
        self.disk.replace_now(&self.dir, FILE, &all[from..])
    }
}
