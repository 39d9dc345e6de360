//! Settings of the repository that git itself writes. No command may write the repository's configuration, because some
//! of its settings make git run programs. Git gets a copy of it instead; what git has changed in the copy is carried
//! over by Caliban outside of the sandbox, if it is harmless.

use super::glance::Glance;
use super::invocation::Invocation;
use super::remotes::{self, Added, Known, Origins, Settings, settings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// The most bytes of a configuration and of a message.
const LARGEST: u64 = 200_000;
/// How long git waits for Caliban, and how often it looks.
const PATIENCE: u32 = 200;
const PAUSE: Duration = Duration::from_millis(25);
/// Entries of git's folder that git creates when it first needs them.
const LATER: [&str; 2] = ["packed-refs", "shallow"];

/// What git and Caliban tell each other by the file for settings.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Message {
    /// Git has changed the text of this configuration.
    Wanted { file: PathBuf, before: String, after: String },
    /// The names of the settings that were not carried over; the change is carried over if there are none.
    Refused(Vec<String>),
}

/// Whether a subcommand may write settings of the repository.
pub(super) fn writes(it: &Invocation) -> bool {
    match it.verb.as_str() {
        "branch" | "checkout" | "switch" | "config" | "remote" => true,
        "push" | "pull" => it.has(&["-u", "--set-upstream"]),
        "fetch" => it.has(&["--filter", "--set-upstream"]),
        _ => false,
    }
}

/// A stand-in for git's folder in which the configuration is a copy.
pub(super) struct Copy {
    folder: TempDir,
    git_dir: PathBuf,
    top: PathBuf,
    /// The configuration itself.
    file: PathBuf,
    before: String,
}

impl Copy {
    /// `None` if git can write the configuration by itself, or there is none.
    pub(super) fn new(glance: &Glance) -> Option<Copy> {
        let absolute = ["rev-parse", "--path-format=absolute"];
        let line = |what: &str| glance.line(&[&absolute[..], &[what]].concat());
        let common = PathBuf::from(line("--git-common-dir")?);
        let git_dir = PathBuf::from(line("--git-dir")?);
        let file = common.join("config");
        match OpenOptions::new().append(true).open(&file) {
            Err(fault) if fault.kind() == ErrorKind::ReadOnlyFilesystem => (),
            _ => return None,
        }
        let before = text(&mut File::open(&file).ok()?)?;
        let folder = tempfile::tempdir().ok()?;
        let names = fs::read_dir(&common).ok()?.flatten().map(|it| it.file_name());
        let names: BTreeSet<_> = names.chain(LATER.map(Into::into)).collect();
        for name in names.iter().filter(|it| *it != "config") {
            symlink(common.join(name), folder.path().join(name)).ok()?;
        }
        fs::write(folder.path().join("config"), &before).ok()?;
        Some(Copy { folder, git_dir, top: glance.top.clone(), file, before })
    }

    /// Has git use the copy.
    pub(super) fn apply(&self, command: &mut Command) {
        command.env("GIT_DIR", &self.git_dir).env("GIT_COMMON_DIR", self.folder.path());
        command.env("GIT_WORK_TREE", &self.top);
    }

    /// Asks Caliban to carry the changed settings over. Returns the names of those that it refuses.
    pub(super) fn hand_over(&self, channel: &Path) -> io::Result<Vec<String>> {
        let after = text(&mut File::open(self.folder.path().join("config"))?).unwrap_or_default();
        if after == self.before {
            return Ok(Vec::new());
        }
        let (file, before) = (self.file.clone(), self.before.clone());
        let wanted = serde_json::to_vec(&Message::Wanted { file, before, after })?;
        let mut channel = OpenOptions::new().read(true).write(true).open(channel)?;
        put(&mut channel, &wanted)?;
        for _ in 0..PATIENCE {
            std::thread::sleep(PAUSE);
            if let Some(Message::Refused(names)) = message(&mut channel) {
                return Ok(names);
            }
        }
        Err(io::Error::other("Caliban does not answer"))
    }
}

/// A change of a configuration for which a git command asks.
pub(in crate::tool) struct Wanted {
    file: PathBuf,
    before: String,
    after: String,
}

/// The change for which git asks, if it does.
pub(in crate::tool) fn wanted(channel: &mut File) -> Option<Wanted> {
    match message(channel)? {
        Message::Wanted { file, before, after } => Some(Wanted { file, before, after }),
        Message::Refused(_) => None,
    }
}

impl Wanted {
    pub(in crate::tool) fn is_for(&self, file: &Path) -> bool {
        self.file == file
    }

