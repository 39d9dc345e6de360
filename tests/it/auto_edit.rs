//! Tests auto-edit mode: edits are written at once, and the user can accept, rework or reject them afterwards.

use crate::kit::reply::Reply;
use crate::review::scene::{Scene, edit, nine, two_hunks, write};
use expect_test::expect;
use serde_json::json;

const MODE: &str = "{ mode = 'auto-edit' }";

fn changed() -> String {
    nine().replace("l2", "L2").replace("l8", "L8\nL8b")
}

fn modified(scene: &Scene) -> String {
    scene.nvim.lua_str("return vim.bo[vim.fn.bufnr('a.txt')].modified")
}

#[test]
fn an_edit_is_written_at_once_and_reviewed_afterwards() {
    let scene = Scene::two_written(|it| it);
    assert_eq!(scene.on_disk("a.txt"), Some(changed()));
    expect!["Applied and written to a.txt; the user may still review it."]
        .assert_eq(&scene.answer(2, "e1"));
    scene.nvim.wait_screen("2 changes, written · \\A accept file");
    scene.nvim.wait_screen("2 hunks written");
    // The user may write the file during the review.
    scene.nvim.keys("5GAmine<Esc>:w<CR>");
    let mine = changed().replace("l5", "l5mine");
    assert_eq!(scene.on_disk("a.txt"), Some(mine.clone()));
    assert_eq!((scene.pending(), modified(&scene).as_str()), (2, "false"));
    // A rejection is written to disk.
    scene.nvim.keys("2G\\r");
    scene.wait_hunks(1);
    assert_eq!(scene.on_disk("a.txt"), Some(mine.replace("L2", "l2")));
    scene.nvim.keys("]h\\a");
    scene.wait_hunks(0);
    scene.nvim.wait_screen("a.txt: 1 accepted, 1 rejected");
    assert_eq!(scene.on_disk("a.txt"), Some(mine.replace("L2", "l2")));
    expect![[r#"
        <notice>
        Of 2 changes in a.txt: 1 accepted, 1 rejected and undone.
        line 2, rejected, reads as before:
        l2
        line 8, accepted:
        L8
        L8b
        The file changed elsewhere too:
        @@ line 5
        -l5
        +l5mine
        </notice>
        and?"#]]
    .assert_eq(&scene.told_next());
}

#[test]
fn rejecting_a_file_restores_it_on_disk() {
    let scene = Scene::two_written(|it| it);
    scene.nvim.keys(":Caliban reject file not so<CR>");
    scene.wait_hunks(0);
    scene.nvim.wait_screen("a.txt: 2 rejected, saved");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    expect![[r#"
        <notice>
        The user rejected 2 changes in a.txt: they are undone.
        The user's reason: not so
        </notice>
        and?"#]]
    .assert_eq(&scene.told_next());
}

#[test]
fn in_auto_edit_mode_files_without_a_buffer_are_written_and_rejecting_a_new_file_deletes_it() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE));
    let reply = Reply::new()
        .call("e1", "edit", edit("a.txt", &[("l2", "L2")]))
        .call("w1", "write", write("new/b.txt", "one\ntwo\n"))
        .call("w2", "write", write("c.txt", "three\n"));
    scene.server.reply(reply);
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(3);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    assert_eq!(scene.on_disk("new/b.txt").as_deref(), Some("one\ntwo\n"));
    assert_eq!(scene.on_disk("c.txt").as_deref(), Some("three\n"));
    let reject = "require('caliban').reject({ scope = 'file', buf = vim.fn.bufnr('new/b.txt') })";
    scene.nvim.lua(reject, &[]);
    scene.wait_hunks(2);
    assert_eq!(scene.on_disk("new/b.txt"), None);
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("c.txt").as_deref(), Some("three\n"));
    let told = scene.told_next();
    for said in [
        "rejected the new file new/b.txt: it does not exist",
        "accepted the change in c.txt",
        "accepted the change in a.txt",
    ] {
        assert!(told.contains(said), "{told}");
    }
}

/// A reply whose first call edits `a.txt`, whose second call edits `b.sql`, and whose third call edits both.
fn mixed() -> Reply {
    let both = json!({ "edits": [
        { "path": "a.txt", "old": "l5", "new": "L5" },
        { "path": "b.sql", "old": "l8", "new": "L8" },
    ] });
    Reply::new()
        .call("e1", "edit", edit("a.txt", &[("l2", "L2")]))
        .call("e2", "edit", edit("b.sql", &[("l2", "L2")]))
        .call("e3", "edit", both)
}

