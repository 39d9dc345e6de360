//! The files with secrets in the user's home folder that commands do not see.

use crate::reach::{self, Reach, Reading};
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the home folder in which programs keep settings, histories and logins, each with the number of levels
/// that are looked at. The home folder itself is the first.
const FOLDERS: &[(&str, u32)] = &[
    ("", 1),
    (".config", 3),
    (".local/share", 3),
    (".local/state", 2),
    (".m2", 1),
    (".nuget", 2),
    (".gradle", 1),
    (".cargo", 1),
    (".cache", 2),
];
/// The most entries that are looked at, so that the first command begins soon also where a folder is huge.
const MOST: usize = 10_000;

/// The secrets: those of the table whose place below the home folder is known, and all that lie where programs keep
/// theirs. A link is found where it leads. Nothing in `root`, the project.
pub(super) fn found(home: &Path, root: &Path, reach: &Reach) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = reach::secrets_in_home().map(|it| home.join(it)).collect();
    let mut open: VecDeque<(PathBuf, u32)> =
        FOLDERS.iter().map(|(name, depth)| (home.join(name), *depth)).collect();
    let mut left = MOST;
    while let Some((folder, depth)) = open.pop_front() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if left == 0 || path.starts_with(root) {
                continue;
            }
            if matches!(reach.reading(&path), Reading::Asked(_)) {
                all.push(path.canonicalize().unwrap_or(path));
            } else if kind.is_dir() && depth > 1 {
                open.push_back((path, depth - 1));
            }
        }
    }
    all.retain(|it| !it.starts_with(root));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::Folders;

    #[test]
    fn what_programs_keep_in_the_home_folder_is_found_by_the_patterns_of_the_table() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let root = home.join("project");
        let secrets = [
            ".bash_history",
            ".authinfo.gpg",
            "kubeconfig",
            "work.ovpn",
            ".m2/settings.xml",
            ".config/google-chrome-beta/Default/Cookies",
            ".config/sops/age/keys.txt",
            ".local/share/fish/fish_history",
            ".local/share/opencode/auth.json",
            ".cache/huggingface/token",
        ];
        let others = [".config/git/config", "notes.txt", "project/.env", ".cache/x/y/id_rsa"];
        for name in secrets.iter().chain(&others) {
            fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
            fs::write(home.join(name), "").unwrap();
        }
        fs::write(root.join("elsewhere"), "").unwrap();
        fs::write(home.join("kept"), "").unwrap();
        std::os::unix::fs::symlink("kept", home.join(".zsh_history")).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere"), home.join(".psql_history")).unwrap();
        let named = vec![(home.clone(), "~".to_owned())];
        let reach = Reach::new(&Folders { root: root.clone(), named, ..Folders::default() });
        let found = found(&home, &root, &reach);
        let hides = |name: &str| found.iter().any(|it| home.join(name).starts_with(it));
        let seen: Vec<_> = secrets.iter().filter(|it| !hides(it)).collect();
        assert_eq!(seen, Vec::<&&str>::new());
        assert!(hides("kept") && !hides("project/elsewhere"), "{found:?}");
        let hidden: Vec<_> = others.iter().filter(|it| hides(it)).collect();
        assert_eq!(hidden, Vec::<&&str>::new());
    }
}
