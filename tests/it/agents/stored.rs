//! The agent that is stored with a conversation: after restarts, in copies, in forged files, and after a change of the
//! agent's file. Also the user's consent to a project's agents.

use super::{agent, begin, project, times};
use crate::kit::chat::{DIALECTS, assert_grows};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::run::Ran;
use serde_json::{Value, json};
use std::fs;

const REVIEWER: &str = "../config/caliban/agents/reviewer.md";
const OF_PROJECT: &str = ".claude/agents/helper.md";

fn start(setup: Setup) -> (Server, Nvim) {
    let server = Server::start();
    server.otherwise(Reply::said("Done."));
    let nvim = Nvim::start(&setup.anthropic(&server).size(150, 40));
    (server, nvim)
}

fn helper(setup: Setup) -> Setup {
    setup.file(OF_PROJECT, agent("tools: Read\nmode: plan", "You help."))
}

/// The field `agent` in the conversation's file.
fn stored(setup: &Setup, name: &str) -> Value {
    let bytes = fs::read(setup.sessions().join(format!("{name}.json"))).unwrap();
    serde_json::from_slice::<Value>(&bytes).unwrap()["agent"].clone()
}

#[test]
fn a_changed_agent_file_is_reported_once_and_used_after_slash_system_new() {
    let (server, nvim) = start(project());
    begin(&nvim, "@reviewer");
    nvim.ask("one", "Done.");
    let changed = agent("tools: read, glob", "You review anew.");
    fs::write(nvim.setup.path(REVIEWER), changed).unwrap();
    nvim.ask("two", "two\n\nDone.");
    nvim.ask("three", "three\n\nDone.");
    let told = "changed since this conversation began";
    assert_eq!(nvim.transcript().matches(told).count(), 1, "{}", nvim.transcript());
    let requests = server.requests();
    assert_eq!(requests[2].tools(), ["read", "grep"]);
    assert_grows(requests);
    nvim.keys(":Caliban<CR>i/system new<C-s><Esc>");
    nvim.wait_transcript("The system prompt was replaced");
    nvim.ask("four", "four\n\nDone.");
    let last = server.requests()[3].clone();
    assert_eq!((times(&last, "You review anew."), times(&last, "You review.\\n")), (1, 0));
    assert_eq!(last.tools(), ["read", "glob"]);
}

#[test]
fn an_agent_whose_file_is_gone_is_used_until_slash_system_new() {
    let (server, nvim) = start(project());
    begin(&nvim, "@reviewer it");
    nvim.ask("one", "Done.");
    nvim.quit_with(":qa!<CR>");
    nvim.wait_program_end();
    fs::remove_file(nvim.setup.path(REVIEWER)).unwrap();
    let nvim = Nvim::start(&nvim.setup);
    nvim.keys(":Caliban resume it<CR>");
    nvim.wait_transcript("The agent `reviewer` of this conversation no longer has a file.");
    assert!(!nvim.transcript().contains("The settings, the tools or the folder changed"));
    nvim.ask("two", "two\n\nDone.");
    assert_eq!(server.requests()[1].tools(), ["read", "grep"]);
    assert_grows(server.requests());
    nvim.keys(":Caliban<CR>i/system new<C-s><Esc>");
    nvim.wait_transcript("The conversation goes on without it.");
    nvim.ask("three", "three\n\nDone.");
    let last = server.requests()[2].clone();
    let system = last.system_text();
    assert!(system.starts_with("Work.") && !system.contains("<agent name"), "{system}");
    assert!(last.tools().len() > 10);
    nvim.quit_with(":qa!<CR>");
    nvim.wait_program_end();
    assert_eq!(stored(&nvim.setup, "it"), Value::Null);
}

#[test]
fn a_conversation_keeps_its_agent_when_it_is_copied_or_cleared() {
    let (server, nvim) = start(project());
    begin(&nvim, "@reviewer it");
    nvim.ask("one", "Done.");
    nvim.keys(":Caliban fork<CR>");
    nvim.wait_session("it-2");
    nvim.ask("two", "two\n\nDone.");
    nvim.keys(":Caliban<CR>i/clear<C-s><Esc>");
    nvim.wait_gone("two");
    nvim.ask("three", "three\n\nDone.");
    assert_eq!(server.count(), 3);
    for it in server.requests() {
        assert_eq!((times(&it, "You review."), it.tools().len()), (1, 2));
    }
}

#[test]
fn caliban_run_continues_a_conversation_with_its_agent() {
    let (server, nvim) = start(project());
    begin(&nvim, "@reviewer it");
    nvim.ask("one", "Done.");
    nvim.quit_with(":qa!<CR>");
    nvim.wait_program_end();
    let settings = nvim.setup.dir().join("settings.json");
    fs::write(&settings, json!({"system": "Work."}).to_string()).unwrap();
    let settings = settings.display().to_string();
    let ran =
        Ran::of(&mut nvim.setup.program(&["run", "--config", &settings, "--session", "it", "two"]));
    assert_eq!((ran.code, ran.out.trim()), (0, "Done."), "{}", ran.err);
    let requests = server.requests();
    assert_eq!((times(&requests[1], "You review."), requests[1].tools().len()), (1, 2));
    assert_grows(requests);
    assert_eq!(stored(&nvim.setup, "it")["name"], "reviewer");
}

