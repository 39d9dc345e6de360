//! Buffers that the user is changing while the model's command changes their files: what both have done is in the buffer
//! as soon as the user has left insert mode.

use super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::json;

const QUESTION: &str = "Do you really want to write to it (y/n)?";

/// A scene with a pipe at which a command of the model's waits.
fn start(setup: impl FnOnce(Setup) -> Setup) -> Scene {
    let config = "{ mode = 'auto-edit', sandbox = false }";
    let scene = Scene::start(|it| setup(it.file("a.txt", nine()).config(config)));
    let pipe = std::process::Command::new("mkfifo").arg(scene.nvim.setup.path("wait")).status();
    assert!(pipe.unwrap().success());
    scene.nvim.keys(":edit a.txt<CR>");
    scene
}

/// The model's command has begun.
fn begin(scene: &Scene, command: &str) {
    scene.server.reply(Reply::new().call("s1", "shell", json!({ "command": command })));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.nvim.wait_question();
    scene.nvim.command("Caliban approve");
    scene.nvim.wait_phase("running");
}

/// Lets the command go on, which waits until somebody writes.
fn go_on(scene: &Scene) {
    std::fs::write(scene.nvim.setup.path("wait"), "go\n").unwrap();
}

fn shown(scene: &Scene) -> String {
    scene.nvim.buffer("/a.txt") + "\n"
}

fn wait_shown(scene: &Scene, text: &str) {
    scene.nvim.wait(|_| shown(scene) == text, &format!("{text:?} in the buffer"));
}

/// The user writes the buffer, and Neovim does not ask.
fn writes(scene: &Scene, text: &str) {
    scene.nvim.keys(":w<CR>");
    scene.nvim.wait(|_| scene.on_disk("a.txt").as_deref() == Some(text), "the user's write");
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
}

fn both() -> String {
    nine().replace("l2", "L2").replace("l5", "l5mine")
}

const CHANGE: &str = "sed -n 1p wait; sed -i s/l2/L2/ a.txt";

#[test]
fn text_in_insert_mode_is_merged_when_the_mode_is_left() {
    // the user has begun to type before the command, or while it runs, or after it
    for when in ["before", "during", "after"] {
        let scene = start(|it| it);
        scene.nvim.keys(if when == "before" { "5GAmine" } else { "5GA" });
        begin(&scene, CHANGE);
        scene.nvim.keys(if when == "during" { "mine" } else { "" });
        scene.server.reply(Reply::said("It ran."));
        go_on(&scene);
        scene.wait_idle("It ran.");
        scene.nvim.keys(if when == "after" { "mine" } else { "" });
        scene.nvim.keys("<Esc>");
        wait_shown(&scene, &both());
        writes(&scene, &both());
        scene.nvim.keys("u");
        assert_eq!(shown(&scene), nine().replace("l5", "l5mine"), "{when}");
    }
}

/// The model's edit waits until insert mode is left, and the command's change is in the buffer before the edit.
#[test]
fn an_edit_after_the_command_does_not_hide_what_the_command_has_changed() {
    for keys in ["5GAmine", "5GAmine<Esc>"] {
        let scene = start(|it| it);
        scene.nvim.keys(keys);
        begin(&scene, CHANGE);
        scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l8", "L8")])));
        scene.server.reply(Reply::said("It ran."));
        go_on(&scene);
        scene.server.wait_requests(2);
        scene.nvim.keys("<Esc>");
        scene.wait_idle("It ran.");
        let text = both().replace("l8", "L8");
        assert_eq!(shown(&scene), text, "{keys}");
        assert_eq!(scene.pending(), 1, "{keys}");
        writes(&scene, &text);
        scene.nvim.keys(":Caliban reject all<CR>");
        scene.wait_hunks(0);
        assert_eq!((shown(&scene), scene.on_disk("a.txt")), (both(), Some(both())), "{keys}");
    }
}

/// The command has changed the file before the user changes the buffer, and goes on.
#[test]
fn a_buffer_that_is_changed_after_its_file_is_merged() {
    for keys in ["5GAmine<Esc>", "5GAmine"] {
        let scene = start(|it| it);
        begin(&scene, "sed -i s/l2/L2/ a.txt; touch changed; sed -n 1p wait");
        scene.nvim.wait(|it| it.setup.path("changed").exists(), "the command's change");
        scene.nvim.keys(keys);
        scene.server.reply(Reply::said("It ran."));
        go_on(&scene);
        scene.wait_idle("It ran.");
        scene.nvim.keys("<Esc>");
        wait_shown(&scene, &both());
        writes(&scene, &both());
    }
}

#[test]
fn a_file_that_is_opened_while_a_command_runs_is_merged() {
    let scene = start(|it| it.file("b.txt", nine()));
    begin(&scene, "sed -n 1p wait; sed -i s/l2/L2/ b.txt");
    scene.nvim.keys(":edit b.txt<CR>5GA");
    scene.server.reply(Reply::said("It ran."));
    go_on(&scene);
    scene.wait_idle("It ran.");
    scene.nvim.keys("mine<Esc>");
    scene.nvim.wait(|it| it.buffer("/b.txt") + "\n" == both(), "the merge");
}

