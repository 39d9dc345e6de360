//! The code actions of the user's language servers: a list, and one action as a proposal.

use super::scene::{PATIENT, SILENT, answer_to, came, project, tell, wait_came};
use crate::kit::reply::Reply;
use crate::review::scene::Scene;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

const TEXT: &str = "zeta\nñé '𝄞' BAD1\nBAD2\nalpha\n";

fn started(config: &str, servers: &[Value]) -> Scene {
    Scene::start(|it| project(it.file("a.py", TEXT).config(config), servers))
}

fn list() -> Value {
    json!({"path": "a.py", "line": 2, "last_line": 3})
}

fn apply(action: &str) -> Value {
    json!({"path": "a.py", "line": 2, "last_line": 3, "action": action})
}

#[test]
fn actions_are_listed_with_their_kinds_and_numbers() {
    let scene = started(PATIENT, &[json!({})]);
    answer_to(&scene, "diagnostics", json!({"path": "a.py"}));
    expect![[r#"
        a.py:2: 1. Replace BAD1 on 2 (2) (quickfix)
        a.py:2: 2. Replace BAD2 on 3 (2) (quickfix)
        a.py:2: 3. Sort the lines (source.sort)
        a.py:2: 4. Extract (refactor.extract) [cannot be applied: not possible now: nothing is selected]
        a.py:2: 5. Run the tests [cannot be applied: it runs a command of the server]
        a.py:2: 6. Add a line (refactor) [only its edits are applied; its command is not run]
        a.py:2: 7. Only run (refactor) [only its edits are applied; its command is not run]"#]]
    .assert_eq(&answer_to(&scene, "code_action", list()));
    let kind = json!({"path": "a.py", "line": 1, "kind": "source"});
    expect!["a.py:1: 1. Sort the lines (source.sort)"].assert_eq(&answer_to(
        &scene,
        "code_action",
        kind,
    ));
    let none = json!({"path": "a.py", "line": 1, "kind": "quickfix"});
    expect!["No code action is offered there."].assert_eq(&answer_to(&scene, "code_action", none));
}

#[test]
fn a_code_action_named_by_title_or_number_is_proposed_in_any_position_encoding() {
    for (encoding, action) in [("utf-8", "1"), ("utf-16", "Replace BAD1 on 2 (0)"), ("utf-32", "1")]
    {
        let scene = started(SILENT, &[json!({"encoding": encoding, "push": "never"})]);
        answer_to(&scene, "code_action", list());
        scene.ask(Reply::new().call("a1", "code_action", apply(action)));
        scene.wait_pending(1);
        assert_eq!(scene.on_disk("a.py").as_deref(), Some(TEXT));
        scene.server.reply(Reply::said("Well."));
        scene.nvim.keys(":Caliban accept all<CR>");
        scene.wait_idle("Well.");
        assert_eq!(scene.on_disk("a.py"), Some(TEXT.replace("BAD1", "good")));
    }
}

#[test]
fn an_action_without_an_edit_is_resolved_and_reviewed_by_hunk() {
    let scene = started(SILENT, &[json!({"push": "never"})]);
    scene.ask(Reply::new().call("a1", "code_action", apply("Sort the lines")));
    scene.wait_phase("reviewing");
    scene.server.reply(Reply::said("Well."));
    scene.nvim.keys(":Caliban reject all no<CR>");
    scene.wait_idle("Well.");
    wait_came(&scene.nvim, "codeAction/resolve");
    assert_eq!(scene.on_disk("a.py").as_deref(), Some(TEXT));
    assert!(scene.answer(2, "a1").contains("rejected"), "{}", scene.answer(2, "a1"));
}

#[test]
fn in_auto_edit_the_edit_of_an_action_is_written_at_once() {
    let scene = started("{ mode = 'auto-edit' }", &[json!({"push": "never"})]);
    let said = answer_to(&scene, "code_action", apply("Sort the lines"));
    assert!(said.starts_with("Applied and written to a.py"), "{said}");
    assert_eq!(scene.on_disk("a.py").as_deref(), Some("BAD2\nalpha\nzeta\nñé '𝄞' BAD1\n"));
}

#[test]
fn in_plan_mode_actions_are_listed_and_not_applied() {
    let scene = started("{ mode = 'plan' }", &[json!({})]);
    let said = answer_to(&scene, "code_action", list());
    assert!(said.starts_with("a.py:2: 1. Replace BAD1"), "{said}");
    let said = answer_to(&scene, "code_action", apply("1"));
    assert!(said.contains("plan mode") && scene.pending() == 0, "{said}");
}

#[test]
fn the_command_of_an_action_is_never_run() {
    let scene = started("{ mode = 'auto-edit' }", &[json!({"push": "never"})]);
    for action in ["Add a line", "Run the tests", "Only run"] {
        answer_to(&scene, "code_action", apply(action));
    }
    assert_eq!(scene.on_disk("a.py"), Some(format!("first\n{TEXT}")));
    assert!(!came(&scene.nvim).contains("workspace/executeCommand"));
}

#[test]
fn an_action_that_deletes_or_moves_a_file_is_decided_by_the_user() {
    for acts in ["deletes", "moves"] {
        let scene = started(SILENT, &[json!({"acts": acts, "push": "never"})]);
        scene.ask(Reply::new().call("a1", "code_action", apply("Replace BAD1 on 2 (0)")));
        scene.wait_phase("reviewing");
        scene.server.reply(Reply::said("Well."));
        scene.nvim.keys(":Caliban reject all no<CR>");
        scene.wait_idle("Well.");
        assert_eq!(scene.on_disk("a.py").as_deref(), Some(TEXT));
        assert!(scene.answer(2, "a1").contains("rejected"), "{}", scene.answer(2, "a1"));
    }
}

#[test]
fn files_that_an_action_creates_are_proposed() {
    let start = || started(SILENT, &[json!({"acts": "creates", "push": "never"})]);
    let scene = start();
    scene.ask(Reply::new().call("a1", "code_action", apply("Replace BAD1 on 2 (0)")));
    scene.wait_phase("reviewing");
    assert_eq!(scene.on_disk("new/b.py"), None);
    scene.server.reply(Reply::said("Well."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("Well.");
    assert_eq!(scene.on_disk("new/b.py").as_deref(), Some("made\nby\n"));
    let scene = start();
    scene.ask(Reply::new().call("a1", "code_action", apply("Replace BAD1 on 2 (0)")));
    scene.wait_phase("reviewing");
    scene.server.reply(Reply::said("Well."));
    scene.nvim.keys(":Caliban reject all no<CR>");
    scene.wait_idle("Well.");
    assert_eq!(scene.on_disk("new/b.py"), None);
}

#[test]
fn the_actions_of_other_servers_are_listed_if_one_server_hangs() {
    let hangs = json!({"name": "hangs", "push": "never", "silent": ["textDocument/codeAction"]});
    let scene = started(PATIENT, &[hangs, json!({"name": "works", "push": "never"})]);
    scene.nvim.lua(EXPIRE, &["works".into(), "textDocument/codeAction".into()]);
    let said = answer_to(&scene, "code_action", list());
    assert!(said.contains("1. Replace BAD1"), "{said}");
    assert!(said.ends_with("[hangs did not answer in 120 s]"), "{said}");
    let scene = started(PATIENT, &[json!({"push": "never", "silent": ["codeAction/resolve"]})]);
    scene.nvim.lua(EXPIRE, &["scripted0".into(), "textDocument/codeAction".into()]);
    let said = answer_to(&scene, "code_action", apply("Sort the lines"));
    assert_eq!(said, "Nothing was changed. scripted0 did not answer in 120 s.");
}

/// Ends every wait for a server as soon as Neovim has processed this server's answer to this method.
const EXPIRE: &str = "
local name, method = ...
local wait = require('caliban.lsp.wait')
local now = wait.now
vim.api.nvim_create_autocmd('LspRequest', { callback = function(args)
  local client, request = vim.lsp.get_client_by_id(args.data.client_id), args.data.request
  if client.name == name and request.method == method and request.type == 'complete' then
    -- Neovim calls the handler of the answer after this event
    vim.schedule(function()
      wait.now = function() return now() + 1e9 end
    end)
  end
end })
";

/// Has a server with these settings apply its first action, and checks that nothing changes.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
#[track_caller]
fn refused(server: Value, args: Value, expected: Expect) {
    let scene = started(PATIENT, &[server]);
    expected.assert_eq(&answer_to(&scene, "code_action", args));
    assert_eq!(scene.pending(), 0);
    assert_eq!(scene.on_disk("a.py").as_deref(), Some(TEXT));
}

#[test]
fn edits_of_an_action_that_are_not_allowed_are_refused_with_the_reason() {
    let bad = "Replace BAD1 on 2 (0)";
    let server = |acts: &str| json!({"acts": acts, "push": "never"});
    refused(
        server("outside"),
        apply(bad),
        expect![
            "Nothing was changed. path: `/etc/hosts` is outside the project (ROOT). Only files in the project can be edited."
        ],
    );
    refused(
        server("creates again"),
        apply(bad),
        expect!["Nothing was changed. scripted0 would create a.py, which already exists."],
    );
    refused(
        server("creates empty"),
        apply(bad),
        expect![
            "Nothing was changed: the language server would create new/b.py as an empty file, which cannot be reviewed. Make the change yourself."
        ],
    );
    refused(
        server("creates outside"),
        apply(bad),
        expect![
            "Nothing was changed. path: `/etc/new` is outside the project (ROOT). Only files in the project can be edited."
        ],
    );
    refused(
        server("stale"),
        apply(bad),
        expect!["Nothing was changed. a.py changed while the language server was answering."],
    );
    refused(
        server("broken"),
        apply(bad),
        expect!["Nothing was changed. scripted0 gave an invalid answer."],
    );
}

#[test]
fn an_action_without_edits_or_of_a_server_that_fails_is_refused_with_the_reason() {
    let bad = "Replace BAD1 on 2 (0)";
    refused(
        json!({}),
        apply("Run the tests"),
        expect![
            "Nothing was changed. scripted0: `Run the tests` cannot be applied: it runs a command of the server."
        ],
    );
    refused(
        json!({}),
        apply("Only run"),
        expect![
            "Nothing was changed. scripted0: `Only run` has no edit; commands of a server are not run."
        ],
    );
    refused(
        json!({}),
        apply("Extract"),
        expect![
            "Nothing was changed. scripted0: `Extract` cannot be applied: not possible now: nothing is selected."
        ],
    );
    refused(
        json!({}),
        apply("9"),
        expect![
            "action: no action `9` is offered there now. Call code_action without `action` for the list."
        ],
    );
    refused(
        json!({"dies": "textDocument/codeAction"}),
        apply(bad),
        expect!["Nothing was changed. scripted0 ended before it answered."],
    );
    refused(
        json!({"lacks": ["textDocument/codeAction"]}),
        apply(bad),
        expect!["scripted0 does not support code actions."],
    );
    let upside_down = json!({"path": "a.py", "line": 3, "last_line": 2});
    refused(
        json!({}),
        upside_down,
        expect!["last_line: 2 is above line 3. Give the first line as `line`."],
    );
}

#[test]
fn text_that_changes_while_the_server_answers_is_not_edited() {
    for (held, wanted) in
        [("textDocument/codeAction", "1"), ("codeAction/resolve", "Sort the lines")]
    {
        let scene = started(PATIENT, &[json!({"push": "never", "holds": [held]})]);
        let action = if wanted == "1" { "Replace BAD1 on 2 (0)" } else { wanted };
        scene.nvim.keys(":edit a.py<CR>");
        scene.server.reply(Reply::new().call("a1", "code_action", apply(action)));
        scene.server.reply(Reply::said("I see."));
        scene.nvim.lua("require('caliban').ask('go')", &[]);
        wait_came(&scene.nvim, held);
        scene.nvim.keys("Omine<Esc>");
        tell(&scene.nvim, "test/answer", &json!({}));
        scene.wait_idle("I see.");
        let said = scene.answer(2, "a1");
        assert_eq!(
            said,
            "Nothing was changed. a.py changed while the language server was answering."
        );
        assert_eq!(scene.nvim.buffer("/a.py"), format!("mine\n{}", TEXT.trim_end()));
    }
}

#[test]
fn if_two_servers_have_the_same_action_only_one_server_applies_it() {
    let servers =
        [json!({"name": "one", "push": "never"}), json!({"name": "two", "push": "never"})];
    let scene = started("{ mode = 'auto-edit' }", &servers);
    answer_to(&scene, "code_action", apply("Replace BAD1 on 2 (0)"));
    assert_eq!(scene.on_disk("a.py"), Some(TEXT.replace("BAD1", "good")));
}

/// The methods by which the model asks a server.
const ASKED: [&str; 5] = [
    "textDocument/codeAction",
    "codeAction/resolve",
    "textDocument/hover",
    "textDocument/formatting",
    "textDocument/rename",
];

#[test]
fn an_edit_that_a_server_sends_by_itself_while_the_model_asks_is_refused() {
    let scene = started(PATIENT, &[json!({"push": "never", "applies": ASKED})]);
    for (tool, args) in
        [("code_action", list()), ("hover", json!({"path": "a.py", "line": 1, "symbol": "zeta"}))]
    {
        let said = answer_to(&scene, tool, args);
        assert!(
            said.ends_with("[scripted0 sent an unrequested edit, which Caliban refused]"),
            "{said}"
        );
    }
    scene.ask(Reply::new().call("a1", "code_action", apply("Sort the lines")));
    scene.wait_phase("reviewing");
    scene.server.reply(Reply::said("Well."));
    scene.nvim.keys(":Caliban reject all no<CR>");
    scene.wait_idle("Well.");
    assert_eq!(scene.nvim.buffer("/a.py"), TEXT.trim_end());
    assert_eq!(scene.on_disk("a.py").as_deref(), Some(TEXT));
    let came = came(&scene.nvim);
    assert!(came.contains("'applied': False") && !came.contains("'applied': True"), "{came}");
}

#[test]
fn an_edit_of_a_command_that_the_user_runs_is_made_while_the_model_asks() {
    let server = json!({
        "push": "never", "holds": ["textDocument/codeAction"], "applies": ["workspace/executeCommand"]
    });
    let scene = started(PATIENT, &[server]);
    scene.nvim.keys(":edit a.py<CR>");
    scene.server.reply(Reply::new().call("a1", "code_action", list()));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('go')", &[]);
    wait_came(&scene.nvim, "textDocument/codeAction");
    let run = "for _, it in ipairs(vim.lsp.get_clients()) do
        it:request('workspace/executeCommand', { command = 'x' }, function() end)
      end";
    scene.nvim.lua(run, &[]);
    wait_came(&scene.nvim, "'applied': True");
    tell(&scene.nvim, "test/answer", &json!({}));
    scene.wait_idle("I see.");
    assert!(scene.nvim.buffer("/a.py").starts_with("by itself\n"));
}
