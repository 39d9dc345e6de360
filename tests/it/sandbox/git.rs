//! Git in the sandbox: a command that changes locked files is asked about, also in auto mode, or does not start.

use crate::grants::{call, is_asked};
use crate::kit::reply::Reply;
use crate::kit::sandbox::is_full;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::Scene;
use crate::run::Ran;
use serde_json::json;
use std::process::Command;

const REPOSITORY: &str = "set -e; git init -q -b main; git config user.name T; git config user.email t@l; \
    git config commit.gpgSign false; mkdir -p .github/workflows; echo 'Be kind.' > AGENTS.md; \
    echo 'on: push' > .github/workflows/ci.yml; echo a > a.txt; git add -A; git commit -qm base; \
    git checkout -qb other; echo 'Be brief.' > AGENTS.md; git rm -q .github/workflows/ci.yml; \
    git commit -qam other; git checkout -q main";

/// Makes a repository in a project. `AGENTS.md` and a workflow differ between the branches `main` and `other`.
fn make(setup: &Setup) {
    let root = setup.path("");
    std::fs::remove_dir_all(root.join(".git")).unwrap();
    let made = Command::new("bash").arg("-c").arg(REPOSITORY).current_dir(root).output().unwrap();
    assert!(made.status.success(), "{made:?}");
}

fn start() -> Scene {
    let scene = Scene::start(|it| it.config("{ mode = 'auto' }").size(160, 40));
    make(&scene.nvim.setup);
    scene
}

fn is_untouched(scene: &Scene) -> bool {
    scene.on_disk("AGENTS.md").as_deref() == Some("Be kind.\n")
        && scene.on_disk(".git/HEAD").as_deref() == Some("ref: refs/heads/main\n")
}

#[test]
fn git_alone_is_asked_about_the_locked_files_that_it_changes_and_then_changes_them() {
    if !is_full() {
        return;
    }
    let scene = start();
    let checkout = json!({ "command": "git checkout other" });
    scene.server.reply(Reply::new().call("c1", "shell", checkout.clone()));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.nvim.wait_transcript(
        "It changes files that commands may not change: `.github/workflows/ci.yml`, `AGENTS.md`.",
    );
    assert!(is_untouched(&scene));
    scene.server.reply(Reply::said("Denied."));
    scene.nvim.keys(":Caliban deny<CR>");
    scene.wait_idle("Denied.");
    assert!(is_untouched(&scene));
    let (said, was_asked) = call(&scene, "shell", checkout, ":Caliban approve<CR>");
    assert!(was_asked && said.contains("Switched to branch 'other'"), "{said}");
    assert_eq!(scene.on_disk("AGENTS.md").as_deref(), Some("Be brief.\n"));
    assert!(!scene.nvim.setup.path(".github/workflows/ci.yml").exists());
    assert!(!scene.nvim.setup.path(".github/workflows.refused").exists());
    // the consent was for that one command
    let (said, was_asked) = call(&scene, "shell", json!({ "command": "echo x > AGENTS.md" }), "");
    assert!(!was_asked && said.contains("Read-only file system"), "{said}");
    assert!(is_asked(&scene, "shell", json!({ "command": "git checkout main" })));
}

#[test]
fn git_among_other_commands_does_not_start_if_it_would_change_locked_files() {
    if !is_full() {
        return;
    }
    let scene = start();
    let input = json!({ "command": "git checkout other && touch done" });
    let (said, was_asked) = call(&scene, "shell", input, "");
    let wanted = "git checkout was not started. It would change .github/workflows/ci.yml, AGENTS.md, which commands \
        may not write. Run this git command alone";
    assert!(!was_asked && said.contains(wanted) && said.contains("exit code 128"), "{said}");
    assert!(is_untouched(&scene) && !scene.nvim.setup.path("done").exists());
    let (said, was_asked) = call(&scene, "shell", json!({ "command": "git merge -q main" }), "");
    assert!(!was_asked && said.contains("[no output]"), "{said}");
}

#[test]
fn git_does_not_get_past_the_look_by_another_name() {
    if !is_full() {
        return;
    }
    let scene = start();
    let refused = "checkout was not started. It would change .github/workflows/ci.yml, AGENTS.md";
    let git = Command::new("git").args(["-C", "/", "--exec-path"]).output().unwrap();
    let exec = String::from_utf8(git.stdout).unwrap();
    std::fs::write(scene.nvim.setup.path("Makefile"), "all:\n\tPATH=/usr/bin git checkout other\n")
        .unwrap();
    let config = scene.nvim.setup.path(".git/config");
    let alias = "[alias]\n\tgo = \"!git checkout other\"\n\tco2 = checkout\n";
    std::fs::write(&config, std::fs::read_to_string(&config).unwrap() + alias).unwrap();
    for command in [
        "/usr/bin/git checkout other; true",
        "bash -lc 'git checkout other'; true",
        "make -s all; true",
        "env -i /usr/bin/env PATH=/usr/bin:/bin CALIBAN_GIT=\"$CALIBAN_GIT\" git checkout other; true",
        "git go; true",
        "git co2 other; true",
        &format!("{}/git checkout other; true", exec.trim()),
        "python3 -c 'import os; os.execv(\"/usr/bin/git\", [\"git\", \"checkout\", \"other\"])'; true",
    ] {
        let (said, _) = call(&scene, "shell", json!({ "command": command }), "");
        assert!(said.contains(refused), "{command}: {said}");
        assert!(is_untouched(&scene), "{command}: {said}");
    }
    // git's own programs under other names do what they do
    let (said, _) = call(
        &scene,
        "shell",
        json!({ "command": "git clone -q --no-local . $TMPDIR/copy && ls $TMPDIR/copy; git-upload-pack --help | head -1" }),
        "",
    );
    assert!(said.contains("AGENTS.md") && said.contains("a.txt"), "{said}");
}

#[test]
fn git_does_not_start_where_nobody_can_answer() {
    if !is_full() {
        return;
    }
    let server = Server::start();
    let setup = Setup::new().anthropic(&server);
    make(&setup);
    let checkout = json!({ "command": "git checkout other" });
    server.reply(Reply::new().call("c1", "shell", checkout));
    server.reply(Reply::said("Done."));
    let ran = Ran::of(&mut setup.program(&["run", "--mode", "auto", "go on"]));
    let answer = server.requests()[1].answer("c1");
    assert!(answer.starts_with("Not run: nobody is here to answer"), "{answer} {}", ran.err);
    assert!(answer.contains("`.github/workflows/ci.yml`, `AGENTS.md`"), "{answer}");
    assert_eq!(setup.on_disk("AGENTS.md").as_deref(), Some("Be kind.\n"));
    assert_eq!(setup.on_disk(".git/HEAD").as_deref(), Some("ref: refs/heads/main\n"));
}
