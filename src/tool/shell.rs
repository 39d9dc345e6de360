//! The tool `shell`: runs a command in the project's root, in the foreground or as a job.

mod output;

use super::confinement::Limits;
use super::git::head::Head;
use super::jobs::Start;
use super::process::{End, Process, Streams};
use super::{Announced, Author, Desk, Done, Running, Tool, Work, command, git, job, path, planted};
use crate::event::Access;
use crate::message::{Builtin, CallId};
use crate::rules;
use crate::text::cause;
use crate::web::proxy;
use futures::FutureExt;
use output::Output;
pub(super) use output::is_refusal;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

const TIME: u64 = 120;
/// The most bytes of a command. Linux takes no argument over 128 kB.
const LONGEST: usize = 100_000;
/// The longest time for a look at the repository.
const BRIEF: Duration = Duration::from_secs(2);
/// How often new output is sent to the chat.
const TICK: Duration = Duration::from_millis(50);

const PURPOSE: &str = "Runs a command with bash in the project's root and returns its output, stdout and stderr \
    together. Prefer read, list, glob, grep and edit tools to cat, ls, find, grep and sed. The user is asked before \
    most commands. Each call is a new shell without input; its processes end with it. Example: {\"command\":\"cargo \
    test\",\"timeout_s\":300}. Long output is cut in the middle, and kept in a file. With background, it returns at \
    once with a job's number: go on with the tool job. With terminal, the command runs in a terminal of 80x24. The \
    sandbox allows writes in the project and $TMPDIR, and connections to allowed hosts and to servers of jobs. \
    Ask for more with hosts or outside_sandbox.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Shell.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Command,
        work: Work::acts(access, run),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": { "type": "string" },
            "background": { "type": "boolean" },
            "terminal": { "type": "boolean" },
            "hosts": {
                "type": "array", "items": { "type": "string" }, "maxItems": 8,
                "description": "like \"example.org:8080\"; the user decides"
            },
            "outside_sandbox": { "type": "string", "description": "why the sandbox is not enough; the user decides" },
            "timeout_s": { "type": "integer", "minimum": 1, "maximum": 600, "description": "default: 120" }
        },
        "required": ["command"]
    })
}

#[derive(Clone, Deserialize)]
struct Args {
    command: String,
    #[serde(default)]
    hosts: Vec<String>,
    outside_sandbox: Option<String>,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    terminal: bool,
    timeout_s: Option<u64>,
}

fn access(desk: &Desk, args: &Args) -> Result<Access, String> {
    let command = &args.command;
    if command.trim().is_empty() {
        return Err("command: it is empty. Give the command to run.".to_owned());
    }
    if command.len() > LONGEST {
        return Err(format!(
            "command: it has {} bytes, but a command may have at most {LONGEST}. Write a script to a file and run it.",
            command.len()
        ));
    }
    let outside = outside(args).filter(|_| desk.confinement.is_on());
    Ok(Access::Act {
        command: command.clone(),
        hosts: if outside.is_some() { Vec::new() } else { hosts(desk, args)? },
        outside,
        background: args.background,
        unlocked: Vec::new(),
    })
}

/// The hosts to which the command has to connect, each once. There are none if it has the whole network.
fn hosts(desk: &Desk, args: &Args) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for (at, host) in args.hosts.iter().enumerate() {
        let host = host.to_ascii_lowercase();
        if !rules::is_host(&host) {
            let shown: String = host.chars().take(100).collect();
            return Err(format!(
                "hosts[{at}]: `{shown}` is not a host. Write one like `example.org` or `example.org:8080`, without \
                 https:// and without `*`."
            ));
        }
        if !all.contains(&host) {
            all.push(host);
        }
    }
    if all.is_empty() || desk.confinement.has_network() {
        return Ok(Vec::new());
    }
    desk.confinement.can_open(&desk.root).map(|()| all)
}

/// Why the command has to run outside of the sandbox.
fn outside(args: &Args) -> Option<String> {
    args.outside_sandbox.clone().filter(|it| !it.trim().is_empty())
}

