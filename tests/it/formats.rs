//! Tests how each model writes its edits: its edit tools, how patches change files, and how often edits fit.

use super::review::scene::{Scene, edit, nine, write};
use crate::kit::dialects::Dialect as _;
use crate::kit::dialects::openai_responses::OpenAiResponses;
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::{Value, json};

const PATCHING: &str = "{ models = { ['anthropic/claude-sonnet-4-5'] = { edits = 'patch' } } }";

const CHECK: &str = "vim.cmd('checkhealth caliban')
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')";

/// The names of the tools in a request to Anthropic, `OpenAI` or Ollama.
fn tools(request: &Request) -> String {
    let name = |it: &Value| {
        let name = [&it["name"], &it["function"]["name"]].into_iter().find_map(Value::as_str);
        name.unwrap().to_owned()
    };
    let tools = request.json["tools"].as_array().unwrap();
    let edits = ["edit", "write", "apply_patch"];
    let names: Vec<String> =
        tools.iter().map(name).filter(|it| edits.contains(&it.as_str())).collect();
    names.join(" ")
}

fn patch(body: &str) -> Value {
    json!({ "input": format!("*** Begin Patch\n{body}*** End Patch") })
}

#[test]
fn a_patch_changes_and_creates_files() {
    let scene =
        Scene::start(|it| it.file("a.txt", nine()).file("b.txt", "x  \ny").config(PATCHING));
    let body = "*** Update File: a.txt\n@@\n l1\n-l2\n+L2\n l3\n@@ l7\n-l8\n+L8\n\
        *** Add File: dir/new.txt\n+one\n*** Update File: b.txt\n@@\n x\n-y\n+Y\n";
    scene.ask(Reply::new().call("e1", "apply_patch", patch(body)));
    scene.wait_pending(4);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l8", "L8")));
    assert_eq!(scene.on_disk("dir/new.txt").as_deref(), Some("one\n"));
    assert_eq!(scene.on_disk("b.txt").as_deref(), Some("x  \nY"));
    let answer = scene.answer(2, "e1");
    for told in [
        "The user accepted 2 changes in a.txt.",
        "The user accepted the change in dir/new.txt.",
        "The chunk does not match the file exactly. The edit was applied at lines 1-2, ignoring blanks at line ends.",
    ] {
        assert!(answer.contains(told), "{answer}");
    }
    assert_eq!(tools(&scene.request(1)), "apply_patch");
    assert!(scene.request(1).json["system"].to_string().contains("- apply_patch: "));
}

#[test]
fn a_patch_of_which_only_a_part_fits_changes_nothing() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", "x\n").config(PATCHING));
    let body = "*** Update File: a.txt\n@@\n-l2\n+L2\n*** Add File: b.txt\n+y\n";
    scene.server.reply(Reply::new().call("e1", "apply_patch", patch(body)));
    let twice =
        "*** Update File: a.txt\n@@\n-l2\n+L2\n*** Update File: a.txt\n@@\n+l2\n@@\n-l\n+L\n";
    scene.server.reply(Reply::new().call("e2", "apply_patch", patch(twice)));
    let meets = "*** Delete File: a.txt\n*** Add File: a.txt\n+y\n";
    scene.server.reply(Reply::new().call("e3", "apply_patch", patch(meets)));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_idle("I see.");
    assert_eq!(scene.pending(), 0);
    let told = ["e1", "e2", "e3"].map(|id| scene.answer(4, id));
    expect![[r#"
        No part of the patch was applied. b.txt already exists. Use `*** Update File:` to change it.
        --
        No part of the patch was applied. Chunk 2 of 2 does not fit. Here `old` means the chunk's lines without the added lines. `old` is not in a.txt. Nothing in the file is similar: read it again.
        --
        No part of the patch was applied. a.txt was not changed: the same call also deletes or renames this file, or uses its new path."#]].assert_eq(&told.join("\n--\n"));
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.on_disk("b.txt").as_deref(), Some("x\n"));
}

