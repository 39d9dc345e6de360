//! Settings of the repository that git itself writes. No command may write the repository's configuration, because some
//! of its settings make git run programs. Git gets a copy of it instead; what git has changed in the copy is carried
//! over by Caliban outside of the sandbox, if it is harmless.

use super::glance::Glance;
use super::invocation::Invocation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The most bytes of a configuration and of a message.
const LARGEST: u64 = 200_000;
/// How long git waits for Caliban, and how often it looks.
const PATIENCE: u32 = 200;
const PAUSE: Duration = Duration::from_millis(25);
/// The longest time for a question to git.
const WAIT: Duration = Duration::from_secs(10);
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

/// The settings of a repository, by name and value.
type Settings = BTreeSet<(String, String)>;

/// Where the repository's branches went before the conversation's first command.
#[derive(Debug, Clone, Default)]
pub(in crate::tool) struct Known {
    settings: Settings,
    /// The local branches. `None` if git does not tell them.
    branches: Option<BTreeSet<String>>,
}

impl Known {
    /// `file` is the configuration of the repository at `root`.
    pub(in crate::tool) async fn new(root: &Path, file: PathBuf) -> Known {
        let text = crate::regular::read_to_string(&file);
        let is_repository = text.is_ok();
        let reading = move || settings(&text.ok()?);
        let settings = tokio::task::spawn_blocking(reading).await.ok().flatten();
        let heads = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"];
        let listed = super::output(root, &heads, WAIT).await;
        let named = |it: Vec<u8>| String::from_utf8_lossy(&it).lines().map(str::to_owned).collect();
        let branches = listed.ok().map(named).or_else(|| (!is_repository).then(BTreeSet::new));
        Known { settings: settings.unwrap_or_default(), branches }
    }

    /// The changed settings by which git would push to, or fetch from, another place than before, and those after whose
    /// change a branch leads to no remote. Git takes the name of a missing remote as a folder, and runs its hooks.
    fn redirecting<'a>(
        &'a self,
        old: &'a Settings,
        new: &'a Settings,
    ) -> impl Iterator<Item = &'a (String, String)> {
        let moved = old.symmetric_difference(new).any(|it| remote(it).is_some());
        let addresses = |all: &'a Settings| -> BTreeSet<&'a str> {
            all.iter().filter(|it| remote(it).is_some()).map(|it| it.1.as_str()).collect()
        };
        let (before, after) = (addresses(&self.settings), addresses(new));
        let is_replaced = !before.is_subset(&after);
        let is_refused = move |it: &&(String, String)| {
            let is_new = !old.contains(*it);
            if let Some(name) = remote(it) {
                let is_known = before.contains(it.1.as_str());
                let may_be = !is_replaced && !self.has(name) && is_address(&it.1);
                return is_new
                    && !self.settings.contains(*it)
                    && !(is_known && !self.has(name) || may_be);
            }
            branch(it).is_some_and(|of| (is_new || moved) && !self.leads(of, it, new))
        };
        new.iter().filter(is_refused)
    }

    /// Whether there was a remote of this name.
    fn has(&self, name: &str) -> bool {
        self.settings.iter().any(|it| remote(it) == Some(name))
    }

    /// Whether a branch may have this remote.
    fn leads(&self, of: &str, it: &(String, String), new: &Settings) -> bool {
        let urls = || new.iter().filter(|one| remote(one) == Some(&it.1)).map(|one| one.1.as_str());
        let is_known =
            |url: &str| self.settings.iter().any(|it| remote(it).is_some() && it.1 == url);
        let is_old = self.has(&it.1) || urls().all(is_known);
        let is_own = self.branches.as_ref().is_some_and(|it| !it.contains(of));
        let is_first = !self.settings.iter().any(|it| remote(it).is_some());
        it.1 == "." || urls().next().is_some() && (is_old || is_own || is_first)
    }
}

