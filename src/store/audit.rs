//! A project's log of permissions: one line for each decision about a call, the newest last.

use super::Store;
use crate::clock;
use std::fs;
use std::io;

/// The log's file. No session has this name, because session names do not begin with a dot.
const FILE: &str = ".permissions.log";
/// The most bytes of the log. If the log gets larger, its older half is removed.
const LIMIT: u64 = 1_000_000;

impl Store {
    /// Adds lines about decisions to the log. The lines must not contain line breaks. Lines that several programs write
    /// at the same time do not get mixed.
    pub fn log_decisions(&self, decisions: &[String]) -> io::Result<()> {
        if decisions.is_empty() {
            return Ok(());
        }
        let (time, session) = (clock::second(), &self.name);
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
        self.disk.replace_among_others(&self.dir, FILE, &all[from..])?;
        self.disk.sync_dir(&self.dir)
    }
}