    /// Answers git: the change is carried over if git runs nothing because of it. Returns the remotes that it adds.
    pub(in crate::tool) fn carry(self, channel: &mut File, known: &Origins) -> Vec<Added> {
        let Wanted { file, before, after } = self;
        let known = remotes::of(known, &file);
        let carried = carried(&file, &before, &after, &known);
        let (added, refused) = carried.map_or_else(|it| (Vec::new(), it), |it| (it, Vec::new()));
        answer(channel, refused);
        added
    }

    /// Answers git that the configuration is none of those that commands may change.
    pub(in crate::tool) fn refuse(self, channel: &mut File) -> Vec<Added> {
        answer(channel, vec![format!("those of {}", self.file.display())]);
        Vec::new()
    }
}

fn answer(channel: &mut File, refused: Vec<String>) {
    if let Ok(answer) = serde_json::to_vec(&Message::Refused(refused)) {
        let _ = put(channel, &answer);
    }
}

/// Writes a configuration, unless a setting that it changes could make git run something, or connect to another place.
/// Returns the remotes that are new and that it has marked; the error is the names of such settings.
fn carried(
    file: &Path,
    before: &str,
    after: &str,
    known: &Known,
) -> Result<Vec<Added>, Vec<String>> {
    let why = |it: &str| Err(vec![it.to_owned()]);
    let (Some(old), Some(new)) = (settings(before), settings(after)) else {
        return why("a text that git cannot read");
    };
    let programs = old.symmetric_difference(&new).filter(|it| !is_harmless(it));
    let all = programs.chain(known.refused(&old, &new));
    let mut refused: Vec<String> = all.map(|it| it.0.clone()).collect();
    refused.sort();
    refused.dedup();
    if !refused.is_empty() {
        return Err(refused);
    }
    let added = known.added(&old, &new);
    let end = if after.ends_with('\n') { "" } else { "\n" };
    let mark = Added::mark(&added);
    let marked = if added.is_empty() { after.to_owned() } else { format!("{after}{end}{mark}") };
    match replace(file, before, &marked) {
        Ok(()) => Ok(added),
        Err(fault) => why(&crate::text::cause(&fault)),
    }
}

/// Writes into the file itself, because the mounts of running commands show this file and no other of its name.
fn replace(file: &Path, before: &str, after: &str) -> io::Result<()> {
    let lock = file.with_extension("lock");
    OpenOptions::new().write(true).create_new(true).open(&lock)?;
    let written = crate::regular::open_unlinked(OpenOptions::new().read(true).write(true), file)
        .and_then(|mut open| {
            if text(&mut open).as_deref() != Some(before) {
                return Err(io::Error::other("another program has changed the settings"));
            }
            open.write_all_at(after.as_bytes(), 0)?;
            open.set_len(after.len() as u64)
        });
    let unlocked = fs::remove_file(lock);
    written.and(unlocked)
}

/// Whether git runs nothing because of this setting.
fn is_harmless((name, value): &(String, String)) -> bool {
    const WHOLE: [&str; 24] = [
        "advice.detachedhead",
        "core.repositoryformatversion",
        "core.sparsecheckout",
        "core.sparsecheckoutcone",
        "diff.algorithm",
        "diff.renames",
        "extensions.partialclone",
        "extensions.worktreeconfig",
        "fetch.prune",
        "gc.auto",
        "index.sparse",
        "init.defaultbranch",
        "log.date",
        "merge.conflictstyle",
        "merge.ff",
        "pull.ff",
        "pull.rebase",
        "rebase.autosquash",
        "rebase.autostash",
        "rebase.updaterefs",
        "rerere.enabled",
        "status.showuntrackedfiles",
        "user.email",
        "user.name",
    ];
    // names are in lower case, but for the middle of one with three parts
    const PARTS: [(&str, &[&str]); 2] = [
        ("branch", &["remote", "merge", "rebase", "pushremote", "description"]),
        (
            "remote",
            &["url", "fetch", "tagopt", "prune", "promisor", "partialclonefilter", "skipfetchall"],
        ),
    ];
    let is_part = || {
        let (first, rest) = name.split_once('.').unwrap_or_default();
        let last = rest.rsplit_once('.').map_or("", |it| it.1);
        PARTS.iter().any(|it| it.0 == first && it.1.contains(&last))
    };
    // `ext::` and other helpers run programs
    let is_plain = !value.contains("::") && !value.starts_with('-');
    // with any other value git refuses to work in the repository
    let is_read = match name.as_str() {
        "core.repositoryformatversion" => matches!(value.as_str(), "0" | "1"),
        "advice.detachedhead" => {
            matches!(value.to_lowercase().as_str(), "true" | "false" | "yes" | "no" | "on" | "off")
        }
        _ => true,
    };
    is_plain && is_read && (WHOLE.contains(&name.as_str()) || is_part())
}