/// The remote of which a setting is the address.
fn remote((name, _): &(String, String)) -> Option<&str> {
    name.strip_prefix("remote.")?.strip_suffix(".url")
}

/// The branch of which a setting is the remote.
fn branch((name, _): &(String, String)) -> Option<&str> {
    let rest = name.strip_prefix("branch.")?;
    rest.strip_suffix(".remote").or_else(|| rest.strip_suffix(".pushremote"))
}

/// Whether git reaches a remote at this address over the network, and not as a folder of this machine.
fn is_address(url: &str) -> bool {
    const SCHEMES: [&str; 6] = ["https", "http", "ssh", "git", "git+ssh", "ssh+git"];
    let is_host = |it: &str| it.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '[');
    let without_user = |it: &str| it.rsplit_once('@').map_or(it, |it| it.1).to_owned();
    if let Some((scheme, rest)) = url.split_once("://") {
        let host = rest.split('/').next().unwrap_or_default();
        return SCHEMES.contains(&scheme) && is_host(host) && is_host(&without_user(host));
    }
    let (place, _) = url.split_once(':').unwrap_or_default();
    place.contains('@') && !place.contains('/') && is_host(place) && is_host(&without_user(place))
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

/// Answers a git command that asks for a change of the repository's configuration, if one does. `file` is the only
/// configuration that is changed.
pub(in crate::tool) fn answer(channel: &mut File, file: &Path, known: &Known) {
    let Some(Message::Wanted { file: asked, before, after }) = message(channel) else { return };
    let refused = if asked == file {
        carried(file, &before, &after, known)
    } else {
        vec![format!("those of {}", asked.display())]
    };
    if let Ok(answer) = serde_json::to_vec(&Message::Refused(refused)) {
        let _ = put(channel, &answer);
    }
}

