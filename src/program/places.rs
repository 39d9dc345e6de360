//! Where things are on this machine.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The nearest folder with `.git`, else the working directory; canonical.
pub(super) fn project_root(cwd: &Path) -> PathBuf {
    let cwd = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let root = cwd.ancestors().find(|it| it.join(".git").exists());
    root.unwrap_or(&cwd).to_owned()
}

/// This program, even after its file was built anew.
pub(super) fn own_file() -> PathBuf {
    if cfg!(target_os = "linux") {
        return PathBuf::from("/proc/self/exe");
    }
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("caliban"))
}

/// `$XDG_DATA_HOME/caliban`, else `~/.local/share/caliban`, on every Unix.
pub(super) fn data_dir() -> PathBuf {
    base_dir("XDG_DATA_HOME", ".local/share")
}

pub(super) fn cache_dir() -> PathBuf {
    base_dir("XDG_CACHE_HOME", ".cache")
}

/// `$XDG_CONFIG_HOME/caliban`, else `~/.config/caliban`: what the user has written for every project.
pub(super) fn config_dir() -> PathBuf {
    base_dir("XDG_CONFIG_HOME", ".config")
}

/// Closes the folders of what Caliban keeps to everybody but the user, where an earlier one left them open.
pub(super) fn close_to_others() {
    let (cache, data) = (cache_dir(), data_dir());
    for folder in [cache.join("outputs"), cache, data.join("sessions"), data] {
        let Ok(found) = std::fs::symlink_metadata(&folder) else { continue };
        let mode = found.permissions().mode() & 0o777;
        // What is another's, or on a disk without permissions, stays as it is.
        if found.is_dir() && mode & 0o077 != 0 {
            let _ = std::fs::set_permissions(&folder, Permissions::from_mode(mode & 0o700));
        }
    }
}

fn base_dir(variable: &str, below_home: &str) -> PathBuf {
    let given = std::env::var_os(variable).map(PathBuf::from).filter(|it| it.is_absolute());
    let home = || std::env::home_dir().unwrap_or_default().join(below_home);
    given.unwrap_or_else(home).join("caliban")
}