#[test]
fn in_auto_edit_mode_edits_for_which_a_rule_asks_wait_and_others_are_written_at_once() {
    let rules = "{ mode = 'auto-edit', permissions = { { ask = 'edit', path = '*.sql' } } }";
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.sql", nine()).config(rules));
    scene.ask(mixed());
    scene.wait_pending(4);
    let of_a = nine().replace("l2", "L2").replace("l5", "L5");
    let of_b = nine().replace("l2", "L2").replace("l8", "L8");
    assert_eq!(scene.on_disk("a.txt"), Some(of_a.clone()));
    assert_eq!(scene.on_disk("b.sql"), Some(nine()));
    assert_eq!(scene.nvim.buffer("/b.sql") + "\n", of_b);
    scene.nvim.keys(":edit b.sql<CR>2G:Caliban reject hunk no<CR>");
    scene.wait_pending(3);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(of_a));
    assert_eq!(scene.on_disk("b.sql"), Some(nine().replace("l8", "L8")));
    let said = ["e1", "e2", "e3"].map(|it| scene.answer(2, it));
    expect![[r#"
        Applied and written to a.txt; the user may still review it.
        --
        The user rejected the change in b.sql: it is undone.
        The user's reason: no
        --
        The user accepted the change in a.txt.
        The user accepted the change in b.sql."#]]
    .assert_eq(&said.join("\n--\n"));
}

#[test]
fn in_auto_edit_mode_edits_of_what_git_s_configuration_names_wait() {
    let hooks = "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../tools/more\n";
    let scene = Scene::start(|it| {
        it.file(".git/HEAD", "ref: refs/heads/main\n")
            .file(".git/config", hooks)
            .file(".git/objects/x", "")
            .file(".git/refs/x", "")
            .file(".envrc", "source_env tools/env\n")
            .config(MODE)
    });
    let named = ["tools/hooks/pre-commit", "tools/more", "tools/env"];
    let calls = named.iter().chain(&["tools/other"]).enumerate();
    let call = |reply: Reply, (n, path): (usize, &&str)| {
        reply.call(&format!("e{n}"), "write", write(path, "touch ran\n"))
    };
    scene.ask(calls.fold(Reply::new(), call));
    scene.wait_pending(4);
    for it in named {
        assert_eq!(scene.on_disk(it), None, "{it}");
    }
    assert!(scene.on_disk("tools/other").is_some());
}

#[test]
fn in_ask_mode_an_edit_allowed_by_rule_waits_if_another_edit_of_the_reply_waits() {
    let rules = "{ permissions = { { allow = 'edit', path = 'a.txt' } } }";
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.sql", nine()).config(rules));
    for order in [["a.txt", "b.sql"], ["b.sql", "a.txt"]] {
        let n = scene.server.requests().len();
        let [one, other] = order.map(|it| edit(it, &[("l2", "L2")]));
        scene.ask(Reply::new().call(&format!("e{n}"), "edit", one).call(
            &format!("f{n}"),
            "edit",
            other,
        ));
        scene.wait_pending(2);
        assert_eq!(scene.on_disk("a.txt"), Some(nine()));
        assert_eq!(scene.on_disk("b.sql"), Some(nine()));
        scene.server.reply(Reply::said(&format!("I see {n}.")));
        scene.nvim.keys(":Caliban reject all<CR>");
        scene.wait_idle(&format!("I see {n}."));
        assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    }
}

/// A command of the same reply runs without waiting for the review.
#[test]
fn a_command_after_an_edit_sees_the_edit_on_disk() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE));
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])).call(
        "c1",
        "shell",
        json!({"command": "sed -n 2p a.txt"}),
    ));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.wait_screen("Run `sed -n 2p a.txt`?");
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("I see.");
    assert!(scene.answer(2, "c1").contains("L2"), "{}", scene.answer(2, "c1"));
    assert_eq!(scene.pending(), 1);
}

