//! The log of permissions of a project: one line for each decision about a call, the newest last.

use super::Store;
use super::file::now;
use std::fs;
use std::io;

/// No name of a session begins with a dot.
const FILE: &str = ".permissions.log";
/// The most bytes of the file. A larger file is cut to its newer half.
const LIMIT: u64 = 1_000_000;

impl Store {
    /// Adds decisions, which have no line breaks in them. Lines of several programs do not mix.
    pub fn log_decisions(&self, decisions: &[String]) -> io::Result<()> {
        if decisions.is_empty() {
            return Ok(());
        }
        let (time, session) = (now(), &self.name);
        let lines: Vec<String> =
            decisions.iter().map(|it| format!("{time} {session} {it}\n")).collect();
        let path = self.dir.join(FILE);
        self.disk.append(&path, lines.concat().as_bytes())?;
        if fs::metadata(&path)?.len() < LIMIT {
            return Ok(());
        }
        let all = self.disk.read(&path)?;
        let half = all.len() / 2;
        let from = all[half..].iter().position(|it| *it == b'\n').map_or(0, |it| half + it + 1);
        self.disk.replace_now(&self.dir, FILE, &all[from..])
    }
}