fn streams(args: &Args) -> Streams {
    match (args.terminal, args.background) {
        (true, _) => Streams::Terminal,
        (false, true) => Streams::Pipes,
        (false, false) => Streams::Output,
    }
}

fn run(desk: &Desk, call: CallId, args: Args) -> Running<'_> {
    async move {
        let is_outside = outside(&args).is_some();
        if args.command.contains('\0') {
            return Err("command: contains a NUL character.".to_owned());
        }
        let started =
            |fault: io::Error| format!("The command could not be started: {}.", cause(&fault));
        let mut limits =
            if is_outside { None } else { desk.confinement.limits(desk).await.map_err(started)? };
        let streams = streams(&args);
        let command = command::prepared(desk, &args.command, limits.as_ref(), streams);
        let command = command.map_err(started)?;
        let unsaved = unsaved(desk).await;
        let mut secrets = desk.secrets.known_to_commands();
        // other commands must not use this command's proxy
        secrets.extend(limits.as_ref().filter(|it| it.has_proxy()).map(|it| it.pass.clone()));
        let gate = limits.as_ref().and_then(|it| desk.confinement.gate(desk, it));
        let watch =
            limits.as_mut().map_or(Ok(None), |it| it.watch(&desk.workspace)).map_err(started)?;
        if args.background {
            let is_contained = limits.is_some() && desk.confinement.contains(&desk.root);
            let start = Start {
                command,
                line: args.command,
                streams,
                is_contained: is_contained && gate.as_ref().is_none_or(|it| !it.opens()),
                gate,
                watch,
                network: limits.as_ref().and_then(|it| it.network.clone()),
                folder: desk.overflow.clone(),
                secrets,
                announced: Announced::begin(desk.workspace.clone(), true).await,
            };
            let look = desk.jobs.start(start).await?;
            let hint = limits.as_ref().map(limited);
            return Ok(job::began(&look, unsaved, hint.as_deref()));
        }
        let mut output = Output::new(desk, call, secrets);
        let time = args.timeout_s.unwrap_or(TIME);
        let process =
            Process::start(command, streams, Some(Duration::from_secs(time)), gate, watch);
        let end = attend(process.await.map_err(started)?, &mut output).await;
        let (hint, told) = after(desk, limits.as_ref(), output.end(), &end).await;
        let said =
            [said(&end, time), proxy::told(&end.refused), planted::told(&end.taken), unsaved, hint];
        let done = output.done(said.into_iter().flatten(), end.summary());
        let refused = end.refused.iter().map(|it| it.decision(&args.command));
        let taken = end.taken.iter().map(|it| it.decision(&args.command));
        let decisions = refused.chain(taken).collect();
        let is_refused = end.code() == Some(git::gate::NOT_BEGUN.into()) && limits.is_some();
        let is_asked = is_refused && git::is_git_alone(&args.command);
        let locked = if is_asked { git::looked(desk, &args.command).await } else { Vec::new() };
        Ok(Done { decisions, told, fault: end.has_failed(), locked, ..done })
    }
    .boxed()
}

/// The hint for the model if a command has failed and its output looks as if the sandbox was the cause.
fn limited(limits: &Limits) -> String {
    let network = match limits.sandbox.network {
        true => "",
        false if limits.has_proxy() => ", and connects only to hosts that the user has allowed",
        false => ", and has no network",
    };
    format!(
        "[the command ran in a sandbox: it can write only in the project and in $TMPDIR, not to files such as \
         .git/config{network}. If it failed for this reason, call shell again with outside_sandbox and say why]"
    )
}

