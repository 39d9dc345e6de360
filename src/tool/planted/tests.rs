use super::*;
use crate::reach::Locks;
use crate::tool::disk::Disk;
use crate::tool::git::baseline::Baseline;

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

    /// Looks as it does while the command runs.
    fn glance(&mut self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            self.watch.glance().await;
            let listed = done(&mut Some(self.watch.listing())).await;
            self.watch.judge(listed, false).await;
        });
    }

    /// The paths that are taken back now, and their new names.
    fn taken(&mut self) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(self.watch.look());
        let taken = std::mem::take(&mut self.watch.taken);
        assert_eq!(told(&taken).is_none(), taken.is_empty());
        let line = |it: Taken| match it.what {
            What::Renamed(to) => format!("{} > {to}", it.path),
            other => panic!("{other:?}"),
        };
        let mut all: Vec<String> = taken.into_iter().map(line).collect();
        all.sort();
        all
    }
}

fn watch(root: &Path) -> Watch {
    Places::new(root, None)
        .watch(
            Arc::new(Disk { root: root.to_owned(), is_apart: false }),
            None,
            None,
            &Arc::default(),
        )
        .unwrap()
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
fn a_half_written_mark_of_a_worktree_is_judged_when_it_is_whole_or_the_command_has_ended() {
    let marks = [
        (".git/worktrees/a/commondir", "", "../..\n", "/tmp\n"),
        ("out/a/.git", "", "gitdir: ../../.git/worktrees/a\n", "gitdir: /tmp\n"),
    ];
    for (mark, half, whole, evil) in marks {
        for text in [half, whole, evil] {
            let mut room = Room::with(&[".git/config", ".git/HEAD"]);
            room.write(
                ".git/worktrees/a/gitdir",
                &format!("{}\n", room.path("out/a/.git").display()),
            );
            room.write(mark, text);
            room.glance();
            let is_there = |room: &Room| room.path(mark).exists();
            assert_eq!(is_there(&room), text != evil, "{mark}: {text:?}");
            room.taken();
            assert_eq!(is_there(&room), text == whole, "{mark}: {text:?} at the end");
        }
    }
}

#[test]
fn a_worktree_that_is_moved_is_judged_when_git_has_written_the_new_place_down() {
    let mut room = Room::with(&[".git/config", ".git/HEAD"]);
    room.write("new/.git", "gitdir: ../.git/worktrees/a\n");
    for (named, there) in [("new", true), ("gone", true), ("other", false)] {
        room.write("other/.git", "");
        room.write(
            ".git/worktrees/a/gitdir",
            &format!("{}\n", room.path(named).join(".git").display()),
        );
        room.glance();
        assert_eq!(room.path("new/.git").exists(), there, "{named}");
    }
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
    let plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n[remote \"origin\"]\n\turl = https://example.org/x\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
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
        "[core] fsmonitor = \"x\" #]\n",
        "[core] bare = false # ]\nfsmonitor = x\n",
        "[core]\n\tbare = false\n[core \"]\"]\n\tx = y\n",
        "[branch \"main\"]\nremote = vendor/lib\n",
        "[branch \"main\"]\npushRemote = ../lib\n",
        "[remote \"origin\"]\nurl = ../lib\n",
        "[remote \"origin\"]\nurl = file:///lib\n",
        "[remote \"origin\"]\npushurl = ../lib\n",
        "[remote]\npushDefault = ../lib\n",
        "[core]\nworktree = x\n",
        "[broken\n",
    ] {
        room.write(".git/config", evil);
        let taken = room.taken();
        assert!(taken[0].starts_with(".git/config > "), "{evil}: {taken:?}");
    }
}

#[test]
fn a_file_that_cannot_be_renamed_is_reported() {
    let what = What::Stuck("no".into());
    let taken = Taken { path: ".envrc".into(), why: "runs", what };
    assert!(told(&[taken]).unwrap().contains(
        ".envrc, which runs (it could not be taken back: no. The command was ended because of this)"
    ));
}

#[test]
fn a_file_of_the_repository_that_is_being_written_stays_as_long_as_it_grows() {
    let room = Room::with(&[]);
    let git = |script: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script]).current_dir(room.path(""));
        assert!(command.status().unwrap().success(), "{script}");
    };
    git(
        "git init -q . && mkdir -p .github/workflows && echo one two > .github/workflows/a.yml && echo b > .exrc && git add . \
         && git -c user.name=a -c user.email=a@a -c commit.gpgSign=false commit -qm a && rm -r .github .exrc",
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let baseline =
        runtime.block_on(Baseline::new(&room.path(""), None, &Locks::new())).unwrap().map(Arc::new);
    let workspace = Arc::new(Disk { root: room.path(""), is_apart: false });
    let places = Places::new(&room.path(""), None);
    let mut watch = places.watch(workspace, baseline, None, &Arc::default()).unwrap();
    let mut look = |is_last: bool| {
        runtime.block_on(async {
            if is_last {
                return watch.look().await;
            }
            let listed = done(&mut Some(watch.listing())).await;
            watch.judge(listed, false).await;
        });
        told(&std::mem::take(&mut watch.taken)).unwrap_or_default()
    };
    fs::create_dir_all(room.path(".github/workflows")).unwrap();
    assert_eq!(look(false), "");
    room.write(".github/workflows/a.yml", "one");
    assert_eq!(look(false), "");
    room.write(".github/workflows/a.yml", "one two\n");
    assert_eq!((look(false), look(true)), (String::new(), String::new()));
    // the content of another path, and a beginning that stays one
    room.write(".exrc", "one two\n");
    assert!(look(false).contains("(renamed to .git/refused/.exrc)"));
    room.write(".github/workflows/a.yml", "one");
    assert_eq!(look(false), "");
    assert!(look(false).contains("(renamed to .git/refused/workflows)"));
    room.write(".github/workflows/a.yml", "one");
    assert!(look(true).contains("(renamed to .git/refused/workflows2)"));
}

