//! Symbolic links: those that a command makes in the folder of a repository, through which the user's git would write,
//! and those at and in locked paths, through which programs of the user run and read files of the project.

use super::git::start;
use super::{is_full, shell};
use crate::grants::call;
use crate::review::scene::Scene;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What git, and other programs, write in the folder of a repository.
const WRITTEN: &[&str] = &[
    "COMMIT_EDITMSG",
    "MERGE_MSG",
    "SQUASH_MSG",
    "TAG_EDITMSG",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "HEAD",
    "index",
    "packed-refs",
    "shallow",
    "description",
    "gc.log",
    "info/exclude",
    "info/sparse-checkout",
    "logs/HEAD",
    "logs/refs/heads/main",
    "logs/refs/stash",
    "refs/heads/main",
    "refs/heads/new/branch",
    "refs/stash",
    "refs/tags",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "objects/pack",
    "rebase-merge/message",
    "rebase-apply",
    "sequencer/todo",
    "worktrees/tree/HEAD",
    "worktrees/tree/index",
    "worktrees/tree/logs/HEAD",
    "worktrees/tree/COMMIT_EDITMSG",
    "lfs/tmp",
    "a/new/folder/of/a command/it",
];

fn bash(scene: &Scene, script: &str) -> String {
    let mut bash = Command::new("bash");
    bash.arg("-c").arg(script).current_dir(scene.nvim.setup.path(""));
    let said = bash.output().unwrap();
    String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned()
}

/// The links in a folder and its subfolders.
fn links(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            all.push(entry.path());
        } else if kind.is_dir() {
            links(&entry.path(), all);
        }
    }
}

#[test]
fn no_link_that_a_command_makes_in_a_repository_s_folder_stays() {
    if !is_full() {
        return;
    }
    let scene = start();
    let made = bash(
        &scene,
        "set -e; git worktree add -q --detach tree; git init -q ../lib; \
         git -C ../lib -c user.name=a -c user.email=a@a -c commit.gpgSign=false commit -q --allow-empty -m a; \
         git -c protocol.file.allow=always submodule --quiet add ../lib sub; git clone -q ../lib nested; \
         git add nested 2> /dev/null; git commit -qm sub; ln -s description .git/own; ln -s description .git/kept",
    );
    assert!(!made.contains("fatal"), "{made}");
    let target = scene.nvim.setup.dir().join("home/.bashrc");
    fs::write(&target, "mine\n").unwrap();
    let mut script = String::from("exec 2> /dev/null\n");
    for (folder, names) in [(".git", WRITTEN), ("nested/.git", &["COMMIT_EDITMSG", "logs/HEAD"])] {
        for it in names {
            let path = format!("{folder}/{it}");
            script += &format!(
                "mkdir -p \"$(dirname '{path}')\"; rm -rf '{path}'; ln -sf '{}' '{path}'\n",
                target.display()
            );
        }
    }
    script += "ln -sfn /tmp .git/own; mkdir moved; ln -s /tmp moved/it; mv moved .git/; ln -s config .git/inside";
    fs::write(scene.nvim.setup.path("links.sh"), script).unwrap();
    let (said, _) = call(&scene, "shell", json!({ "command": "bash links.sh; echo done" }), "");
    assert!(said.contains("done\n[the sandbox removed symbolic links from the folder"), "{said}");
    let mut left = Vec::new();
    for it in [".git", "nested/.git"] {
        links(&scene.nvim.setup.path(it), &mut left);
    }
    left.sort();
    let users = ["kept", "own"].map(|it| scene.nvim.setup.path(".git").join(it));
    assert_eq!(left, users, "{said}");
    assert_eq!(fs::read_link(&users[1]).unwrap(), Path::new("description"));
    scene.nvim.wait_screen("because your git would write through them");
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine\n");
    // a hard link would be another name of the file
    let said = shell(&scene, "ln ~/.bashrc .git/COMMIT_EDITMSG; ln ~/.bashrc COMMIT_EDITMSG");
    assert_eq!(said.matches("Invalid cross-device link").count(), 2, "{said}");
}

/// A command makes the root a repository of its own. Links of the user's that git does not follow stay.
#[test]
fn links_of_the_users_stay_in_a_root_that_becomes_a_repository() {
    if !is_full() {
        return;
    }
    let scene = start();
    bash(
        &scene,
        "ln -s a.txt plain; mkdir -p tools/bin; ln -s ../../a.txt tools/bin/tool; ln -s / outside",
    );
    let run = "git init -q --bare .; ln -s ~/.bashrc FETCH_HEAD; mkdir -p logs; ln -s ~/.bashrc logs/HEAD; echo done";
    let (said, _) = call(&scene, "shell", json!({ "command": run }), "");
    let is_link = |it: &str| scene.nvim.setup.path(it).is_symlink();
    // without its `HEAD`, which may be taken back while the command still runs, git writes through no link of the root
    let is_repository = scene.nvim.setup.path("HEAD").exists();
    assert!(!is_repository || !is_link("FETCH_HEAD") && !is_link("logs/HEAD"), "{said}");
    assert_eq!(["plain", "tools/bin/tool", "outside"].map(is_link), [true; 3], "{said}");
}

#[test]
fn what_the_user_commits_goes_into_no_file_to_which_a_command_has_led_git() {
    if !is_full() {
        return;
    }
    let scene = start();
    let target = scene.nvim.setup.dir().join("home/.bashrc");
    fs::write(&target, "mine\n").unwrap();
    let line = "for it in COMMIT_EDITMSG logs/HEAD ORIG_HEAD; do ln -sf ~/.bashrc .git/$it; done; \
        echo 'touch ran' > .git/SQUASH_MSG; echo done";
    let (said, _) = call(&scene, "shell", json!({ "command": line }), "");
    assert!(said.contains("done"), "{said}");
    bash(&scene, "GIT_EDITOR=true git commit --allow-empty -a; git reset -q --hard HEAD~1");
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine\n", "{said}");
}

