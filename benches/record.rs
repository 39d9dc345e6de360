//! Writes the tables of a run to `doc/benchmarks`: the last run of each part, with its machine and date.

use std::fs;
use std::path::Path;
use std::process::Command;

const HEAD: &str = "| | plain | marked | Caliban | × plain | × marked | figure | |\n|---|--:|--:|--:|--:|--:|---|---|\n";

/// Prints a part's table and writes it to `doc/benchmarks/{part}.md`. A table without a header gets `HEAD`.
pub(crate) fn keep(part: &str, command: &str, table: &str) {
    let has_head = table.lines().nth(1).is_some_and(|line| line.starts_with("|---"));
    let head = if has_head { "" } else { HEAD };
    let text = format!(
        "# The last run of `{command}`\n\n{}. `doc/benchmarks.md` says what the words mean.\n\n{head}{}\n",
        circumstances(),
        table.trim_end()
    );
    println!("{head}{table}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("doc/benchmarks").join(part);
    fs::write(path.with_extension("md"), text).expect("the record is written");
}

/// The day, commit and machine of the run.
fn circumstances() -> String {
    let now = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    let commit = said("git", &["rev-parse", "--short", "HEAD"]);
    let is_changed = !said("git", &["status", "--porcelain", "src", "lua", "benches"]).is_empty();
    let changed = if is_changed { " and what was not committed" } else { "" };
    let nvim = std::env::var("NVIM").unwrap_or_else(|_| "nvim".into());
    let nvim = said(&nvim, &["--version"]).lines().next().unwrap_or_default().to_owned();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let system = |path: &str, key: &str| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.trim().strip_prefix(':'));
        line.unwrap_or_default().trim().to_owned()
    };
    let processor = system("/proc/cpuinfo", "model name");
    let memory = system("/proc/meminfo", "MemTotal");
    let memory: u64 = memory.trim_end_matches(" kB").parse().unwrap_or_default();
    let machine = if processor.is_empty() {
        format!("{cores} processors")
    } else {
        format!("{cores} × {processor}, {} GB", memory >> 20)
    };
    format!("{}, commit {commit}{changed}; {machine}, {os} {arch}, {nvim}", &now[..10])
}

/// The output of a command; empty if it cannot be run.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .map(|output| output.stdout)
        .unwrap_or_default();
    String::from_utf8_lossy(&output).trim().to_owned()
}
