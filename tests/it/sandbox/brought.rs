//! Repositories in folders of the project that git looks into only after a checkout of the user's.

use super::git::start;
use super::is_full;
use super::named::{EVIL, status};
use crate::grants::call;
use serde_json::json;
use std::fs;
use std::process::Command;

/// How a checkout of the user's gets the folder `evil` as a commit. `$T` is a tree with it, `$M` the commit that is checked
/// out. THEN begins another command.
const BROUGHT: [(&str, &str); 10] = [
    ("git update-ref refs/heads/x $(git commit-tree $T -p $M -m x)", "git checkout -q x"),
    ("git tag x $(git commit-tree $T -p $M -m x)", "git checkout -q x"),
    (
        "x=$(git commit-tree $T -p $M -m x); git update-ref refs/heads/x $(git commit-tree $M^{tree} -p $x -m y)",
        "git checkout -q x~1",
    ),
    (
        "i=$(git commit-tree $T -p $M -m index); git stash store -m x $(git commit-tree $T -p $M -p $i -m x)",
        "git stash pop -q --index || git read-tree stash@{0}",
    ),
    (
        "x=$(git commit-tree $T -p $M -m x); mkdir -p .git/logs
         printf '%040d %s a <a@a> 1 +0000\\tcheckout: moving from %s to main\\n' 0 $x $x >> .git/logs/HEAD",
        "git checkout -q -",
    ),
    // an object that is broken hides none behind it
    (
        "b=$(printf '100644 blob %s\\ta\\n040000 tree %s\\tb\\n' $(git rev-parse main:AGENTS.md) $(printf 1%.0s {1..40}) | git mktree --missing)
         git update-ref refs/heads/a $(git commit-tree $b -m a); git update-ref refs/heads/x $(git commit-tree $T -p $M -m x)",
        "git checkout -q x",
    ),
    // the commit, or its tree, is there only later
    (
        "x=$(git commit-tree $T -p $M -m x); f=.git/objects/${x:0:2}/${x:2}; mv $f obj; echo $x > .git/refs/heads/x
         THEN x=$(cat .git/refs/heads/x); mv obj .git/objects/${x:0:2}/${x:2}",
        "git checkout -q x",
    ),
    (
        "x=$(git commit-tree $T -p $M -m x); f=.git/objects/${T:0:2}/${T:2}; mv $f obj; echo $T > T; echo $x > .git/refs/heads/x
         THEN T=$(cat T); mkdir -p .git/objects/${T:0:2}; mv obj .git/objects/${T:0:2}/${T:2}",
        "git checkout -q x",
    ),
    (
        "mkdir -p .git/refs/heads/a/b/c/d/e/f/g/h/i/j/k/l/m
         git commit-tree $T -p $M -m x > .git/refs/heads/a/b/c/d/e/f/g/h/i/j/k/l/m/n",
        "git checkout -q a/b/c/d/e/f/g/h/i/j/k/l/m/n",
    ),
    // a branch of the user's
    ("true", "git checkout -q mine"),
];

#[test]
fn a_repository_in_a_folder_that_a_checkout_brings_runs_nothing() {
    if !is_full() {
        return;
    }
    let tree = "export GIT_INDEX_FILE=$PWD/.index; git read-tree main
        git update-index --add --cacheinfo 160000,$(git rev-parse main),evil; T=$(git write-tree)
        unset GIT_INDEX_FILE; rm -f .index; M=$(git rev-parse main)";
    let commit =
        "git -C evil -c user.name=a -c user.email=a@a commit -q --allow-empty -m a; rm -f ran";
    for (way, user) in BROUGHT {
        let scene = start();
        let bash = |script: &str| {
            let root = scene.nvim.setup.path("");
            let mut bash = Command::new("bash");
            let said = bash.args(["-c", script]).current_dir(root).output().unwrap();
            format!("{said:?}")
        };
        bash(&format!(
            "{tree}; git update-ref refs/heads/mine $(git commit-tree $T -p $M -m mine)"
        ));
        if way != "true" {
            bash("git branch -qD mine");
        }
        // an earlier command knows the references of that time
        call(&scene, "shell", json!({ "command": "true" }), "");
        let (first, then) = way.split_once("THEN").unwrap_or((way, "true"));
        fs::write(scene.nvim.setup.path("try.sh"), format!("{tree}\n{first}\n")).unwrap();
        let line = format!("{EVIL}; {commit}; bash try.sh; echo done");
        let (mut said, _) = call(&scene, "shell", json!({ "command": line }), "");
        fs::write(scene.nvim.setup.path("try.sh"), then).unwrap();
        said += &call(&scene, "shell", json!({ "command": "bash try.sh; echo done" }), "").0;
        assert!(said.contains("evil/.git/config, which leads to files"), "{way}: {said}");
        let went = bash(user);
        status(&scene);
        assert!(!scene.nvim.setup.path("ran").exists(), "{way}: {said} {went}");
        let has = bash("git ls-files -s evil");
        assert!(has.contains("160000"), "{way}: {went} {has}");
    }
}
