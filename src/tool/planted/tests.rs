use super::*;
use crate::tool::disk::Disk;

struct Room {
    dir: tempfile::TempDir,
    watch: Watch,
}

impl Room {
    /// A project with these files.
    fn with(files: &[&str]) -> Room {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for it in files {
            write(&root, it, "old");
        }
        Room { watch: watch(&root), dir }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        write(&self.path(""), path, text);
    }

    /// The paths that are taken back now, and their new names.
    fn taken(&mut self) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(self.watch.look());
        let taken = self.watch.taken();
        assert_eq!(told(&taken).is_none(), taken.is_empty());
        taken.into_iter().map(|it| format!("{} > {}", it.path, it.to.unwrap())).collect()
    }
}

fn watch(root: &Path) -> Watch {
    Places::new(root, None).watch(Arc::new(Disk { root: root.to_owned(), is_apart: false }), None)
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn only_files_that_would_run_outside_of_the_sandbox_are_renamed() {
    let mut room = Room::with(&["AGENTS.md", ".git/config", ".git/hooks/x"]);
    for it in [
        ".envrc",
        ".exrc",
        ".vscode/tasks.json",
        ".git/commondir",
        ".git/config.worktree",
        ".git/worktrees/a/commondir",
        ".github/workflows/a.yml",
        ".cargo/config.toml",
        "lefthook.yml",
        ".husky/pre-commit",
        ".claude/settings.json",
        ".bashrc",
    ] {
        room.write(it, "new");
    }
    for it in [
        "src/a.rs",
        ".git/index",
        ".cargo/x",
        ".github/CODEOWNERS",
        "build.rs",
        ".editorconfig",
        "AGENTS.md",
    ] {
        room.write(it, "new");
    }
    let wanted = [
        ".bashrc > .bashrc.refused",
        ".cargo/config.toml > .cargo/config.toml.refused",
        ".claude > .claude.refused",
        ".envrc > .envrc.refused",
        ".exrc > .exrc.refused",
        ".git/commondir > .git/commondir.refused",
        ".git/config.worktree > .git/config.worktree.refused",
        ".git/worktrees/a/commondir > .git/worktrees/a/commondir.refused",
        ".github/workflows > .github/workflows.refused",
        ".husky > .husky.refused",
        ".vscode > .vscode.refused",
        "lefthook.yml > lefthook.yml.refused",
    ];
    assert_eq!(room.taken(), wanted);
    assert_eq!(fs::read_to_string(room.path(".vscode.refused/tasks.json")).unwrap(), "new");
    assert!(room.taken().is_empty());
    room.write(".envrc", "again");
    assert_eq!(room.taken(), [".envrc > .envrc.refused2"]);
}

#[test]
fn a_new_link_to_files_that_would_run_is_renamed_without_its_target() {
    let mut room = Room::with(&[]);
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(outside.path().join("workflows")).unwrap();
    symlink(outside.path(), room.path(".github")).unwrap();
    symlink("evil", room.path(".envrc")).unwrap();
    assert_eq!(room.taken(), [".envrc > .envrc.refused", ".github > .github.refused"]);
    assert!(outside.path().join("workflows").exists());
}

#[test]
fn a_replaced_link_is_restored() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    write(&root, "AGENTS.md", "old");
    symlink("AGENTS.md", root.join("CLAUDE.md")).unwrap();
    let mut room = Room { watch: watch(&root), dir };
    assert!(room.taken().is_empty());
    fs::remove_file(root.join("CLAUDE.md")).unwrap();
    room.write("CLAUDE.md", "evil");
    assert_eq!(room.taken(), ["CLAUDE.md > CLAUDE.md.refused"]);
    assert_eq!(fs::read_to_string(root.join("CLAUDE.md")).unwrap(), "old");
}

#[test]
fn a_new_repository_stays_unless_it_names_programs() {
    let mut room = Room::with(&["a"]);
    let plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n[remote \"origin\"]\n\turl = ../x\n";
    room.write(".git/config", plain);
    room.write(".git/hooks/pre-commit.sample", "");
    room.write(".git/info/exclude", "");
    assert!(room.taken().is_empty());
    room.write(".git/hooks/pre-commit", "");
    assert_eq!(room.taken(), [".git/hooks > .git/hooks.refused"]);
    for evil in [
        "[core]\nfsmonitor = x\n",
        "[core]\nbare = true ; \\\nfsmonitor = x\n",
        "[core]\nbare = \\\n[alias]\na = !x\n",
        "[core] fsmonitor = x\n",
        "[include]\npath = x\n",
        "[filter \"a\"]\nclean = x\n",
        "[remote \"origin\"]\nurl = ext::sh -c x\n",
    ] {
        room.write(".git/config", evil);
        let taken = room.taken();
        assert!(taken[0].starts_with(".git/config > "), "{evil}: {taken:?}");
    }
}

#[test]
fn a_file_that_cannot_be_renamed_is_reported() {
    let taken = Taken { path: ".envrc".into(), why: "runs", to: Err("no".into()) };
    assert!(told(&[taken]).unwrap().contains(".envrc, which runs (it could not be renamed: no)"));
}
