//! A call that changes several files is applied whole or not at all, also if the turn is stopped.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, edit, nine, two_hunks};
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;

const AUTO: &str = "{ mode = 'auto-edit' }";
const PATCHING: &str = "{ models = { ['anthropic/claude-sonnet-4-5'] = { edits = 'patch' } } }";
const BOTH: &str =
    "{ mode = 'auto-edit', models = { ['anthropic/claude-sonnet-4-5'] = { edits = 'patch' } } }";

/// One call that changes the second line of each of these files.
fn edits(files: &[&str]) -> Value {
    let one = |path: &&str| json!({"path": path, "old": "l2", "new": "L2"});
    json!({ "edits": files.iter().map(one).collect::<Vec<_>>() })
}

fn patch(body: &str) -> Value {
    json!({ "input": format!("*** Begin Patch\n{body}*** End Patch") })
}

fn three(setup: Setup) -> Setup {
    setup.file("a.txt", nine()).file("b.txt", nine()).file("c.txt", nine())
}

/// Checks that the call is refused and changes no file, and returns the answer.
#[track_caller]
fn refused(scene: &Scene, call: Reply) -> String {
    scene.server.reply(call);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_idle("I see.");
    assert_eq!(scene.pending(), 0);
    for file in ["a.txt", "b.txt", "c.txt"] {
        assert_eq!(scene.on_disk(file), Some(nine()), "{file}");
        let buffer = format!("return vim.fn.bufloaded('{file}')");
        if scene.nvim.lua_str(&buffer) == "1" {
            assert_eq!(scene.nvim.buffer(file) + "\n", nine(), "{file}");
        }
    }
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    scene.answer(2, "e1")
}

#[test]
fn a_call_on_several_files_is_refused_if_one_file_cannot_be_changed() {
    let all = ["a.txt", "b.txt", "c.txt"];
    for mode in ["{}", AUTO] {
        let scene = Scene::start(|it| three(it).mode("c.txt", 0o444).config(mode));
        scene.nvim.keys(":edit a.txt<CR>");
        let told = refused(&scene, Reply::new().call("e1", "edit", edits(&all)));
        assert_eq!(told, "c.txt was not changed: it is read-only.");
        let scene = Scene::start(|it| three(it).config(mode));
        scene.nvim.keys(":edit b.txt<CR>:setlocal noma<CR>:edit a.txt<CR>");
        let told = refused(&scene, Reply::new().call("e1", "edit", edits(&all)));
        assert_eq!(told, "b.txt was not changed: its buffer is 'nomodifiable'.");
    }
}

/// While the edit of the call `e1` waits, the edits of later calls are matched with the text without `e1`'s changes.
#[test]
fn a_call_that_waits_does_not_delay_the_calls_after_it() {
    let scene = Scene::start(|it| three(it).file("d.txt", nine()).mode("c.txt", 0o444));
    let reply = Reply::new()
        .call("e1", "edit", edits(&["a.txt", "c.txt"]))
        .call("e2", "edit", edit("a.txt", &[("l5", "L5")]))
        .call("e3", "edit", edit("a.txt", &[("L2", "no such line")]))
        .call("e4", "edit", edits(&["b.txt", "d.txt"]));
    scene.ask(reply);
    scene.wait_pending(3);
    assert_eq!(scene.nvim.buffer("/a.txt") + "\n", nine().replace("l5", "L5"));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.answer(2, "e1"), "c.txt was not changed: it is read-only.");
    assert_eq!(scene.answer(2, "e2"), "The user accepted the change in a.txt.");
    assert!(scene.answer(2, "e3").starts_with("`old` is not in a.txt."));
    assert_eq!(scene.on_disk("d.txt"), Some(nine().replace("l2", "L2")));
}

/// The user is typing in one of the files.
#[test]
fn all_files_of_a_call_wait_until_each_can_be_changed() {
    let scene = Scene::start(three);
    scene.nvim.keys(":edit a.txt<CR>");
    let call = Reply::new().gate().call("e1", "edit", edits(&["b.txt", "a.txt"]));
    let gate = scene.server.reply(call);
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.wait_requests(1);
    scene.nvim.keys("5Gi");
    gate.finish();
    let waiting = "return #require('caliban.review').waiting()";
    scene.nvim.wait(|nvim| nvim.lua_str(waiting) == "2", "both at the door");
    assert_eq!(scene.pending(), 0);
    scene.nvim.keys("mine<Esc>");
    scene.wait_pending(2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("b.txt"), Some(nine().replace("l2", "L2")));
}

