//! Fifty turns in which modes, skills, the todo list and instructions change, in each dialect: each request begins with
//! the request before it, all requests have the same tools, and the model is told of each change.

use crate::kit::chat::assert_grows;
use crate::kit::dialects::{DIALECTS, Dialect};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::{Value, json};
use std::fs;

const TURNS: usize = 50;

/// What happens before an ordinary prompt, or while the prompt is answered: one of these acts in each turn, in this
/// order.
const KINDS: [fn(&Talk, usize); 10] = [
    |talk, _| talk.mode("plan"),
    Talk::a_skill_comes,
    |talk, turn| talk.calls(turn, "todo", &json!({"action": "write", "todos": [{"text": "it"}]})),
    Talk::a_folder_is_touched,
    |talk, turn| talk.mode(if turn < TURNS / 2 { "auto-edit" } else { "ask" }),
    Talk::the_projects_file_changes,
    |talk, turn| talk.calls(turn, "skill", &json!({"name": "here"})),
    Talk::the_user_loads_a_skill,
    Talk::a_skill_goes,
    Talk::restarts,
];

struct Talk {
    server: Server,
    nvim: Nvim,
}

impl Talk {
    fn write(&self, path: &str, text: &str) {
        let path = self.nvim.setup.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn mode(&self, mode: &str) {
        self.nvim.command(&format!("Caliban mode {mode}"));
        let now = |nvim: &Nvim| nvim.lua_str("return require('caliban').state().mode") == mode;
        self.nvim.wait(now, "the mode");
    }

    fn calls(&self, turn: usize, tool: &str, input: &Value) {
        self.server.reply(Reply::new().thinking("Hm.").call(
            &format!("c{turn}"),
            tool,
            input.clone(),
        ));
    }

    fn a_skill_comes(&self, turn: usize) {
        self.write(&format!(".caliban/skills/s{turn}/SKILL.md"), &skill(&format!("s{turn}")));
    }

    fn a_skill_goes(&self, turn: usize) {
        let folder = format!(".caliban/skills/s{}", turn - 7);
        fs::remove_dir_all(self.nvim.setup.path(&folder)).unwrap();
    }

    fn a_folder_is_touched(&self, turn: usize) {
        self.write(&format!("d{turn}/AGENTS.md"), &format!("Rule {turn}.\n"));
        self.write(&format!("d{turn}/x.txt"), "x\n");
        self.calls(turn, "read", &json!({"path": format!("d{turn}/x.txt")}));
    }

    fn the_projects_file_changes(&self, turn: usize) {
        self.write("AGENTS.md", &format!("Be kind, {turn} times.\n"));
    }

    fn the_user_loads_a_skill(&self, turn: usize) {
        let said = format!("Loaded {turn}.");
        self.server.reply(Reply::said(&said));
        self.nvim.ask("/skill here and now", &said);
    }

    fn restarts(&self, _: usize) {
        let programs = || self.nvim.setup.debug_log().matches(" hello ").count();
        let before = programs();
        self.nvim.command("Caliban restart");
        self.nvim.wait(|_| programs() > before, "a new program");
        self.nvim.wait_phase("idle");
    }
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\nDo it.\n")
}

fn requests_only_grow(dialect: &dyn Dialect) {
    let server = Server::start();
    let setup = Setup::new()
        .file("AGENTS.md", "Be kind.\n")
        .file(".caliban/skills/here/SKILL.md", skill("here"));
    let nvim = Nvim::start(&dialect.choose(setup, &server));
    nvim.keys(":Caliban<CR>");
    let talk = Talk { server, nvim };
    for turn in 0..TURNS {
        KINDS[turn % KINDS.len()](&talk, turn);
        let done = format!("Done {turn}.");
        talk.server.reply(Reply::said(&done));
        talk.nvim.ask(&format!("go {turn}"), &done);
    }
    let requests = talk.server.requests();
    let tools = requests[0].tools();
    assert!(requests.iter().all(|it| it.tools() == tools));
    let last = requests.last().unwrap();
    let (system, told) = (last.system_text(), last.outline());
    assert!(system.contains("Be kind.\n") && system.contains("- here: Does here."), "{system}");
    let times = |text: &str| told.matches(text).count();
    let each = TURNS / KINDS.len();
    assert_eq!(times("Plan mode is on"), each);
    // a restart resets the mode to the mode in the settings
    assert_eq!((times("Auto-edit mode is on"), times("Ask mode is on")), (3, 5));
    assert_eq!(times("<skills>"), 2 * each);
    assert_eq!(times("<skill path="), each);
    assert_eq!(times("<instructions of=\"project\" path=\"d"), each);
    assert_eq!((times("[ ] it"), times("The skill `here`.")), (each, 2 * each));
    assert!(!told.contains("times."));
    assert_grows(requests);
}

/// The effort is a parameter of a request and no part of the conversation.
#[test]
fn a_change_of_the_effort_changes_no_message_in_any_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        let nvim = Nvim::start(&dialect.choose(Setup::new(), &server));
        nvim.keys(":Caliban<CR>");
        for (n, effort) in ["low", "high", "off", "low"].into_iter().enumerate() {
            nvim.wait_phase("idle");
            nvim.command(&format!("Caliban model thinking={effort}"));
            nvim.lua("require('caliban').ask(...)", &["go on".into()]);
            server.wait_count(n + 1);
        }
        for pair in server.requests().windows(2) {
            assert!(pair[1].outline().starts_with(&pair[0].outline()), "{}", pair[1].outline());
            assert_eq!(
                (pair[0].tools(), pair[0].system_text()),
                (pair[1].tools(), pair[1].system_text())
            );
        }
    }
}

#[test]
fn when_modes_and_skills_change_anthropic_requests_grow_only_at_the_end() {
    requests_only_grow(DIALECTS[0]);
}

#[test]
fn when_modes_and_skills_change_openai_chat_requests_grow_only_at_the_end() {
    requests_only_grow(DIALECTS[1]);
}

#[test]
fn when_modes_and_skills_change_openai_responses_requests_grow_only_at_the_end() {
    requests_only_grow(DIALECTS[2]);
}

#[test]
fn when_modes_and_skills_change_gemini_requests_grow_only_at_the_end() {
    requests_only_grow(DIALECTS[3]);
}

#[test]
fn when_modes_and_skills_change_ollama_requests_grow_only_at_the_end() {
    requests_only_grow(DIALECTS[4]);
}
