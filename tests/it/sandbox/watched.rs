//! The watch over locked files in the sandbox: nothing that a command does to folders makes it blind, and it knows what
//! the user has agreed to.

use super::git::start;
use super::{is_full, shell};
use crate::grants::call;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::Scene;
use crate::run::Ran;
use serde_json::json;
use std::fs;

/// A project in which a configuration of git and a file for a shell are locked.
fn project() -> Scene {
    Scene::start(|it| {
        it.file(".git/config", "[core]\n")
            .file(".git/HEAD", "ref: refs/heads/main\n")
            .file(".git/worktrees/a/commondir", "../..\n")
            .file(".envrc", "mine\n")
    })
}

#[test]
fn a_folder_that_a_command_has_closed_hides_no_locked_file_from_the_next_command() {
    if !is_full() {
        return;
    }
    let scene = project();
    for folder in [".", ".git", ".git/worktrees"] {
        for mode in ["311", "333", "000", "444", "666"] {
            let said = shell(&scene, &format!("chmod {mode} {folder}; echo closed"));
            assert!(said.starts_with("closed"), "{said}");
            let said = shell(
                &scene,
                &format!(
                    "chmod 755 {folder}; for f in .git/config .git/worktrees/a/commondir .envrc; do echo evil > $f; done"
                ),
            );
            assert_eq!(said.matches("Read-only file system").count(), 3, "{folder} {mode}: {said}");
        }
    }
    assert_eq!(scene.on_disk(".git/config").as_deref(), Some("[core]\n"));
    assert_eq!(scene.on_disk(".git/worktrees/a/commondir").as_deref(), Some("../..\n"));
    assert_eq!(scene.on_disk(".envrc").as_deref(), Some("mine\n"));
}

#[test]
fn a_locked_file_is_taken_back_whatever_rights_its_folder_has_and_names_are_in_use() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    for (command, to) in [
        ("echo evil > .envrc; chmod 555 .", "(renamed to .envrc.refused)"),
        ("echo evil > .envrc; chmod 333 .", "(renamed to .envrc.refused2)"),
        ("echo evil > .envrc; chmod 000 .", "(renamed to .envrc.refused3)"),
        (
            "mkdir -p .github/workflows; chmod 111 .github/workflows .github",
            "(renamed to .github/workflows.refused)",
        ),
        (
            "for i in $(seq 99); do touch .envrc.refused$i; done; echo evil > .envrc",
            "(renamed to .envrc.refused-",
        ),
    ] {
        let said = shell(&scene, command);
        assert!(said.contains(to), "{command}: {said}");
        for it in [".envrc", ".github/workflows"] {
            assert!(!scene.nvim.setup.path(it).exists(), "{command}: {it}: {said}");
        }
    }
}

/// Takes away the rights on the project's folder again and again.
const CLOSING: &str = "import os
folder = os.open('.', os.O_RDONLY)
while True:
    os.fchmod(folder, 0)
";

/// A look may find the file before the folder is closed, and then cannot rename it.
#[test]
fn a_command_that_closes_the_folder_of_a_file_it_may_not_create_is_ended() {
    if !is_full() {
        return;
    }
    let script = CLOSING.replace("while", "open('.envrc', 'w').write('evil')\nwhile");
    let scene = Scene::start(|it| it.file("closing.py", script));
    let input = json!({ "command": "python3 closing.py", "timeout_s": 600 });
    let (said, _) = call(&scene, "shell", input, ":Caliban approve<CR>");
    assert!(said.contains("he command was ended") && !said.contains("timed out"), "{said}");
    assert_eq!(scene.on_disk(".envrc"), None, "{said}");
}

#[test]
fn a_command_that_keeps_caliban_from_looking_is_ended() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.file("closing.py", CLOSING));
    let input = json!({ "command": "python3 closing.py", "timeout_s": 600 });
    let (said, _) = call(&scene, "shell", input, ":Caliban approve<CR>");
    assert!(!said.contains("timed out"), "{said}");
    let wanted = "[the command was ended, because Caliban could not look for files that commands may not create: ";
    assert!(
        said.contains(wanted) && said.contains("cannot be listed (permission denied)"),
        "{said}"
    );
    scene.nvim.keys(":Caliban log permissions<CR>");
    scene.nvim.wait_screen("ended: ");
}

/// A commit that was made after the conversation's first command, so that the repository did not hold its locked file
/// before.
const COMMIT: &str = "set -e; b=$(echo agreed | git hash-object -w --stdin); export GIT_INDEX_FILE=$TMPDIR/index; \
    git read-tree main; git update-index --add --cacheinfo 100644,$b,.envrc; t=$(git write-tree); \
    git update-ref refs/heads/later $(git commit-tree -p main -m later $t)";

