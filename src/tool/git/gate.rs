//! The program `git` that commands in the sandbox find first. A git command that would change locked files of the
//! project does not start: in the middle it would fail, and leave half of its work. All others become git itself.

use super::clone;
use super::glance::Glance;
use super::invocation::Invocation;
use super::settings;
use super::touched::{is_looked_at, pulled, touched};
use crate::reach::Locks;
use crate::sandbox;
use crate::text::cause;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

/// The variable that has the `Order`.
pub const VARIABLE: &str = "CALIBAN_GIT";
/// The exit code of git for a command that it cannot begin.
const NOT_BEGUN: u8 = 128;
/// The most paths that a message names.
const SHOWN: usize = 8;
/// Options of `pull` that are for its `fetch`.
const FETCH: [&str; 12] = [
    "--all",
    "-a",
    "--append",
    "-t",
    "--tags",
    "--no-tags",
    "-p",
    "--prune",
    "--unshallow",
    "-4",
    "-6",
    "--force",
];

/// What the gate needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// The project's root.
    pub root: PathBuf,
    /// The folder that has this program as `git`.
    pub folder: PathBuf,
    /// The files of git that are this program now, and the file that is git in place of each.
    pub covered: Vec<(PathBuf, PathBuf)>,
    /// The locked paths that the command may change.
    pub unlocked: Vec<String>,
    /// The file for the locked paths that git would change, if the command is git alone. The user is asked about them.
    pub report: Option<PathBuf>,
    /// The file by which git asks for a change of the repository's configuration.
    pub settings: Option<PathBuf>,
}

impl Order {
    /// The files over which this program is mounted.
    pub fn mounts(&self) -> sandbox::Gate {
        sandbox::Gate { file: self.folder.join("git"), covered: self.covered.clone() }
    }
}

/// The files of git itself on this machine: those that programs name by their path, and those that git's own scripts,
/// hooks and aliases find first.
pub fn files() -> Vec<PathBuf> {
    const PLACES: [&str; 6] = [
        "/usr/bin/git",
        "/bin/git",
        "/usr/local/bin/git",
        "/usr/lib/git-core/git",
        "/usr/libexec/git-core/git",
        "/usr/local/libexec/git-core/git",
    ];
    let real = |it: &&str| Path::new(it).canonicalize().ok();
    // a link may lead to a program that is not only git
    let is_git = |it: &PathBuf| it.file_name().is_some_and(|it| it == "git") && it.is_file();
    let all: BTreeSet<PathBuf> = PLACES.iter().filter_map(real).filter(is_git).collect();
    all.into_iter().collect()
}

/// Whether a program of this name is git, or one of git's subcommands.
pub fn is_git(name: &OsStr) -> bool {
    name == "git" || name.as_encoded_bytes().starts_with(b"git-")
}

/// The main function of this program under the name `git`.
pub fn run() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let order = env::var(VARIABLE).ok().and_then(|it| serde_json::from_str::<Order>(&it).ok());
    let Some(git) = real(order.as_ref()) else { return failed("git is not installed") };
    let name = env::args_os().next().unwrap_or_default();
    if Path::new(&name).file_name().is_some_and(|it| it != "git") {
        // programs such as git-upload-pack are links to git
        return failed(&cause(&Command::new(&git).arg0(name).args(&arguments).exec()));
    }
    let words: Option<Vec<String>> =
        arguments.iter().map(|it| it.to_str().map(str::to_owned)).collect();
    let invocation = words.as_deref().and_then(Invocation::read);
    let invocation = invocation.filter(|it| !OTHERS.contains(&format!(" {} ", it.verb)));
    let invocation = invocation.map(|it| aliased(&it, &git).unwrap_or(it));
    if let (Some(order), Some(invocation)) = (&order, &invocation) {
        if clone::fills(invocation, &order.root) {
            return failed(
                "git clone was not started. It would write into the project's root, also files that commands may not \
                 write. Run it with --no-checkout, and then git reset --hard alone in a call of shell: the user is asked \
                 about such files",
            );
        }
        match locked(order, invocation, &git) {
            Ok(paths) if paths.is_empty() => {
                if let Some(code) = with_settings(order, invocation, (&git, &arguments)) {
                    return code;
                }
            }
            Ok(paths) => return refused(order, invocation, &paths),
            Err(code) => return code,
        }
    }
    let fault = Command::new(&git).args(&arguments).exec();
    failed(&cause(&fault))
}

/// Git itself: in place of the file by which this program was started, else the first one in the search path that is not
/// this program.
fn real(order: Option<&Order>) -> Option<PathBuf> {
    let own = env::current_exe().ok()?;
    let covered = order.map(|it| it.covered.as_slice()).unwrap_or_default();
    let in_place = |of: &Path| covered.iter().find(|it| it.0 == of).map(|it| it.1.clone());
    if let Some(git) = in_place(&own) {
        return Some(git);
    }
    let path = env::var_os("PATH")?;
    let folder = order.map(|it| it.folder.as_path());
    let mut folders = env::split_paths(&path).filter(|it| Some(it.as_path()) != folder);
    folders.find_map(|it| {
        let file = it.join("git");
        let real = file.canonicalize().ok().filter(|real| real.is_file() && *real != own)?;
        Some(in_place(&real).unwrap_or(file))
    })
}

