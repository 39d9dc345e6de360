//! Files of the project that git's configuration and the files for a folder's environment name: programs, and further
//! files of settings. Programs outside of the sandbox run them like the files that name them.

mod git;
mod words;

pub(super) use git::Listed;

use super::path::{normal, trail};
use git::{Kind, Setting};
use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use tokio::sync::watch;

/// Variables of the environment by which git finds programs.
const PROGRAMS: [&str; 13] = [
    "EDITOR",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_MAN_VIEWER",
    "PAGER",
    "SSH_ASKPASS",
    "VISUAL",
];
/// Variables of the environment that name files and folders which git reads as settings, or in which it finds programs.
const FILES: [&str; 4] =
    ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR"];
/// Files of the user that git reads if they exist.
const USUAL: [&str; 3] = [".gitconfig", ".config/git/config", ".config/git/attributes"];
/// Files that run when the project is entered. Other files that they name run with them.
const ENTERED: [&str; 6] = [
    ".envrc",
    ".mise.toml",
    ".config/mise.toml",
    "mise.local.toml",
    "mise.toml",
    "mise/config.toml",
];
/// The first words of lines in these files by which they run or read other files.
const LOADS: [&str; 22] = [
    ".",
    "_",
    "_.file",
    "_.source",
    "bash",
    "cd",
    "dotenv",
    "dotenv_if_exists",
    "enter",
    "env_file",
    "eval",
    "file",
    "leave",
    "node",
    "python",
    "python3",
    "script",
    "sh",
    "source",
    "source_env",
    "source_env_if_exists",
    "zsh",
];
/// The file that direnv reads if a line names no other.
const DOTENV: &str = ".env";
/// The names of hooks, which are programs in the folder for hooks.
const HOOKS: [&str; 28] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// The files and folders below the root, and below the folder of its repository, that are named, whether they exist or
/// not. The error is a clause.
pub(super) async fn named(
    root: &Path,
    common: Option<&Path>,
    home: Option<&Path>,
    last: &watch::Sender<Listed>,
) -> Result<Vec<PathBuf>, String> {
    let settings = git::settings(root, common, home, last).await?;
    let git = common.map_or_else(|| root.join(".git"), Path::to_owned);
    let top = super::git::top(root).to_owned();
    let (root, home) = (root.to_owned(), home.map(Path::to_owned));
    let searching = move || {
        let mut search = Search { root, top, git, home, found: BTreeSet::new() };
        for it in settings.iter() {
            search.setting(it);
        }
        search.environment();
        search.files();
        search.found.into_iter().collect()
    };
    tokio::task::spawn_blocking(searching).await.map_err(|it| it.to_string())
}

struct Search {
    root: PathBuf,
    /// The top of the working tree, in which git runs programs.
    top: PathBuf,
    /// The folder of the repository.
    git: PathBuf,
    home: Option<PathBuf>,
    found: BTreeSet<PathBuf>,
}

impl Search {
    fn setting(&mut self, it: &Setting) {
        if let Some(file) = &it.file {
            self.keep(file, true);
        }
        match it.kind() {
            Kind::Data | Kind::Include => (),
            Kind::Hooks => {
                for base in [self.root.clone(), self.top.clone(), self.git.clone()] {
                    let folder = normal(&self.whole(&base, &it.value));
                    let is_around = |of: &PathBuf| of.starts_with(&folder);
                    if [&self.root, &self.git].into_iter().any(is_around) {
                        for name in HOOKS {
                            self.keep(&folder.join(name), true);
                        }
                    } else {
                        self.keep(&folder, true);
                    }
                }
            }
            Kind::Path => self.path(&it.value),
            Kind::Program => self.program(&it.value, it.is_alias()),
        }
    }

    fn environment(&mut self) {
        let text = |name: &&str| env::var(name).ok().filter(|it| !it.is_empty());
        for it in PROGRAMS.iter().filter_map(text) {
            self.program(&it, false);
        }
        for it in FILES.iter().filter_map(text) {
            self.path(&it);
        }
        if let Some(home) = self.home.clone() {
            for it in USUAL {
                self.keep(&home.join(it), true);
            }
        }
    }

    /// What the files for the environment of the project name.
    fn files(&mut self) {
        for name in ENTERED {
            let Ok(text) = crate::regular::read_to_string(&self.root.join(name)) else { continue };
            let loads = |line: &&str| {
                let mut words = line.split(|c: char| c.is_whitespace() || c == '=');
                let first = words.find(|it| !it.is_empty()).unwrap_or_default();
                LOADS.contains(&first) || first.contains('/')
            };
            for word in text.lines().filter(loads).flat_map(words::tokens) {
                self.word(&word, "");
            }
            if text.contains("dotenv") {
                self.keep(&self.root.join(DOTENV), false);
            }
        }
    }

    /// A setting whose whole value is a path.
    fn path(&mut self, value: &str) {
        for base in [self.root.clone(), self.top.clone()] {
            self.keep(&self.whole(&base, value), true);
        }
    }

    /// A command line, or the path of a program.
    fn program(&mut self, value: &str, is_alias: bool) {
        let bases = [self.root.clone(), self.top.clone()];
        for whole in bases.map(|it| self.whole(&it, value)).iter().filter(|it| it.exists()) {
            self.keep(whole, false);
        }
        let (words, folders) = words::of(value, is_alias);
        for word in &words {
            for it in &folders {
                self.word(word, it);
            }
        }
    }

    /// A word of a command line that runs in this folder below the root.
    fn word(&mut self, word: &str, folder: &str) {
        for base in [self.root.clone(), self.top.clone()] {
            let path = self.whole(&base.join(folder), word);
            // a name without an ending is more often an argument, unless there is such a file
            if words::is_path(word) || path.is_file() {
                self.keep(&path, false);
            }
        }
    }

    fn whole(&self, base: &Path, text: &str) -> PathBuf {
        match (text.strip_prefix("~/").or_else(|| text.strip_prefix("$HOME/")), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => base.join(text),
        }
    }

    /// Keeps a path and where it leads, as far as commands may write there. `is_whole` says that everything in a folder
    /// counts.
    fn keep(&mut self, path: &Path, is_whole: bool) {
        let path = normal(path);
        for it in trail(&path).unwrap_or_default().into_iter().chain([path]) {
            let it = normal(&it);
            let is_below = |of: &Path| it.starts_with(of) && it != of;
            let is_in = is_below(&self.root) || is_below(&self.git);
            let is_program = is_whole || !it.is_dir() && !self.is_git_s_own(&it);
            if is_in && it != self.git && is_program {
                self.found.insert(it);
            }
        }
    }

    /// Whether git itself writes this file of the repository's folder.
    fn is_git_s_own(&self, path: &Path) -> bool {
        const OWN: [&str; 8] = [
            "index",
            "info",
            "logs",
            "objects",
            "packed-refs",
            "rebase-apply",
            "rebase-merge",
            "refs",
        ];
        let Ok(below) = path.strip_prefix(&self.git) else { return false };
        let first = below.iter().next().unwrap_or_default().to_string_lossy();
        OWN.contains(&first.as_ref())
            || first.bytes().all(|it| it.is_ascii_uppercase() || it == b'_')
    }
}
