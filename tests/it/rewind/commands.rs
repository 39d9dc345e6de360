//! Rewinds of turns in which shell commands changed files.

use super::*;
use crate::kit::nvim::Nvim;
use crate::kit::setup::kill;
use std::fs::{self, Permissions};
use std::process::Command;

pub(super) fn git(scene: &Scene, arguments: &[&str]) {
    git_says(scene, arguments);
}

pub(super) fn git_says(scene: &Scene, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args([
        "-c",
        "user.name=me",
        "-c",
        "user.email=me@example.org",
        "-c",
        "commit.gpgsign=false",
    ]);
    let done = git.args(arguments).current_dir(scene.nvim.setup.path("")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// A project under git. `b.txt` has a change of the user's, and the model has run `command`.
fn ran(command: &str) -> Scene {
    let scene = Scene::start(|it| {
        let it = it.file("a.txt", nine()).file("b.txt", nine()).file("gone.txt", "one\r\ntwo\r\n");
        let it = it.file(".gitignore", "ignored\n").file("raw", b"\xff\0raw");
        it.file("run.sh", "echo run\n").mode("run.sh", 0o755)
    });
    git(&scene, &["init", "-q"]);
    git(&scene, &["add", "."]);
    git(&scene, &["commit", "-qm", "begin"]);
    fs::write(scene.nvim.setup.path("b.txt"), nine().replace("l1", "mine")).unwrap();
    fs::write(scene.nvim.setup.path("own.sh"), "echo own\n").unwrap();
    fs::set_permissions(scene.nvim.setup.path("own.sh"), Permissions::from_mode(0o700)).unwrap();
    run_command(&scene, command);
    scene
}

/// The model runs a command, to which the user agrees.
pub(super) fn run_command(scene: &Scene, command: &str) {
    scene.ask(Reply::new().call("c1", "shell", json!({ "command": command })));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("I see.");
}

#[test]
fn a_rewind_restores_files_that_a_command_changed_created_or_deleted() {
    let command = "sed -i s/l2/L2/ a.txt b.txt; rm gone.txt run.sh own.sh; mkdir new; echo c > new/c.txt; echo e > $'e\\nvil'; \
        echo x > ignored; printf other > raw; git commit -qam more";
    let scene = ran(&command.replace("git commit", "git -c user.name=m -c user.email=m@m commit"));
    preview(&scene, "1");
    let shown = scene.nvim.buffer("/rewind");
    let heads: Vec<&str> = shown.lines().filter(|it| it.starts_with("diff")).collect();
    expect![[r#"
        diff a.txt is restored (changed by a command)
        diff b.txt is restored (changed by a command)
        diff e[U+000A]vil is deleted (changed by a command)
        diff gone.txt is created again (changed by a command)
        diff new/c.txt is deleted (changed by a command)
        diff own.sh is created again (changed by a command)
        diff raw is restored (changed by a command)
        diff run.sh is created again (changed by a command)"#]]
    .assert_eq(&heads.join("\n"));
    scene.nvim.keys("a");
    scene.wait_chat("You took back");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.on_disk("b.txt"), Some(nine().replace("l1", "mine")));
    assert_eq!(scene.on_disk("gone.txt").as_deref(), Some("one\r\ntwo\r\n"));
    for (script, mode) in [("run.sh", 0o755), ("own.sh", 0o700)] {
        let path = scene.nvim.setup.path(script);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode, "{script}");
    }
    assert_eq!((scene.on_disk("new/c.txt"), scene.on_disk("e\nvil")), (None, None));
    assert_eq!(scene.on_disk("ignored").as_deref(), Some("x\n"));
    assert_eq!(fs::read(scene.nvim.setup.path("raw")).unwrap(), b"\xff\0raw");
}

#[test]
fn without_git_a_rewind_takes_back_a_commands_change_of_a_file_edited_before() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE));
    let run = json!({"command": "sed -i s/l5/L5/ a.txt"});
    let reply = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")]));
    scene.ask(reply.call("c1", "shell", run));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.wait_screen("Run");
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l5", "L5")));
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn a_rewind_takes_back_the_changes_of_a_stopped_command() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    git(&scene, &["init", "-q"]);
    git(&scene, &["add", "."]);
    let run = json!({"command": "sed -i s/l2/L2/ a.txt; printf 'so %s\\n' far; exec sleep 1000"});
    scene.ask(Reply::new().call("c1", "shell", run));
    scene.nvim.wait_screen("Run");
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_chat("so far");
    scene.nvim.keys(":Caliban stop<CR>");
    scene.nvim.wait_phase("idle");
    let sessions = scene.nvim.setup.dir().join("data/caliban/sessions");
    let log = |_: &Nvim| {
        let project = fs::read_dir(&sessions).unwrap().next().unwrap().unwrap().path();
        let log = fs::read_to_string(project.join("main.checkpoints/changes"));
        log.is_ok_and(|it| it.contains("a.txt"))
    };
    scene.nvim.wait(log, "what the command changed");
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