/// Whether git runs nothing because of the configuration of a repository that a command has just made, and fetches from
/// no folder of this machine and pushes into none.
pub(in crate::tool) fn is_fresh(text: &str) -> bool {
    const MADE: [&str; 12] = [
        "core.autocrlf",
        "core.bare",
        "core.eol",
        "core.filemode",
        "core.ignorecase",
        "core.logallrefupdates",
        "core.precomposeunicode",
        "core.symlinks",
        "extensions.compatobjectformat",
        "extensions.objectformat",
        "extensions.refstorage",
        "push.default",
    ];
    let Some(all) = settings(text) else { return false };
    let (none, known) = (Settings::new(), Known::of(&Settings::new(), Some(BTreeSet::new())));
    let is_refused = known.refused(&none, &all).next().is_some();
    all.iter().all(|it| is_harmless(it) || MADE.contains(&it.0.as_str())) && !is_refused
}

fn message(channel: &mut File) -> Option<Message> {
    serde_json::from_str(&text(channel)?).ok()
}

/// The whole text of an open file; `None` if it is too long or not UTF-8.
fn text(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(4 * LARGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Replaces the content of an open file.
fn put(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all_at(bytes, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_by_which_git_runs_nothing_are_carried_over() {
        let old = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = a\n\tfetch = +a:b\n";
        let check = |more: &str, wanted: &[&str]| {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("config");
            fs::write(&file, old).unwrap();
            let new = format!("{old}{more}");
            let branches = Some(["main".to_owned()].into());
            let known = Known::of(&settings(old).unwrap(), branches);
            let refused = carried(&file, old, &new, &known).err().unwrap_or_default();
            assert_eq!(refused, wanted, "{more}");
            let is_written = fs::read_to_string(&file).unwrap().starts_with(&new);
            assert_eq!(is_written, wanted.is_empty(), "{more}");
            assert!(!dir.path().join("config.lock").exists());
        };
        check("[branch \"A.b\"]\n\tremote = origin\n\tmerge = refs/heads/x\n", &[]);
        check("[remote \"up\"]\n\turl = https://a.org/b\n\tfetch = +a:b\n", &[]);
        check("[user]\n\tname = A B ; comment\n", &[]);
        check("[core]\n\tfsmonitor = x\n", &["core.fsmonitor"]);
        check("[core] hooksPath = x\n", &["core.hookspath"]);
        check("[branch \"a\"] remote = ext::sh\n", &["branch.a.remote"]);
        check("[remote \"origin\"] url = b\n", &["remote.origin.url"]);
        check("[remote \"x\"] uploadpack = b\n", &["remote.x.uploadpack"]);
        check("[url \"x\"]\n\tinsteadOf = b\n", &["url.x.insteadof"]);
        check("[include]\n\tpath = b\n", &["include.path"]);
        check("[alias]\n\tst = !x\n", &["alias.st"]);
        for name in [
            "filter.a.clean",
            "diff.a.command",
            "merge.a.driver",
            "gpg.program",
            "core.sshCommand",
            "credential.helper",
            "core.editor",
            "core.pager",
            "core.worktree",
            "core.gitProxy",
            "core.attributesFile",
            "sequence.editor",
            "interactive.diffFilter",
            "submodule.a.update",
            "trailer.a.command",
            "browser.a.cmd",
            "remote.a.vcs",
            "remote.a.proxy",
            "uploadpack.packObjectsHook",
        ] {
            let (section, key) = name.rsplit_once('.').unwrap();
            let section = match section.split_once('.') {
                Some((one, other)) => format!("{one} \"{other}\""),
                None => section.to_owned(),
            };
            let refused = name.to_lowercase();
            check(&format!("[{section}]\n\t{key} = x\n"), &[&refused]);
        }
        check("[broken\n", &["a text that git cannot read"]);
    }

    #[test]
    fn settings_that_another_program_has_changed_meanwhile_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        fs::write(&file, "[user]\n\tname = b\n").unwrap();
        let known = Known::default();
        let refused = carried(&file, "[user]\n\tname = a\n", "[user]\n\tname = c\n", &known);
        assert_eq!(refused, Err(vec!["another program has changed the settings".to_owned()]));
        assert_eq!(fs::read_to_string(&file).unwrap(), "[user]\n\tname = b\n");
    }
}