#[test]
fn the_model_is_told_what_a_formatter_changed_when_an_edit_was_written() {
    let formatter = "vim.cmd([[autocmd BufWritePre *.txt keepjumps silent %s/L/M/ge]])";
    let scene = Scene::two_written(|it| it.before(formatter));
    let now = changed().replace('L', "M");
    assert_eq!(scene.on_disk("a.txt"), Some(now.clone()));
    assert_eq!(scene.nvim.buffer("/a.txt") + "\n", now);
    expect![[r#"
        Applied and written to a.txt; the user may still review it.
        A formatter or an autocommand of the user's changed the file as it was written:
        @@ line 2
        -L2
        +M2
        @@ line 8
        -L8
        -L8b
        +M8
        +M8b"#]]
    .assert_eq(&scene.answer(2, "e1"));
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    expect![[r#"
        <notice>
        The user rejected 2 changes in a.txt: they are undone.
        </notice>
        and?"#]]
    .assert_eq(&scene.told_next());
}

#[test]
fn in_auto_edit_mode_a_buffer_with_the_users_unsaved_changes_is_not_written() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE));
    scene.nvim.keys(":edit a.txt<CR>5GAmine<Esc>");
    scene.server.reply(two_hunks());
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(2);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert!(scene.said().contains("a.txt was not written: it has other unsaved changes."));
    scene.nvim.wait_screen("2 changes, not written");
    scene.nvim.wait_screen("a.txt  not written");
    expect![[r#"
        Applied in the user's buffer of a.txt; the user may still review it.
        a.txt is not saved (it has other unsaved changes)."#]]
    .assert_eq(&scene.answer(2, "e1"));
    scene.nvim.keys(":w<CR>");
    let told = scene.told_next();
    assert!(told.contains("a.txt is saved now."), "{told}");
    assert_eq!(scene.told_next(), "and?");
    scene.nvim.wait_screen("2 changes, written");
    scene.nvim.wait_screen("a.txt  written");
    let mine = changed().replace("l5", "l5mine");
    assert_eq!(scene.on_disk("a.txt"), Some(mine.clone()));
    scene.nvim.keys("2G\\r");
    scene.wait_hunks(1);
    assert_eq!(scene.on_disk("a.txt"), Some(mine.replace("L2", "l2")));
}

#[test]
fn a_failed_write_is_reported_to_the_user_and_the_model() {
    let before = "vim.cmd('autocmd BufWritePre * throw \"no formatter\"')";
    let scene = Scene::two_written(|it| it.before(before));
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert!(scene.said().contains("a.txt was not written: no formatter."), "{}", scene.said());
    expect![[r#"
        Applied in the user's buffer of a.txt; the user may still review it.
        a.txt is not saved (no formatter)."#]]
    .assert_eq(&scene.answer(2, "e1"));
    assert!(!scene.nvim.is_blocked());
}

#[test]
fn an_edit_waits_until_the_user_has_finished_typing() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE));
    scene.nvim.keys(":edit a.txt<CR>");
    let gate =
        scene.server.reply(Reply::new().gate().call("e1", "edit", edit("a.txt", &[("l8", "L8")])));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.wait_requests(1);
    scene.nvim.keys("dd4Gi");
    gate.finish();
    let waiting = |n: &str| format!("return tostring(#require('caliban.review').waiting() == {n})");
    scene.nvim.wait(|nvim| nvim.lua_str(&waiting("1")) == "true", "the waiting proposal");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    scene.nvim.keys("<Esc>u");
    scene.wait_idle("I see.");
    assert_eq!(scene.pending(), 1);
}

#[test]
fn in_auto_edit_mode_undoing_and_redoing_an_edit_does_not_write_the_file() {
    let scene = Scene::two_written(|it| it);
    scene.nvim.keys("u");
    scene.wait_hunks(0);
    scene.nvim.wait_screen("a.txt: undone, not saved: it was undone");
    assert_eq!(scene.nvim.buffer("/a.txt") + "\n", nine());
    assert_eq!(scene.on_disk("a.txt"), Some(changed()));
    scene.nvim.keys("<C-r>");
    scene.wait_hunks(2);
    scene.nvim.keys("u:w<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    expect![[r#"
        <notice>
        The user rejected 2 changes in a.txt: they are undone.
        </notice>
        <notice>
        The changes in a.txt are under review again.
        </notice>
        <notice>
        The user rejected 2 changes in a.txt: they are undone.
        </notice>
        and?"#]]
    .assert_eq(&scene.told_next());
}

#[test]
fn in_auto_edit_mode_a_change_on_disk_is_merged_and_keeps_the_hunks() {
    let scene = Scene::two_written(|it| it);
    let theirs = changed().replace("l5", "theirs");
    std::fs::write(scene.nvim.setup.path("a.txt"), &theirs).unwrap();
    scene.nvim.keys(":checktime<CR>");
    scene.nvim.wait(|nvim| nvim.buffer("/a.txt").contains("theirs"), "the change on disk");
    scene.nvim.wait(|_| modified(&scene) == "false", "both to be equal");
    assert_eq!(scene.pending(), 2);
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l5", "theirs")));
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    assert_eq!(scene.nvim.lua_json("return vim.fn.getbufvar('a.txt', '&autoread')"), 1);
}

/// While hunks of a file wait to be written until the user decides, a further edit of the file waits too, even in
/// auto-edit mode. An edit in ask mode waits even if the file has hunks that are written already.
#[test]
fn a_file_never_has_written_and_unwritten_hunks_at_the_same_time() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":Caliban mode auto-edit<CR>");
    scene.nvim.wait_screen("auto-edit · ");
    scene.server.reply(Reply::new().call("e2", "edit", edit("a.txt", &[("l5", "L5")])));
    scene.nvim.keys(":Caliban ask more<CR>");
    scene.wait_pending(3);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    let now = changed().replace("l5", "L5");
    assert_eq!(scene.on_disk("a.txt"), Some(now.clone()));
    // Now the other order: first a written hunk, then a waiting hunk.
    scene.server.reply(Reply::new().call("e3", "edit", edit("a.txt", &[("l6", "L6")])));
    scene.server.reply(Reply::said("Written."));
    scene.nvim.keys(":Caliban ask on<CR>");
    scene.wait_idle("Written.");
    assert_eq!(scene.on_disk("a.txt"), Some(now.replace("l6", "L6")));
    scene.nvim.keys(":Caliban mode ask<CR>");
    scene.nvim.wait_screen(" · ask · ");
    scene.server.reply(Reply::new().call("e4", "edit", edit("a.txt", &[("l4", "L4")])));
    scene.nvim.keys(":Caliban ask on<CR>");
    scene.wait_pending(2);
    scene.nvim.keys(":w<CR>");
    scene.nvim.wait_screen("2 hunks wait for you");
    assert_eq!(scene.on_disk("a.txt"), Some(now.replace("l6", "L6")));
    scene.server.reply(Reply::said("Enough."));
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_idle("Enough.");
    assert_eq!(scene.on_disk("a.txt"), Some(now));
}

/// Neovim runs `.exrc` when it starts in the folder, so the edit of `.exrc` waits. The other file of the call is
/// written at once.
#[test]
fn in_auto_edit_mode_an_edit_of_a_file_that_other_programs_run_waits_for_the_user() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file(".exrc", "set nu\n").config(MODE));
    let edits = json!({"edits": [
        {"path": "a.txt", "old": "l2", "new": "L2"},
        {"path": ".exrc", "old": "nu", "new": "exrc"},
    ]});
    scene.ask(Reply::new().call("e1", "edit", edits));
    scene.wait_pending(2);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    assert_eq!(scene.on_disk(".exrc").as_deref(), Some("set nu\n"));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk(".exrc").as_deref(), Some("set exrc\n"));
}

