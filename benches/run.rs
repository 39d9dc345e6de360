//! The time from the start of `caliban run` to its first request.

use super::server::{Reply, Server};
use super::stream::{milliseconds, ranked};
use super::text;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TIMES: usize = 30;
/// The limit for the median, in milliseconds.
const LIMIT: f64 = 30.0;

/// The rows of the table.
pub(crate) fn table() -> String {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let base = format!("http://127.0.0.1:{}", server.port);
    let mut times = Vec::new();
    for n in 0..TIMES {
        let (tokens, pause) = (text::tokens(9, n as u64), Duration::ZERO);
        server.will(Reply::Text { tokens, rate: 0, pause });
        let mut command = Command::new(env!("CARGO_BIN_EXE_caliban"));
        command.args(["run", "--ephemeral", "go"]).current_dir(folder.path());
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]
        {
            command.env(name, folder.path());
        }
        command.env("ANTHROPIC_API_KEY", "key").env("ANTHROPIC_BASE_URL", &base);
        command.env("CALIBAN_MODEL", "anthropic/claude-sonnet-4-5");
        let began = Instant::now();
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(status.success(), "{status}");
        times.push(server.next().arrived - began);
    }
    let [p50, p99, most] = ranked(milliseconds(&times).collect());
    let is = if p50 <= LIMIT { "met" } else { "**short**" };
    format!(
        "| `caliban run`: from the start to the whole first request at the server, ms | p50 | p99 | max | figure | |\n\
         |---|--:|--:|--:|---|---|\n\
         | {TIMES} runs | {p50:.1} | {p99:.1} | {most:.1} | p50 ≤ {LIMIT} | {is} |\n"
    )
}
