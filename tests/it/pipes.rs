//! Pipes, sockets and devices in the place of a file: nothing is read from them, and nothing waits for them.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, edit, nine, two_hunks, write};
use crate::sessions::kill_program;
use expect_test::expect;
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

fn fifo(path: &Path) {
    let _ = fs::remove_file(path);
    mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
}

fn is_fifo(path: &Path) -> bool {
    fs::symlink_metadata(path).unwrap().file_type().is_fifo()
}

/// Lets `replace` put something else in the place of the file under review, and types keys that decide on the hunks.
/// Returns the answer that the model gets.
fn decided(replace: impl Fn(&Path), keys: &str) -> (Scene, String) {
    let scene = Scene::two_hunks(|it| it);
    replace(&scene.nvim.setup.path("a.txt"));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(keys);
    scene.wait_idle("I see.");
    let told = scene.answer(2, "e1");
    (scene, told)
}

#[test]
fn accepting_a_file_that_became_a_pipe_writes_nothing() {
    let (scene, told) = decided(fifo, ":Caliban accept all<CR>");
    expect![[r#"
        The user accepted 2 changes in a.txt.
        a.txt is not saved (it is a pipe): the changes are not on disk yet."#]]
    .assert_eq(&told);
    assert!(is_fifo(&scene.nvim.setup.path("a.txt")));
    assert!(scene.nvim.buffer("/a.txt").contains("L8b"), "the text is kept");
    scene.nvim.wait_screen("a.txt: 2 accepted, not saved: it is a pipe");
}

#[test]
fn accepting_a_file_that_became_a_socket_or_device_writes_nothing() {
    let socket = |path: &Path| {
        fs::remove_file(path).unwrap();
        drop(UnixListener::bind(path).unwrap());
    };
    let (_, told) = decided(socket, ":Caliban accept all<CR>");
    assert!(told.contains("it is a socket"), "{told}");
    let device = |path: &Path| {
        fs::remove_file(path).unwrap();
        symlink("/dev/zero", path).unwrap();
    };
    let (_, told) = decided(device, ":Caliban accept all<CR>");
    assert!(told.contains("it is a device"), "{told}");
}

#[test]
fn rejecting_a_file_that_became_a_pipe_keeps_the_pipe() {
    let (scene, _) = decided(fifo, ":Caliban reject all<CR>");
    assert!(is_fifo(&scene.nvim.setup.path("a.txt")));
    // entering a buffer makes Neovim look at the file on disk
    scene.nvim.keys(":edit b.txt<CR>:buffer a.txt<CR>");
    assert!(!scene.nvim.is_blocked());
}

#[test]
fn accepting_a_new_file_whose_name_is_a_pipe_writes_nothing() {
    let scene = Scene::start(|it| it);
    scene.ask(Reply::new().call("w1", "write", write("new.txt", "text\n")));
    scene.wait_pending(1);
    fifo(&scene.nvim.setup.path("new.txt"));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    let told = scene.answer(2, "w1");
    assert!(told.contains("it is a pipe"), "{told}");
    assert!(is_fifo(&scene.nvim.setup.path("new.txt")));
}

#[test]
fn deleting_or_renaming_leaves_a_pipe_in_the_files_place_alone() {
    for (tool, arguments) in [
        ("delete", json!({ "path": "a.txt" })),
        ("rename", json!({ "path": "a.txt", "to": "b.txt" })),
    ] {
        let scene = Scene::start(|it| it.file("a.txt", nine()));
        scene.ask(Reply::new().call("c1", tool, arguments));
        scene.wait_pending(1);
        fifo(&scene.nvim.setup.path("a.txt"));
        scene.nvim.keys(":Caliban accept all<CR>");
        scene.nvim.wait_screen("it is a pipe");
        assert!(is_fifo(&scene.nvim.setup.path("a.txt")));
        assert_eq!(scene.pending(), 1);
    }
}

/// A pipe replaces a file whose hunks are written but undecided. Neither a look at the disk nor a rejection waits for
/// the pipe.
#[test]
fn in_auto_edit_a_file_that_became_a_pipe_hangs_nothing() {
    let scene = Scene::two_written(|it| it);
    fifo(&scene.nvim.setup.path("a.txt"));
    scene.nvim.keys(":doautocmd FocusGained<CR>:checktime<CR>");
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert!(is_fifo(&scene.nvim.setup.path("a.txt")));
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
}

#[test]
fn after_a_restart_the_review_of_a_file_that_became_a_pipe_waits() {
    let scene = Scene::two_hunks(|it| it);
    assert!(scene.nvim.quit_with("<Esc>:qa!<CR>").success());
    let setup = scene.nvim.setup.clone();
    fifo(&setup.path("a.txt"));
    drop(scene.nvim);
    let nvim = Nvim::start(&setup);
    nvim.wait_screen("The review of a.txt waits until you open the file: it is a pipe.");
}

/// Puts a pipe in each place where the program looks for a file by itself.
fn with_pipes(setup: Setup) -> Setup {
    let at = |path: &str| setup.path(path);
    for path in [
        "AGENTS.md",
        ".git/config",
        ".git/logs/HEAD",
        ".todos.json",
        "pipe",
        ".caliban/skills/x/SKILL.md",
    ] {
        fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        fifo(&at(path));
    }
    fifo(&at(".b.txt.swp"));
    fs::create_dir_all(at("in")).unwrap();
    symlink("/dev/zero", at("zero")).unwrap();
    setup.file("a.txt", nine()).file("b.txt", nine()).before("vim.o.directory = '.'")
}

#[test]
fn pipes_among_the_projects_files_hang_no_tool() {
    let scene = Scene::start(with_pipes);
    let calls = Reply::new()
        .call("r1", "read", json!({ "path": "pipe" }))
        .call("g1", "grep", json!({ "pattern": "l5" }))
        .call("g2", "grep", json!({ "pattern": "l5", "path": "pipe" }))
        .call("l1", "glob", json!({ "pattern": "**/*" }))
        .call("t1", "todo", json!({}))
        .call("d1", "diagnostics", json!({ "path": "b.txt" }))
        .call("w1", "write", write("pipe", "x"))
        .call("e2", "edit", edit("b.txt", &[("l2", "L2")]));
    scene.server.reply(calls);
    scene.server.reply(two_hunks());
    scene.nvim.lua("require('caliban').ask('look')", &[]);
    scene.wait_pending(2);
    let answer = |id: &str| scene.answer(2, id);
    for id in ["r1", "w1"] {
        assert!(answer(id).contains("it is a device, a pipe or a socket"), "{id}: {}", answer(id));
    }
    let swap = "its swap file is not a regular file: it is a pipe";
    assert!(answer("d1").contains(swap), "{}", answer("d1"));
    assert!(answer("e2").contains(swap), "{}", answer("e2"));
    assert!(answer("g1").contains("a.txt:5: l5"), "{}", answer("g1"));
    assert!(!answer("g2").contains("l5:"), "{}", answer("g2"));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l8", "L8\nL8b")));
    scene.nvim.keys(":Caliban ask see @pipe and @zero<CR>");
    scene.nvim.wait_screen("! @pipe cannot be read: it is a device, a pipe or a");
}

/// Every walk of a folder opens its ignore files.
#[test]
fn a_gitignore_that_is_a_pipe_or_device_hangs_no_search() {
    let scene = Scene::start(|it| {
        let it = it.file("a.txt", nine()).file("b.txt", nine()).file("sub/c.txt", nine());
        let it = it.file("sub/AGENTS.md", "Be kind.\n").file("more/d.txt", nine());
        fifo(&it.path(".gitignore"));
        fifo(&it.path("sub/.gitignore"));
        symlink("/dev/zero", it.path("more/.ignore")).unwrap();
        it
    });
    let calls = Reply::new()
        .call("r1", "read", json!({ "path": "sub/c.txt" }))
        .call("g1", "grep", json!({ "pattern": "l5" }))
        .call("g2", "grep", json!({ "pattern": "l5", "path": "sub" }))
        .call("l1", "glob", json!({ "pattern": "*.txt" }))
        .call("l2", "list", json!({ "path": "sub" }));
    scene.server.reply(calls);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('look at @./ and @sub/')", &[]);
    scene.wait_idle("I see.");
    assert!(scene.answer(2, "g1").contains("a.txt:5: l5"), "{}", scene.answer(2, "g1"));
    assert!(scene.answer(2, "g2").contains("c.txt:5: l5"), "{}", scene.answer(2, "g2"));
    assert!(scene.answer(2, "l2").contains("c.txt"), "{}", scene.answer(2, "l2"));
}

/// Whether a process of this Neovim has a file open.
fn is_open(scene: &Scene, path: &Path) -> bool {
    scene.nvim.setup.processes().iter().any(|(pid, _)| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.map(|it| it.path()).any(|it| fs::read_link(it).is_ok_and(|it| it == path))
    })
}

/// Neither git nor what it has started outlives the program, whatever they wait for.
#[cfg(target_os = "linux")]
#[test]
fn a_git_that_waits_for_a_pipe_ends_when_the_program_is_killed() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    let root = scene.nvim.setup.path("").canonicalize().unwrap();
    let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(&root).output();
    assert!(made.unwrap().status.success());
    // the user's own configuration: Caliban looks for pipes only where commands write
    let pipe = scene.nvim.setup.dir().canonicalize().unwrap().join("home/.gitconfig");
    fifo(&pipe);
    // git can open the pipe, but nobody writes into it
    let _writer = fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    scene.nvim.keys(":Caliban ask see @diff<CR>");
    scene.nvim.wait(|_| is_open(&scene, &pipe), "a git that waits");
    kill_program(&scene.nvim);
    scene.nvim.wait(|_| !is_open(&scene, &pipe), "the end of git");
}
