//! The settings of git that count for a project, as git itself lists them.

use super::super::git;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// The longest time for one question to git.
const WAIT: Duration = Duration::from_secs(10);
/// The most files of settings that are read one by one.
const MOST: usize = 50;
/// Variables that would have git list another configuration.
const OTHERS: [&str; 4] = ["GIT_CONFIG", "GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE"];

/// Settings whose values may look like paths, but by which git neither runs anything nor reads further settings: the
/// first name and the last one. An empty list stands for any last name. All other settings count as programs, because
/// other tools have settings here too.
const DATA: [(&str, &[&str]); 27] = [
    ("author", &[]),
    ("blame", &["ignorerevsfile"]),
    ("branch", &[]),
    ("color", &[]),
    ("commit", &["template"]),
    ("committer", &[]),
    ("core", &["excludesfile", "worktree"]),
    ("diff", &["funcname", "orderfile", "wordregex", "xfuncname"]),
    ("fetch", &[]),
    ("format", &[]),
    ("fsmonitor", &["socketdir"]),
    ("gitflow", &[]),
    ("gui", &["recentrepo"]),
    ("http", &[]),
    ("init", &["defaultbranch"]),
    ("lfs", &["pushurl", "url"]),
    ("log", &[]),
    ("mailmap", &[]),
    ("maintenance", &[]),
    ("pretty", &[]),
    ("remote", &["fetch", "push", "pushurl", "url"]),
    ("safe", &[]),
    ("sendemail", &["aliasesfile", "from", "to"]),
    ("submodule", &["branch", "path", "url"]),
    ("svn-remote", &[]),
    ("url", &[]),
    ("user", &[]),
];

pub(super) struct Setting {
    /// The file that has the setting.
    pub(super) file: Option<PathBuf>,
    /// The first and the last name are in lower case.
    name: String,
    pub(super) value: String,
}

/// What a setting's value is.
pub(super) enum Kind {
    Data,
    /// A file with further settings.
    Include,
    /// The folder of hooks.
    Hooks,
    /// A file or a folder.
    Path,
    /// A program, or a command line.
    Program,
}

impl Setting {
    pub(super) fn kind(&self) -> Kind {
        let (first, last) = self.ends();
        let is_data =
            DATA.iter().any(|it| it.0 == first && (it.1.is_empty() || it.1.contains(&last)));
        match (first, last) {
            _ if is_data => Kind::Data,
            ("include" | "includeif", "path") => Kind::Include,
            ("core", "hookspath") => Kind::Hooks,
            ("core", "attributesfile") | ("init", "templatedir") => Kind::Path,
            ("alias", _) if !self.runs() => Kind::Data,
            _ => Kind::Program,
        }
    }

    pub(super) fn is_alias(&self) -> bool {
        self.ends().0 == "alias"
    }

    fn ends(&self) -> (&str, &str) {
        let first = self.name.split('.').next().unwrap_or_default();
        (first, self.name.rsplit('.').next().unwrap_or_default())
    }

    /// Whether an alias runs more than a subcommand of git.
    fn runs(&self) -> bool {
        let runs = |it: &str| it.starts_with("-c") || it.starts_with("--exec") || it == "-x";
        self.value.starts_with('!') || self.value.split_whitespace().any(runs)
    }

    /// The file that an include names.
    fn included(&self) -> Option<PathBuf> {
        let Kind::Include = self.kind() else { return None };
        let value = match self.value.strip_prefix("~/") {
            Some(rest) => PathBuf::from(std::env::var_os("HOME")?).join(rest),
            None => PathBuf::from(&self.value),
        };
        Some(self.file.as_ref()?.parent()?.join(value))
    }
}

/// The settings that git knows in this folder, and those that it would know on another branch or in another worktree.
/// The error is a clause.
pub(super) async fn settings(root: &Path, common: Option<&Path>) -> Result<Vec<Setting>, String> {
    let mut all = listed(root, None).await?;
    let git = common.map_or_else(|| root.join(".git"), Path::to_owned);
    let trees = fs::read_dir(git.join("worktrees")).into_iter().flatten().flatten();
    let trees = trees.map(|it| it.path()).chain([git]).map(|it| it.join("config.worktree"));
    let mut left: VecDeque<PathBuf> =
        trees.chain(all.iter().filter_map(Setting::included)).collect();
    let mut seen: BTreeSet<PathBuf> = all.iter().filter_map(|it| it.file.clone()).collect();
    while let Some(file) = left.pop_front() {
        // a file that does not exist yet is locked as well
        all.push(Setting { file: Some(file.clone()), name: String::new(), value: String::new() });
        if !file.is_file() || seen.len() > MOST || !seen.insert(file.clone()) {
            continue;
        }
        let more = listed(root, Some(&file)).await?;
        left.extend(more.iter().filter_map(Setting::included));
        all.extend(more);
    }
    Ok(all)
}

/// The settings of one file, or all that count in a folder. None if git is missing or cannot read them: then it runs
/// nothing because of them.
async fn listed(root: &Path, file: Option<&Path>) -> Result<Vec<Setting>, String> {
    let mut command = Command::new("git");
    command.current_dir(root).args(["config", "--list", "--includes", "-z", "--show-origin"]);
    if let Some(file) = file {
        command.arg("--file").arg(file);
    }
    for it in OTHERS {
        command.env_remove(it);
    }
    command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).kill_on_drop(true);
    let listed = timeout(WAIT, git::read(&mut command, u64::MAX)).await;
    let Ok(listed) = listed else {
        return Err("git did not list its configuration in time".to_owned());
    };
    Ok(read(git::top(root), &listed.map(|it| it.0).unwrap_or_default()))
}

/// Reads a list of settings, in which the origin comes before each. Git writes a file's path relative to the top of the
/// working tree.
fn read(top: &Path, listed: &[u8]) -> Vec<Setting> {
    let words: Vec<&[u8]> = listed.split(|it| *it == 0).collect();
    let setting = |it: &[&[u8]]| {
        let file = it[0].strip_prefix(b"file:").map(|it| top.join(OsStr::from_bytes(it)));
        let text = String::from_utf8_lossy(it[1]);
        let (name, value) = text.split_once('\n').unwrap_or((&text, ""));
        Setting { file, name: name.to_owned(), value: value.to_owned() }
    };
    words.chunks_exact(2).map(setting).collect()
}