/// The locked paths that the command would change and may not. An error is the exit code of a `fetch` that failed.
fn locked(
    order: &Order,
    invocation: &Invocation,
    git: &Path,
) -> Result<BTreeSet<String>, ExitCode> {
    if !is_looked_at(&invocation.verb) {
        return Ok(BTreeSet::new());
    }
    let Some(glance) = Glance::new(git, &invocation.globals) else { return Ok(BTreeSet::new()) };
    let paths = if invocation.verb == "pull" {
        fetch(invocation, git)?;
        pulled(invocation, &glance)
    } else {
        touched(invocation, &glance)
    };
    let locks = Locks::new();
    let below = |it: &String| {
        let path = glance.top.join(it);
        path.strip_prefix(&order.root).ok().map(|it| it.to_string_lossy().into_owned())
    };
    let unlocked: BTreeSet<String> =
        order.unlocked.iter().filter_map(|it| locks.unit(it)).collect();
    let is_locked = |it: &String| locks.unit(it).is_some_and(|it| !unlocked.contains(&it));
    Ok(paths.iter().filter_map(below).filter(is_locked).collect())
}

/// Runs a git command that may write settings of the repository, which it cannot do by itself. `None` if the command
/// was not run.
fn with_settings(
    order: &Order,
    invocation: &Invocation,
    (git, arguments): (&Path, &[OsString]),
) -> Option<ExitCode> {
    let channel = order.settings.as_ref()?;
    if !settings::writes(invocation) {
        return None;
    }
    let copy = settings::Copy::new(&Glance::new(git, &invocation.globals)?)?;
    let mut command = Command::new(git);
    copy.apply(command.args(arguments));
    let ended = match command.status() {
        Ok(status) => code(status),
        Err(fault) => return Some(failed(&cause(&fault))),
    };
    let refused = match copy.hand_over(channel) {
        Ok(refused) => refused.join(", "),
        Err(fault) => cause(&fault),
    };
    if refused.is_empty() {
        return Some(ExitCode::from(ended));
    }
    let failure = failed(&format!(
        "git {} has run, but the configuration of the repository was not changed ({refused}). Commands may not change \
         settings by which git runs programs or reaches another address",
        invocation.verb
    ));
    Some(if ended == 0 { failure } else { ExitCode::from(ended) })
}

/// The exit code of a git that has ended, as a shell gives it.
fn code(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|it| it.saturating_add(128));
    let code = status.code().or(signal).and_then(|it| u8::try_from(it).ok());
    code.unwrap_or(NOT_BEGUN)
}

/// The command that an alias stands for. Git itself says what the alias means.
fn aliased(invocation: &Invocation, git: &Path) -> Option<Invocation> {
    let is_word = invocation.verb.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    if !is_word || is_looked_at(&invocation.verb) || settings::writes(invocation) {
        return None;
    }
    let mut command = Command::new(git);
    command.args(&invocation.globals).args(["config", "--get"]);
    command.arg(format!("alias.{}", invocation.verb)).stderr(Stdio::null()).stdin(Stdio::null());
    let output = command.output().ok().filter(|it| it.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    words.extend(invocation.words.iter().cloned());
    let inner = Invocation::read(&words)?;
    (!inner.verb.starts_with('!')).then(|| Invocation {
        globals: [invocation.globals.as_slice(), &inner.globals].concat(),
        ..inner
    })
}

/// Frequent subcommands that are not looked at. An alias cannot replace a subcommand that git has.
const OTHERS: &str = " add archive blame cat-file check-ignore commit commit-tree describe diff diff-files diff-index \
    diff-tree for-each-ref gc grep hash-object help init log ls-files ls-remote ls-tree merge-base name-rev notes reflog \
    rev-list rev-parse shortlog show show-ref status symbolic-ref tag update-index update-ref var version write-tree ";

/// The first half of a `pull`.
fn fetch(invocation: &Invocation, git: &Path) -> Result<(), ExitCode> {
    let valued = ["-s", "--strategy", "-X", "--strategy-option", "--depth", "-j", "--jobs"];
    let options = invocation.words.iter().filter(|it| FETCH.contains(&it.as_str()));
    let mut command = Command::new(git);
    command.args(&invocation.globals).arg("fetch").args(options);
    if let Some(depth) = invocation.value(&["--depth"]) {
        command.arg(format!("--depth={depth}"));
    }
    let fetched = command.args(invocation.plain(&valued)).stdin(Stdio::null()).status();
    match fetched {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(ExitCode::from(code(status))),
        Err(fault) => Err(failed(&cause(&fault))),
    }
}

/// Reports the paths for a question to the user, or tells the model why git was not started.
fn refused(order: &Order, invocation: &Invocation, paths: &BTreeSet<String>) -> ExitCode {
    if let Some(report) = &order.report
        && serde_json::to_vec(paths).is_ok_and(|it| std::fs::write(report, it).is_ok())
    {
        return ExitCode::from(NOT_BEGUN);
    }
    let named: Vec<&str> = paths.iter().take(SHOWN).map(String::as_str).collect();
    let more = if paths.len() > SHOWN { ", …" } else { "" };
    failed(&format!(
        "git {} was not started. It would change {}{more}, which commands may not write. Run this git command alone in \
         a call of shell, without other commands, variables and redirections, and not in the background: then the user \
         is asked for consent",
        invocation.verb,
        named.join(", ")
    ))
}

fn failed(why: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "caliban: {why}.");
    ExitCode::from(NOT_BEGUN)
}
