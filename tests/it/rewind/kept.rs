//! Checkpoints across restarts of the program and changes of the session, and damaged or forged checkpoints.

use super::*;
use crate::kit::nvim::Nvim;
use crate::kit::server::Server;
use crate::kit::setup::kill;
use std::fs;
use std::path::PathBuf;

/// The files with contents in the checkpoint folder of a session.
fn blobs(setup: &Setup, name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(setup.sessions().join(format!("{name}.checkpoints"))).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    paths.retain(|it| it.file_name().unwrap().len() == 64);
    paths
}

fn kill_program(nvim: &Nvim) {
    let own = env!("CARGO_BIN_EXE_caliban");
    let pid = nvim.setup.processes().into_iter().find(|(_, line)| line == own).unwrap().0;
    kill(pid);
    nvim.wait_phase("offline");
}

#[test]
fn a_reopened_chat_shows_the_rewind() {
    let scene = two_accepted();
    rewind(&scene, "1");
    let said = |it: &Nvim| {
        let transcript = it.transcript();
        let lines = transcript.lines().filter(|it| it.starts_with("! "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    for _ in 0..2 {
        let before = said(&scene.nvim);
        assert!(before.iter().any(|it| it.contains("You took back")), "{before:?}");
        kill_program(&scene.nvim);
        scene.wait_chat("The program ended");
        scene.nvim.keys(":Caliban restart<CR>");
        scene.nvim.wait(|it| said(it) == before, &format!("{before:?}"));
        scene.nvim.wait_phase("idle");
        scene.told_next();
    }
}

/// Waits until the preview says that a file is not changed, and why.
fn wait_left(scene: &Scene, why: &str) {
    let line = format!("is not changed: {why}\n");
    let shown = |it: &Nvim| (it.buffer("/rewind") + "\n").contains(&line);
    scene.nvim.wait(shown, &line);
}

#[test]
fn changes_made_before_the_program_was_killed_can_be_rewound() {
    let scene = two_accepted();
    kill_program(&scene.nvim);
    scene.nvim.keys(":Caliban restart<CR>");
    scene.nvim.wait_phase("idle");
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn hunks_decided_with_the_program_dead_can_be_rewound() {
    let scene = Scene::two_hunks(|it| it);
    kill_program(&scene.nvim);
    scene.nvim.keys("2G\\r:Caliban accept all<CR>");
    scene.wait_hunks(0);
    scene.nvim.keys(":Caliban restart<CR>");
    scene.wait_chat("1 rejected");
    scene.nvim.wait_phase("idle");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l8", "L8\nL8b")));
    preview(&scene, "1");
    assert!(!scene.nvim.buffer("/rewind").contains("l2\n"), "{}", scene.nvim.buffer("/rewind"));
    scene.nvim.keys("a");
    scene.wait_chat("You took back");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn checkpoints_follow_a_session_resumed_renamed_copied_or_deleted() {
    let server = Server::start();
    let setup = Setup::new().file("a.txt", nine()).config(MODE).anthropic(&server);
    let scene = Scene { nvim: Nvim::start(&setup), server };
    scene.server.reply(two_hunks());
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_chat("You accepted 2 changes in a.txt.");
    scene.nvim.keys(":Caliban rename parser<CR>");
    scene.nvim.wait_screen("main is now called parser.");
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert!(scene.nvim.quit_with(":qa!<CR>").success());
    let scene = Scene { nvim: Nvim::start(&setup), server: scene.server };
    scene.nvim.keys(":Caliban resume parser<CR>");
    scene.wait_chat("I see.");
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(changed()));
    // A copy of a conversation has checkpoints of its own.
    scene.nvim.keys(":Caliban fork<CR>");
    scene.nvim.wait_session("parser-2");
    scene.wait_chat("I see.");
    rewind(&scene, "3");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    let count = |name: &str| {
        let log = setup.sessions().join(format!("{name}.checkpoints/changes"));
        fs::read_to_string(log).unwrap().lines().filter(|it| it.contains("\"rewind\"")).count()
    };
    assert_eq!(count("parser-2"), count("parser") + 1);
    scene.nvim.keys(":Caliban delete parser<CR>");
    scene.nvim.wait_screen("Move it to the trash");
    scene.nvim.keys("2<CR>");
    scene.nvim.wait_screen("parser is in the trash");
    assert!(!setup.sessions().join("parser.checkpoints").exists());
    assert!(setup.sessions().join("trash/parser-1.checkpoints").is_dir());
}

#[test]
fn a_file_with_a_damaged_checkpoint_is_left_alone() {
    let scene = two_accepted();
    for path in blobs(&scene.nvim.setup, "main") {
        fs::write(path, "nonsense").unwrap();
    }
    preview(&scene, "1");
    wait_left(&scene, "its earlier text is damaged");
    scene.nvim.keys("q");
    for path in blobs(&scene.nvim.setup, "main") {
        fs::remove_file(path).unwrap();
    }
    preview(&scene, "1");
    wait_left(&scene, "its earlier text is missing");
    scene.nvim.keys("a");
    scene.nvim.wait_screen("Nothing was taken back: no change can be taken back here.");
    assert_eq!(scene.on_disk("a.txt"), Some(changed()));
}

#[test]
fn a_rewind_does_not_touch_calibans_own_folders() {
    let scene = Scene::two_written(|it| {
        let own = it.path("own").display().to_string();
        it.env("XDG_CONFIG_HOME", &own).file("own/caliban/x.txt", changed())
    });
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_chat("You accepted 2 changes in a.txt.");
    let setup = &scene.nvim.setup;
    let log = setup.sessions().join("main.checkpoints/changes");
    let root = setup.path("").canonicalize().unwrap().display().to_string();
    let text = fs::read_to_string(&log).unwrap();
    let forged = text.replace(&format!("{root}/a.txt"), &format!("{root}/own/caliban/x.txt"));
    assert_ne!(forged, text);
    fs::write(&log, forged).unwrap();
    scene.nvim.keys(":Caliban restart<CR>");
    scene.nvim.wait_phase("idle");
    preview(&scene, "1");
    let why = "is not changed: it is Caliban's own (keys, settings, conversations)";
    scene.nvim.wait(|it| it.buffer("/rewind").contains(why), why);
    scene.nvim.keys("a");
    scene.nvim.wait_screen("Nothing was taken back: no change can be taken back here.");
    assert_eq!(setup.on_disk("own/caliban/x.txt"), Some(changed()));
}

#[test]
fn the_preview_marks_files_that_run_by_themselves() {
    let scene = Scene::start(|it| it.file("build.rs", nine()));
    scene.ask(Reply::new().call("e1", "edit", edit("build.rs", &[("l2", "L2")])));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    preview(&scene, "1");
    let shown = scene.nvim.buffer("/rewind");
    let said = "is restored (look closely: it runs when the project is built, installed or tested)";
    assert!(shown.contains(said), "{shown}");
}

#[test]
fn a_rewind_writes_through_no_link_and_not_outside_the_project() {
    let scene = two_accepted();
    let setup = &scene.nvim.setup;
    scene.nvim.keys(":bwipe a.txt<CR>");
    fs::rename(setup.path("a.txt"), setup.dir().join("elsewhere.txt")).unwrap();
    std::os::unix::fs::symlink(setup.dir().join("elsewhere.txt"), setup.path("a.txt")).unwrap();
    preview(&scene, "1");
    wait_left(&scene, "a symbolic link is in its place");
    scene.nvim.keys("a");
    scene.nvim.wait_screen("Nothing was taken back: no change can be taken back here.");
    scene.nvim.keys("q");
    let log = setup.sessions().join("main.checkpoints/changes");
    let text = fs::read_to_string(&log).unwrap();
    let outside = setup.dir().join("elsewhere.txt");
    let path = setup.path("a.txt").canonicalize().unwrap();
    assert_eq!(path, outside.canonicalize().unwrap());
    let inside = format!("{}/a.txt", setup.path("").canonicalize().unwrap().display());
    assert!(text.contains(&inside), "{text}");
    fs::write(&log, text.replace(&inside, path.to_str().unwrap())).unwrap();
    scene.nvim.keys(":Caliban restart<CR>");
    scene.nvim.wait_phase("idle");
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.wait_chat("Caliban ignores 2 recorded changes of this conversation");
    assert_eq!(fs::read_to_string(outside).unwrap(), changed());
}

#[test]
fn a_failure_to_store_checkpoints_does_not_stop_the_turn() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE));
    scene.nvim.keys(":Caliban<CR>");
    scene.nvim.wait_screen("Project");
    fs::write(scene.nvim.setup.sessions().join("main.checkpoints"), "in the way").unwrap();
    scene.server.reply(two_hunks());
    scene.ask_until(Reply::said("I see."), "I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(changed()));
    let messages = |it: &Nvim| it.lua_str("return vim.fn.execute('messages')");
    let told = |it: &Nvim| messages(it).contains("Caliban cannot store the files' earlier text");
    scene.nvim.wait(told, "what is wrong");
    preview(&scene, "1");
    let left = |it: &Nvim| it.buffer("/rewind").contains("not changed: its earlier text could not");
    scene.nvim.wait(left, "that it is left");
}

#[test]
fn an_unsaved_session_has_no_checkpoints() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE));
    scene.nvim.keys(":Caliban new!<CR>");
    scene.nvim.wait_screen("Project");
    scene.server.reply(two_hunks());
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("This conversation is never saved, so it cannot");
}