/// These are patches that other coding agents would apply only in part, or that would overwrite a file.
#[test]
fn a_patch_that_would_overwrite_a_file_or_cannot_finish_changes_nothing() {
    let files = |it: Setup| {
        it.file("a.txt", nine()).file("b.txt", "x\n").file("dir/c.txt", "y\n").config(PATCHING)
    };
    let bodies = [
        "*** Update File: a.txt\n*** Move to: b.txt\n@@\n-l2\n+L2\n",
        "*** Update File: a.txt\n*** Move to: dir\n",
        "*** Update File: a.txt\n*** Move to: ../out.txt\n",
        "*** Update File: a.txt\n@@\n-l2\n+L2\n*** Delete File: dir\n",
        "*** Update File: a.txt\n@@\n-l2\n+L2\n*** Delete File: no.txt\n",
        "*** Add File: new.txt\n+n\n*** Update File: none.txt\n@@\n-l2\n+L2\n",
        "*** Add File: b.txt/new.txt\n+n\n",
        "*** Add File: new.txt\n+n\n*** Add File: .git/config\n+n\n",
    ];
    let scene = Scene::start(files);
    let calls = bodies.iter().enumerate().fold(Reply::new(), |reply, (n, body)| {
        reply.call(&format!("e{n}"), "apply_patch", patch(body))
    });
    scene.server.reply(calls);
    scene.ask_until(Reply::said("I see."), "I see.");
    assert_eq!(scene.pending(), 0);
    let dir = scene.nvim.setup.dir().display().to_string();
    let told: Vec<String> = (0..bodies.len())
        .map(|n| scene.answer(2, &format!("e{n}")).replace(&dir, "/DIR"))
        .collect();
    expect![[r#"
        to: `b.txt` already exists. Name a path that does not exist. No part of the call was done.
        to: `dir` is a folder. Name a file.
        to: `../out.txt` is outside the project (/DIR/project). Only files in the project can be edited.
        path: `dir` is a folder. Name a file. No part of the call was done.
        No part of the patch was applied. no.txt does not exist.
        No part of the patch was applied. none.txt does not exist. Use `*** Add File:` to create it.
        path: `b.txt` is a file, not a folder.
        path: `.git/config` is in .git, which no tool reads or writes. Run git with `shell`, which needs consent. No part of the call was done."#]]
    .assert_eq(&told.join("\n"));
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.on_disk("b.txt").as_deref(), Some("x\n"));
    assert_eq!(scene.on_disk("dir/c.txt").as_deref(), Some("y\n"));
    assert_eq!(scene.on_disk("new.txt"), None);
}

#[test]
fn the_edit_tools_depend_only_on_the_model() {
    let server = Server::start();
    for reply in ["One.", "Two.", "Three.", "Four."] {
        server.reply(Reply::said(reply));
    }
    let setup = OpenAiResponses.choose(Setup::new(), &server).anthropic(&server);
    let nvim = Nvim::start(&setup.env("CALIBAN_MODEL", "openai/gpt-5"));
    nvim.ask("one", "One.");
    nvim.ask("two", "Two.");
    nvim.keys(":Caliban model anthropic/claude-sonnet-4-5<CR>");
    nvim.wait_transcript("Model: anthropic/claude-sonnet-4-5.");
    nvim.ask("three", "Three.");
    nvim.keys(":Caliban model openai/gpt-5<CR>");
    nvim.wait_transcript("Model: openai/gpt-5.");
    nvim.ask("four", "Four.");
    let requests = server.requests();
    let given: Vec<String> = requests.iter().map(tools).collect();
    assert_eq!(given, ["apply_patch", "apply_patch", "edit write", "apply_patch"]);
    assert_eq!(requests[0].json["tools"], requests[1].json["tools"]);
    assert_eq!(requests[0].json["tools"], requests[3].json["tools"]);
    let prompted: Vec<bool> = requests
        .iter()
        .map(|it| it.json["instructions"].to_string() + &it.json["system"].to_string())
        .map(|it| it.contains("- apply_patch: ") && !it.contains("- edit: "))
        .collect();
    assert_eq!(prompted, [true, true, false, true]);
}

#[test]
fn a_small_model_gets_no_edit_tool_except_the_one_that_writes_whole_files() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().ollama(&server).file("a.txt", nine()));
    let scene = Scene { server, nvim };
    scene.server.reply(Reply::new().call("r1", "read", json!({ "path": "a.txt" })));
    let text = nine().replace("l2", "L2").replace("l8\n", "");
    scene.ask(Reply::new().call("w1", "write", write("a.txt", &text)));
    scene.wait_pending(2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(text));
    assert_eq!(tools(&scene.request(1)), "write");
}

/// Lets the model make an edit with this new text that does not fit. Returns the name by which the model can refer to
/// the text.
fn missed(scene: &Scene, new: &str, request: usize) -> String {
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l2b", new)])));
    scene.server.reply(Reply::said("Missed."));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_idle("Missed.");
    let told = scene.answer(request, "e1");
    let (_, behind) = told.split_once("Caliban kept the new text: send `new_from`: \"").unwrap();
    behind.split('"').next().unwrap().to_owned()
}