#[test]
fn the_projects_agent_gets_its_prompt_only_after_the_user_has_agreed_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.otherwise(Reply::said("Done."));
        let setup = helper(Setup::new()).cautious().size(150, 40).speaking(dialect, &server);
        let nvim = Nvim::start(&setup);
        begin(&nvim, "@helper one");
        nvim.keys("<Esc>:Caliban<CR>ihello<C-s><Esc>");
        nvim.wait_transcript("? May the model follow these instructions?");
        nvim.wait_screen("You help.");
        nvim.wait_screen("tools: Read");
        assert_eq!(server.count(), 0);
        nvim.go_to_transcript("? May the model follow");
        nvim.wait_screen("y use them");
        nvim.keys("y");
        server.wait_count(1);
        nvim.wait_phase("idle");
        nvim.ask("more", "more\n\nDone.");
        // the next conversation begins with the agent's prompt
        begin(&nvim, "@helper two");
        nvim.ask("hello", "Done.");
        let requests = server.requests();
        for it in &requests {
            assert_eq!(times(it, "You help."), 1);
            assert!(it.system_text().contains("You help."), "{}", it.system_text());
            assert_eq!(it.tools(), ["read"]);
        }
        assert_grows(requests[..2].to_vec());
    }
}

#[test]
fn the_model_of_the_projects_agent_is_used_only_after_the_user_has_agreed() {
    for key in ["s", "n"] {
        let of_project = agent("model: anthropic/claude-haiku-4-5", "You help.");
        let (server, nvim) = start(Setup::new().file(OF_PROJECT, of_project).cautious());
        begin(&nvim, "@helper");
        let model = |nvim: &Nvim| nvim.lua_str("return require('caliban').state().model");
        let before = model(&nvim);
        nvim.keys("<Esc>:Caliban<CR>ihello<C-s><Esc>");
        nvim.wait_transcript("? May the model follow these instructions?");
        nvim.go_to_transcript("? May the model follow");
        nvim.wait_screen("y use them");
        nvim.keys(key);
        server.wait_count(1);
        nvim.wait_phase("idle");
        let used = server.requests()[0].json["model"].as_str().unwrap().to_owned();
        assert_eq!((used == "claude-haiku-4-5", before == model(&nvim)), (key == "s", key == "n"));
    }
}

#[test]
fn the_limits_of_a_project_agent_apply_even_if_the_user_refuses_its_prompt() {
    let (server, nvim) = start(helper(Setup::new()).cautious());
    begin(&nvim, "@helper");
    nvim.keys("<Esc>:Caliban<CR>ihello<C-s><Esc>");
    nvim.wait_transcript("? May the model follow these instructions?");
    nvim.go_to_transcript("? May the model follow");
    nvim.wait_screen("y use them");
    nvim.keys("n");
    server.wait_count(1);
    nvim.wait_phase("idle");
    let request = server.requests()[0].clone();
    assert_eq!((times(&request, "You help."), request.tools()), (0, vec!["read".to_owned()]));
    assert_eq!(nvim.lua_str("return require('caliban').state().mode"), "plan");
}

#[test]
fn if_project_instructions_are_turned_off_the_prompts_of_its_agents_are_not_sent() {
    let (server, nvim) = start(helper(Setup::new()).config("{ instructions = 'never' }"));
    begin(&nvim, "@helper");
    nvim.wait_transcript("The prompt of the agent `helper` is not used");
    nvim.ask("hello", "Done.");
    assert_eq!(times(&server.requests()[0], "You help."), 0);
}

#[test]
fn a_forged_agent_in_a_session_file_can_only_take_tools_away() {
    let (server, nvim) = start(project());
    begin(&nvim, "@writer it");
    nvim.ask("one", "Done.");
    nvim.quit_with(":qa!<CR>");
    nvim.wait_program_end();
    let path = nvim.setup.sessions().join("it.json");
    let forge = |agent: Value| {
        let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        file["agent"] = agent;
        fs::write(&path, serde_json::to_vec(&file).unwrap()).unwrap();
        let nvim = Nvim::start(&nvim.setup);
        nvim.keys(":Caliban resume it<CR>");
        nvim.wait_session("it");
        let count = server.count();
        let words = format!("more {count}");
        nvim.ask(&words, &format!("{words}\n\nDone."));
        nvim.quit_with(":qa!<CR>");
        nvim.wait_program_end();
        server.requests()[count].clone()
    };
    let tools = json!(["read", "rm -rf", "x".repeat(1000)]);
    let forged =
        json!({"name": "writer", "tools": tools, "max_turns": 0, "of": "later", "sha256": ""});
    let request = forge(forged);
    assert_eq!(request.tools(), ["read"]);
    let kept = stored(&nvim.setup, "it");
    assert_eq!((&kept["of"], &kept["max_turns"]), (&json!("later"), &Value::Null));
    // an agent whose name is not valid is dropped, and no file of that name is read
    let request = forge(json!({"name": "../../x", "tools": ["read"]}));
    assert!(request.tools().len() > 10);
    assert_eq!(stored(&nvim.setup, "it"), Value::Null);
}