/// A locked link, and where it leads, as text; whether there is a file, and the file that programs would use.
const LED: &[(&str, &str, bool, &str)] = &[
    (".git/hooks/pre-commit", "../../scripts/pre-commit", true, ".git/hooks/pre-commit"),
    (".git/hooks/pre-push", "../../new/push", false, ".git/hooks/pre-push"),
    (".vscode/tasks.json", "../config/tasks.json", true, ".vscode/tasks.json"),
    (".github/workflows/ci.yml", "../../ci/main.yml", false, ".github/workflows/ci.yml"),
    ("CLAUDE.md", "docs/agents/claude.md", true, "CLAUDE.md"),
    (".envrc", "env/dev", false, ".envrc"),
    (".gemini", "agents/gemini", true, ".gemini/settings.json"),
    (".cargo", "cfg/cargo", false, ".cargo/config.toml"),
    (".husky/pre-push", "../tools/push", true, ".husky/pre-push"),
    (".husky/pre-commit", "./../tools/../steps/one/two", true, ".husky/pre-commit"),
];

/// All paths to which these lead.
const TARGETS: &[&str] = &[
    "scripts/pre-commit",
    "new/push",
    "config/tasks.json",
    "ci/main.yml",
    "docs/agents/claude.md",
    "env/dev",
    "agents/gemini/settings.json",
    "cfg/cargo/config.toml",
    "tools/push",
    "real/push",
    "steps/one/two",
];

/// How a command writes a file: the file is `$f`, and there is a file `evil`.
const WAYS: &[&str] = &[
    "mkdir -p \"$(dirname $f)\"; cp evil $f",
    "rm -f $f; ln -s \"$PWD/evil\" $f",
    "cp evil evil2; mv -f evil2 $f",
    "d=$(dirname $f); mv $d $d.old; mkdir -p $d; cp evil $f; echo moved",
    "d=${f%%/*}; mv $d $d.old; mkdir -p \"$(dirname $f)\"; cp evil $f",
    "d=${f%%/*}; mv $d $d.old; mkdir -p \"other/$(dirname $f)\"; cp evil other/$f; ln -s other/$d $d",
    "d=${f%%/*}; rm -rf $d; ln -s \"$PWD/other/$d\" $d",
];

#[test]
fn what_a_locked_link_leads_to_is_as_locked_as_the_link() {
    if !is_full() {
        return;
    }
    let scene = start();
    let root = scene.nvim.setup.path("");
    let write = |path: &str, text: &str| {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text).unwrap();
    };
    fs::create_dir_all(root.join("real")).unwrap();
    symlink("real", root.join("tools")).unwrap();
    for (link, to, is_there, file) in LED {
        fs::create_dir_all(root.join(link).parent().unwrap()).unwrap();
        let _ = fs::remove_file(root.join(link));
        symlink(to, root.join(link)).unwrap();
        let led = root.join(link).parent().unwrap().join(to);
        if *is_there {
            let below = Path::new(file).strip_prefix(link).unwrap();
            let led = if below.as_os_str().is_empty() { led } else { led.join(below) };
            fs::create_dir_all(led.parent().unwrap()).unwrap();
            fs::write(&led, "mine").unwrap();
        }
    }
    fs::create_dir_all(root.join("env")).unwrap();
    write("evil", "evil");
    for way in WAYS {
        let script: String =
            TARGETS.iter().map(|it| format!("f={it}; {way}\n")).collect::<Vec<_>>().concat();
        write("write.sh", &script);
        for it in ["other", "tools", "tools.old"].map(|it| root.join(it)) {
            let _ = fs::remove_dir_all(&it).or_else(|_| fs::remove_file(&it));
        }
        symlink("real", root.join("tools")).unwrap();
        let (said, _) =
            call(&scene, "shell", json!({ "command": "bash write.sh 2>&1; echo done" }), "");
        assert!(said.contains("done"), "{said}");
        for (link, _, is_there, file) in LED {
            let found = fs::read_to_string(root.join(file)).ok();
            // a link on the way that a command has taken away leads nowhere any more
            let is_cut = link.starts_with(".husky") && !root.join("tools").is_symlink();
            let wanted = is_there.then_some("mine");
            let is_same = found.as_deref() == wanted || is_cut && found.is_none();
            assert!(is_same, "{link}: {found:?}: {way}: {said}");
        }
    }
    // what is beside them stays writable
    let said = shell(
        &scene,
        "for it in scripts config real docs; do echo a > $it/a.txt && cat $it/a.txt; done",
    );
    assert_eq!(said.trim_end(), "a\na\na\na");
}

#[test]
fn git_is_asked_about_what_a_locked_link_leads_to() {
    if !is_full() {
        return;
    }
    let scene = start();
    let made = bash(
        &scene,
        "set -e; mkdir scripts; echo a > scripts/hook; ln -s ../../scripts/hook .git/hooks/pre-push; git add -A; \
         git commit -qm a; git checkout -qb hooked; echo b > scripts/hook; git commit -qam b; git checkout -q main",
    );
    assert!(!made.contains("fatal"), "{made}");
    let (said, _) = call(&scene, "shell", json!({ "command": "git checkout hooked; true" }), "");
    assert!(said.contains("It would change scripts/hook, which commands may not write"), "{said}");
    assert_eq!(scene.on_disk("scripts/hook").as_deref(), Some("a\n"));
}