/// Writes a configuration, unless a setting that it changes could make git run something. Returns the names of such
/// settings.
fn carried(file: &Path, before: &str, after: &str, known: &Known) -> Vec<String> {
    let why = |it: &str| vec![it.to_owned()];
    let (Some(old), Some(new)) = (settings(before), settings(after)) else {
        return why("a text that git cannot read");
    };
    let programs = old.symmetric_difference(&new).filter(|it| !is_harmless(it));
    let all = programs.chain(known.redirecting(&old, &new));
    let mut refused: Vec<String> = all.map(|it| it.0.clone()).collect();
    refused.sort();
    refused.dedup();
    if !refused.is_empty() {
        return refused;
    }
    match replace(file, before, after) {
        Ok(()) => Vec::new(),
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

/// The names and values of all settings in a text, as git reads it. `None` if git cannot read it.
fn settings(text: &str) -> Option<Settings> {
    let mut command = Command::new("git");
    command.args(["config", "--no-includes", "--file", "-", "--list", "-z"]).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut input = child.stdin.take()?;
    let owned = text.to_owned();
    let feeding = std::thread::spawn(move || input.write_all(owned.as_bytes()));
    let output = child.wait_with_output().ok()?;
    let _ = feeding.join();
    if !output.status.success() {
        return None;
    }
    let all = output.stdout.split(|it| *it == 0).filter(|it| !it.is_empty());
    let pair = |it: &[u8]| {
        let text = String::from_utf8_lossy(it).into_owned();
        let (name, value) = text.split_once('\n').unwrap_or((&text, ""));
        (name.to_owned(), value.to_owned())
    };
    Some(all.map(pair).collect())
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
        ("remote", &["url", "fetch", "tagopt", "prune", "promisor", "partialclonefilter"]),
    ];
    let is_part = || {
        let (first, rest) = name.split_once('.').unwrap_or_default();
        let last = rest.rsplit_once('.').map_or("", |it| it.1);
        PARTS.iter().any(|it| it.0 == first && it.1.contains(&last))
    };
    // `ext::` and other helpers run programs
    let is_plain = !value.contains("::") && !value.starts_with('-');
    is_plain && (WHOLE.contains(&name.as_str()) || is_part())
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
    let (none, known) =
        (Settings::new(), Known { branches: Some(BTreeSet::new()), ..Known::default() });
    let is_redirecting = known.redirecting(&none, &all).next().is_some();
    all.iter().all(|it| is_harmless(it) || MADE.contains(&it.0.as_str())) && !is_redirecting
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
            let known = Known { settings: settings(old).unwrap(), branches };
            assert_eq!(carried(&file, old, &new, &known), wanted, "{more}");
            let is_written = fs::read_to_string(&file).unwrap() == new;
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
    fn no_chain_of_harmless_settings_leads_a_push_to_another_place() {
        let origin = "[remote \"origin\"]\n\turl = ../hub.git\n";
        let up = "[remote \"up\"]\n\turl = https://a.org/b\n";
        let begun = format!("{origin}[branch \"main\"]\n\tremote = origin\n");
        let check = |steps: &[&str], wanted: &[&str]| {
            let branches = Some(["main", "bare"].map(str::to_owned).into());
            let known = Known { settings: settings(&begun).unwrap(), branches };
            let texts = [&[begun.as_str()], steps].concat();
            let pairs =
                texts.windows(2).map(|it| (settings(it[0]).unwrap(), settings(it[1]).unwrap()));
            let refused = pairs.flat_map(|(old, new)| {
                let all: Vec<_> = known.redirecting(&old, &new).map(|it| it.0.clone()).collect();
                all
            });
            assert_eq!(refused.collect::<Vec<_>>(), wanted, "{steps:?}");
        };
        let with = |more: &str| format!("{begun}{more}");
        let to = |branch: &str, key: &str, remote: &str| {
            format!("[branch \"{branch}\"]\n\t{key} = {remote}\n")
        };
        // work of every day
        check(&[&with(up), &with(&(up.to_owned() + &to("topic", "remote", "up"))), &begun], &[]);
        check(
            &[&with(&to("topic", "remote", "origin")), &with(&to("bare", "pushRemote", "origin"))],
            &[],
        );
        check(&[&with(&to("bare", "remote", "."))], &[]);
        check(&[&with("[remote \"again\"]\n\turl = ../hub.git\n")], &[]);
        check(&["", &begun], &[]);
        let renamed = begun.replace("origin", "hub");
        check(&[&renamed], &[]);
        // folders
        check(&[&with(&to("main", "pushRemote", "vendor/lib"))], &["branch.main.pushremote"]);
        check(&[&with(&to("topic", "remote", "vendor/lib"))], &["branch.topic.remote"]);
        for url in
            ["vendor/lib", "/tmp/x", "file:///tmp/x", "./a:b", "x:y", "foo://a/b", "https:///a"]
        {
            check(&[&with(&format!("[remote \"x\"]\n\turl = {url}\n"))], &["remote.x.url"]);
        }
        check(&[&to("main", "remote", "origin")], &["branch.main.remote"]);
        check(&[&begun, &begun.replace("../hub.git", "vendor/lib")], &["remote.origin.url"]);
        // another address
        let other = origin.replace("../hub.git", "https://evil.example/x.git");
        check(&["", &other], &["remote.origin.url"]);
        check(&["", up], &["remote.up.url"]);
        check(
            &[&with(&(up.to_owned() + &to("main", "pushRemote", "up")))],
            &["branch.main.pushremote"],
        );
        check(&[&with(&(up.to_owned() + &to("bare", "remote", "up")))], &["branch.bare.remote"]);
        check(&[&with("[remote \"origin\"]\n\turl = https://a.org/b\n")], &["remote.origin.url"]);
    }

    #[test]
    fn settings_that_another_program_has_changed_meanwhile_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        fs::write(&file, "[user]\n\tname = b\n").unwrap();
        let known = Known::default();
        let refused = carried(&file, "[user]\n\tname = a\n", "[user]\n\tname = c\n", &known);
        assert_eq!(refused, ["another program has changed the settings"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "[user]\n\tname = b\n");
    }
}
