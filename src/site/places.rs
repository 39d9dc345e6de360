//! The folders of the project, of the user and of Caliban on this machine.

use super::moved;
use crate::context::instructions;
use crate::reach::{Folders, Reach};
use crate::store::Project;
use crate::tool::path;
use crate::tool::skills::USERS;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The nearest folder with `.git`, else the working directory; canonical.
pub fn project_root(cwd: &Path) -> PathBuf {
    let cwd = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let root = cwd.ancestors().find(|it| it.join(".git").exists());
    root.unwrap_or(&cwd).to_owned()
}

/// The file of this running program. On Linux, the path is valid even after a new build has replaced the file.
pub fn own_file() -> PathBuf {
    if cfg!(target_os = "linux") {
        return PathBuf::from("/proc/self/exe");
    }
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("caliban"))
}

/// `$XDG_DATA_HOME/caliban`, else `~/.local/share/caliban`, on every Unix.
pub fn data_dir() -> PathBuf {
    base_dir("XDG_DATA_HOME", ".local/share")
}

pub fn cache_dir() -> PathBuf {
    base_dir("XDG_CACHE_HOME", ".cache")
}

/// `$XDG_CONFIG_HOME/caliban`, else `~/.config/caliban`: the user's instructions and skills for every project.
pub fn config_dir() -> PathBuf {
    // On macOS `dirs` names a folder of ~/Library, where Neovim and its users keep nothing.
    let given = dirs::config_dir().filter(|_| !cfg!(target_os = "macos"));
    given.unwrap_or_else(|| base("XDG_CONFIG_HOME", ".config")).join("caliban")
}

/// The folders with the user's instructions, commands and skills for every project.
pub fn given() -> Vec<PathBuf> {
    let skills = dirs::home_dir().into_iter().flat_map(|home| USERS.map(|it| home.join(it)));
    [config_dir()].into_iter().chain(skills).collect()
}

/// Makes Caliban's folders private to the user, in case an earlier version left them open to others.
pub fn close_to_others() {
    let (cache, data) = (cache_dir(), data_dir());
    for folder in [cache.join("outputs"), cache, data.join("sessions"), data] {
        let Ok(found) = std::fs::symlink_metadata(&folder) else { continue };
        let mode = found.permissions().mode() & 0o777;
        // The permissions of a folder that belongs to another user, or is on a disk without permissions, cannot be
        // changed.
        if found.is_dir() && mode & 0o077 != 0 {
            let _ = std::fs::set_permissions(&folder, Permissions::from_mode(mode & 0o700));
        }
    }
}

/// Which files may be read and written in this project on this machine.
pub fn reach(root: &Path) -> Reach {
    let home = dirs::home_dir();
    // everything around the project or the home folder would become a secret
    let is_around =
        |it: &Path| root.starts_with(it) || home.as_deref().is_some_and(|of| of.starts_with(it));
    let moved: Vec<_> = moved::places().into_iter().filter(|it| !is_around(&it.0)).collect();
    let home = home.map(|it| (it, "~".to_owned()));
    let bases = BASES.map(|(variable, name)| (base(variable, name), name.to_owned()));
    let config = config_dir();
    let open = ["skills"].iter().chain(&instructions::NAMES);
    let skills = given().into_iter().skip(1);
    let open: Vec<PathBuf> = open.map(|it| config.join(it)).chain(skills).collect();
    path::reach(Folders {
        root: root.to_owned(),
        named: home.into_iter().chain(bases).chain(moved).collect(),
        own: vec![data_dir(), cache_dir(), config],
        open: open.into_iter().chain([outputs_dir(root)]).collect(),
    })
}

/// The warning for a project whose root is the home folder or contains it.
pub fn warning(root: &Path) -> Option<String> {
    let home = dirs::home_dir()?;
    let real = std::fs::canonicalize(&home).unwrap_or(home);
    let what = match real.strip_prefix(root) {
        Ok(below) if below.as_os_str().is_empty() => "is your home folder",
        Ok(_) => "contains your home folder",
        Err(_) => return None,
    };
    Some(format!(
        "The project {what} ({}). Caliban asks you before it reads files with secret keys, and you review each \
         change to a start-up file of a shell or a tool before it is written. It is safer to open Neovim in the folder \
         of one project.",
        root.display()
    ))
}

/// The folder for the whole text of clipped outputs of this project. Its tools can read these, and those of no other.
pub fn outputs_dir(root: &Path) -> PathBuf {
    Project::new(&cache_dir().join("outputs"), root).dir().to_owned()
}

/// The XDG variables, and the folder in the home folder that replaces each unset one.
const BASES: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
];

fn base_dir(variable: &str, below_home: &str) -> PathBuf {
    base(variable, below_home).join("caliban")
}

fn base(variable: &str, below_home: &str) -> PathBuf {
    let given = std::env::var_os(variable).map(PathBuf::from).filter(|it| it.is_absolute());
    given.unwrap_or_else(|| dirs::home_dir().unwrap_or_default().join(below_home))
}