/// What the model is told if the sandbox may have stopped the command in the middle. `lines` are those of its output
/// that read so. A program that has git built in may end with code 0 nevertheless.
async fn hint(desk: &Desk, limits: &Limits, lines: &[String], end: &End) -> Option<String> {
    let show = |it: &PathBuf| path::show(&desk.root, it);
    let left: Vec<String> = limits.left(&desk.root).await.iter().map(show).collect();
    if !left.is_empty() {
        let left = left.join(" ");
        return Some(format!(
            "[another commit is checked out now, but these files stay as they were, because commands may not write them: \
             {left}. A commit of everything would put their old text into the new commit. Run git checkout HEAD -- with \
             those that the commit has, and git clean -f -- with the others, each alone in a call of shell: the user is \
             asked. Run git itself to check out, merge or rebase: it does so whole]"
        ));
    }
    if lines.is_empty() || !end.has_failed() {
        return None;
    }
    if let Some(folder) = repository_outside(&desk.root, lines) {
        return Some(format!(
            "[this folder is a submodule: its repository is in {}, outside of the project, where commands may not write. \
             Call shell again with outside_sandbox and say so, or ask the user to open the project to which the submodule \
             belongs]",
            folder.display().to_string().escape_debug()
        ));
    }
    let fixed: Vec<String> = limits.fixed(&desk.root).iter().map(show).collect();
    let is_named = |it: &&String| lines.iter().any(|line| line.contains(it.as_str()));
    let named: Vec<&str> = fixed.iter().filter(is_named).map(String::as_str).collect();
    if named.is_empty() {
        return Some(limited(limits));
    }
    let head = Head::look(&desk.root, BRIEF).await.and_then(|it| it.unfinished);
    let undo = head.map_or_else(String::new, |it| format!(", then run {it}"));
    Some(format!(
        "[commands may not write {}: such files run outside of the sandbox or tell agents what to do. If a program was \
         checking out, merging or the like, it stopped in the middle: git status, git diff and git stash list show what it \
         had changed before. Take that back first, because git writes over no such change{undo}. Run git itself, alone in a \
         call of shell: the user is asked, and git does it whole. To change such a file, propose it with the tools edit or \
         write]",
        named.join(", ")
    ))
}

/// The folder of the project's repository, if that is one of a submodule outside of the project, and one of these lines
/// names it.
fn repository_outside(root: &Path, lines: &[String]) -> Option<PathBuf> {
    let is_module = |it: &PathBuf| it.iter().any(|it| it == "modules");
    let folder = git::folder_of(root).filter(|it| !it.starts_with(root) && is_module(it))?;
    let name = folder.to_string_lossy().into_owned();
    lines.iter().any(|it| it.contains(&name)).then_some(folder)
}

/// What the model and the user are told about locked files. Git is asked for both at the same time.
async fn after(
    desk: &Desk,
    limits: Option<&Limits>,
    lines: &[String],
    end: &End,
) -> (Option<String>, Vec<String>) {
    let hint = async {
        match limits {
            Some(limits) => hint(desk, limits, lines, end).await,
            None => None,
        }
    };
    tokio::join!(hint, told(desk, limits, end))
}

/// What the user is told about locked files.
async fn told(desk: &Desk, limits: Option<&Limits>, end: &End) -> Vec<String> {
    let held = match limits {
        Some(limits) => limits.held(&desk.root).await,
        None => None,
    };
    let rebased = limits.and_then(Limits::rebased);
    planted::shown(&end.taken).into_iter().chain(held).chain(rebased).collect()
}

/// The note for the model that names files with unsaved changes in the editor, which a command does not see.
async fn unsaved(desk: &Desk) -> Option<String> {
    let changed = desk.workspace.changed().await;
    let names: Vec<String> =
        changed.iter().take(5).map(|path| path::show(&desk.root, path)).collect();
    let more = if changed.len() > names.len() { ", …" } else { "" };
    (!names.is_empty()).then(|| {
        format!(
            "[these files have unsaved changes in the editor, which the command did not see: {}{more}]",
            names.join(", ")
        )
    })
}

/// Forwards the output of a command until its end.
async fn attend(mut process: Process, output: &mut Output) -> End {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            got = process.next() => match got {
                Some(count) => {
                    output.take(process.bytes(count));
                    // a lot of output can be read without a pause, so without this yield a stop by the user would be
                    // delayed by many reads
                    tokio::task::yield_now().await;
                }
                None => return process.finish().await,
            },
            _ = ticks.tick() => output.flush(),
        }
    }
}

fn said(end: &End, time: u64) -> Option<String> {
    if end.is_late {
        return Some(format!(
            "[timed out after {time} s and was stopped. Give a longer timeout_s, run less, or run the command in the \
             background]"
        ));
    }
    end.fault().map(|it| format!("[{it}]"))
}
