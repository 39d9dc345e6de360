//! Verdicts that come late, commands that wait, undo and redo.

use super::scene::{Scene, edit, nine, two_hunks};
use crate::kit::reply::Reply;
use expect_test::expect;
use serde_json::json;

#[test]
fn a_command_of_the_same_reply_waits_for_the_review() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])).call(
        "s1",
        "shell",
        json!({ "command": "head -2 a.txt" }),
    ));
    scene.wait_pending(1);
    assert!(!scene.nvim.screen().contains("head -2 a.txt`?"));
    scene.nvim.keys("\\A");
    scene.wait_chat("? Run");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("I see.");
    assert!(scene.answer(2, "s1").contains("l1\nL2"));
}

/// A scene with the user's unsaved text, an accepted edit, and a command that asks for consent.
fn unsaved() -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>5GA by me<Esc>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])).call(
        "s1",
        "shell",
        json!({ "command": "sed -n 2p a.txt; sed -n 5p a.txt" }),
    ));
    scene.wait_pending(1);
    scene.nvim.keys("\\A");
    scene.wait_chat("? Run");
    scene
}

#[test]
fn a_command_offers_to_save_unsaved_accepted_text_first() {
    let scene = unsaved();
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    scene.wait_chat(
        "a.txt will be saved first, with unsaved text of your own, unless it changed on disk.",
    );
    scene.server.reply(Reply::said("I see."));
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l5", "l5 by me")));
    expect![[r#"
        L2
        l5 by me"#]]
    .assert_eq(&scene.answer(2, "s1"));
    assert_eq!(scene.nvim.lua_str("return vim.bo.modified"), "false");
}

#[test]
fn a_declined_command_names_files_with_unsaved_accepted_text() {
    let scene = unsaved();
    scene.server.reply(Reply::said("I see."));
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban deny<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    expect![[r#"
        Not run: the user refused this call. Do not try the same thing another way; ask the user what to do instead.
        Accepted, but not on disk yet: a.txt."#]]
    .assert_eq(&scene.answer(2, "s1"));
}

#[test]
fn a_message_after_a_part_of_the_verdict_does_not_deny_this_part() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    let all = [("a.txt", "l2", "L2"), ("a.txt", "l8", "L8"), ("b.txt", "l5", "L5")];
    let all = all.map(|it| json!({ "path": it.0, "old": it.1, "new": it.2 }));
    let both = json!({ "edits": all });
    scene.ask(Reply::new().call("e1", "edit", both));
    scene.wait_pending(3);
    scene.server.reply(Reply::said("As you like."));
    scene.nvim.keys("2G\\r:edit b.txt<CR>\\A");
    scene.wait_pending(1);
    scene
        .nvim
        .wait(|_| scene.on_disk("b.txt") == Some(nine().replace("l5", "L5")), "b.txt on disk");
    scene.nvim.keys(":Caliban ask do c first<CR>");
    expect![
        "Not all decided yet: 1 change in a.txt (line 8) waits for the user's decision. The user has decided on the other changes; those that they accepted may be on disk. The user sent a message first; the user's verdict on this edit will follow."
    ]
    .assert_eq(&scene.answer(2, "e1"));
}

#[test]
fn a_message_during_a_review_is_sent_and_the_verdict_follows() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("As you like."));
    scene.nvim.keys(":Caliban ask do b first<CR>");
    expect![
        "Not decided yet: 2 hunks of this edit are under review in the user's buffer, not on disk. The user sent a message first; the user's verdict on this edit will follow."
    ]
    .assert_eq(&scene.answer(2, "e1"));
    assert!(scene.request(2).last_user_text().contains("do b first"));
    scene.wait_idle("As you like.");
    assert_eq!(scene.pending(), 2);
    scene.nvim.keys("2G\\a8G:Caliban reject hunk not now<CR>");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban ask go on<CR>");
    expect![[r#"
        <notice>
        Of 2 changes in a.txt: 1 accepted, 1 rejected and undone.
        line 2, accepted:
        L2
        line 8, rejected, reads as before:
        l8
        The user's reason: not now
        </notice>
        go on"#]]
    .assert_eq(&scene.request(3).last_user_text());
    scene.wait_idle("I see.");
}

#[test]
fn a_stop_keeps_the_hunks_and_the_verdict_joins_the_next_message() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":Caliban stop<CR>");
    scene.wait_idle("Stopped.");
    assert_eq!(scene.pending(), 2);
    scene.nvim.keys("\\A");
    assert!(scene.on_disk("a.txt").unwrap().contains("L8b"));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban ask go on<CR>");
    expect![
        "2 hunks are still under the user's review: the user stopped the turn. The user's verdict on this edit will follow."
    ]
    .assert_eq(&scene.answer(2, "e1"));
    expect![[r#"
        <notice>
        The user stopped the turn before it was finished.
        </notice>
        <notice>
        The user accepted 2 changes in a.txt.
        </notice>
        go on"#]]
    .assert_eq(&scene.request(2).last_user_text());
    scene.wait_idle("I see.");
}

#[test]
fn undoing_everything_rejects_it_and_a_redo_reopens_the_review() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("u");
    expect!["The user rejected 2 changes in a.txt: they are undone."]
        .assert_eq(&scene.answer(2, "e1"));
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.buffer("/a.txt"), nine().trim_end());
    assert_eq!(scene.nvim.lua_str("return vim.bo.modified"), "false");
    assert_eq!(scene.pending(), 0);
    scene.nvim.keys("<C-r>");
    scene.wait_hunks(2);
    scene.nvim.keys(":w<CR>");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()), "reopened, it is guarded again");
    scene.nvim.keys("\\A");
    scene.wait_hunks(0);
    assert!(scene.on_disk("a.txt").unwrap().contains("L8b"));
    scene.server.reply(Reply::said("Fine."));
    scene.nvim.keys(":Caliban ask go on<CR>");
    expect![[r#"
        <notice>
        The changes in a.txt are under review again.
        </notice>
        <notice>
        The user accepted 2 changes in a.txt.
        </notice>
        go on"#]]
    .assert_eq(&scene.request(3).last_user_text());
    scene.wait_idle("Fine.");
}

#[test]
fn the_key_u_undoes_only_the_last_decision() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys("2G\\r");
    scene.wait_hunks(1);
    scene.nvim.keys("u");
    scene.wait_hunks(2);
    scene.nvim.keys("<C-r>");
    scene.wait_hunks(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l8", "L8\nL8b")));
}

#[test]
fn a_second_edit_can_change_the_pending_lines_of_the_first_edit() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::new().call(
        "e2",
        "edit",
        edit("a.txt", &[("L2", "L2 too"), ("l5", "L5")]),
    ));
    scene.nvim.keys(":Caliban ask more<CR>");
    scene.wait_pending(3);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(
        scene.on_disk("a.txt"),
        Some(nine().replace("l2", "L2 too").replace("l5", "L5").replace("l8", "L8\nL8b"))
    );
    expect!["The user accepted 2 changes in a.txt."].assert_eq(&scene.answer(3, "e2"));
    expect![[r#"
        <notice>
        Of 2 changes in a.txt: 1 accepted, 1 changed again by a later edit.
        line 2, changed again by a later edit, now reads:
        L2 too
        line 8, accepted:
        L8
        L8b
        </notice>"#]]
    .assert_eq(&scene.request(3).last_user_text());
}

#[test]
fn the_read_tool_says_that_pending_hunks_are_not_accepted_yet() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::new().call("r1", "read", json!({ "path": "a.txt" })).call(
        "s1",
        "shell",
        json!({ "command": "sed -n 2p a.txt" }),
    ));
    scene.nvim.keys(":Caliban ask look<CR>");
    scene.wait_chat("? Run");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("I see.");
    expect![[r#"
        1	l1
        2	L2
        3	l3
        4	l4
        5	l5
        6	l6
        7	l7
        8	L8
        9	L8b
        10	l9
        [2 hunks pending: shown here, not yet accepted by the user]
    "#]]
    .assert_eq(&scene.answer(3, "r1"));
    expect![[r#"
        l2
        [these files have unsaved changes in the editor, which the command did not see: a.txt]"#]]
    .assert_eq(&scene.answer(3, "s1"));
}

#[test]
fn a_stop_before_a_proposal_has_entered_the_buffer_changes_nothing() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>:Caliban<CR><C-w>h5Gi");
    scene.server.reply(two_hunks());
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.nvim.wait(
        |nvim| nvim.lua_str("return #require('caliban.review').waiting()") == "1",
        "the waiting proposal",
    );
    scene.nvim.lua("require('caliban').stop()", &[]);
    scene.nvim.keys("mine<Esc>");
    scene.wait_idle("Stopped.");
    assert_eq!(scene.nvim.buffer("/a.txt"), nine().replace("l5", "minel5").trim_end());
    assert_eq!(scene.pending(), 0);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban ask go on<CR>");
    expect![
        "Not applied: the user stopped the turn before the edit was in the user's buffer. Nothing changed."
    ]
    .assert_eq(&scene.answer(2, "e1"));
    scene.wait_idle("I see.");
}

#[test]
fn a_search_or_mention_says_that_pending_hunks_are_not_accepted_yet() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::new().call("g1", "grep", json!({ "pattern": "L8" })));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban ask see @a.txt and @a.txt:8-9<CR>");
    scene.wait_idle("I see.");
    expect![[r#"
        <context kind="file" path="a.txt">
        l1
        L2
        l3
        l4
        l5
        l6
        l7
        L8
        L8b
        l9
        [2 hunks pending: shown here, not yet accepted by the user]
        </context>
        <context kind="file" path="a.txt" lines="8-9">
        L8
        L8b
        [2 hunks pending: shown here, not yet accepted by the user]
        </context>
        see @a.txt and @a.txt:8-9"#]]
    .assert_eq(&scene.request(2).last_user_text());
    expect![[r#"
        a.txt:8: L8
        a.txt:9: L8b
        [a.txt: 2 hunks pending, searched as shown in the editor]"#]]
    .assert_eq(&scene.answer(3, "g1"));
}

#[test]
fn a_late_verdict_names_the_difference_that_the_match_ignored() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2 \nl3", "L2\nl3")])));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("As you like."));
    scene.nvim.keys(":Caliban ask b first<CR>");
    scene.wait_idle("As you like.");
    assert!(!scene.answer(2, "e1").contains("matched"));
    scene.nvim.keys("\\A");
    scene.wait_hunks(0);
    expect![[r#"
        <notice>
        The user accepted the change in a.txt.
        `old` does not match the file exactly. The edit was applied at lines 2-3, ignoring blanks at line ends.
        </notice>
        and?"#]]
    .assert_eq(&scene.told_next());
}

/// A line that was inserted and then changed looks like a rejected line beside a line of the user's own.
#[test]
fn a_reworked_hunk_is_not_told_again_as_a_change_elsewhere() {
    for (keys, rest) in [("3GA mine<Esc>\\a", "10G\\a"), ("10GA mine<Esc>\\a", "3G\\a")] {
        let scene = Scene::start(|it| it.file("a.txt", nine()));
        scene.nvim.keys(":edit a.txt<CR>");
        let edits = [("l2", "l2\nN2"), ("l8", "l8\nN8")];
        scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &edits)));
        scene.wait_pending(2);
        scene.nvim.keys(keys);
        scene.wait_hunks(1);
        scene.server.reply(Reply::said("As you like."));
        scene.nvim.keys(":Caliban ask do b first<CR>");
        scene.wait_idle("As you like.");
        scene.nvim.keys(rest);
        scene.wait_hunks(0);
        let told = scene.told_next();
        assert!(told.contains("1 reworked") && told.contains(" mine"), "{told}");
        assert!(!told.contains("changed elsewhere"), "{told}");
    }
}
