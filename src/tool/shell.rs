//! The tool `shell`: runs a command in the project's root, under a supervisor, so that no process of the command
//! outlives the call.

mod output;

use super::confinement::Limits;
use super::{CallId, Desk, Done, Tool, Work, path};
use crate::supervisor::{self, Supervised};
use crate::text::cause;
use futures::FutureExt;
use futures::future::BoxFuture;
use output::Output;
use rustix::process::Signal;
use serde::Deserialize;
use serde_json::{Value, json};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

const TIME: u64 = 120;
/// The time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait, after the command's end, for processes that it left running.
const LINGER: Duration = Duration::from_millis(500);
/// How often new output is sent to the chat.
const TICK: Duration = Duration::from_millis(50);

const PURPOSE: &str = "Runs a command with bash in the project's root and returns its output, stdout and stderr \
    together. The user is asked before most commands. The command has no input and no terminal. Each call starts a new shell; every \
    process that it starts, also in the background, ends with the call. A sandbox lets it write only in the project and \
    in $TMPDIR, and gives it no network; if it needs more, say why in outside_sandbox. Prefer read, list, glob, grep and \
    edit to cat, ls, find, grep and sed.";

/// For the model, if a command has failed and its output reads as if the sandbox were the cause.
const LIMITED: &str = "[the command ran in a sandbox: it can write only in the project and in $TMPDIR, not to files such as \
    .git/config, and has no network. If it failed for this reason, call shell again with outside_sandbox and say why]";

pub(super) fn tool() -> Tool {
    Tool {
        name: "shell".to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        work: Work::Act { command: Arc::new(line), run: Arc::new(run) },
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": { "type": "string" },
            "outside_sandbox": { "type": "string", "description": "why the command cannot run in the sandbox; the user decides" },
            "timeout_s": { "type": "integer", "minimum": 1, "maximum": 600, "description": "default: 120" }
        },
        "required": ["command"]
    })
}

#[derive(Deserialize)]
struct Args {
    command: String,
    timeout_s: Option<u64>,
}

fn line(args: &Value) -> (String, Option<String>) {
    let text = |name: &str| args[name].as_str().map(str::to_owned);
    let reason = text("outside_sandbox").filter(|it| !it.trim().is_empty());
    (text("command").unwrap_or_default(), reason)
}

fn run(desk: &Desk, call: CallId, args: Value) -> BoxFuture<'_, Result<Done, String>> {
    async move {
        let is_outside = line(&args).1.is_some();
        let args: Args = serde_json::from_value(args).map_err(|fault| fault.to_string())?;
        if args.command.contains('\0') {
            return Err("command: holds a NUL character.".to_owned());
        }
        let time = args.timeout_s.unwrap_or(TIME);
        let unsaved = unsaved(desk).await;
        let mut output = Output::new(desk, call);
        let started =
            |fault: std::io::Error| format!("The command could not be started: {}.", cause(&fault));
        let limits =
            if is_outside { None } else { desk.confinement.limits(desk).await.map_err(started)? };
        let command = prepared(desk, &args.command, limits.as_ref());
        let end =
            execute(command, Duration::from_secs(time), &mut output).await.map_err(started)?;
        let hint = limits.filter(|_| end.has_failed()).map(|_| LIMITED);
        let said = [end.said(time), unsaved].into_iter().flatten();
        Ok(output.done(said, hint, end.summary()))
    }
    .boxed()
}

/// Names the files whose text in the editor differs from the text that a command sees.
async fn unsaved(desk: &Desk) -> Option<String> {
    let changed = desk.workspace.changed().await;
    let names: Vec<String> =
        changed.iter().take(5).map(|path| path::show(&desk.root, path)).collect();
    let more = if changed.len() > names.len() { ", …" } else { "" };
    (!names.is_empty()).then(|| {
        format!(
            "[unsaved in the editor, so the command saw older text: {}{more}]",
            names.join(", ")
        )
    })
}

struct End {
    status: Option<ExitStatus>,
    late: bool,
    /// Processes that the command started were still running when the wait for them ended.
    left: bool,
}

impl End {
    fn said(&self, time: u64) -> Option<String> {
        let signal = self.status.and_then(|status| status.signal());
        if self.late {
            return Some(format!(
                "[ended after {time} s: time-out. Give a longer timeout_s, or run less]"
            ));
        }
        let how = match (self.status.and_then(|status| status.code()), signal) {
            (Some(0), _) if !self.left => return None,
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("ended by signal {signal}"),
            (None, None) => "its exit code is unknown".to_owned(),
        };
        let left = if self.left { "; the processes it left running were ended" } else { "" };
        Some(format!("[{how}{left}]"))
    }

    fn has_failed(&self) -> bool {
        self.status.and_then(|it| it.code()) != Some(0)
    }

    fn summary(&self) -> String {
        match self.status.and_then(|status| status.code()) {
            _ if self.late => "timed out".to_owned(),
            Some(code) => format!("exit {code}"),
            None => "killed".to_owned(),
        }
    }
}

async fn execute(
    command: std::io::Result<Command>,
    time: Duration,
    output: &mut Output,
) -> std::io::Result<End> {
    let (reader, writer) = std::io::pipe()?;
    let mut pipe = Receiver::from_owned_fd(OwnedFd::from(reader))?;
    let mut command = command?;
    command.stdout(Stdio::from(writer.try_clone()?)).stderr(Stdio::from(writer));
    let mut supervised = Supervised::start(command).await?;
    let end = attend(&mut supervised, &mut pipe, time, output).await;
    supervised.finish().await;
    Ok(end)
}

async fn attend(
    supervised: &mut Supervised,
    pipe: &mut Receiver,
    time: Duration,
    output: &mut Output,
) -> End {
    let mut end = End { status: None, late: false, left: false };
    let (mut open, mut exited, mut killed, mut gone) = (true, false, false, false);
    let mut buffer = vec![0; 65_536];
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let deadline = sleep(time);
    tokio::pin!(deadline);
    while open || !gone {
        tokio::select! {
            got = pipe.read(&mut buffer), if open => match got {
                Ok(count) if count > 0 => {
                    output.take(&buffer[..count]);
                    // a flood of output can be read without a pause, so without this yield a stop would wait for many
                    // reads
                    tokio::task::yield_now().await;
                }
                _ => open = false,
            },
            ended = supervised.ended(), if !gone => {
                gone = ended.is_none();
                if !exited {
                    exited = true;
                    end.status = ended;
                    deadline.as_mut().reset(Instant::now() + LINGER);
                }
            }
            () = &mut deadline => {
                if exited || killed {
                    end.left = open || !gone;
                    break;
                }
                killed = end.late;
                end.late = true;
                supervised.signal(if killed { Signal::KILL } else { Signal::TERM });
                deadline.as_mut().reset(Instant::now() + GRACE);
            }
            _ = ticks.tick() => output.flush(),
        }
    }
    end
}

fn prepared(desk: &Desk, line: &str, limits: Option<&Limits>) -> std::io::Result<Command> {
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
    command.envs([
        ("TERM", "dumb"),
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
