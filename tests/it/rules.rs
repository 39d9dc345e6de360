//! A project's rules for other agents, from the offer in an empty chat to the request.

use crate::kit::chat::{DIALECTS, assert_grows, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;

fn project() -> Setup {
    Setup::new()
        .file(".github/copilot-instructions.md", "Tabs, never\u{200b} spaces.\n")
        .file(".cursor/rules/always.mdc", "---\nalwaysApply: true\n---\n\nNames are nouns.\n")
        .file(
            ".cursor/rules/sql.mdc",
            "---\ndescription: SQL \u{202e}style\nglobs: *.sql, db/**\nalwaysApply: false\n---\n\nUpper case.\n",
        )
        .file(".cursor/rules/web/css.mdc", "---\ndescription: CSS\n---\n\nLower case.\n")
        .file(".cursor/rules/broken.mdc", "---\nalwaysApply: [\n---\nNever sent.\n")
        .config("{ system = 'Work.' }")
}

#[test]
fn slash_rules_gives_the_model_the_rules_for_other_agents_in_every_dialect() {
    let told = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        let nvim = Nvim::start(&project().speaking(dialect, &server).size(160, 40));
        nvim.keys(":Caliban<CR>");
        let offer = "Rules    /rules adds .github/copilot-instructions.md, .cursor/rules";
        nvim.wait_transcript(offer);
        nvim.keys("i/rules<C-s>");
        nvim.wait_transcript("! Instructions: .github/copilot-instructions.md  1 line");
        nvim.wait_transcript("`.cursor/rules/broken.mdc` has front matter that is not YAML");
        nvim.wait_transcript("`.github/copilot-instructions.md` contains 1 invisible characters.");
        nvim.keys("hello<C-s>");
        nvim.wait_transcript("Seen.");
        nvim.wait_phase("idle");
        nvim.keys("/rules<C-s>");
        nvim.wait_transcript("The model has the current rules.");
        nvim.keys("again<C-s>");
        nvim.wait(|it| it.transcript().matches("\nSeen.").count() == 2, "the second reply");
        nvim.wait_phase("idle");
        let requests = server.requests();
        assert!(!requests[1].last_user_text().contains("Tabs"));
        // dialects separate the blocks of a message in different ways
        let told = requests[0].last_user_text().replace(">\n\n", ">\n");
        assert_grows(requests);
        told
    });
    expect![[r#"
        <instructions of="project" path=".github/copilot-instructions.md">
        Tabs, never[U+200B] spaces.
        </instructions>
        <instructions of="project" path=".cursor/rules/always.mdc">
        Names are nouns.
        </instructions>
        <instructions of="project" path=".cursor/rules">
        Read the file of a rule before you do work that the rule is about:
        - .cursor/rules/sql.mdc: SQL [U+202E]style (files: *.sql, db/**)
        - .cursor/rules/web/css.mdc: CSS
        </instructions>
        hello"#]]
    .assert_eq(common(&told));
}

#[test]
fn rules_for_other_agents_are_offered_in_the_first_conversation_only() {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    let nvim = Nvim::start(&project().anthropic(&server).size(160, 40));
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("/rules adds");
    nvim.ask("hello", "Seen.");
    nvim.keys(":Caliban new other<CR>");
    nvim.wait_session("other");
    nvim.wait_transcript("Earlier  1 conversation");
    assert!(!nvim.transcript().contains("/rules adds"));
}

#[test]
fn rules_for_other_agents_are_not_offered_beside_the_projects_own_instructions() {
    let server = Server::start();
    let nvim = Nvim::start(&project().file("CLAUDE.md", "Be kind.\n").anthropic(&server));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Rules    CLAUDE.md");
    assert!(!nvim.transcript().contains("/rules"));
}

#[test]
fn instruction_files_of_other_names_are_offered_and_added() {
    let server = Server::start();
    server.otherwise(Reply::said("Done."));
    let setup = Setup::new()
        .file("GEMINI.md", "Use tabs.\n")
        .file(".claude/CLAUDE.md", "Use nouns.\n")
        .file("AGENTS.md", "");
    let nvim = Nvim::start(&setup.anthropic(&server).size(160, 40));
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Rules    /rules adds .claude/CLAUDE.md, GEMINI.md");
    nvim.keys("i/rules<C-s>");
    nvim.wait_transcript("! Instructions: GEMINI.md  1 line");
    nvim.keys("go<C-s>");
    nvim.wait_transcript("Done.");
    let sent = server.requests()[0].json.to_string();
    assert!(sent.contains("Use tabs.") && sent.contains("Use nouns."), "{sent}");
}

#[test]
fn without_rules_for_other_agents_slash_rules_says_where_it_looks() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(160, 40));
    nvim.keys(":Caliban<CR>i/rules<C-s>");
    nvim.wait_transcript(
        "This project has no rules for other agents: no `.github/copilot-instructions.md`",
    );
    assert_eq!(server.count(), 0);
}
