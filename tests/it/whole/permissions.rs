//! A deleted file that comes back has its earlier bytes and permissions.

use super::{MODE, delete};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::reopened::quit;
use crate::review::scene::Scene;
use crate::run::Ran;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Files with their permissions, which no new file gets.
const FILES: [(&str, u32, &[u8]); 4] = [
    ("run.sh", 0o755, b"echo hello\n"),
    ("priv.ini", 0o600, b"key = 1\n"),
    ("shared.txt", 0o666, b"one"),
    ("latin.c", 0o640, b"caf\xe9\n"),
];

fn files(setup: Setup) -> Setup {
    FILES.iter().fold(setup, |it, (path, mode, bytes)| it.file(path, bytes).mode(path, *mode))
}

fn deletions() -> Reply {
    deletions_of(&FILES)
}

fn deletions_of(files: &[(&str, u32, &[u8])]) -> Reply {
    files.iter().fold(Reply::new(), |it, (path, ..)| it.call(path, "delete", delete(path)))
}

/// A scene in auto-edit mode in which the model has deleted all files.
fn deleted() -> Scene {
    let scene = Scene::start(|it| files(it.config(MODE)));
    scene.server.reply(deletions());
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(FILES.len());
    assert!(FILES.iter().all(|it| !scene.nvim.setup.path(it.0).exists()));
    scene
}

#[track_caller]
fn are_back(setup: &Setup) {
    for (path, mode, bytes) in FILES {
        let there = setup.path(path);
        let now = fs::metadata(&there).unwrap().permissions().mode() & 0o777;
        assert_eq!((fs::read(&there).unwrap().as_slice(), now), (bytes, mode), "{path}: {now:o}");
    }
}

fn rewind(nvim: &Nvim) {
    nvim.keys(":Caliban rewind<CR>");
    nvim.wait_screen("Type number and <Enter>");
    nvim.keys("1<CR>");
    nvim.wait_screen("take back all");
    nvim.keys("a");
    nvim.wait_transcript("You took back");
}

#[test]
fn rejected_deletions_bring_the_permissions_back() {
    let scene = deleted();
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    are_back(&scene.nvim.setup);
}

#[test]
fn deletions_that_are_rejected_after_a_restart_bring_the_permissions_back() {
    let scene = deleted();
    scene.nvim.wait(|it| it.setup.review_records().len() == FILES.len(), "the records");
    let scene = quit(scene);
    scene.wait_hunks(FILES.len());
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    are_back(&scene.nvim.setup);
}

#[test]
fn a_rewind_of_accepted_deletions_brings_the_permissions_back() {
    let scene = deleted();
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    rewind(&scene.nvim);
    are_back(&scene.nvim.setup);
}

#[test]
fn the_deletions_of_a_subagent_are_rejected_with_their_permissions() {
    let scene = Scene::start(|it| files(it.config(MODE)));
    let task = crate::tasks::task("Delete all.");
    scene.server.reply(Reply::new().call("t1", "task", task));
    scene.server.reply_to(crate::tasks::has_got("Delete all.", 0), deletions());
    let all = crate::tasks::has_got("Delete all.", FILES.len());
    scene.server.reply_to(all, Reply::said("Deleted."));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(FILES.len());
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    are_back(&scene.nvim.setup);
}

#[test]
fn a_rewind_of_a_run_without_an_editor_brings_the_permissions_back() {
    for mode in ["auto", "auto-edit"] {
        let server = Server::start();
        // nobody is here to agree to the deletion of a file that is not UTF-8
        server.reply(deletions_of(&FILES[..3]));
        server.reply(Reply::said("Done."));
        let setup = files(Setup::new().anthropic(&server));
        let arguments = ["run", "--mode", mode, "--session", "run", "go"];
        let ran = Ran::of(&mut setup.program(&arguments));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(FILES[..3].iter().all(|it| !setup.path(it.0).exists()), "{}", ran.err);
        for (path, kind) in [("run.sh", "100755"), ("priv.ini", "100644")] {
            let head = format!("diff --git a/{path} b/{path}\ndeleted file mode {kind}\n");
            assert!(ran.err.contains(&head), "{}", ran.err);
        }
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban resume run<CR>");
        nvim.wait_session("run");
        rewind(&nvim);
        are_back(&setup);
    }
}
