//! Commands that take away for a while what git needs to tell what is in a repository. That git fails says nothing of what is
//! there.

use super::git::start;
use super::is_full;
use super::named::{EVIL, status};
use crate::grants::call;
use serde_json::json;
use std::fs;
use std::process::Command;

/// What is taken away from git's folder, and what stands in its place.
const BLINDED: [(&str, &str); 4] =
    [("HEAD", "true"), ("HEAD", "echo broken > .git/HEAD"), ("objects", "true"), ("refs", "true")];

fn bash(scene: &crate::review::scene::Scene, script: &str) -> String {
    let mut bash = Command::new("bash");
    let said = bash.args(["-c", script]).current_dir(scene.nvim.setup.path("")).output().unwrap();
    format!("{said:?}")
}

#[test]
fn a_repository_that_git_could_not_see_for_a_while_runs_nothing() {
    if !is_full() {
        return;
    }
    for (part, instead) in BLINDED {
        let scene = start();
        let line = format!(
            "{EVIL}; git -C evil -c user.name=a -c user.email=a@a commit -q --allow-empty -m a; rm -f ran
             mv evil/.git/config evil/.git/c; cp .git/index .git/i
             GIT_INDEX_FILE=$PWD/.git/i git update-index --add --cacheinfo 160000,$(git rev-parse main),evil
             mv .git/{part} .git/away; {instead}; mv .git/i .git/index; sleep 0.5
             rm -rf .git/{part}; mv .git/away .git/{part}; cp evil/.git/c evil/.git/config; sleep 0.5; echo done"
        );
        call(&scene, "shell", json!({ "command": line }), "");
        // the command may have been ended in between
        let restored = format!(
            "test ! -e .git/away || {{ rm -rf .git/{part}; mv .git/away .git/{part}; }}; test ! -e .git/i || mv .git/i .git/index"
        );
        let went = bash(&scene, &restored);
        let line = "cp evil/.git/c evil/.git/config; sleep 0.3; echo done";
        let (said, _) = call(&scene, "shell", json!({ "command": line }), "");
        status(&scene);
        assert!(!scene.nvim.setup.path("ran").exists(), "{part} {instead}: {said} {went}");
        let has = bash(&scene, "git ls-files -s evil");
        assert!(has.contains("160000"), "{part} {instead}: {has}");
    }
}

#[test]
fn a_program_that_git_s_configuration_names_is_locked_while_git_fails() {
    if !is_full() {
        return;
    }
    for (part, instead) in BLINDED {
        let scene = start();
        let root = scene.nvim.setup.path("");
        fs::write(root.join("tool.sh"), "#!/bin/sh\nfalse\n").unwrap();
        bash(&scene, "chmod +x tool.sh; git config core.fsmonitor ./tool.sh");
        let line = format!("mv .git/{part} .git/away; {instead}; echo done");
        call(&scene, "shell", json!({ "command": line }), "");
        let line = "echo 'touch ran' >> tool.sh; rm -f tool.sh; echo 'touch ran' > tool.sh";
        let (said, _) = call(&scene, "shell", json!({ "command": line }), "");
        bash(&scene, &format!("rm -rf .git/{part}; mv .git/away .git/{part}"));
        status(&scene);
        assert!(!root.join("ran").exists(), "{part} {instead}: {said}");
        assert_eq!(scene.on_disk("tool.sh").as_deref(), Some("#!/bin/sh\nfalse\n"), "{said}");
    }
}
