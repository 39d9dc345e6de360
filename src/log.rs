//! The debug log. It is written only if the user asks for it, by a thread of its own, and only the user can read the
//! file. Records of the library nvim-rs are left out, because they contain every message, with prompts and keys.

mod rolling;

use crate::clock;
use rolling::Rolling;
use std::io;
use std::path::Path;
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, fmt, registry};

/// The most bytes of each of the two files: the one that is being written, and the previous one.
const HALF: u64 = 5_000_000;

/// The most lines that wait for a slow disk. Further lines are dropped, because the program never waits for its log.
const WAITING: usize = 8_192;

/// Begins the log in `folder/debug.log`. When the returned guard is dropped, all waiting lines are written to disk.
pub fn begin(folder: &Path) -> io::Result<WorkerGuard> {
    let (writer, guard) = writer(folder)?;
    let own = Targets::new().with_target("caliban", LevelFilter::DEBUG);
    let layer =
        fmt::layer().with_timer(Clock).with_ansi(false).with_writer(writer).with_filter(own);
    // if this is called again in the same process, the first log stays in use
    let _ = tracing::subscriber::set_global_default(registry().with(layer));
    Ok(guard)
}

/// Writes the user's local time.
struct Clock;

impl FormatTime for Clock {
    fn format_time(&self, out: &mut Writer<'_>) -> std::fmt::Result {
        out.write_str(&clock::second())
    }
}

fn writer(folder: &Path) -> io::Result<(NonBlocking, WorkerGuard)> {
    let file = Rolling::open(folder.join("debug.log"), HALF)?;
    Ok(NonBlockingBuilder::default().buffered_lines_limit(WAITING).finish(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    #[test]
    fn every_logged_line_is_on_disk_after_the_guard_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let (mut writer, guard) = writer(folder.path()).unwrap();
        let lines: Vec<String> = (0..500).map(|n| format!("line {n}\n")).collect();
        for line in &lines {
            writer.write_all(line.as_bytes()).unwrap();
        }
        drop(guard);
        assert_eq!(fs::read_to_string(folder.path().join("debug.log")).unwrap(), lines.concat());
    }

    #[test]
    fn a_log_keeps_at_most_its_last_ten_megabytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debug.log");
        let mut file = Rolling::open(path.clone(), HALF).unwrap();
        let line = |n: usize| format!("{n:0>3999}\n");
        for n in 0..4_000 {
            file.write_all(line(n).as_bytes()).unwrap();
        }
        let kept = fs::read_to_string(folder.path().join("debug.log.1")).unwrap()
            + &fs::read_to_string(&path).unwrap();
        assert!(kept.len() as u64 <= 2 * HALF && kept.len() as u64 > HALF, "{}", kept.len());
        let first = 4_000 - kept.len() / 4_000;
        assert!(kept == (first..4_000).map(line).collect::<String>());
    }
}
