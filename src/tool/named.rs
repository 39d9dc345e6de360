//! Files of the project that git's configuration and the files for a folder's environment name: programs, and further
//! files of settings. Programs outside of the sandbox run them like the files that name them.

mod entered;
mod git;
mod modules;
mod starts;
mod words;

pub(super) use git::Listed;
pub(super) use starts::{Starts, is_within};

use super::git::folder_of as git_folder;
use super::path::{normal, trail};
use entered::Entered;
use git::{Kind, Setting};
use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::{env, fs};
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
/// Files of shell commands that run when the project is entered. Other files that they name run with them.
const ENTERED: [&str; 5] =
    [".envrc", ".envrc.local", ".autoenv.zsh", ".env.zsh", ".autoenv_leave.zsh"];
/// The folders in which mise looks for its files.
const MISE: [&str; 7] =
    ["", ".config", ".config/mise", ".config/mise/conf.d", ".mise", "mise", ".mise/conf.d"];
/// Programs that prompts, shells and editors run by their names. Nobody installs them in a project.
const CALLED: &str = " asdf atuin awk bash basename bat cat chmod code cp curl cut date dash diff direnv dirname du emacs \
    env exa eza fd fdfind file find fish fzf gawk gh glab gpg gpg2 gpg-agent grep egrep head hg hostname id jj jq kill \
    kubectl lazygit less ln ls man mise mkdir mktemp mv nu nvim open pass pbcopy pbpaste powerline-go ps pwsh readlink \
    realpath rg rm rtx scp screen sed sh sleep sort ssh ssh-add ssh-agent starship stat stty su sudo svn tail tee test \
    tig tmux touch tput tr tree-sitter tty uname uniq vi vim wc wget which whoami wl-copy wl-paste xclip xdg-open xsel \
    yadm zoxide zsh git git-lfs delta difft cc gcc clang c++ g++ make cargo rustc rustup ";
/// Libraries that the programs which everybody runs load by their names.
const LIBRARIES: &str = "ld-linux-x86-64.so.2 libacl.so.1 libattr.so.1 libaudit.so.1 libbsd.so.0 libbz2.so.1.0 libc.so.6 \
    libcap.so.2 libcom_err.so.2 libcrypt.so.1 libcrypto.so.1.1 libcrypto.so.3 libcurl.so.4 libcurl-gnutls.so.4 libdl.so.2 \
    libexpat.so.1 libgcc_s.so.1 libgmp.so.10 libgnutls.so.30 libidn2.so.0 libluajit-5.1.so.2 liblzma.so.5 libm.so.6 \
    libmagic.so.1 libncurses.so.6 libncursesw.so.6 libnsl.so.1 libpcre.so.3 libpcre2-8.so.0 libpthread.so.0 \
    libreadline.so.8 libresolv.so.2 librt.so.1 libselinux.so.1 libssl.so.1.1 libssl.so.3 libstdc++.so.6 libtinfo.so.6 \
    libtinfow.so.6 libunistring.so.2 libutil.so.1 libuv.so.1 libz.so.1 libzstd.so.1";
