//! Rewinds of what git, and programs that write its files in another way, have made of a repository.

use super::commands::{git, git_says};
use super::kinds::{heads, ran, status, take_all_back};
use super::*;
use std::fs;

#[test]
fn a_removal_that_was_staged_after_a_commit_is_taken_back() {
    let command = "echo n >new; git add new; git commit -qm more; git rm -q a.txt b.txt";
    let scene = ran(|it| it.file("b.txt", "b\n"), |_| (), command);
    preview(&scene, "1");
    expect![[r#"
        diff a.txt is created again, also in git's index (changed by a command)
        diff b.txt is created again, also in git's index (changed by a command)
        diff new is deleted (changed by a command)
    "#]]
    .assert_eq(&heads(&scene));
    take_all_back(&scene);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(status(&scene), " D new\n");
}

#[test]
fn what_was_staged_on_a_branch_that_a_command_has_left_comes_back_on_that_branch() {
    let more = |it: &Scene| {
        git(it, &["switch", "-qc", "other"]);
        fs::write(it.nvim.setup.path("a.txt"), nine().replace("l5", "other")).unwrap();
        git(it, &["commit", "-qam", "other"]);
        git(it, &["switch", "-q", "main"]);
        fs::write(it.nvim.setup.path("a.txt"), nine().replace("l9", "mine")).unwrap();
        git(it, &["add", "a.txt"]);
    };
    let scene = ran(|it| it, more, "git switch -qf other; echo b >b.txt; git add b.txt");
    preview(&scene, "1");
    let why = "it was changed on main, and other is checked out now";
    assert_eq!(
        heads(&scene),
        format!(
            "diff a.txt is not changed: {why} (changed by a command)\n\
             diff b.txt is deleted, also in git's index (changed by a command)\n"
        )
    );
    take_all_back(&scene);
    assert_eq!(status(&scene), "");
    git(&scene, &["switch", "-q", "main"]);
    rewind(&scene, "2");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l9", "mine")));
    assert_eq!(status(&scene), "M  a.txt\n");
}

/// The filter is not run, so git has another text of the file than the working tree, of the same length.
#[test]
fn a_file_that_a_filter_of_the_repository_converts_is_restored_as_it_was() {
    let filter = |it: &Scene| {
        for side in ["clean", "smudge"] {
            git(it, &["config", &format!("filter.rot.{side}"), "tr a-z b-za"]);
        }
        git(it, &["config", "filter.rot.smudge", "tr b-za a-z"]);
        fs::write(it.nvim.setup.path(".gitattributes"), "*.rot filter=rot\n").unwrap();
        fs::write(it.nvim.setup.path("b.rot"), "abc\n").unwrap();
        fs::write(it.nvim.setup.path("c.rot"), "abc\n".repeat(300_000)).unwrap();
        git(it, &["add", "."]);
        git(it, &["commit", "-qm", "filtered"]);
        assert_eq!(git_says(it, &["cat-file", "blob", ":b.rot"]), "bcd\n");
        // git is sure that the files have not changed since
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        for name in ["b.rot", "c.rot"] {
            let file = fs::File::options().write(true).open(it.nvim.setup.path(name)).unwrap();
            file.set_modified(old).unwrap();
        }
        git(it, &["update-index", "-q", "--refresh"]);
    };
    let scene = ran(|it| it, filter, "echo abx >b.rot; echo x >c.rot; sed -i s/l2/L2/ a.txt");
    preview(&scene, "1");
    expect![[r#"
        diff a.txt is restored (changed by a command)
        diff b.rot is restored (changed by a command)
        diff c.rot is not changed: its earlier text was not kept (changed by a command)
    "#]]
    .assert_eq(&heads(&scene));
    take_all_back(&scene);
    assert_eq!(scene.on_disk("b.rot").as_deref(), Some("abc\n"));
}

/// Git has a short pointer in place of a file of LFS.
#[test]
fn a_file_of_lfs_is_restored_where_git_has_it_and_named_elsewhere() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:\n00\nsize 4\n";
    let lfs = |it: &Scene| {
        fs::write(it.nvim.setup.path(".gitattributes"), "*.bin filter=lfs\n").unwrap();
        for name in ["fetched.bin", "pointer.bin"] {
            fs::write(it.nvim.setup.path(name), pointer).unwrap();
        }
        git(it, &["add", "."]);
        git(it, &["commit", "-qm", "lfs"]);
        // as git-lfs checks it out: git is told that the file has not changed
        fs::write(it.nvim.setup.path("fetched.bin"), "\0\u{1}\u{2}\u{3}").unwrap();
        git(it, &["update-index", "--assume-unchanged", "fetched.bin"]);
        git(it, &["config", "filter.lfs.smudge", "false"]);
    };
    let scene = ran(|it| it, lfs, "echo x >fetched.bin; echo x >pointer.bin");
    preview(&scene, "1");
    expect![[r#"
        diff fetched.bin is restored (changed by a command)
        diff pointer.bin is restored (changed by a command)
    "#]]
    .assert_eq(&heads(&scene));
    take_all_back(&scene);
    assert_eq!(scene.on_disk("fetched.bin").as_deref(), Some("\0\u{1}\u{2}\u{3}"));
}

/// Other programs than git write an index without the times of the files, or in another version, and check out a commit
/// without a branch.
#[test]
fn a_repository_that_another_program_than_git_writes_is_rewound_alike() {
    let other = |it: &Scene| {
        git(it, &["update-index", "--index-version", "4"]);
        git(it, &["checkout", "-q", "--detach"]);
        // an index whose times and sizes are zero
        git(it, &["read-tree", "HEAD"]);
        let folder = it.nvim.setup.path(".jj");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(".gitignore"), "/*\n").unwrap();
        fs::write(folder.join("op"), "1\n").unwrap();
    };
    // a new commit and index, and a reference, written without a command of git's that knows of them
    let command = "sed -i s/l2/L2/ a.txt; echo n >new; echo 2 >.jj/op; git add -A; tree=$(git write-tree); \
        commit=$(git commit-tree -p HEAD -m more $tree); echo $commit >.git/HEAD; git read-tree $tree; chmod 600 b.txt; \
        git rm -q --cached b.txt";
    let scene = ran(|it| it.file("b.txt", "b\n"), other, command);
    preview(&scene, "1");
    let shown = scene.nvim.buffer("/rewind");
    assert!(
        shown.contains("A command of this turn made commits, and HEAD is still at "),
        "{shown}"
    );
    expect![[r#"
        diff a.txt is restored (changed by a command)
        diff b.txt gets its permissions (0644) and its entry in git's index back (changed by a command)
        diff new is deleted (changed by a command)
    "#]]
    .assert_eq(&heads(&scene));
    take_all_back(&scene);
    assert_eq!(status(&scene), " M a.txt\n D new\n");
    assert_eq!(scene.on_disk(".jj/op").as_deref(), Some("2\n"));
}

/// Files outside of a sparse working tree are in git's index only.
#[test]
fn a_rewind_in_a_sparse_working_tree_leaves_the_files_outside_of_it_away() {
    let sparse = |it: &Scene| {
        git(it, &["sparse-checkout", "set", "--no-cone", "/a.txt", "/in/"]);
        assert!(!it.nvim.setup.path("out/far").exists());
    };
    let files = |it: Setup| it.file("in/near", "near\n").file("out/far", "far\n");
    let command = "echo L >>a.txt; rm in/near; mkdir out; echo new >out/far";
    let scene = ran(files, sparse, command);
    preview(&scene, "1");
    expect![[r#"
        diff a.txt is restored (changed by a command)
        diff in/near is created again (changed by a command)
        diff out/far is deleted (changed by a command)
    "#]]
    .assert_eq(&heads(&scene));
    take_all_back(&scene);
    assert_eq!((scene.on_disk("out/far"), status(&scene)), (None, String::new()));
}

/// The model edits a file of a submodule, and a command changes and commits it there. Commands also change another
/// repository within the project, and clone one. The rewind takes back the edit alone, and names the repositories.
#[test]
fn a_rewind_changes_no_repository_within_the_project_but_takes_edits_back() {
    let inner = |it: &Scene, name: &str| {
        fs::create_dir(it.nvim.setup.path(name)).unwrap();
        fs::write(it.nvim.setup.path(&format!("{name}/s.txt")), nine()).unwrap();
        for arguments in [
            &["init", "-qb", "main"][..],
            &["config", "user.name", "me"],
            &["config", "user.email", "me@example.org"],
            &["add", "."],
            &["commit", "-qm", "begin"],
        ] {
            git(it, &[&["-C", name][..], arguments].concat());
        }
    };
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE).size(120, 40));
    git(&scene, &["init", "-qb", "main"]);
    inner(&scene, "sub");
    git(&scene, &["add", "sub", "a.txt"]);
    // a submodule that is not checked out
    let commit = git_says(&scene, &["-C", "sub", "rev-parse", "HEAD"]);
    let entry = format!("160000,{},far", commit.trim());
    git(&scene, &["update-index", "--add", "--cacheinfo", &entry]);
    fs::create_dir(scene.nvim.setup.path("far")).unwrap();
    git(&scene, &["commit", "-qm", "begin"]);
    inner(&scene, "own");
    inner(&scene, "same");
    scene.server.reply(Reply::new().call("e1", "edit", edit("sub/s.txt", &[("l2", "L2")])).call(
        "e2",
        "edit",
        edit("a.txt", &[("l2", "L2")]),
    ));
    let command = "cd sub; echo more >>s.txt; git commit -qam inner; cd ..; echo n >own/new; git clone -q same copy; \
        sed -i s/l8/L8/ a.txt; ls same; git commit -q --allow-empty -m more";
    super::commands::run_command(&scene, command);
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    preview(&scene, "1");
    expect![[r#"
        diff a.txt is restored (changed by a command)
        diff copy is not changed: its earlier text is in a repository of its own, which no rewind changes (changed by a command)
        diff own is not changed: its earlier text is in a repository of its own, which no rewind changes (changed by a command)
        diff sub is not changed: its earlier text is in a repository of its own, which no rewind changes (changed by a command)
        diff sub/s.txt is restored
    "#]]
    .assert_eq(&heads(&scene));
    take_all_back(&scene);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.on_disk("sub/s.txt"), Some(nine() + "more\n"));
    assert_eq!(scene.on_disk("own/new").as_deref(), Some("n\n"));
}