/// A stranger's repository may configure filters and other commands. Comparing the files with git must not run them.
#[test]
fn git_runs_no_command_that_the_repository_configures() {
    let scene = Scene::start(|it| {
        it.file("a.txt", nine()).file("b.txt", nine()).file(".gitattributes", "*.txt filter=x=y\n")
    });
    git(&scene, &["init", "-q"]);
    git(&scene, &["add", "."]);
    git(&scene, &["commit", "-qm", "begin"]);
    let name = git_says(&scene, &["rev-parse", ":.gitattributes"]);
    let pwn = scene.nvim.setup.dir().join("PWN");
    let run = |more: &str| format!("touch {}; {more}", pwn.display());
    for (name, value) in [
        ("filter.x=y.clean", run("cat")),
        ("filter.x=y.smudge", run("cat")),
        ("filter.x=y.process", run("false")),
        ("filter.x=y.required", "true".to_owned()),
        ("core.fsmonitor", run("false")),
        ("core.sshCommand", run("false")),
        ("extensions.partialClone", "origin".to_owned()),
        ("remote.origin.promisor", "true".to_owned()),
        ("remote.origin.url", "ssh://localhost/x".to_owned()),
    ] {
        git(&scene, &["config", name, &value]);
    }
    // After this, git has to compare `a.txt` with its object. The object is missing, so git would fetch it.
    fs::write(scene.nvim.setup.path("a.txt"), nine().replace("l1", "x1")).unwrap();
    let (folder, rest) = name.trim().split_at(2);
    fs::remove_file(scene.nvim.setup.path(&format!(".git/objects/{folder}/{rest}"))).unwrap();
    let command =
        json!({ "command": "sed -i s/l2/L2/ a.txt b.txt; echo '# more' >> .gitattributes" });
    scene.ask(Reply::new().call("c1", "shell", command));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.wait_screen("Run");
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("I see.");
    assert!(!pwn.exists(), "the repository has run a command");
    preview(&scene, "1");
    scene.nvim.keys("a");
    scene.wait_chat("You took back");
    assert_eq!(scene.on_disk("b.txt"), Some(nine()));
}

#[test]
fn a_turn_whose_command_was_cut_off_by_the_end_of_the_editor_is_in_the_list() {
    for is_killed in [false, true] {
        let scene = Scene::start(|it| it.file("a.txt", nine()).size(160, 40));
        let command = "mkfifo go; echo new > a.txt; read x < go";
        scene.ask(Reply::new().call("s1", "shell", json!({ "command": command })));
        scene.nvim.wait_question();
        scene.nvim.keys(":Caliban approve<CR>");
        let is_new = |it: &Nvim| it.setup.on_disk("a.txt").as_deref() == Some("new\n");
        scene.nvim.wait(is_new, "the command's change");
        let Scene { server, nvim } = scene;
        let setup = nvim.setup.clone();
        if is_killed {
            let is_program =
                |it: &&(u32, String)| it.1.ends_with("caliban") && !it.1.contains("supervisor");
            kill(setup.processes().iter().find(is_program).unwrap().0);
            nvim.kill();
        } else {
            nvim.quit_with(":qa!<CR>");
        }
        let scene = Scene { server, nvim: Nvim::start(&setup) };
        scene.nvim.keys(":Caliban<CR>");
        scene.wait_chat("Interrupted");
        scene.nvim.keys(":Caliban rewind<CR>");
        scene.nvim.wait_screen("1: please  changes may be missing");
        scene.nvim.keys("1<CR>");
        scene.nvim.wait_screen("take back all");
        let shown = scene.nvim.buffer("/rewind");
        assert!(shown.starts_with("A command of this turn may still run, or Neovim"), "{shown}");
    }
}
