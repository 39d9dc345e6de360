//! The program `git` that commands in the sandbox find first. A git command that would change locked files of the
//! project does not start: in the middle it would fail, and leave half of its work. All others become git itself.

use super::glance::Glance;
use super::invocation::Invocation;
use super::settings;
use super::signing;
use super::touched::{is_looked_at, moves_repository, pulled, touched};
use super::{bounded, clone};
use crate::reach::{Leading, Locks};
use crate::sandbox::gate::{self, CHANNEL, ORDER};
use crate::text::cause;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

/// The exit code of git for a command that it cannot begin.
pub const NOT_BEGUN: u8 = 128;
/// Where git is searched for after the folders of `PATH`.
const USUAL: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
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

/// What the gate needs to know. It is read from a file that no command can write, and whatever environment git has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// The project's root.
    pub root: PathBuf,
    /// The folder of the repository, if the root is a worktree of it.
    pub common: Option<PathBuf>,
    /// The files of git that are this program now.
    pub covered: Vec<PathBuf>,
    /// The names in the locked paths that configurations name.
    pub named: Vec<Vec<String>>,
    /// The links above locked paths.
    pub links: Vec<Leading>,
    /// The locked paths that the command may change.
    pub unlocked: Vec<String>,
    /// Whether git asks by the channel for changes of the repository's configuration.
    pub carries: bool,
    /// Whether git does not run, and the locked paths that it would change are written into the channel.
    pub looks: bool,
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
    let order = std::fs::read(ORDER).ok().and_then(|it| serde_json::from_slice::<Order>(&it).ok());
    let Some(order) = order else {
        return failed("what it needs to know in the place of git is missing");
    };
    let Some(git) = real(&order) else { return failed("git is not installed") };
    let name = env::args_os().next().unwrap_or_default();
    let is_git = Path::new(&name).file_name().is_none_or(|it| it == "git");
    if !is_git && !order.looks {
        // programs such as git-upload-pack are links to git
        return failed(&cause(&Command::new(&git).arg0(name).args(&arguments).exec()));
    }
    let words: Option<Vec<String>> =
        arguments.iter().map(|it| it.to_str().map(str::to_owned)).collect();
    let invocation = words.as_deref().and_then(Invocation::read).filter(|_| is_git);
    let invocation = invocation.filter(|it| !OTHERS.contains(&format!(" {} ", it.verb)));
    let invocation = invocation.map(|it| aliased(&it, &git).unwrap_or(it));
    if order.looks {
        return looked(&order, invocation.as_ref(), &git);
    }
    if let Some(code) = invocation.and_then(|it| instead(&order, &it, (&git, &arguments))) {
        return code;
    }
    failed(&cause(&Command::new(&git).args(&arguments).exec()))
}

/// Writes the locked paths that the command would change into the channel.
fn looked(order: &Order, invocation: Option<&Invocation>, git: &Path) -> ExitCode {
    let is_refused =
        |it: &Invocation| moves_repository(it, git) || signing::refusal(it, git).is_some();
    let invocation = invocation.filter(|it| !is_refused(it));
    let paths = invocation.and_then(|it| locked(order, it, git).ok()).unwrap_or_default();
    let text = serde_json::to_vec(&paths).unwrap_or_default();
    match std::fs::write(CHANNEL, text) {
        Ok(()) => ExitCode::from(NOT_BEGUN),
        Err(fault) => failed(&cause(&fault)),
    }
}

/// What is done instead of running git as it was called. `None` if git runs as it was called.
fn instead(
    order: &Order,
    invocation: &Invocation,
    (git, arguments): (&Path, &[OsString]),
) -> Option<ExitCode> {
    if clone::fills(invocation, &order.root) {
        return Some(failed(
            "git clone was not started. It would write into the project's root, also files that commands may not \
             write. Run it with --no-checkout, and then git reset --hard alone in a call of shell: the user is asked \
             about such files",
        ));
    }
    if moves_repository(invocation, git) {
        return Some(failed(&format!(
            "{} was not started. It would move the repository of a submodule from the submodule's folder into \
             .git/modules, which no command can. Ask the user to run git submodule absorbgitdirs",
            invocation.named()
        )));
    }
    // a pull has fetched then
    let paths = match locked(order, invocation, git) {
        Ok(paths) => paths,
        Err(code) => return Some(code),
    };
    if let Some(why) = signing::refusal(invocation, git) {
        return Some(failed(&why));
    }
    if paths.is_empty() {
        return with_settings(order, invocation, (git, arguments));
    }
    Some(refused(invocation, &paths))
}