#[test]
fn after_a_restart_the_model_can_still_refer_to_the_text_of_a_failed_edit_by_its_name() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).file("a.txt", nine());
    let nvim = Nvim::start(&setup);
    let scene = Scene { server, nvim };
    let new = "L2, and more of it\n".repeat(10);
    let name = missed(&scene, &new, 2);
    let again = |old: &str, name: &str| json!({ "path": "a.txt", "edits": [{ "old": old, "new_from": name }] });
    scene.ask(Reply::new().call("e2", "edit", again("l2\n", &name)));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("Kept."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("Kept.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2\n", &new)));
    scene.nvim.quit_with(":qa<CR>");

    let scene = Scene { nvim: Nvim::start(&setup), server: scene.server };
    scene.ask(Reply::new().call("e3", "edit", again("l5\n", &name)));
    scene.wait_pending(1);
    scene.server.reply(Reply::new().call("e4", "edit", again("l6\n", "k0")));
    scene.server.reply(Reply::said("Done."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("Done.");
    let after = nine().replace("l2\n", &new).replace("l5\n", &new);
    assert_eq!(scene.on_disk("a.txt"), Some(after));
    let told = "Caliban kept no text named `k0`, so nothing was done. Send the text itself.";
    assert_eq!(scene.answer(7, "e4"), told);
}

#[test]
fn the_error_of_a_failed_edit_says_that_the_file_changed_since_the_model_read_it() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(Reply::new().call("r1", "read", json!({ "path": "a.txt" })));
    scene.server.reply(Reply::said("Read."));
    scene.nvim.keys(":Caliban ask read it<CR>");
    scene.wait_idle("Read.");
    let edited = edit("a.txt", &[("l1\nl2\nl3", "x")]);
    let gate = scene.server.reply(Reply::new().gate().call("e1", "edit", edited));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban ask edit it<CR>");
    scene.server.wait_requests(3);
    scene.nvim.keys("2GSmine<Esc>");
    gate.finish();
    scene.wait_idle("I see.");
    expect![[r#"
        `old` is not in a.txt. The file changed since you saw it last.
        The nearest block begins at line 1 (- `old`, + the file):
         l1
        -l2
        +mine
         l3"#]]
    .assert_eq(&scene.answer(4, "e1"));
}

#[test]
fn the_health_check_shows_how_often_edits_fitted() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).file("a.txt", nine());
    let scene = Scene { nvim: Nvim::start(&setup), server };
    missed(&scene, &"x".repeat(100), 2);
    scene.ask(Reply::new().call("e2", "edit", edit("a.txt", &[("l2", "L2")])));
    scene.wait_pending(1);
    let check = "vim.cmd('checkhealth caliban')
        return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')";
    let report = scene.nvim.lua_str(check);
    let told = "anthropic/claude-sonnet-4-5, replace: 1 of 2 (50 %)";
    assert!(report.contains(told), "no {told:?} in {report}");
}

/// An unreadable call counts as a failed edit.
#[test]
fn edits_that_fit_are_counted_by_model_and_edit_format() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(PATCHING));
    let none = json!({ "input": "*** Begin Patch\n*** Update File: a.txt\n@@\n-l2\n+L2\n" });
    scene.server.reply(Reply::new().call("e1", "apply_patch", none));
    let body = "*** Update File: a.txt\n@@\n-none\n+L2\n";
    scene.server.reply(Reply::new().call("e2", "apply_patch", patch(body)));
    scene.ask(Reply::new().call(
        "e3",
        "apply_patch",
        patch("*** Update File: a.txt\n@@\n-l2\n+L2\n"),
    ));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    scene.nvim.keys(":Caliban model anthropic/claude-haiku-4-5<CR>");
    scene.nvim.wait_screen("claude-haiku-4-5");
    scene.ask(Reply::new().call("e4", "edit", edit("a.txt", &[("l3", "L3")])));
    scene.wait_pending(1);
    let report = scene.nvim.lua_str(CHECK);
    for told in [
        "anthropic/claude-sonnet-4-5, patch: 1 of 3 (33 %)",
        "anthropic/claude-haiku-4-5, replace: 1 of 1 (100 %)",
    ] {
        assert!(report.contains(told), "no {told:?} in {report}");
    }
}
