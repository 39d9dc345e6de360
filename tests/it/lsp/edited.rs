//! The diagnostics that a model gets after an edit, and the time at which the model gets them.

use super::scene::{PATIENT, project, tell, wait_came};
use crate::kit::chat::common;
use crate::kit::reply::Reply;
use crate::review::scene::{Scene, edit};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

const BEFORE: &str = "BAD one\nfine\nODD two\nfine\nBAD three\n";

/// Opens `a.py`, and waits until its servers have reported diagnostics.
fn open(config: &str, servers: &[Value]) -> Scene {
    let scene = start(config, servers);
    scene.nvim.wait(
        |nvim| {
            let found = nvim.lua_str("return #vim.diagnostic.get(vim.fn.bufnr('a.py'))");
            found.parse::<usize>().unwrap() >= 3 * servers.len()
        },
        "the diagnostics",
    );
    scene
}

fn start(config: &str, servers: &[Value]) -> Scene {
    let scene = Scene::start(|setup| project(setup.file("a.py", BEFORE).config(config), servers));
    scene.nvim.keys(":edit a.py<CR>");
    for (n, told) in servers.iter().enumerate() {
        let name = told["name"].as_str().map_or_else(|| format!("scripted{n}"), str::to_owned);
        wait_came(&scene.nvim, &format!("{name} textDocument/didOpen"));
    }
    scene
}

/// An edit that fixes the error in the first line and adds an error above the warning.
fn change() -> Value {
    edit("a.py", &[("BAD one\nfine\n", "good one\nfine\nBAD new\n")])
}