#[test]
fn in_auto_edit_mode_a_call_that_edits_two_files_gets_one_answer() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()).config(MODE));
    let edits = json!({"edits": [
        {"path": "a.txt", "old": "l2", "new": "L2"},
        {"path": "b.txt", "old": "l3 ", "new": "L3"},
        {"path": "b.txt", "old": "l5", "new": "L5"},
    ]});
    scene.server.reply(Reply::new().call("e1", "edit", edits));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(3);
    assert_eq!(scene.on_disk("b.txt"), Some(nine().replace("l3", "L3").replace("l5", "L5")));
    expect![[r#"
        Applied and written to a.txt; the user may still review it.
        Applied and written to b.txt; the user may still review it.
        $.edits[1]: `old` does not match the file exactly. The edit was applied at line 3, ignoring blanks at line ends."#]].assert_eq(&scene.answer(2, "e1"));
    scene.nvim.wait_screen("3 hunks written");
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    expect![[r#"
        <notice>
        The user rejected the change in a.txt: it is undone.
        The user rejected 2 changes in b.txt: they are undone.
        </notice>
        and?"#]]
    .assert_eq(&scene.told_next());
}

#[test]
fn a_rejection_of_one_of_several_written_hunks_is_told_as_the_users_with_its_reason() {
    let scene = Scene::two_written(|it| it);
    scene.nvim.keys("2G:Caliban reject hunk not so<CR>");
    scene.wait_hunks(1);
    expect![[r#"
        <context kind="changes" path="a.txt">
        The file changed since you saw it last:
        @@ -1,5 +1,5 @@
         l1
        -L2
        +l2
         l3
         l4
         l5
        The user has decided on a part of your changes to it so far: 1 rejected. A verdict on all of them will follow.
        The user's reason: not so
        </context>
        and?"#]].assert_eq(&scene.told_next());
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    expect![[r#"
        <notice>
        Of 2 changes in a.txt: 1 accepted, 1 rejected and undone.
        line 2, rejected, reads as before:
        l2
        line 8, accepted:
        L8
        L8b
        The user's reason: not so
        </notice>
        and?"#]]
    .assert_eq(&scene.told_next());
}
