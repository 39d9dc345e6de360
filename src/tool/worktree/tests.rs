use super::*;
use crate::text::Text;
use expect_test::expect;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

struct Room {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Room {
    fn new() -> Room {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        Room { _dir: dir, root }
    }

    /// A repository with these files in its only commit.
    fn committed(files: &[(&str, &str)]) -> Room {
        let room = Room::new();
        git(&room.root, &["init", "-q", "-b", "main"]);
        for (path, text) in files {
            room.file(path, text);
        }
        git(&room.root, &["add", "."]);
        git(&room.root, &["commit", "-qm", "begin"]);
        room
    }

    fn file(&self, path: &str, text: &str) {
        write(&self.root.join(path), text);
    }

    fn worktrees(&self) -> Vec<String> {
        let all = fs::read_dir(self.root.join(".git").join(FOLDER)).into_iter().flatten().flatten();
        let mut all: Vec<String> =
            all.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        all.sort();
        all
    }

    fn branches(&self) -> String {
        git(&self.root, &["for-each-ref", "--format=%(refname)", "refs/heads/caliban"])
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git(root: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    for it in [
        "user.name=me",
        "user.email=me@example.org",
        "commit.gpgsign=false",
        "protocol.file.allow=always",
    ] {
        git.args(["-c", it]);
    }
    let done = git.args(arguments).current_dir(root).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn shown(committed: &Committed) -> String {
    let mode =
        |it: &Option<Entry>| it.as_ref().map_or("none".to_owned(), |it| format!("{:?}", it.mode));
    let line = |it: &Change| {
        let from = it.from.as_ref().map(|it| format!(" from {}", it.display())).unwrap_or_default();
        format!("{}{from}: {} to {}", it.path.display(), mode(&it.old), mode(&it.new))
    };
    let lines: Vec<String> = committed.changes.iter().map(line).collect();
    format!("{}\n{}\n", committed.stat, lines.join("\n"))
}

/// Configures programs that git would run on every occasion. Returns the file that these programs write.
fn trapped(room: &Room) -> PathBuf {
    let trap = room.root.with_file_name("trapped");
    let line = |name: &str| format!("sh -c 'echo {name} >> {}; cat'", trap.display());
    for hook in ["post-checkout", "pre-commit", "reference-transaction", "post-index-change"] {
        let path = room.root.join(".git/hooks").join(hook);
        write(&path, &format!("#!/bin/sh\necho {hook} >> {}\n", trap.display()));
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    for (name, value) in [
        ("filter.evil.smudge", &*line("smudge")),
        ("filter.evil.clean", &line("clean")),
        ("filter.evil.required", "true"),
        ("commit.gpgsign", "true"),
        ("gpg.program", &line("gpg")),
        ("core.fsmonitor", &line("fsmonitor")),
        ("diff.external", &line("diff")),
        ("core.editor", &line("editor")),
    ] {
        git(&room.root, &["config", name, value]);
    }
    trap
}

#[tokio::test]
async fn git_runs_no_program_for_a_worktree_and_takes_no_name_for_an_option() {
    let files = [("a.txt", "one\n"), (".gitattributes", "a.txt filter=evil diff=evil\n")];
    let room = Room::committed(&files);
    let trap = trapped(&room);
    let tree = Worktree::create(&room.root, "--upload-pack=../x y").await.unwrap();
    let other = Worktree::create(&room.root, "--upload-pack=../x y").await.unwrap();
    assert_eq!(tree.branch(), "caliban/upload-pack----x-y");
    assert_eq!(other.branch(), "caliban/upload-pack----x-y-2");
    let folder = tree.folder().to_owned();
    assert_eq!(folder, room.root.join(".git").join(FOLDER).join("upload-pack----x-y"));
    assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "one\n");
    write(&folder.join("a.txt"), "two\n");
    let committed = tree.commit("-m hostile\0\n", &[]).await.unwrap().unwrap();
    let new = committed.changes[0].new.as_ref().unwrap();
    assert_eq!(tree.content(new).await.unwrap(), Content::Text(Text::new("two\n")));
    assert_eq!(other.commit("nothing", &[]).await.unwrap(), None);
    other.remove(None).await.unwrap();
    assert_eq!(room.worktrees(), ["upload-pack----x-y", "upload-pack----x-y.base"]);
    assert_eq!(git(&room.root, &["log", "-1", "--format=%s", &tree.branch()]), "-m hostile\n");
    tree.remove(Some(&committed.commit)).await.unwrap();
    assert!(room.worktrees().is_empty());
    assert_eq!(room.branches(), "");
    assert_eq!(git(&room.root, &["worktree", "list"]).lines().count(), 1);
    assert!(!trap.exists(), "{}", fs::read_to_string(&trap).unwrap());
}

#[tokio::test]
async fn all_kinds_of_changes_are_committed_on_the_branch_and_none_is_in_the_users_files() {
    let ten = (0..10).fold(String::new(), |all, it| format!("{all}line {it}\n"));
    let room = Room::committed(&[
        ("a.txt", "one\n"),
        ("dos.txt", "one\r\ntwo\r\n"),
        ("gone.txt", "x\n"),
        ("old.txt", &ten),
        ("run.sh", "echo\n"),
        (".gitignore", "ignored*\n"),
    ]);
    room.file("a.txt", "the user's own\n");
    let tree = Worktree::create(&room.root, "x").await.unwrap();
    let folder = tree.folder().to_owned();
    assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "one\n");
    write(&folder.join("a.txt"), "two\n");
    write(&folder.join("dos.txt"), "one\r\n2\r\n");
    fs::remove_file(folder.join("gone.txt")).unwrap();
    fs::create_dir(folder.join("sub")).unwrap();
    fs::rename(folder.join("old.txt"), folder.join("sub/new.txt")).unwrap();
    fs::set_permissions(folder.join("run.sh"), Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.join("raw"), b"\0\xff").unwrap();
    symlink("/etc/passwd", folder.join("link")).unwrap();
    write(&folder.join("ignored-build"), "x");
    write(&folder.join("ignored-edit"), "x");
    let also = [folder.join("ignored-edit"), folder.join("never-made")];
    let committed = tree.commit("all", &also).await.unwrap().unwrap();
    expect![[r"
        8 files changed, 4 insertions(+), 3 deletions(-)
        a.txt: File to File
        dos.txt: File to File
        gone.txt: File to none
        ignored-edit: none to File
        link: none to Link
        raw: none to File
        run.sh: File to Executable
        sub/new.txt from old.txt: File to File
    "]]
    .assert_eq(&shown(&committed));
    for (path, expected) in [("dos.txt", &b"one\r\n2\r\n"[..]), ("raw", b"\0\xff")] {
        let found = committed.changes.iter().find(|it| it.path == Path::new(path)).unwrap();
        let bytes = match tree.content(found.new.as_ref().unwrap()).await.unwrap() {
            Content::Text(text) => text.encode(),
            Content::Binary(bytes) => bytes,
            Content::TooLarge => panic!("{path}"),
        };
        assert_eq!(bytes, expected);
    }
    assert_eq!(git(&room.root, &["status", "--porcelain"]), " M a.txt\n");
    assert_eq!(fs::read_to_string(room.root.join("a.txt")).unwrap(), "the user's own\n");
    assert_eq!(tree.commit("again", &[]).await.unwrap().unwrap().commit, committed.commit);
}

#[tokio::test]
async fn every_kind_of_checkout_gets_a_worktree_or_a_sentence_why_not() {
    let room = Room::committed(&[("a.txt", "one\n")]);
    let base = room.root.parent().unwrap();
    let why = |it: Result<Worktree, String>| {
        it.map(|_| ()).unwrap_err().replace(&base.display().to_string(), "BASE")
    };
    let create = |name: &str| {
        let root = base.join(name);
        async move { Worktree::create(&root, "x").await }
    };
    for name in ["none", "empty", "forged", "linked", "common"] {
        fs::create_dir(base.join(name)).unwrap();
    }
    git(&base.join("empty"), &["init", "-q"]);
    git(base, &["clone", "-q", "--bare", "project", "bare"]);
    write(&base.join("forged/.git"), &format!("gitdir: {}\n", room.root.join(".git").display()));
    symlink(room.root.join(".git"), base.join("linked/.git")).unwrap();
    git(&base.join("common"), &["init", "-q"]);
    write(&base.join("common/.git/commondir"), &room.root.join(".git").display().to_string());
    let mut said = String::new();
    for name in ["none", "empty", "bare", "forged", "linked", "common"] {
        said += &format!("{}\n", why(create(name).await));
    }
    expect![[r"
        BASE/none is not the top folder of a git checkout, so no worktree can be made.
        The repository has no commit yet, so no worktree can be made.
        BASE/bare is not the top folder of a git checkout, so no worktree can be made.
        BASE/forged/.git leads to a repository that does not know this folder, so no worktree can be made.
        BASE/linked/.git leads to a repository that does not know this folder, so no worktree can be made.
        BASE/common/.git leads to a repository that does not know this folder, so no worktree can be made.
    "]]
    .assert_eq(&said);

    git(&room.root, &["checkout", "-q", "--detach"]);
    git(&room.root, &["worktree", "add", "-q", "../second", "main"]);
    git(
        base,
        &["clone", "-q", "--depth", "1", &format!("file://{}", room.root.display()), "shallow"],
    );
    git(base, &["init", "-q", "outer"]);
    git(&base.join("outer"), &["submodule", "--quiet", "add", "../project", "inner"]);
    for name in ["project", "second", "shallow", "outer/inner"] {
        let tree = create(name).await.unwrap();
        assert_eq!(fs::read_to_string(tree.folder().join("a.txt")).unwrap(), "one\n", "{name}");
        write(&tree.folder().join("a.txt"), "two\n");
        let committed = tree.commit("two", &[]).await.unwrap().unwrap();
        assert_eq!(committed.changes.len(), 1, "{name}");
        // a worktree may itself be the user's project
        let inner = Worktree::create(tree.folder(), "x").await.unwrap();
        assert_eq!(fs::read_to_string(inner.folder().join("a.txt")).unwrap(), "two\n", "{name}");
        inner.remove(None).await.unwrap();
        tree.remove(Some(&committed.commit)).await.unwrap();
        let root = base.join(name);
        assert_eq!(git(&root, &["for-each-ref", "refs/heads/caliban"]), "", "{name}");
    }
}

#[tokio::test]
async fn a_killed_programs_worktrees_with_changes_are_kept_and_reported_once() {
    let room = Room::committed(&[("a.txt", "one\ntwo\nthree\n")]);
    let mut used = Vec::new();
    for name in ["used", "clean", "dirty", "done", "taken", "half"] {
        used.push(Worktree::create(&room.root, name).await.unwrap());
    }
    for (at, text) in [(2, "dirty\n"), (3, "one\ntwo\n3\n"), (4, "1\ntwo\nthree\n")] {
        write(&used[at].folder().join("a.txt"), text);
    }
    for at in [3, 4] {
        used[at].commit("x", &[]).await.unwrap();
    }
    // Caliban was killed while git made this worktree
    fs::remove_file(used[5].folder().join(".git")).unwrap();
    // the user's file has one of the changes, and another one of the user
    room.file("a.txt", "1\ntwo\nthree\nfour\n");
    used.truncate(1);
    write(&room.root.join(".git").join(FOLDER).join("--evil.base"), "x\n");
    let left = left_over(&room.root).await;
    let shown = |it: &Left| (it.branch.clone(), it.is_dirty);
    assert_eq!(
        left.iter().map(shown).collect::<Vec<_>>(),
        [
            ("caliban/dirty".into(), false),
            ("caliban/done".into(), false),
            ("caliban/half".into(), true)
        ]
    );
    assert!(left.iter().all(|it| it.folder.join("a.txt").exists()));
    assert_eq!(
        room.branches(),
        "refs/heads/caliban/dirty\nrefs/heads/caliban/done\nrefs/heads/caliban/half\nrefs/heads/caliban/used\n"
    );
    assert!(left_over(&room.root).await.iter().all(|it| it.is_told), "the user has been told");
    left.iter().for_each(Left::note_known);
    assert!(left_over(&room.root).await.is_empty());
    drop(used);
    assert!(left_over(&room.root).await.is_empty());
    assert!(!room.branches().contains("used"));
}