/// The user has taken the edit back by hand and changed another line, or a command has done so. Nobody has changed the
/// lines of the edit in another way.
#[test]
fn an_edit_that_was_taken_back_by_hand_is_not_said_to_have_changed_later() {
    let scene = two_accepted();
    let text = nine().replace("l5", "mine");
    fs::write(scene.nvim.setup.path("a.txt"), &text).unwrap();
    scene.nvim.keys(":checktime<CR>");
    preview(&scene, "1");
    assert_eq!(super::kinds::heads(&scene), "diff a.txt has nothing to take back\n");
    scene.nvim.keys("a");
    scene.nvim.wait_screen("Nothing was taken back");
    assert_eq!(scene.on_disk("a.txt"), Some(text));
}

/// The user accepts an edit while a command runs, which finds it on disk, and changes another line later.
#[test]
fn an_edit_that_was_accepted_while_a_command_ran_is_taken_back() {
    let scene = Scene::start(|it| {
        it.file("a.txt", nine()).file("b.txt", nine()).file(".gitignore", "started\ngo\n")
    });
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    scene.wait_pending(1);
    // the user writes a message, so the turn goes on while the edit is under review
    let command = "touch started; until [ -e go ]; do sleep 0.02; done; echo x >>b.txt";
    scene.server.reply(Reply::new().call("s1", "shell", json!({ "command": command })));
    scene.nvim.keys(":Caliban steer go on<CR>");
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.nvim.wait(|it| it.setup.path("started").exists(), "the start of the command");
    scene.nvim.keys(":Caliban accept all<CR>");
    scene
        .nvim
        .wait(|_| scene.on_disk("a.txt") == Some(nine().replace("l2", "L2")), "the edit on disk");
    scene.server.reply(Reply::said("I see."));
    fs::write(scene.nvim.setup.path("go"), "").unwrap();
    scene.wait_idle("I see.");
    scene.nvim.keys(":edit a.txt<CR>5GAmine<Esc>:write<CR>");
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l5", "l5mine")));
    assert_eq!(scene.on_disk("b.txt"), Some(nine()));
}