/// The most programs of a folder that are looked at.
const MOST: usize = 1000;
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
    starts: &Arc<OnceLock<Starts>>,
) -> Result<Vec<PathBuf>, String> {
    let settings = git::settings(root, common, home, last).await?;
    let git = common.map_or_else(|| root.join(".git"), Path::to_owned);
    let top = super::git::top(root).to_owned();
    let (root, home, starts) = (root.to_owned(), home.map(Path::to_owned), starts.clone());
    let searching = move || {
        let mut search = Search { root, top, git, home, found: BTreeSet::new() };
        for it in settings.iter() {
            search.setting(it);
        }
        search.environment();
        search.files();
        search.starts(&starts);
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
        let text = |it: &Path| crate::regular::read_to_string(it).ok();
        let texts: Vec<_> = ENTERED.iter().filter_map(|it| text(&self.root.join(it))).collect();
        for text in texts {
            if text.contains("dotenv") {
                self.keep(&self.root.join(DOTENV), false);
            }
            self.entered(&Entered::shell(&text));
        }
        let folders = MISE.iter().filter_map(|it| fs::read_dir(self.root.join(it)).ok());
        let files = folders.flatten().flatten().map(|it| it.path()).filter(|it| is_of_mise(it));
        for text in files.filter_map(|it| text(&it)).collect::<Vec<_>>() {
            self.entered(&Entered::mise(&text));
        }
    }

    /// The user's start files, as far as they lie in the project or lead there, and what they name in it.
    fn starts(&mut self, starts: &OnceLock<Starts>) {
        let Some(home) = self.home.clone() else { return };
        let starts = starts.get_or_init(|| Starts::new(&self.root, &home));
        for path in &starts.paths {
            self.keep(path, true);
        }
        for it in &starts.named {
            self.entered(it);
        }
    }

    fn entered(&mut self, it: &Entered) {
        for folder in &it.folders {
            for word in &it.words {
                self.word(word, folder);
            }
            for word in &it.sure {
                let path = self.whole(&self.root.join(folder), word);
                self.keep(&path, false);
                if path.is_dir() && normal(&path) != self.root {
                    for it in entered::WITHIN {
                        self.keep(&path.join(it), false);
                    }
                }
            }
            for word in &it.whole {
                let path = normal(&self.whole(&self.root.join(folder), word));
                if path != self.root {
                    self.keep(&path, true);
                }
            }
            for word in &it.libraries {
                let path = normal(&self.whole(&self.root.join(folder), word));
                for name in LIBRARIES.split_whitespace() {
                    self.keep(&path.join(name), true);
                }
            }
        }
        for value in &it.values {
            let path = self.whole(&self.root, value);
            if path.metadata().is_ok_and(|it| it.is_file() && it.mode() & 0o111 != 0) {
                self.keep(&path, false);
            }
        }
        for folder in &it.programs {
            self.programs(&self.whole(&self.root, folder));
        }
    }

    /// A folder in which a shell finds programs. Its scripts are locked, and the names of programs that everybody has.
    fn programs(&mut self, folder: &Path) {
        let folder = normal(folder);
        if !folder.starts_with(&self.root) {
            return;
        }
        for name in CALLED.split_whitespace() {
            self.keep(&folder.join(name), true);
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten().take(MOST);
        for path in entries.map(|it| it.path()).filter(|it| is_script(it)) {
            self.keep(&path, false);
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
        for whole in bases.iter().map(|it| self.whole(it, value)).collect::<Vec<_>>() {
            if whole.exists() {
                self.keep(&whole, false);
            }
        }
        let (words, folders) = words::of(value, is_alias);
        let modules = modules::named(value);
        let inner = words::in_repository(value);
        for folder in &folders {
            for word in &words {
                self.word(word, folder);
            }
            for base in &bases {
                for it in &modules {
                    self.keep(&base.join(folder).join(it), true);
                }
            }
        }
        // `$(git rev-parse --git-common-dir)/x`
        let own = git_folder(&self.top);
        for base in [Some(self.git.clone()), own].into_iter().flatten() {
            for it in &inner {
                self.keep(&base.join(it), false);
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
            let is_program = is_whole || !it.is_dir() && !is_git_s_own(&self.git, &it);
            if is_in && it != self.git && is_program {
                self.found.insert(it);
            }
        }
    }
}

/// Whether git itself writes this file of the repository's folder.
pub(super) fn is_git_s_own(git: &Path, path: &Path) -> bool {
    const OWN: [&str; 8] =
        ["index", "info", "logs", "objects", "packed-refs", "rebase-apply", "rebase-merge", "refs"];
    let Ok(below) = path.strip_prefix(git) else { return false };
    let first = below.iter().next().unwrap_or_default().to_string_lossy();
    OWN.contains(&first.as_ref()) || first.bytes().all(|it| it.is_ascii_uppercase() || it == b'_')
}

/// Whether mise reads a file of this name.
fn is_of_mise(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_in = |of: &str| path.parent().is_some_and(|it| it.ends_with(of));
    let is_named = ["mise.", ".mise.", "config.", ".rtx"].iter().any(|it| name.starts_with(it));
    name.ends_with(".toml") && (is_named || is_in("conf.d"))
}

/// Whether a file begins like a script that a person has written, and not like one that a tool has installed.
fn is_script(path: &Path) -> bool {
    const INSTALLED: [&str; 5] = [".venv", "venv", "node_modules", "target", "vendor"];
    let is_installed = path.iter().any(|it| INSTALLED.iter().any(|of| it == *of));
    let begins = || {
        let mut start = [0; 2];
        let open = crate::regular::open_unlinked(fs::OpenOptions::new().read(true), path);
        open.and_then(|mut it| it.read_exact(&mut start)).is_ok() && start == *b"#!"
    };
    !is_installed && begins()
}

#[cfg(test)]
mod tests;
