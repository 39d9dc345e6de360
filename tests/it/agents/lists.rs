//! How the user sees agents: in completion, in the list and in the winbar; and the messages about a missing agent.

use super::{agent, begin, project};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;

fn start(setup: Setup) -> (Server, Nvim) {
    let server = Server::start();
    server.otherwise(Reply::said("Done."));
    let nvim = Nvim::start(&setup.anthropic(&server).size(160, 40));
    (server, nvim)
}

#[test]
fn the_command_line_completes_the_names_of_agents_without_the_program() {
    let list = "# planner\n\n---\ndescription: Plans\n---\n\nYou plan.\n\n# Rules\n\nNone.\n";
    let setup = project()
        .file(".claude/agents/x.md", agent("name: \"debugger\"", "You debug."))
        .file(".claude/agents/bad.md", agent("name: ../bad", "No."))
        .file(".caliban/agents.md", list);
    let (_server, nvim) = start(setup);
    let found = |line: &str| {
        nvim.lua_str(&format!(
            "return table.concat(vim.fn.getcompletion('{line}', 'cmdline'), ' ')"
        ))
    };
    assert_eq!(found("Caliban new @"), "@bare @debugger @planner @reviewer @writer");
    assert_eq!(found("Caliban new @re"), "@reviewer");
    assert_eq!(found("Caliban agents w"), "writer");
    let running = nvim.lua_str("return require('caliban').state().phase");
    assert_eq!(running, "offline");
}

#[test]
fn the_composer_completes_the_agent_of_a_new_conversation() {
    let (server, nvim) = start(project());
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("g? keys");
    nvim.keys("i/new @wri");
    nvim.wait_screen("@writer");
    nvim.wait_screen("Writes");
    assert!(!nvim.screen().contains("names no file"), "{}", nvim.screen());
    nvim.keys("<C-n><C-y><C-s>");
    nvim.wait(
        |nvim| nvim.lua_str("return require('caliban').state().agent or ''") == "writer",
        "it",
    );
    nvim.ask("hello", "Done.");
    assert!(server.requests()[0].system_text().contains("You write."));
}

#[test]
fn a_missing_agent_begins_no_conversation_and_a_similar_name_is_suggested() {
    let (_server, nvim) = start(project());
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Project");
    let before = nvim.session();
    nvim.keys("<Esc>:Caliban new @reviwer<CR>");
    nvim.wait_screen(
        "There is no agent reviwer. Did you mean reviewer? No conversation was started.",
    );
    assert_eq!(nvim.session(), before);
}

#[test]
fn if_the_agent_of_the_first_conversation_is_missing_the_conversation_has_no_agent() {
    let (server, nvim) = start(project());
    nvim.keys(":Caliban new @nobody<CR>");
    nvim.wait_screen("There is no agent nobody.");
    nvim.wait_phase("idle");
    nvim.ask("hello", "Done.");
    let system = server.requests()[0].system_text();
    assert!(system.starts_with("Work.") && !system.contains("<agent name"), "{system}");
}

#[test]
fn the_winbar_the_statusline_and_the_empty_chat_name_the_agent() {
    let (_server, nvim) = start(project());
    begin(&nvim, "@reviewer");
    nvim.wait_screen("@reviewer · ");
    nvim.wait_transcript("Agent    reviewer  (/");
    assert_eq!(nvim.lua_str("return require('caliban').status()"), "caliban: @reviewer · idle");
    nvim.lua("require('caliban').new({ agent = 'writer', name = 'mine' })", &[]);
    nvim.wait_session("mine");
    nvim.wait_screen("@writer · ");
}

#[test]
fn the_list_of_agents_shows_their_descriptions_and_opens_their_files() {
    let list = "For people.\n\n# planner\n---\ndescription: \"Plans \\e[2J%{x}\"\n---\nYou plan.\n";
    let setup = project()
        .file(".caliban/agents.md", list)
        .file(".claude/agents/reviewer.md", agent("description: Another", "No."))
        .file(
            "../config/caliban/agents/writer.md",
            agent("description: Writes\nmodel: nobody/x", "W."),
        )
        .before(
            "vim.ui.select = function(items, opts, done)
               _G.rows = vim.tbl_map(opts.format_item, items)
               done(items[#items], #items)
             end",
        );
    let (_server, nvim) = start(setup);
    nvim.keys(":Caliban agents<CR>");
    nvim.wait(|nvim| nvim.lua_str("return vim.fn.expand('%:t')") == "agents.md", "the file");
    assert_eq!(nvim.lua_str("return vim.fn.line('.')"), "3");
    let rows = nvim.lua_str("return table.concat(_G.rows, '\\n')");
    let rows: Vec<&str> = rows.lines().collect();
    assert!(rows[0].starts_with("bare                             yours          /"), "{rows:?}");
    assert!(rows[1].starts_with("reviewer  Reviews                yours          /"), "{rows:?}");
    assert_eq!(rows[3], "planner   Plans [U+001B][2J%{x}  the project's  .caliban/agents.md");
    assert_eq!(rows.len(), 4);
    nvim.wait_transcript("has the same name, `reviewer`. That one is used; this one was left out.");
    nvim.wait_transcript(
        "line 3: the agent `writer` names the model `nobody/x`. No provider is called",
    );
    nvim.keys(":Caliban agents writer<CR>");
    nvim.wait(|nvim| nvim.lua_str("return vim.fn.expand('%:t')") == "writer.md", "the file");
    nvim.keys(":Caliban agents nobody<CR>");
    nvim.wait_transcript(
        "There is no agent `nobody`. The agents are: bare, reviewer, writer, planner.",
    );
}

#[test]
fn if_there_are_no_agents_the_list_names_the_folders_for_their_files() {
    let (_server, nvim) = start(Setup::new());
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Project");
    nvim.keys("i/agents<C-s>");
    nvim.wait_transcript(
        "There are no agents. An agent is a Markdown file with front matter, in one of",
    );
    nvim.wait_transcript("`.caliban/agents`, `.claude/agents`, ");
    nvim.wait_transcript("`.caliban/agents.md`");
}
