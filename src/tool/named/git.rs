//! The settings of git that count for a project, as git itself lists them.

use super::super::{Stamp, disk, git};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs};
use tokio::process::Command;
use tokio::sync::watch;
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
            Some(rest) => PathBuf::from(env::var_os("HOME")?).join(rest),
            None => PathBuf::from(&self.value),
        };
        Some(self.file.as_ref()?.parent()?.join(value))
    }
}

/// The settings of a project, as long as no file that they come from has changed.
#[derive(Clone, Default)]
pub(in crate::tool) struct Listed {
    marks: BTreeMap<PathBuf, Stamp>,
    settings: Arc<Vec<Setting>>,
}

impl Listed {
    /// `None` if the settings have to be listed again. Blocks.
    fn current(&self) -> Option<Arc<Vec<Setting>>> {
        let is_same = self.marks.iter().all(|(path, mark)| disk::stamp(path) == *mark);
        (is_same && !self.marks.is_empty()).then(|| self.settings.clone())
    }
}

/// The files besides those of the settings by which the settings of a project may change, whether they exist or not.
fn sources(root: &Path, git: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let top = git::top(root);
    let folder = git::folder_of(top).unwrap_or_else(|| top.join(".git"));
    let own = [git, &folder].map(|of| ["HEAD", "config", "config.worktree"].map(|it| of.join(it)));
    let variable = |it: &str| env::var_os(it).map(PathBuf::from);
    let config = variable("XDG_CONFIG_HOME").or_else(|| home.map(|it| it.join(".config")));
    // the folder `.git` changes with each command of git
    let mark = Some(top.join(".git")).filter(|it| !it.is_dir());
    let places = [
        mark,
        Some(git.join("worktrees")),
        Some(PathBuf::from("/etc/gitconfig")),
        variable("GIT_CONFIG_GLOBAL"),
        variable("GIT_CONFIG_SYSTEM"),
        variable("HOME").map(|it| it.join(".gitconfig")),
        config.map(|it| it.join("git/config")),
    ];
    own.into_iter().flatten().chain(places.into_iter().flatten()).collect()
}

/// The settings that git knows in this folder, and those that it would know on another branch or in another worktree.
/// Git lists them only if `last` is no longer current. The error is a clause.
pub(super) async fn settings(
    root: &Path,
    common: Option<&Path>,
    home: Option<&Path>,
    last: &watch::Sender<Listed>,
) -> Result<Arc<Vec<Setting>>, String> {
    if let Some(settings) = last.borrow().current() {
        return Ok(settings);
    }
    let git = common.map_or_else(|| root.join(".git"), Path::to_owned);
    let own = git::folder_of(git::top(root)).unwrap_or_else(|| git.clone());
    git::bounded::stalled([&own, &git]).map_or(Ok(()), Err)?;
    let mut marks = BTreeMap::new();
    mark(&mut marks, sources(root, &git, home));
    let mut all = listing(root, &git).await?;
    // the mark of a file is older than the list, so that no change is missed
    if mark(&mut marks, files(&all)) {
        all = listing(root, &git).await?;
        mark(&mut marks, files(&all));
    }
    let settings = Arc::new(all);
    last.send_replace(Listed { marks, settings: settings.clone() });
    Ok(settings)
}

fn files(all: &[Setting]) -> Vec<PathBuf> {
    all.iter().filter_map(|it| it.file.clone()).collect()
}

/// Adds the files that have no mark yet. Returns whether there were any.
fn mark(marks: &mut BTreeMap<PathBuf, Stamp>, files: Vec<PathBuf>) -> bool {
    let before = marks.len();
    for it in files {
        marks.entry(it).or_insert_with_key(|it| disk::stamp(it));
    }
    marks.len() > before
}

async fn listing(root: &Path, git: &Path) -> Result<Vec<Setting>, String> {
    let mut all = listed(root, None).await?;
    let trees = fs::read_dir(git.join("worktrees")).into_iter().flatten().flatten();
    let trees = trees.map(|it| it.path()).chain([git.to_owned()]);
    // git does not list the first one of these while it takes the folder for no repository
    let trees = trees.map(|it| it.join("config.worktree")).chain([git.join("config")]);
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

/// The settings of one file, or all that count in a folder. None if git is missing. The error says that git cannot read
/// them: it may be able to later, and then it runs the programs that they name.
async fn listed(root: &Path, file: Option<&Path>) -> Result<Vec<Setting>, String> {
    let mut command = Command::from(git::bounded::git());
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
    match listed {
        Ok((listed, _)) => Ok(read(git::top(root), &listed)),
        Err(git::Failure::Missing) => Ok(Vec::new()),
        Err(why) => Err(format!("git cannot read its configuration: {}", why.clause())),
    }
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