/// Git itself: in place of the file by which this program was started, else the first one in the search path. Never this
/// program.
fn real(order: &Order) -> Option<PathBuf> {
    let in_place = |of: &Path| order.covered.iter().position(|it| it == of).map(gate::place);
    let own = env::current_exe().ok()?;
    if let Some(git) = in_place(&own) {
        return Some(git);
    }
    let own = std::fs::metadata("/proc/self/exe").ok()?;
    let is_own = |it: &Metadata| (it.dev(), it.ino()) == (own.dev(), own.ino());
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).chain(USUAL.map(PathBuf::from)).find_map(|it| {
        let file = it.join("git");
        let place = file.canonicalize().ok().and_then(|it| in_place(&it));
        let can_run = |it: &Metadata| it.is_file() && it.mode() & 0o111 != 0 && !is_own(it);
        place.or_else(|| std::fs::metadata(&file).is_ok_and(|it| can_run(&it)).then_some(file))
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
        if !order.looks {
            fetch(invocation, git)?;
        }
        pulled(invocation, &glance)
    } else {
        touched(invocation, &glance)
    };
    let locks = Locks::new().naming(&order.named).leading(&order.links);
    let below = |it: &String| {
        let path = glance.top.join(it);
        let common = order.common.as_ref().and_then(|it| path.strip_prefix(it).ok());
        let below = common.map(|it| Path::new(".git").join(it));
        let below = below.or_else(|| path.strip_prefix(&order.root).ok().map(Path::to_owned));
        below.map(|it| it.to_string_lossy().into_owned())
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
    if !order.carries || !settings::writes(invocation) {
        return None;
    }
    let copy = settings::Copy::new(&Glance::new(git, &invocation.globals)?)?;
    let mut command = Command::new(git);
    copy.apply(command.args(arguments));
    let ended = match command.status() {
        Ok(status) => code(status),
        Err(fault) => return Some(failed(&cause(&fault))),
    };
    let refused = match copy.hand_over(Path::new(CHANNEL)) {
        Ok(refused) => refused.join(", "),
        Err(fault) => cause(&fault),
    };
    if refused.is_empty() {
        return Some(ExitCode::from(ended));
    }
    let failure = failed(&format!(
        "{} has run, but the configuration of the repository was not changed ({refused}). Commands may not change \
         settings by which git runs programs or reaches another address",
        invocation.named()
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
    let is_looked_at = is_looked_at(&invocation.verb) || signing::is_looked_at(&invocation.verb);
    if !is_word || is_looked_at || settings::writes(invocation) {
        return None;
    }
    let mut command = Command::new(git);
    command.args(&invocation.globals).args(["config", "--get"]);
    command.arg(format!("alias.{}", invocation.verb)).stdin(Stdio::null());
    let output = bounded::output(&mut command).ok().filter(|it| it.status.success())?;
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
const OTHERS: &str = " add archive blame cat-file check-ignore commit-tree describe diff diff-files diff-index \
    diff-tree for-each-ref gc grep hash-object help init log ls-files ls-remote ls-tree merge-base name-rev notes reflog \
    rev-list rev-parse shortlog show show-ref status symbolic-ref update-index update-ref var version write-tree ";

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

/// Tells the model why git was not started. If the command is git alone, the user is asked instead.
fn refused(invocation: &Invocation, paths: &BTreeSet<String>) -> ExitCode {
    let named: Vec<&str> = paths.iter().take(SHOWN).map(String::as_str).collect();
    let more = if paths.len() > SHOWN { ", …" } else { "" };
    failed(&format!(
        "{} was not started. It would change {}{more}, which commands may not write. Run this git command alone in \
         a call of shell, without other commands, variables and redirections, and not in the background: then the user \
         is asked for consent",
        invocation.named(),
        named.join(", ")
    ))
}

fn failed(why: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "caliban: {why}.");
    ExitCode::from(NOT_BEGUN)
}