#[test]
fn a_job_s_watch_knows_what_the_user_has_agreed_to_for_another_command() {
    if !is_full() {
        return;
    }
    let scene = start();
    let job = "w() { until [ -e $1 ]; do sleep 0.02; done; }
w go; echo evil > .exrc; w .git/refused/.exrc; echo looked
w more; echo worse > .envrc; w .git/refused/.envrc; echo taken; read x";
    let mut said = call(&scene, "shell", json!({ "command": job, "background": true }), "").0;
    call(&scene, "shell", json!({ "command": COMMIT }), "");
    let input = json!({ "command": "git checkout later" });
    let (done, was_asked) = call(&scene, "shell", input, ":Caliban approve<CR>");
    assert!(was_asked && done.contains("Switched to branch 'later'"), "{done}");
    let mut until = |text: &str| {
        while !said.contains(text) {
            let read = json!({ "action": "read", "id": 1, "wait_s": 600 });
            said += &call(&scene, "job", read, "").0;
        }
    };
    fs::write(scene.nvim.setup.path("go"), "").unwrap();
    until("looked");
    assert_eq!(scene.on_disk(".envrc").as_deref(), Some("agreed\n"));
    // what the job makes of it is not what the user has agreed to
    fs::write(scene.nvim.setup.path("more"), "").unwrap();
    until("taken");
    assert_eq!(scene.on_disk(".envrc"), None);
    assert_eq!(scene.on_disk(".git/refused/.envrc").as_deref(), Some("worse\n"));
}

#[test]
fn the_content_of_another_branch_gets_to_a_locked_path_by_no_way_but_a_checkout() {
    if !is_full() {
        return;
    }
    let scene = start();
    let root = scene.nvim.setup.path("");
    let evil = "set -e; git checkout -q -b evil; echo evil > .envrc; git add .envrc; git commit -qm evil; git checkout -q main";
    let made = std::process::Command::new("bash").args(["-c", evil]).current_dir(&root).output();
    assert!(made.unwrap().status.success());
    for way in ["git show evil:.envrc > .envrc", "git archive evil .envrc | tar x"] {
        let (said, _) =
            call(&scene, "shell", json!({ "command": format!("{way}; echo done") }), "");
        assert!(said.contains("done"), "{said}");
        assert_eq!(scene.on_disk(".envrc"), None, "{way}: {said}");
    }
    assert_eq!(scene.on_disk(".git/refused/.envrc").as_deref(), Some("evil\n"));
}

#[test]
fn no_command_makes_the_root_a_repository_or_names_a_remote_in_a_file() {
    if !is_full() {
        return;
    }
    let scene = project();
    let said = shell(
        &scene,
        "rm -f .git/HEAD; mkdir objects refs; printf '[core]\\n\\tfsmonitor = touch ran; false\\n\\tworktree = .\\n' > config; \
         printf 'ref: refs/heads/main\\n' > HEAD; echo done",
    );
    assert!(said.contains("HEAD, which lets git") && said.contains("(renamed to "), "{said}");
    assert!(!scene.nvim.setup.path("HEAD").exists(), "{said}");
    let mut git = std::process::Command::new("git");
    git.arg("status").current_dir(scene.nvim.setup.path("")).output().unwrap();
    assert!(!scene.nvim.setup.path("ran").exists());
    for folder in ["remotes", "branches"] {
        let said = shell(
            &scene,
            &format!("mkdir -p .git/{folder}; echo 'URL: ./x' > .git/{folder}/origin; echo done"),
        );
        assert!(said.contains("(renamed to "), "{folder}: {said}");
        assert!(!scene.nvim.setup.path(&format!(".git/{folder}/origin")).exists(), "{said}");
    }
}

/// Whatever ends the conversation, what its jobs have left is looked at once more.
#[test]
fn a_job_that_ends_with_the_run_leaves_no_locked_file() {
    if !is_full() {
        return;
    }
    for _ in 0..4 {
        let server = Server::start();
        let line = "while :; do echo evil > .envrc; mkdir -p .vscode; echo evil > .vscode/tasks.json; done";
        let job = json!({ "command": line, "background": true });
        server.reply(Reply::new().call("c1", "shell", job));
        server.reply(Reply::said("Done."));
        let setup = Setup::new().anthropic(&server);
        let ran = Ran::of(&mut setup.program(&["run", "--mode", "auto", "go"]));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!((setup.on_disk(".envrc"), setup.on_disk(".vscode/tasks.json")), (None, None));
    }
}
