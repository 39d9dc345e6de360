//! Tests `/init`: the model explores the project and proposes `AGENTS.md`.

use crate::kit::chat::{DIALECTS, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::{edit, write};
use serde_json::json;

#[test]
fn slash_init_sends_its_task_in_every_dialect() {
    let sent = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.reply(Reply::said("Looked."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>i/init Name the release steps.<C-s>");
        nvim.wait_transcript("Looked.");
        nvim.wait_phase("idle");
        assert!(nvim.conversation().contains("Name the release steps."));
        let said = server.requests()[0].last_user_text();
        let (task, words) = said.split_once("\n</skill>\n").unwrap();
        for section in [
            "Purpose",
            "Stack",
            "Layout",
            "Commands",
            "Architecture and data flow",
            "How to extend",
            "Gotchas",
            "Tests",
            "Safety",
        ] {
            assert!(task.contains(&format!(". {section}: ")), "{section} is not in: {task}");
        }
        format!("{}\n{}", task.lines().next().unwrap(), words.trim_start())
    });
    expect_test::expect![[r#"
        <skill path="init">
        Write `AGENTS.md` for this project, as the skill `init` says. Name the release steps."#]]
    .assert_eq(common(&sent));
}

#[test]
fn a_new_agents_md_is_reviewed_even_in_auto_edit_mode() {
    let server = Server::start();
    server.reply(Reply::new().call("l1", "list", json!({ "path": "." })));
    server.reply(Reply::new().call("w1", "write", write("AGENTS.md", "# Purpose\nA parser.\n")));
    server.reply(Reply::said("Written."));
    let setup = Setup::new().config("{ mode = 'auto-edit' }").anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>i/init<C-s><Esc>");
    nvim.wait_pending(1);
    assert_eq!(setup.on_disk("AGENTS.md"), None);
    nvim.keys(":Caliban accept all<CR>");
    nvim.wait_transcript("Written.");
    nvim.wait_phase("idle");
    assert_eq!(setup.on_disk("AGENTS.md").as_deref(), Some("# Purpose\nA parser.\n"));
}

#[test]
fn slash_init_updates_an_existing_agents_md_by_single_hunks() {
    let server = Server::start();
    let page = "# Purpose\nA parser.\n\n# Commands\nmake all\n";
    let setup = Setup::new().file("AGENTS.md", page).anthropic(&server);
    server.reply(Reply::new().call("r1", "read", json!({ "path": "AGENTS.md" })));
    let edits = edit("AGENTS.md", &[("A parser.", "A lexer."), ("make all", "make check")]);
    server.reply(Reply::new().call("e1", "edit", edits));
    server.reply(Reply::said("Updated."));
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit AGENTS.md<CR>:Caliban<CR>i/init<C-s><Esc>");
    nvim.wait_pending(2);
    let said = server.requests()[0].last_user_text();
    assert!(
        said.contains("Update `AGENTS.md` for this project, as the skill `init` says."),
        "{said}"
    );
    nvim.keys(":buffer AGENTS.md<CR>2G:Caliban reject hunk<CR>:Caliban accept all<CR>");
    nvim.wait_transcript("Updated.");
    nvim.wait_phase("idle");
    assert_eq!(setup.on_disk("AGENTS.md"), Some(page.replace("make all", "make check")));
}

#[test]
fn slash_init_is_refused_in_plan_mode() {
    let server = Server::start();
    let nvim =
        Nvim::start(&Setup::new().config("{ mode = 'plan' }").anthropic(&server).size(200, 40));
    nvim.keys(":Caliban<CR>i/init<C-s><Esc>");
    nvim.wait_screen("Plan mode changes no file, and /init proposes a change to AGENTS.md.");
    assert_eq!(nvim.composer(), "/init");
    assert!(server.requests().is_empty());
}