#[test]
fn the_edits_of_all_files_of_a_call_are_matched_again_if_one_file_changes() {
    let scene = Scene::start(three);
    scene.nvim.keys(":edit a.txt<CR>");
    let moving = "local once = true
        local propose = require('caliban.review').propose
        require('caliban.review').propose = function(message)
          if once then
            once = false
            vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.txt'), 0, 0, true, { 'mine' })
          end
          return propose(message)
        end";
    scene.nvim.lua(moving, &[]);
    scene.ask(Reply::new().call("e1", "edit", edits(&["b.txt", "a.txt"])));
    scene.wait_pending(2);
    let wanted = "mine\n".to_owned() + &nine().replace("l2", "L2");
    assert_eq!(scene.nvim.buffer("/a.txt") + "\n", wanted);
    assert_eq!(scene.nvim.buffer("/b.txt") + "\n", nine().replace("l2", "L2"));
}

#[test]
fn one_patch_may_delete_move_and_change_files() {
    let scene = Scene::start(|it| three(it).config(PATCHING));
    let body = "*** Delete File: a.txt\n*** Update File: b.txt\n*** Move to: dir/b2.txt\n@@\n-l2\n+L2\n\
        *** Update File: c.txt\n@@\n-l8\n+L8\n";
    scene.ask(Reply::new().call("e1", "apply_patch", patch(body)));
    scene.wait_pending(4);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("b.txt")), (None, None));
    assert_eq!(scene.on_disk("dir/b2.txt"), Some(nine().replace("l2", "L2")));
    assert_eq!(scene.on_disk("c.txt"), Some(nine().replace("l8", "L8")));
    let answer = scene.answer(2, "e1");
    for told in [
        "The user accepted the deletion: a.txt is deleted.",
        "The user accepted the change in dir/b2.txt.",
        "The user accepted the renaming: b.txt is now dir/b2.txt.",
        "The user accepted the change in c.txt.",
    ] {
        assert_eq!(answer.matches(told).count(), 1, "{answer}");
    }
}

#[test]
fn rejecting_a_move_with_changes_restores_the_file() {
    let scene = Scene::start(|it| three(it).config(PATCHING));
    let body = "*** Update File: b.txt\n*** Move to: b2.txt\n@@\n-l2\n+L2\n";
    scene.ask(Reply::new().call("e1", "apply_patch", patch(body)));
    scene.wait_pending(2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban reject all leave it<CR>");
    scene.wait_idle("I see.");
    assert_eq!((scene.on_disk("b.txt"), scene.on_disk("b2.txt")), (Some(nine()), None));
    let answer = scene.answer(2, "e1");
    assert!(answer.contains("rejected the change in b.txt"), "{answer}");
    assert!(answer.contains("rejected the renaming: b.txt is not renamed"), "{answer}");
}

#[test]
fn in_auto_edit_a_patch_is_applied_at_once_and_can_be_rejected() {
    let scene = Scene::start(|it| three(it).config(BOTH));
    let body =
        "*** Delete File: a.txt\n*** Update File: b.txt\n*** Move to: dir/b2.txt\n@@\n-l2\n+L2\n";
    scene.server.reply(Reply::new().call("e1", "apply_patch", patch(body)));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(3);
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("b.txt")), (None, None));
    assert_eq!(scene.on_disk("dir/b2.txt"), Some(nine().replace("l2", "L2")));
    scene.nvim.wait_screen("1 hunk written, deleted");
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("b.txt")), (Some(nine()), Some(nine())));
    assert_eq!(scene.on_disk("dir/b2.txt"), None);
}

#[test]
fn in_auto_edit_a_failed_move_takes_back_the_whole_patch() {
    let body = "*** Update File: c.txt\n@@\n-l2\n+L2\n*** Delete File: a.txt\n\
        *** Update File: b.txt\n*** Move to: closed/b2.txt\n";
    let scene = Scene::start(|it| three(it).config(BOTH).file("closed/x.txt", "x\n"));
    let closed = scene.nvim.setup.path("closed");
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    let told = refused(&scene, Reply::new().call("e1", "apply_patch", patch(body)));
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert!(told.starts_with("b.txt was not changed: "), "{told}");
}

#[test]
fn binary_files_are_deleted_and_renamed_once_the_user_agrees() {
    let bytes = b"\0\x01a\r\n\xff\n\0".as_slice();
    for mode in ["{}", AUTO] {
        let scene = Scene::start(|it| it.file("a.bin", bytes).file("b.bin", bytes).config(mode));
        let calls = Reply::new().call("e1", "delete", json!({"path": "a.bin"})).call(
            "e2",
            "rename",
            json!({"path": "b.bin", "to": "c.bin"}),
        );
        scene.ask(calls);
        scene.wait_pending(2);
        assert!(scene.nvim.setup.path("a.bin").exists());
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(":Caliban accept all<CR>");
        scene.wait_idle("I see.");
        assert!(!scene.nvim.setup.path("a.bin").exists());
        assert!(!scene.nvim.setup.path("b.bin").exists());
        assert_eq!(fs::read(scene.nvim.setup.path("c.bin")).unwrap(), bytes);
        assert_eq!(scene.answer(2, "e1"), "The user accepted the deletion: a.bin is deleted.");
        assert_eq!(scene.answer(2, "e2"), "The user accepted the renaming: b.bin is now c.bin.");
    }
}