/// Lets the model propose the change, and accepts all of its hunks as the user.
fn accept(scene: &Scene) {
    scene.ask(Reply::new().call("e1", "edit", change()));
    scene.wait_hunks(2);
    scene.wait_phase("reviewing");
    scene.server.reply(Reply::said("Well."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
}

#[track_caller]
fn check(scene: &Scene, expected: &Expect) {
    accept(scene);
    scene.wait_idle("Well.");
    expected.assert_eq(&scene.answer(2, "e1"));
}

#[test]
fn a_verdict_lists_new_and_remaining_diagnostics_of_any_language_server() {
    let servers = [
        json!({}),
        json!({"push": "bare"}),
        json!({"stale": true}),
        json!({"push": "never", "pull": true}),
        json!({"encoding": "utf-8", "pull": true}),
    ];
    let given = servers.map(|server| {
        let scene = open(PATIENT, &[server]);
        accept(&scene);
        scene.wait_idle("Well.");
        scene.answer(2, "e1")
    });
    expect![[r#"
        The user accepted 2 changes in a.py.
        Diagnostics of a.py: 1 new, 1 fixed, 2 remaining.
        new a.py:3: error: BAD is wrong (scripted0)
        remaining a.py:4: warning: ODD is doubtful (scripted0)
        remaining a.py:6: error: BAD is wrong (scripted0)"#]]
    .assert_eq(common(&given));
}

#[test]
fn diagnostics_of_the_old_text_are_never_reported() {
    let scene = start(PATIENT, &[json!({"push": "held"})]);
    tell(&scene.nvim, "test/publish", &json!({}));
    accept(&scene);
    wait_came(&scene.nvim, "textDocument/didSave");
    tell(&scene.nvim, "test/old", &json!({}));
    wait_came(&scene.nvim, "test/old");
    assert_eq!(scene.server.requests().len(), 1);
    tell(&scene.nvim, "test/publish", &json!({}));
    scene.wait_idle("Well.");
    expect![[r#"
        The user accepted 2 changes in a.py.
        Diagnostics of a.py: 1 new, 1 fixed, 2 remaining.
        new a.py:3: error: BAD is wrong (scripted0)
        remaining a.py:4: warning: ODD is doubtful (scripted0)
        remaining a.py:6: error: BAD is wrong (scripted0)"#]]
    .assert_eq(&scene.answer(2, "e1"));
}

#[test]
fn diagnostics_that_come_too_late_are_reported_as_not_known_yet() {
    let impatient = "{ lsp = { diagnostics_ms = 200 } }";
    check(
        &start(impatient, &[json!({"push": "never"})]),
        &expect![[r#"
        The user accepted 2 changes in a.py.
        Diagnostics of a.py: not known yet: scripted0 has not reported on this text."#]],
    );
    let two = [json!({"name": "one"}), json!({"name": "two", "push": "never"})];
    let scene = start("{ lsp = { diagnostics_ms = 1000 } }", &two);
    scene.ask(Reply::new().call("e1", "edit", change()));
    scene.wait_pending(2);
    let there = "local all = vim.diagnostic.get(vim.fn.bufnr('a.py'))
        return #vim.tbl_filter(function(it) return it.lnum == 2 and it.severity == 1 end, all)";
    scene.nvim.wait(|nvim| nvim.lua_str(there) == "1", "the word of one on the new text");
    scene.server.reply(Reply::said("Well."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_idle("Well.");
    let said = scene.answer(2, "e1");
    (expect![[r#"
        The user accepted 2 changes in a.py.
        Diagnostics of a.py: 1 new, 1 fixed, 2 remaining.
        new a.py:3: error: BAD is wrong (one)
        remaining a.py:4: warning: ODD is doubtful (one)
        remaining a.py:6: error: BAD is wrong (one)
        [not known yet: two has not reported on this text]"#]])
    .assert_eq(&said);
    let dying = json!({"pull": true, "push": "never", "dies": "textDocument/didSave"});
    check(
        &open(PATIENT, &[dying]),
        &expect![[r#"
        The user accepted 2 changes in a.py.
        Diagnostics of a.py: scripted0 failed: it has exited."#]],
    );
}

#[test]
fn without_a_language_server_the_verdict_names_no_diagnostics() {
    check(&start(PATIENT, &[]), &expect!["The user accepted 2 changes in a.py."]);
}

#[test]
fn five_hundred_diagnostics_are_counted_and_the_first_are_listed() {
    let scene = open(PATIENT, &[json!({})]);
    tell(&scene.nvim, "test/set", &json!({"many": 500}));
    accept(&scene);
    scene.wait_idle("Well.");
    let said = scene.answer(2, "e1");
    assert!(said.contains("Diagnostics of a.py: 501 new, 1 fixed, 2 remaining."), "{said}");
    assert!(said.contains("… 451 more of these"), "{said}");
    assert!(said.lines().count() < 60, "{said}");
}

#[test]
fn other_files_with_new_errors_are_named() {
    let scene = open(PATIENT, &[json!({})]);
    scene.ask(Reply::new().call("e1", "edit", edit("a.py", &[("BAD one", "breaks b")])));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("Well."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_idle("Well.");
    expect![[r#"
        The user accepted the change in a.py.
        Diagnostics of a.py: 0 new, 1 fixed, 2 remaining.
        remaining a.py:3: warning: ODD is doubtful (scripted0)
        remaining a.py:5: error: BAD is wrong (scripted0)
        New diagnostics in other files:
        new b.py:1: error: it is broken (scripted0)"#]]
    .assert_eq(&scene.answer(2, "e1"));
}

#[test]
fn a_file_without_a_buffer_gets_diagnostics_by_changed_line() {
    let scene =
        Scene::start(|setup| project(setup.file("a.py", BEFORE).config(PATIENT), &[json!({})]));
    check(
        &scene,
        &expect![[r#"
        The user accepted 2 changes in a.py.
        Diagnostics of a.py: 1 on the lines you changed, 2 elsewhere; it is not known which of them are new.
        here a.py:3: error: BAD is wrong (scripted0)
        elsewhere a.py:4: warning: ODD is doubtful (scripted0)
        elsewhere a.py:6: error: BAD is wrong (scripted0)"#]],
    );
}

#[test]
fn a_message_does_not_wait_for_diagnostics_and_they_follow_with_the_next_message() {
    let scene = open(PATIENT, &[json!({})]);
    tell(&scene.nvim, "test/set", &json!({"push": "held"}));
    accept(&scene);
    wait_came(&scene.nvim, "textDocument/didSave");
    scene.server.reply(Reply::said("Later."));
    scene.nvim.lua("require('caliban').ask('and this?')", &[]);
    scene.wait_chat("Later.");
    expect!["The user accepted 2 changes in a.py."].assert_eq(&scene.answer(2, "e1"));
    tell(&scene.nvim, "test/publish", &json!({}));
    scene.wait_chat("Diagnostics of a.py");
    scene.server.reply(Reply::said("The end."));
    scene.nvim.lua("require('caliban').ask('so?')", &[]);
    scene.wait_idle("The end.");
    let said = scene.server.requests().last().unwrap().json.to_string();
    assert_eq!(
        said.matches("Diagnostics of a.py: 1 new, 1 fixed, 2 remaining.").count(),
        1,
        "{said}"
    );
}

#[test]
fn in_auto_edit_the_answer_to_an_edit_waits_for_diagnostics() {
    let scene = open(PATIENT, &[json!({})]);
    scene.nvim.command("Caliban mode auto-edit");
    scene.server.reply(Reply::new().call("e1", "edit", change()));
    scene.server.reply(Reply::said("Well."));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_idle("Well.");
    expect![[r#"
        Applied and written to a.py; the user may still review it.
        Diagnostics of a.py: 1 new, 1 fixed, 2 remaining.
        new a.py:3: error: BAD is wrong (scripted0)
        remaining a.py:4: warning: ODD is doubtful (scripted0)
        remaining a.py:6: error: BAD is wrong (scripted0)"#]]
    .assert_eq(&scene.answer(2, "e1"));

    tell(&scene.nvim, "test/set", &json!({"push": "held"}));
    let more = edit("a.py", &[("good one", "BAD again")]);
    scene.server.reply(Reply::new().call("e2", "edit", more));
    scene.server.reply(Reply::said("Fine."));
    scene.nvim.lua("require('caliban').ask('more')", &[]);
    scene.nvim.wait(|nvim| nvim.setup.on_disk("a.py").unwrap().contains("BAD again"), "the write");
    assert_eq!(scene.server.requests().len(), 3);
    tell(&scene.nvim, "test/publish", &json!({}));
    scene.wait_idle("Fine.");
    expect![[r#"
        Applied and written to a.py; the user may still review it.
        Diagnostics of a.py: 1 new, 0 fixed, 3 remaining.
        new a.py:1: error: BAD is wrong (scripted0)
        remaining a.py:3: error: BAD is wrong (scripted0)
        remaining a.py:4: warning: ODD is doubtful (scripted0)
        remaining a.py:6: error: BAD is wrong (scripted0)"#]]
    .assert_eq(&scene.answer(4, "e2"));
}

#[test]
fn a_stop_does_not_wait_for_diagnostics_and_keeps_the_verdict() {
    let scene = open(PATIENT, &[json!({})]);
    tell(&scene.nvim, "test/set", &json!({"push": "held"}));
    scene.ask(Reply::new().call("e1", "edit", change()));
    scene.wait_pending(2);
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.nvim.command("Caliban stop");
    scene.wait_phase("idle");
    assert_eq!(scene.server.requests().len(), 1);
    scene.server.reply(Reply::said("The end."));
    scene.nvim.lua("require('caliban').ask('so?')", &[]);
    scene.wait_idle("The end.");
    expect!["The user accepted 2 changes in a.py."].assert_eq(&scene.answer(2, "e1"));
}

/// The model makes a second edit before the diagnostics of the first edit have arrived.
#[test]
fn while_an_earlier_edit_is_checked_diagnostics_are_compared_with_those_before_that_edit() {
    let scene = open(PATIENT, &[json!({})]);
    tell(&scene.nvim, "test/set", &json!({"push": "held"}));
    accept(&scene);
    let more = edit("a.py", &[("BAD new", "BAD newer"), ("BAD three", "good three")]);
    scene.server.reply(Reply::new().call("e2", "edit", more));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.wait_chat("Well.");
    scene.wait_pending(2);
    scene.server.reply(Reply::said("Done."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    tell(&scene.nvim, "test/publish", &json!({}));
    scene.wait_idle("Done.");
    expect![[r#"
        The user accepted 2 changes in a.py.
        Diagnostics of a.py: 1 new, 2 fixed, 1 remaining.
        new a.py:3: error: BAD is wrong (scripted0)
        remaining a.py:4: warning: ODD is doubtful (scripted0)"#]]
    .assert_eq(&scene.answer(4, "e2"));
}
