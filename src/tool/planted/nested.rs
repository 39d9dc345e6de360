//! Repositories in folders of the project into which git looks when it works on the project's own: submodules, other
//! folders that the index has as commits, and worktrees. Git runs what their configuration names.

use super::links::{self, Links, Targets};
use crate::regular;
use crate::tool::git::brought::Brought;
use crate::tool::git::{bounded, common_of, folder_of, linked};
use crate::tool::{Stamp, disk};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The most repositories that are looked at. If there are more, commands are not run.
const MOST: usize = 500;

#[derive(Clone, Default)]
pub(in crate::tool) struct Nested {
    /// The folders that an index has as commits, for each index that was read.
    read: BTreeMap<PathBuf, (Stamp, Vec<PathBuf>)>,
    /// The folders that a checkout may bring, for each repository.
    brought: BTreeMap<PathBuf, Brought>,
    /// The working trees.
    trees: Vec<PathBuf>,
    folders: Links,
    /// The links in the folders of all repositories.
    links: Targets,
}

impl Nested {
    pub(super) fn trees(&self) -> &[PathBuf] {
        &self.trees
    }

    pub(super) fn targets(&self) -> &Targets {
        &self.links
    }

    /// Forgets the working trees that are gone.
    pub(super) fn forget(&mut self) {
        self.trees.retain(|it| it.join(".git").symlink_metadata().is_ok());
    }

    /// Finds the working trees below the root, and the links in the folders of their repositories. `top` is that of the
    /// project's own repository, `folder` its folder. Git lists an index only if the index has changed. Blocks. The error, a clause,
    /// says that git would not end in time, or that there are too many.
    pub(super) fn look(&mut self, top: &Path, root: &Path, folder: &Path) -> Result<(), String> {
        // a command may have taken away what tells of those that were there before
        let mut all = vec![top.to_owned()];
        all.extend(self.trees.iter().cloned());
        let mut at = 0;
        while let Some(tree) = all.get(at).cloned() {
            if at == MOST {
                return Err(format!(
                    "there are more than {MOST} repositories in the project, such as {}",
                    tree.display().to_string().escape_debug()
                ));
            }
            at += 1;
            let Some(git) = folder_of(&tree) else { continue };
            bounded::stalled([&git, &common_of(&git)]).map_or(Ok(()), Err)?;
            let slow = |fault: io::Error| {
                format!("{fault} in {}", tree.display().to_string().escape_debug())
            };
            let links = self.links(&tree, &git.join("index")).map_err(slow)?;
            let brought = self.brought(&tree, &git).map_err(slow)?;
            for it in links.into_iter().chain(worktrees(&git)).chain(brought) {
                if it.starts_with(root) && it != root && !all.contains(&it) {
                    all.push(it);
                }
            }
        }
        self.trees = all.split_off(1);
        let own = [folder.to_owned()].into_iter().chain(folder_of(root));
        let others = self.trees.iter().filter_map(|it| folder_of(it));
        let is_within = |it: &PathBuf| it.starts_with(root) || it.starts_with(folder);
        let all = own.chain(others).filter(is_within);
        // the other links in a root that is a repository itself are the user's
        let (bare, links) = if is_bare(root) { links::of_bare(root) } else { Default::default() };
        let all: Vec<PathBuf> = all.chain(bare).collect();
        self.links = self.folders.look(&all);
        self.links.extend(links);
        Ok(())
    }

    /// The folders with a repository that a checkout of the user's would bring into a working tree.
    fn brought(&mut self, tree: &Path, git: &Path) -> io::Result<Vec<PathBuf>> {
        let common = common_of(git);
        let known = self.brought.entry(common.clone()).or_default();
        let folders = known.links(tree, &common)?.iter().map(|it| tree.join(it));
        Ok(folders.filter(|it| it.join(".git").symlink_metadata().is_ok()).collect())
    }

    fn links(&mut self, tree: &Path, index: &Path) -> io::Result<Vec<PathBuf>> {
        if !index.symlink_metadata().is_ok_and(|it| it.is_file()) {
            return Ok(Vec::new());
        }
        let stamp = stamp(index);
        if let Some((_, links)) = self.read.get(index).filter(|it| it.0 == stamp) {
            return Ok(links.clone());
        }
        // a command may have taken away for a while what git needs: nothing is known then, and git is asked again
        let Some(links) = linked(tree)? else { return Ok(Vec::new()) };
        self.read.insert(index.to_owned(), (stamp, links.clone()));
        Ok(links)
    }
}