#[test]
fn locked_paths_whose_names_are_known_are_found_without_listing_their_folders() {
    use std::os::unix::fs::PermissionsExt;
    let room =
        Room::with(&[".envrc", ".github/workflows/a.yml", "AGENTS.md", "HEAD", "a.code-workspace"]);
    symlink("x", room.path("CLAUDE.md")).unwrap();
    symlink("x", room.path(".cargo")).unwrap();
    let places = Places::new(&room.path(""), None);
    let found = |search| places.found(&[], search).unwrap();
    let mut all = found(Search::All);
    assert!(all.remove(&room.path("a.code-workspace")).is_some());
    let names: Vec<_> = [".cargo", ".envrc", ".github/workflows", "AGENTS.md", "CLAUDE.md", "HEAD"]
        .map(|it| room.path(it))
        .into();
    assert_eq!(all.keys().cloned().collect::<Vec<_>>(), names);
    for it in ["", ".github"] {
        fs::set_permissions(room.path(it), fs::Permissions::from_mode(0o311)).unwrap();
    }
    assert_eq!(found(Search::Names), all);
}

#[test]
fn a_link_in_a_repository_s_folder_is_found_however_soon_it_follows_another_change() {
    let dir = tempfile::tempdir().unwrap();
    let roots = [dir.path().join(".git")];
    fs::create_dir_all(roots[0].join("refs/heads")).unwrap();
    let mut links = links::Links::default();
    for n in 0..200 {
        let path = roots[0].join("refs/heads").join(n.to_string());
        symlink("a", &path).unwrap();
        assert_eq!(links.look(&roots).len(), n + 1);
    }
    symlink("testing", roots[0].join("tAb1x_9")).unwrap();
    fs::create_dir_all(roots[0].join("worktrees/a/refused")).unwrap();
    symlink("x", roots[0].join("worktrees/a/refused/.envrc")).unwrap();
    assert_eq!(links.look(&roots).len(), 200);
    for it in ["tAb1x_99", "refs/refused", "tAb1x_8"] {
        symlink(if it.len() == 7 { "config" } else { "testing" }, roots[0].join(it)).unwrap();
    }
    assert_eq!(links.look(&roots).len(), 203);
}
