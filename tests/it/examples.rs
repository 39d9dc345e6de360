//! Runs the examples of the help unchanged.

use crate::asks;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;
use std::path::Path;

/// The n-th example after a tag of the help, without its indentation.
fn example(tag: &str, n: usize) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("doc/caliban.txt");
    let help = std::fs::read_to_string(path).unwrap();
    let (_, behind) = help.split_once(&format!("*{tag}*")).unwrap();
    let mut lines = behind.lines();
    for _ in 0..n {
        lines.find(|it| it.ends_with(" >") || it.ends_with(" >lua")).unwrap();
    }
    let is_in = |it: &&str| it.is_empty() || it.starts_with([' ', '\t']);
    let block: Vec<&str> = lines.take_while(is_in).collect();
    let indent = |it: &&str| it.len() - it.trim_start().len();
    let most = block.iter().filter(|it| !it.is_empty()).map(indent).min().unwrap();
    block.iter().map(|it| it.get(most..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_examples_of_agents_and_subagents_work() {
    let server = Server::start();
    let settings = example("caliban-tasks", 2);
    let table = settings.trim().strip_prefix("vim.g.caliban = ").unwrap().to_owned();
    let setup = Setup::new()
        .config(&table)
        .file("../config/caliban/agents/reviewer.md", example("caliban-agents", 1))
        .file(".caliban/agents.md", example("caliban-agents.md", 1))
        .size(150, 40);
    let nvim = Nvim::start(&setup.anthropic(&server));
    nvim.lua(&example("caliban-agents", 2), &[]);
    nvim.wait_transcript("Agent    reviewer");
    server.reply(Reply::said("All good."));
    nvim.ask("hello", "All good.");
    let system = server.requests()[0].system_text();
    assert!(system.contains("You review changes and edit nothing."), "{system}");
    nvim.keys(":Caliban new @tester<CR>");
    nvim.wait_transcript("Agent    tester");
    let prompt = example("caliban-tasks", 1).replace('\n', " ");
    let task = json!({ "description": "Find it", "prompt": "Look." });
    server.reply(Reply::new().call("t1", "task", task));
    server.reply(Reply::said("There."));
    server.reply(Reply::said("Found."));
    nvim.ask(prompt.trim(), "Found.");
    assert_eq!(server.requests()[2].json["model"], "claude-haiku-4-5");
}

#[test]
fn the_examples_of_plans_and_questions_work() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(150, 40));
    nvim.keys(":Caliban<CR><Esc>");
    nvim.wait_transcript("Project");
    let sections = ["summary", "changes", "interfaces", "tests", "assumptions", "risks"];
    let plan: serde_json::Map<String, serde_json::Value> =
        sections.iter().map(|it| ((*it).to_owned(), json!("Some."))).collect();
    server.reply(Reply::new().call("p1", "plan", plan));
    let commands = example("caliban-plan", 1);
    let commands: Vec<&str> = commands.trim().lines().collect();
    let [plans, asks, shows, accepts] = commands[..] else { panic!("{commands:?}") };
    nvim.keys(&format!("{plans}<CR>"));
    nvim.keys(&format!("{asks}<CR>"));
    nvim.wait_screen("\\a accept  \\c");
    nvim.keys(&format!("{shows}<CR>"));
    server.reply(asks::ask("q1", &[asks::which()]));
    nvim.keys(&format!("{accepts}<CR>"));
    nvim.wait_asked("e own words");
    assert_eq!(nvim.lua_str("return require('caliban').state().mode"), "auto-edit");
    server.reply(Reply::said("SQLite it is."));
    nvim.command("set cmdheight=6");
    nvim.lua(&example("caliban-questions", 2), &[]);
    nvim.wait_transcript("SQLite it is.");
    assert!(asks::prompt(&server).contains("SQLite"), "{}", asks::prompt(&server));
}

#[test]
fn the_example_of_a_coordinator_works() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(150, 40));
    let commands = example("caliban-coordinator", 1);
    let [mode, asks] = commands.trim().lines().collect::<Vec<_>>()[..] else {
        panic!("{commands}")
    };
    nvim.keys(&format!("{mode}<CR>"));
    nvim.wait_transcript("Coordinator");
    server.reply(Reply::said("I hand it out."));
    nvim.keys(&format!("{asks}<CR>"));
    nvim.wait_transcript("I hand it out.");
    let request = &server.requests()[0];
    let tools = request.json["tools"].as_array().unwrap().iter();
    let names: Vec<&str> = tools.filter_map(|it| it["name"].as_str()).collect();
    assert!(names.contains(&"spawn_workers") && !names.contains(&"edit"), "{names:?}");
}