/// The stamp of an index and of the files with which git shares its parts. Git does not check the content of these.
fn stamp(index: &Path) -> Stamp {
    let folder = index.parent().unwrap_or(index);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_shared = |it: &PathBuf| {
        it.file_name().is_some_and(|it| it.as_encoded_bytes().starts_with(b"sharedindex."))
    };
    let mut shared: Vec<PathBuf> = entries.map(|it| it.path()).filter(is_shared).collect();
    shared.sort();
    let all = [index.to_owned()].into_iter().chain(shared);
    let stamps = all.map(|it| format!("{} {:?}", it.display(), disk::stamp(&it)));
    Stamp::Disk(stamps.collect::<Vec<_>>().join("\n"))
}

/// Whether git takes a folder itself for a repository.
pub(super) fn is_bare(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && ["objects", "refs"].iter().all(|it| folder.join(it).is_dir())
}

/// The other working trees of a repository.
fn worktrees(git: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(git.join("worktrees")).into_iter().flatten().flatten();
    let tree = |it: fs::DirEntry| {
        let text = regular::read_to_string(&it.path().join("gitdir")).ok()?;
        let mark = it.path().join(text.trim_end());
        mark.parent()?.canonicalize().ok()
    };
    all.filter_map(tree).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn git(root: &Path, words: &str, input: &str) {
        let mut command = Command::new("git");
        command.current_dir(root).args(words.split(' ')).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{words}");
    }

    fn repository() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        git(&root, "init -q", "");
        (dir, root)
    }

    fn look(nested: &mut Nested, root: &Path) -> Result<(), String> {
        nested.look(root, root, &root.join(".git"))
    }

    const ID: &str = "1234567890123456789012345678901234567890";

    #[test]
    fn more_repositories_than_can_be_looked_at_are_an_error() {
        let (_dir, root) = repository();
        let lines: Vec<String> = (1..MOST).map(|it| format!("160000 {ID} 0\tr{it}\n")).collect();
        git(&root, "update-index --index-info", &lines.concat());
        assert_eq!(look(&mut Nested::default(), &root), Ok(()));
        git(&root, "update-index --index-info", &format!("160000 {ID} 0\tlast\n"));
        let said = look(&mut Nested::default(), &root).unwrap_err();
        assert!(said.starts_with("there are more than 500 repositories in the project"), "{said}");
    }

    /// A command can change the shared part of an index in its place, and git does not notice.
    #[test]
    fn a_repository_that_the_shared_part_of_an_index_gets_later_is_found() {
        let (_dir, root) = repository();
        fs::write(root.join("zz"), "x").unwrap();
        git(&root, "update-index --split-index --add zz", "");
        let mut nested = Nested::default();
        look(&mut nested, &root).unwrap();
        assert_eq!(nested.trees(), [""; 0].map(PathBuf::from));
        fs::remove_file(root.join("zz")).unwrap();
        fs::create_dir(root.join("zz")).unwrap();
        git(&root.join("zz"), "init -q", "");
        let entries = fs::read_dir(root.join(".git")).unwrap().map(|it| it.unwrap().path());
        let is_shared = |it: &PathBuf| it.display().to_string().contains("/sharedindex.");
        let shared: Vec<PathBuf> = entries.filter(is_shared).collect();
        let has_entry = |it: &&PathBuf| fs::read(it).unwrap().windows(3).any(|it| it == b"zz\0");
        let shared = shared.iter().find(has_entry).unwrap();
        let mut bytes = fs::read(shared).unwrap();
        let path = bytes.windows(3).position(|it| it == b"zz\0").unwrap();
        // the mode of an entry is 38 bytes before its path: that of a commit
        bytes[path - 38..path - 34].copy_from_slice(&0xE000_u32.to_be_bytes());
        fs::write(shared, bytes).unwrap();
        look(&mut nested, &root).unwrap();
        assert_eq!(nested.trees(), [root.join("zz")]);
    }
}
