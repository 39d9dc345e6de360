//! The command that a line of the shell becomes.

use super::confinement::Limits;
use super::desk::Desk;
use super::process::Streams;
use crate::supervisor;
use std::io;
use std::path::Path;
use tokio::process::Command;

/// A command line as a command for `Process::start`.
pub(super) fn prepared(
    desk: &Desk,
    line: &str,
    limits: Option<&Limits>,
    streams: Streams,
) -> io::Result<Command> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let bash = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("bash"))
        .find(|file| file.is_file());
    let shell = bash.as_deref().unwrap_or(Path::new("sh"));
    let sandbox = limits.map(|it| &it.sandbox);
    let mut command = supervisor::command(&desk.program, shell, sandbox)?;
    command.arg("-c").arg(line).current_dir(&desk.root);
    desk.secrets.withhold(&mut command);
    let terminal = if streams == Streams::Terminal { "xterm-256color" } else { "dumb" };
    command.envs([
        ("TERM", terminal),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_EDITOR", "true"),
        ("NO_COLOR", "1"),
    ]);
    if let Some(limits) = limits {
        limits.apply(&mut command);
    }
    Ok(command)
}