#[test]
fn buffers_have_what_a_command_has_changed_that_a_restart_or_a_crash_of_the_program_ends() {
    for (keys, text) in [("", nine().replace("l2", "L2")), ("5GAmine<Esc>", both())] {
        for kills in [false, true] {
            let scene = start(|it| it);
            begin(&scene, "sed -i s/l2/L2/ a.txt; touch changed; sed -n 1p wait");
            scene.nvim.wait(|it| it.setup.path("changed").exists(), "the command's change");
            scene.nvim.keys(keys);
            if kills {
                let code = "return vim.fn.jobpid(require('caliban.program.process').program())";
                let pid = scene.nvim.lua_str(code).parse().unwrap();
                crate::kit::setup::kill(pid);
            } else {
                scene.nvim.command("Caliban restart");
            }
            wait_shown(&scene, &text);
            writes(&scene, &text);
        }
    }
}

/// The user is told which lines both have changed, and Neovim asks before a write loses the command's.
#[test]
fn lines_that_both_have_changed_are_named() {
    let scene = start(|it| it);
    scene.nvim.keys("8GAmine<CR>more");
    begin(&scene, "sed -n 1p wait; sed -i 's/l2/L2\\nL2b/; s/l8/L8/' a.txt");
    scene.server.reply(Reply::said("It ran."));
    go_on(&scene);
    scene.wait_idle("It ran.");
    scene.nvim.keys("<Esc>");
    let text = nine().replace("l2", "L2\nL2b").replace("l8", "l8mine\nmore");
    wait_shown(&scene, &text);
    expect!["a.txt: 1 of the changes that the model's command has made on disk conflicts with your unsaved text, which stays in the buffer: line 9."].assert_eq(&scene.said());
    scene.nvim.keys(":w<CR>");
    scene.nvim.wait_screen(QUESTION);
    scene.nvim.keys("n<CR>");
    scene.nvim.wait_gone(QUESTION);
    let theirs = nine().replace("l2", "L2\nL2b").replace("l8", "L8");
    assert_eq!(scene.on_disk("a.txt"), Some(theirs));
}

/// Starts a job with this command, and waits until the model has got its first output.
fn begin_job(scene: &Scene, command: &str) {
    let command = json!({ "command": format!("echo ready; {command}"), "background": true });
    scene.server.reply(Reply::new().call("j1", "shell", command));
    scene.server.reply(Reply::said("It goes on."));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.nvim.wait_question();
    scene.nvim.command("Caliban approve");
    scene.wait_idle("It goes on.");
}

/// The job still runs when the buffer has its change, and changes the file once more before its end.
#[test]
fn buffers_have_what_a_job_changes_while_it_runs_and_at_its_end() {
    let job = "sed -n 1p wait; sed -i s/l2/L2/ a.txt; sed -n 1p wait; sed -i s/l8/L8/ a.txt";
    for keys in ["", "5GAmine<Esc>"] {
        let scene = start(|it| it);
        begin_job(&scene, job);
        scene.nvim.keys(keys);
        go_on(&scene);
        let mine = if keys.is_empty() { "l5" } else { "l5mine" };
        let text = nine().replace("l2", "L2").replace("l5", mine);
        wait_shown(&scene, &text);
        go_on(&scene);
        wait_shown(&scene, &text.replace("l8", "L8"));
        assert_eq!(scene.said().replace("--No lines in buffer--", ""), "", "{keys}");
        writes(&scene, &text.replace("l8", "L8"));
        scene.nvim.keys("u");
    }
}

/// The hunks of an edit in auto-edit mode stay, and what the job changes beside them is not pending.
#[test]
fn a_job_that_changes_a_file_under_review_changes_its_buffer() {
    let scene = start(|it| it);
    begin_job(&scene, "sed -n 1p wait; sed -i s/l2/L2/ a.txt; sed -n 1p wait");
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l8", "L8")])));
    scene.server.reply(Reply::said("Edited."));
    scene.nvim.lua("require('caliban').ask('edit')", &[]);
    scene.wait_idle("Edited.");
    scene.wait_hunks(1);
    go_on(&scene);
    wait_shown(&scene, &nine().replace("l2", "L2").replace("l8", "L8"));
    assert_eq!(scene.pending(), 1);
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    let text = nine().replace("l2", "L2");
    scene.nvim.wait(|_| scene.on_disk("a.txt").as_deref() == Some(&text), "the rejected file");
    go_on(&scene);
}

/// Jobs that end because the conversation is left end for the buffers too: nobody looks at their files any more.
#[test]
fn no_look_at_the_files_outlives_the_jobs() {
    for leave in ["/clear", "restart"] {
        let scene = start(|it| it);
        begin_job(&scene, "sed -n 1p wait");
        let timers = "local n = 0
            vim.uv.walk(function(it)
              local info = it:get_type() == 'timer' and not it:is_closing() and it:get_repeat() == 500
              n = n + (info and 1 or 0)
            end)
            return n";
        assert_eq!(scene.nvim.lua(timers, &[]), 1.into());
        if leave == "restart" {
            scene.nvim.command("Caliban restart");
        } else {
            scene.nvim.lua("require('caliban').ask('/clear')", &[]);
        }
        scene.nvim.wait(|it| it.lua(timers, &[]) == 0.into(), "the end of the looks");
    }
}
