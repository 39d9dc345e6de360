//! Finds other projects of the user with the same repository: git worktrees, or this folder's former path before it was
//! moved. Each project stores hashes (hints) that identify its repository. The user can open copies of the
//! conversations of such a project; the originals are not moved.

use super::Project;
use crate::regular;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the file with a project's hints, in the folder with the project's sessions.
const FILE: &str = "hints";
/// The most bytes that are read of each of git's files.
const MOST: u64 = 1 << 20;

/// Identifies a repository. `remote` and `first` are hashes, because an address may contain a key. A field whose value
/// is not known is empty.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Hints {
    #[serde(with = "lossless")]
    root: PathBuf,
    /// Hash of the address of the remote `origin`.
    remote: String,
    /// Hash of the first line of the repository's log, which records its first commit or its cloning.
    first: String,
}

/// A path as a text, or as its bytes if they are not UTF-8.
mod lossless {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(PathBuf),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => text.serialize(to),
            None => path.as_os_str().as_bytes().serialize(to),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(match Written::deserialize(from)? {
            Written::Text(path) => path,
            Written::Bytes(bytes) => OsString::from_vec(bytes).into(),
        })
    }
}

impl Hints {
    fn of(root: &Path) -> Hints {
        let git = git_dir(root).unwrap_or_default();
        let config = regular::head(&git.join("config"), MOST).unwrap_or_default();
        let log = regular::head(&git.join("logs/HEAD"), MOST).unwrap_or_default();
        let remote = origin(&config).map(|it| hash(&plain(it))).unwrap_or_default();
        let first = log.lines().next().map(hash).unwrap_or_default();
        Hints { root: root.to_owned(), remote, first }
    }

    fn is_empty(&self) -> bool {
        self.remote.is_empty() && self.first.is_empty()
    }

    fn is_same(&self, other: &Hints) -> bool {
        let same = |one: &str, two: &str| !one.is_empty() && one == two;
        same(&self.remote, &other.remote) || same(&self.first, &other.first)
    }
}

/// The folder that all worktrees of a repository share.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = regular::head(&git, MOST).ok()?;
    let own = root.join(text.strip_prefix("gitdir:")?.trim());
    let common = regular::head(&own.join("commondir"), MOST).ok()?;
    Some(own.join(common.trim()))
}

/// The address of the remote `origin` in a git configuration.
fn origin(config: &str) -> Option<&str> {
    let section = config.lines().skip_while(|it| it.trim() != "[remote \"origin\"]").skip(1);
    let lines = section.take_while(|it| !it.trim_start().starts_with('['));
    lines.filter_map(|it| it.split_once('=')).find(|it| it.0.trim() == "url").map(|it| it.1.trim())
}

/// The host and the path of an address, without the protocol and the user name.
fn plain(address: &str) -> String {
    let rest = address.split_once("://").map_or(address, |it| it.1);
    let rest = rest.split_once('@').map_or(rest, |it| it.1);
    rest.trim_end_matches('/').trim_end_matches(".git").replacen(':', "/", 1).to_lowercase()
}

fn hash(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))[..16].to_owned()
}

impl Project {
    /// The project's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Stores the hints of the project's repository.
    pub fn note_hints(&self) {
        let hints = Hints::of(&self.root);
        let noted = self.disk.read(&self.dir().join(FILE)).ok();
        let noted = noted.and_then(|it| serde_json::from_slice::<Hints>(&it).ok());
        if hints.is_empty() || noted.as_ref() == Some(&hints) || !self.dir().exists() {
            return;
        }
        let json = serde_json::to_vec_pretty(&hints).unwrap_or_default();
        if let Err(error) = self.disk.replace_among_others(self.dir(), FILE, &json) {
            tracing::warn!("the hints of the repository could not be stored: {error}");
        }
    }

    /// Other projects with the same repository.
    pub fn relatives(&self) -> Vec<Project> {
        let hints = Hints::of(&self.root);
        let all = self.dir().parent().and_then(|it| fs::read_dir(it).ok());
        let dirs = all.into_iter().flatten().flatten().map(|it| it.path());
        let relative = |dir: PathBuf| {
            let noted: Hints =
                serde_json::from_slice(&self.disk.read(&dir.join(FILE)).ok()?).ok()?;
            let is_one = noted.is_same(&hints) && noted.root != self.root;
            is_one.then(|| Project { disk: self.disk.clone(), dir, root: noted.root })
        };
        let mut found: Vec<Project> = dirs.filter_map(relative).collect();
        found.sort_by(|a, b| a.root.cmp(&b.root));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repository_addresses_are_compared_by_host_and_path() {
        for address in [
            "https://example.com/me/it.git",
            "https://me:secret@example.com/me/it",
            "git@example.com:me/it.git",
            "ssh://git@example.com/me/it/",
        ] {
            assert_eq!(plain(address), "example.com/me/it", "{address}");
        }
        let config = "[core]\n\tbare = false\n[remote \"other\"]\n\turl = no\n[remote \"origin\"]\n\tfetch = +x\n\turl = a/b\n[x]\n";
        assert_eq!(origin(config), Some("a/b"));
        assert_eq!(origin("[remote \"origin\"]\n[x]\nurl = a"), None);
    }

    #[test]
    fn a_worktree_and_a_moved_folder_are_recognised_as_the_same_repository() {
        let dir = tempfile::tempdir().unwrap();
        let (data, one, tree) =
            (dir.path().join("data"), dir.path().join("one"), dir.path().join("tree"));
        let other = dir.path().join("other");
        for path in
            [one.join(".git/logs"), one.join(".git/worktrees/tree"), other.join(".git/logs")]
        {
            fs::create_dir_all(path).unwrap();
        }
        fs::create_dir_all(&tree).unwrap();
        let own = one.join(".git/worktrees/tree");
        fs::write(one.join(".git/logs/HEAD"), "0 abc me 1\n").unwrap();
        fs::write(other.join(".git/logs/HEAD"), "0 def me 1\n").unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        let project = |root: &Path| Project::new(&data, root);
        for it in [&one, &other] {
            fs::create_dir_all(project(it).dir()).unwrap();
            project(it).note_hints();
        }
        let found = |root: &Path| {
            let found = project(root).relatives();
            found.iter().map(|it| it.root().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found(&tree), std::slice::from_ref(&one));
        assert_eq!(found(&one), [] as [PathBuf; 0]);
        let moved = dir.path().join("moved");
        fs::rename(&one, &moved).unwrap();
        assert_eq!(found(&moved), [one]);
        assert_eq!(found(dir.path()), [] as [PathBuf; 0]);
    }
}
