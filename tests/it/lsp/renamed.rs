//! A symbol that the user's language server renames: the changes of all files are proposed together.

use super::scene::{PATIENT, answer_to, project, tell, wait_came};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use crate::review::scene::Scene;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

const SHAPES: &str = "def area(side):\n    return side * side\n";
const MAIN: &str = "from shapes import area\n\nñé = '𝄞'; print(area(2))\n";

fn files(setup: Setup) -> Setup {
    setup.file("shapes.py", SHAPES).file("main.py", MAIN).file("old.py", "x = 1\n").config(PATIENT)
}

fn rename(name: &str) -> Value {
    json!({"path": "main.py", "line": 3, "symbol": "area", "name": name})
}

fn started(server: &Value) -> Scene {
    Scene::start(|it| project(files(it), std::slice::from_ref(server)))
}

/// Checks that a `rename_symbol` call is refused at once with this answer, and that no file changes.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
#[track_caller]
fn refused(scene: &Scene, args: Value, expected: Expect) {
    expected.assert_eq(&answer_to(scene, "rename_symbol", args));
    assert_eq!(scene.pending(), 0);
    assert_eq!(scene.on_disk("shapes.py").as_deref(), Some(SHAPES));
    assert_eq!(scene.on_disk("main.py").as_deref(), Some(MAIN));
}

#[test]
fn a_symbol_is_renamed_in_all_files_once_the_user_agrees() {
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let scene = started(&json!({"encoding": encoding, "renames": ""}));
        scene.nvim.keys(":edit main.py<CR>Go# mine area<Esc>");
        scene.ask(Reply::new().call("c1", "rename_symbol", rename("surface")));
        scene.wait_pending(3);
        assert_eq!(scene.on_disk("shapes.py").as_deref(), Some(SHAPES));
        let main = MAIN.replace("area", "surface");
        assert_eq!(scene.nvim.buffer("/main.py"), format!("{main}# mine surface"));
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(":Caliban accept all<CR>");
        scene.wait_idle("I see.");
        assert_eq!(scene.on_disk("shapes.py"), Some(SHAPES.replace("area", "surface")));
        let answer = scene.answer(2, "c1");
        assert!(answer.contains("The user accepted 2 changes in main.py."), "{answer}");
        assert!(answer.contains("The user accepted the change in shapes.py."), "{answer}");
    }
}

#[test]
fn renaming_a_symbol_may_move_and_delete_files() {
    let scene = started(&json!({"renames": "moves"}));
    scene.ask(Reply::new().call("c1", "rename_symbol", rename("surface")));
    scene.wait_pending(4);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("shapes.py"), None);
    assert_eq!(scene.on_disk("surface.py"), Some(SHAPES.replace("area", "surface")));
    let scene = started(&json!({"renames": "deletes"}));
    scene.ask(Reply::new().call("c1", "rename_symbol", rename("surface")));
    scene.wait_pending(4);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban reject all no<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("old.py").as_deref(), Some("x = 1\n"));
    assert_eq!(scene.on_disk("shapes.py").as_deref(), Some(SHAPES));
}

#[test]
fn renaming_a_symbol_may_create_a_file() {
    let scene = started(&json!({"renames": "creates"}));
    scene.ask(Reply::new().call("c1", "rename_symbol", rename("surface")));
    scene.wait_pending(4);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("surface.py").as_deref(), Some("x = 1\n"));
}