#[test]
fn a_file_open_in_another_neovim_is_neither_deleted_nor_renamed() {
    let scene = Scene::start(three);
    let other = Nvim::start(&scene.nvim.setup);
    other.keys(":edit a.txt<CR>GAx<Esc>:preserve<CR>");
    let calls =
        [("delete", json!({"path": "a.txt"})), ("rename", json!({"path": "a.txt", "to": "d.txt"}))];
    for (tool, input) in calls {
        let n = scene.server.requests().len();
        scene.server.reply(Reply::new().call("e1", tool, input));
        let last = format!("I see {tool}.");
        scene.ask_until(Reply::said(&last), &last);
        let told = "a.txt was not changed: it is open in another Neovim (swap file).";
        assert_eq!(scene.answer(n + 2, "e1"), told);
    }
    assert_eq!((scene.pending(), scene.on_disk("a.txt")), (0, Some(nine())));
}

#[test]
fn in_auto_edit_files_that_instruct_agents_wait_for_the_user() {
    for path in ["AGENTS.md", "sub/CLAUDE.md", ".caliban/skills/x/SKILL.md", ".nvim.lua"] {
        let scene = Scene::start(|it| it.file(path, nine()).config(AUTO));
        scene.ask(Reply::new().call("e1", "edit", edit(path, &[("l2", "L2")])));
        scene.wait_pending(1);
        assert_eq!(scene.on_disk(path), Some(nine()), "{path}");
    }
}

/// Sends another prompt and returns the answer to this call in its request.
fn next(scene: &Scene, call: &str) -> String {
    scene.wait_idle("Stopped.");
    let n = scene.server.requests().len();
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.lua("require('caliban').ask('and?')", &[]);
    scene.wait_idle("So it is.");
    scene.answer(n + 1, call)
}

/// The user stops the turn during the write, before the program gets its result.
#[test]
fn a_file_written_as_the_stop_came_is_reported_as_written() {
    let hook = "vim.api.nvim_create_autocmd('BufWritePost', {
          pattern = '*.txt',
          once = true,
          callback = function() require('caliban').stop() end,
        })";
    let scene = Scene::start(|it| three(it).config(AUTO).before(hook));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(two_hunks());
    expect!["Applied and written to a.txt; the user may still review it."]
        .assert_eq(&next(&scene, "e1"));
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l8", "L8\nL8b")));
    assert_eq!(scene.pending(), 2);
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn after_a_stop_the_model_is_told_the_outcome_of_each_call() {
    let scene = Scene::start(|it| three(it).config(AUTO));
    scene.nvim.keys(":edit a.txt<CR>");
    let reply = Reply::new().gate().call("e1", "edit", edit("b.txt", &[("l2", "L2")])).call(
        "e2",
        "edit",
        edit("a.txt", &[("l2", "L2")]),
    );
    let gate = scene.server.reply(reply);
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.wait_requests(1);
    scene.nvim.keys("5Gi");
    gate.finish();
    scene.wait_hunks(1);
    scene.nvim.lua("require('caliban').stop()", &[]);
    scene.wait_idle("Stopped.");
    scene.nvim.keys("<Esc>");
    expect![
        "Not applied: the user stopped the turn before the edit was in the user's buffer. Nothing changed."
    ]
    .assert_eq(&next(&scene, "e2"));
    expect!["Applied and written to b.txt; the user may still review it."]
        .assert_eq(&scene.answer(2, "e1"));
    assert_eq!(scene.on_disk("b.txt"), Some(nine().replace("l2", "L2")));
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn hunks_that_entered_the_buffer_as_the_stop_came_stay_under_review() {
    let scene = Scene::start(three);
    scene.nvim.keys(":edit a.txt<CR>");
    let hook = "local once = true
        vim.api.nvim_buf_attach(0, false, { on_lines = function()
          if once then
            once = false
            require('caliban').stop()
          end
        end })";
    scene.nvim.lua(hook, &[]);
    scene.ask(two_hunks());
    expect![
        "2 hunks are still under the user's review: the user stopped the turn. The user's verdict on this edit will follow."
    ]
    .assert_eq(&next(&scene, "e1"));
    assert_eq!(scene.pending(), 2);
}

/// Turns are numbered from 1 again after `/clear`.
#[test]
fn after_slash_clear_a_new_turn_is_not_mistaken_for_a_stopped_one() {
    let scene = Scene::start(three);
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(two_hunks());
    scene.wait_pending(2);
    scene.nvim.lua("require('caliban').stop()", &[]);
    scene.wait_idle("Stopped.");
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.nvim.lua("require('caliban').ask('/clear')", &[]);
    scene.nvim.wait(|nvim| !nvim.transcript().contains("Stopped."), "an empty transcript");
    scene.ask(two_hunks());
    scene.wait_pending(2);
}
