//! A file that the user's language server formats.

use super::scene::{PATIENT, SILENT, answer_to, project, tell, wait_came};
use crate::kit::reply::Reply;
use crate::review::scene::Scene;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

const TEXT: &str = "ñé '𝄞'  \ntwo\nthree \n";

fn started(config: &str, server: &Value) -> Scene {
    let servers = std::slice::from_ref(server);
    Scene::start(|it| project(it.file("a.py", TEXT).file("b.txt", "x\n").config(config), servers))
}

#[test]
fn a_file_is_formatted_as_a_proposal_in_any_encoding() {
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let scene = started(SILENT, &json!({"encoding": encoding, "push": "never"}));
        scene.ask(Reply::new().call("f1", "format", json!({"path": "a.py"})));
        scene.wait_pending(2);
        assert_eq!(scene.on_disk("a.py").as_deref(), Some(TEXT));
        scene.server.reply(Reply::said("Well."));
        scene.nvim.keys(":Caliban accept all<CR>");
        scene.wait_idle("Well.");
        assert_eq!(scene.on_disk("a.py").as_deref(), Some("ñé '𝄞'\ntwo\nthree\n"));
    }
}

#[test]
fn only_the_lines_of_a_range_are_formatted() {
    let scene = started("{ mode = 'auto-edit' }", &json!({"push": "never"}));
    let said = answer_to(&scene, "format", json!({"path": "a.py", "line": 2, "last_line": 3}));
    assert!(said.starts_with("Applied and written to a.py"), "{said}");
    assert_eq!(scene.on_disk("a.py").as_deref(), Some("ñé '𝄞'  \ntwo\nthree\n"));
    let said = answer_to(&scene, "format", json!({"path": "a.py", "line": 2}));
    assert_eq!(said, "The text stays as it is: there is nothing to change.");
}

#[test]
fn edits_of_the_whole_text_and_insertions_at_one_place_are_applied_in_order() {
    for (formats, expected) in [
        ("whole", "ñé '𝄞'\ntwo\nthree\n"),
        ("inserts", "ñé '𝄞'  \n0\n1\n2\n3\n4\n5\n6\n7\n8\n2\nthree \n"),
    ] {
        let config = "{ mode = 'auto-edit', lsp = { diagnostics_ms = 1 } }";
        let scene = started(config, &json!({"push": "never", "formats": formats}));
        answer_to(&scene, "format", json!({"path": "a.py"}));
        assert_eq!(scene.on_disk("a.py").as_deref(), Some(expected), "{formats}");
    }
}

#[test]
fn unsaved_text_is_formatted_and_stays_unsaved() {
    let scene = started(SILENT, &json!({"push": "never"}));
    scene.nvim.keys(":edit a.py<CR>Omine  <Esc>");
    scene.ask(Reply::new().call("f1", "format", json!({"path": "a.py"})));
    scene.wait_pending(2);
    assert!(scene.nvim.buffer("/a.py").starts_with("mine\n"));
    assert_eq!(scene.on_disk("a.py").as_deref(), Some(TEXT));
}

#[test]
fn a_request_to_format_is_cancelled_if_the_server_hangs() {
    let hangs = json!({"push": "never", "silent": ["textDocument/formatting"]});
    let scene = started(PATIENT, &hangs);
    // the server has started once it has answered
    answer_to(&scene, "code_action", json!({"path": "a.py", "line": 1}));
    scene.nvim.lua("require('caliban.config').get().lsp.request_ms = 100", &[]);
    let said = answer_to(&scene, "format", json!({"path": "a.py"}));
    assert_eq!(said, "Nothing was changed. scripted0 did not answer in 0.1 s.");
    wait_came(&scene.nvim, "$/cancelRequest");
}

#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
#[track_caller]
fn refused(scene: &Scene, args: Value, expected: Expect) {
    expected.assert_eq(&answer_to(scene, "format", args));
    assert_eq!(scene.pending(), 0);
    assert_eq!(scene.on_disk("a.py").as_deref(), Some(TEXT));
}

#[test]
fn a_file_that_cannot_be_formatted_is_answered_with_the_reason() {
    let whole = || json!({"path": "a.py"});
    let scene = started(PATIENT, &json!({"formats": "none", "push": "never"}));
    refused(&scene, whole(), expect!["The text stays as it is: there is nothing to change."]);
    let check = |formats: &str, expected: Expect| {
        tell(&scene.nvim, "test/set", &json!({ "formats": formats }));
        refused(&scene, whole(), expected);
    };
    check("same", expect!["The text stays as it is: there is nothing to change."]);
    check("broken", expect!["Nothing was changed. scripted0 gave an invalid answer."]);
    check(
        "overlaps",
        expect!["Nothing was changed: the language server's edits do not fit the text of a.py."],
    );
    refused(
        &scene,
        json!({"path": "a.py", "last_line": 2}),
        expect!["last_line: it needs the first line too. Give `line`, or leave both out."],
    );
    refused(&scene, json!({"path": "none.py"}), expect!["path: `none.py` is not on disk."]);
}