#[test]
fn an_impossible_renaming_is_refused_with_the_reason() {
    let lacks = json!({"lacks": ["textDocument/rename"]});
    refused(&started(&lacks), rename("x"), expect!["scripted0 does not support renaming."]);
    let scene = started(&json!({}));
    let nowhere = json!({"path": "main.py", "line": 2, "symbol": "area", "name": "x"});
    refused(
        &scene,
        nowhere,
        expect![[r#"
        `area` is not on line 2, which is empty
        The symbol is on line 1, 3."#]],
    );
    let unnamed = json!({"path": "main.py", "line": 3, "symbol": "area", "name": " "});
    refused(&scene, unnamed, expect!["$.name: expected the new name."]);
    let set = |settings: Value| tell(&scene.nvim, "test/set", &settings);
    set(json!({"renames": "outside"}));
    refused(
        &scene,
        rename("x"),
        expect![
            "Nothing was changed. path: `/etc/hosts` is outside the project (ROOT). Only files in the project can be edited."
        ],
    );
    set(json!({"renames": "stale"}));
    refused(
        &scene,
        rename("x"),
        expect!["Nothing was changed. main.py changed while the language server was answering."],
    );
    set(json!({"renames": "broken"}));
    refused(&scene, rename("x"), expect!["Nothing was changed. scripted0 gave an invalid answer."]);
    refused(
        &started(&json!({"dies": "textDocument/rename"})),
        rename("x"),
        expect!["Nothing was changed. scripted0 ended before it answered."],
    );
}

#[test]
fn one_read_only_file_stops_the_renaming_in_all_files() {
    let scene = Scene::start(|it| project(files(it).mode("shapes.py", 0o444), &[json!({})]));
    scene.server.reply(Reply::new().call("c1", "rename_symbol", rename("surface")));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('go')", &[]);
    scene.wait_idle("I see.");
    assert_eq!(scene.answer(2, "c1"), "shapes.py was not changed: it is read-only.");
    assert_eq!(scene.on_disk("main.py").as_deref(), Some(MAIN));
    assert_eq!(scene.pending(), 0);
}

#[test]
fn a_stop_during_the_language_servers_answer_changes_nothing() {
    let server = json!({"name": "quiet", "silent": ["textDocument/rename"]});
    let scene = started(&server);
    scene.server.reply(Reply::new().call("c1", "rename_symbol", rename("surface")));
    scene.nvim.lua("require('caliban').ask('go')", &[]);
    wait_came(&scene.nvim, "quiet textDocument/rename");
    scene.nvim.lua("require('caliban').stop()", &[]);
    scene.wait_idle("Stopped.");
    wait_came(&scene.nvim, "quiet $/cancelRequest");
    let idle = |nvim: &Nvim| nvim.pending() == 0;
    assert!(idle(&scene.nvim));
    assert_eq!(scene.on_disk("main.py").as_deref(), Some(MAIN));
}

/// pytest runs `conftest.py` by itself, so the change of this file is only proposed. The changes of the other files are
/// written at once.
#[test]
fn in_auto_edit_a_renaming_in_a_file_that_runs_by_itself_waits_for_the_user() {
    let config = "{ mode = 'auto-edit', lsp = { diagnostics_ms = 120000, request_ms = 120000 } }";
    let scene = Scene::start(|it| {
        let setup = it.file("shapes.py", SHAPES).file("main.py", MAIN).file("conftest.py", MAIN);
        project(setup.config(config), &[json!({})])
    });
    scene.ask(Reply::new().call("c1", "rename_symbol", rename("surface")));
    scene.wait_phase("reviewing");
    for (name, before) in [("main.py", MAIN), ("shapes.py", SHAPES)] {
        let written = Some(before.replace("area", "surface"));
        scene.nvim.wait(|it| it.setup.on_disk(name) == written, &format!("{name} written"));
    }
    assert_eq!(scene.on_disk("conftest.py").as_deref(), Some(MAIN));
}

#[test]
fn references_in_files_with_secrets_are_listed_without_their_lines() {
    let scene =
        Scene::start(|it| project(files(it).file(".env.py", "area = 's3cret'\n"), &[json!({})]));
    let args = json!({"path": "main.py", "line": 3, "symbol": "area"});
    scene.server.reply(Reply::new().call("c1", "references", args));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('go')", &[]);
    scene.wait_idle("I see.");
    let said = scene.answer(2, "c1");
    assert!(
        said.contains(
            ".env.py:1 (line not shown: call `read` for this file; the user is asked first)"
        ),
        "{said}"
    );
    assert!(!said.contains("s3cret"), "{said}");
}
