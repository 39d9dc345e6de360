//! The rules in the project's own file that allow calls: they are used only after the user has agreed to the file's text.

use crate::grants::{call, is_asked};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::Scene;
use serde_json::{Value, json};
use std::fs;

const FILE: &str = ".caliban/permissions.toml";
const QUESTION: &str =
    "? May these rules of the project allow calls and connections without a question?";
const ECHO: &str = "[[rule]]\nallow = 'shell'\ncommand = 'echo'\n";
const PUSH: &str = "[[rule]]\ndeny = 'shell'\ncommand = 'git push'\n";

fn run(command: &str) -> Value {
    json!({ "command": command })
}

/// A chat in a project whose file has these rules.
fn start(rules: &str) -> Scene {
    let scene = Scene::start(|it| it.file(FILE, rules).size(160, 40));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene
}

/// Sends a message whose reply runs `command`, and waits for the question about the rules.
fn send_up_to_question(scene: &Scene, command: &str) -> String {
    let n = scene.server.requests().len();
    scene.server.reply(Reply::new().call(&format!("c{n}"), "shell", run(command)));
    scene.server.reply(Reply::said(&format!("Seen {n}.")));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_transcript(QUESTION);
    scene.nvim.wait_phase("asking");
    assert_eq!(scene.server.requests().len(), n);
    format!("Seen {n}.")
}

/// Answers the question about the rules by a key.
fn answer(scene: &Scene, key: &str) {
    scene.nvim.go_to_transcript(QUESTION);
    scene.nvim.wait_screen("y use them");
    scene.nvim.keys(key);
    scene.nvim.wait(|it| !it.transcript().contains(QUESTION), "an answered question");
}

fn restarted(scene: Scene) -> Scene {
    let Scene { server, nvim } = scene;
    let setup = nvim.setup.clone();
    nvim.quit_with(":qa!<CR>");
    let scene = Scene { server, nvim: Nvim::start(&setup) };
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Seen ");
    scene
}

#[test]
fn rules_of_the_project_allow_only_after_the_user_has_agreed_and_a_changed_file_asks_again() {
    let scene = start(&format!("{ECHO}{PUSH}"));
    let last = send_up_to_question(&scene, "echo one");
    scene.nvim.wait_transcript("allow shell `echo …`");
    answer(&scene, "y");
    scene.wait_idle(&last);
    assert!(scene.answer(2, "c0").contains("one"), "{}", scene.answer(2, "c0"));
    let (said, _) = call(&scene, "shell", run("git -C . push"), "");
    assert!(said.starts_with("Not run. A permission rule denies"), "{said}");
    // The agreement is kept after a restart.
    let scene = restarted(scene);
    assert!(!is_asked(&scene, "shell", run("echo two")));
    // A changed text needs a new agreement, even in the turn that is running.
    fs::write(
        scene.nvim.setup.path(FILE),
        format!("{ECHO}[[rule]]\nallow = 'shell'\ncommand = 'rm'\n"),
    )
    .unwrap();
    let last = send_up_to_question(&scene, "rm x");
    scene.nvim.wait_transcript("allow shell `rm …`");
    answer(&scene, "n");
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban deny<CR>");
    scene.wait_idle(&last);
    assert!(is_asked(&scene, "shell", run("echo three")));
    // The refusal of the changed text is kept after a restart too, and the agreement to the old text.
    let scene = restarted(scene);
    assert!(is_asked(&scene, "shell", run("echo four")));
    fs::write(scene.nvim.setup.path(FILE), format!("{ECHO}{PUSH}")).unwrap();
    assert!(!is_asked(&scene, "shell", run("echo five")));
}

#[test]
fn a_file_that_changes_during_a_turn_allows_nothing_before_the_user_has_agreed_to_it() {
    let scene = start(ECHO);
    let last = send_up_to_question(&scene, "echo one");
    fs::write(scene.nvim.setup.path(FILE), format!("{ECHO}# changed\n")).unwrap();
    answer(&scene, "y");
    scene.nvim.wait_question();
    scene.nvim.wait_transcript("They are not used until you agree to this text of the file.");
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle(&last);
}

#[test]
fn an_agreement_for_this_conversation_is_not_kept() {
    let scene = start(ECHO);
    let last = send_up_to_question(&scene, "echo one");
    answer(&scene, "s");
    scene.wait_idle(&last);
    assert!(!is_asked(&scene, "shell", run("echo two")));
    let scene = restarted(scene);
    let last = send_up_to_question(&scene, "echo three");
    answer(&scene, "y");
    scene.wait_idle(&last);
}

#[test]
fn agreeing_and_revoking_in_the_list_of_permissions_take_effect_and_are_logged() {
    let scene = start(ECHO);
    let last = send_up_to_question(&scene, "echo one");
    answer(&scene, "y");
    scene.wait_idle(&last);
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen("1: rule: allow shell `echo …` (.caliban/permissions.toml)");
    scene.nvim.keys("1<CR>");
    scene
        .nvim
        .wait_screen("The rules of .caliban/permissions.toml that allow calls no longer apply.");
    scene.nvim.keys("<Esc>");
    assert!(is_asked(&scene, "shell", run("echo two")));
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen("(.caliban/permissions.toml, not used: choose it to be asked)");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_transcript(QUESTION);
    scene.nvim.keys("<Esc>");
    answer(&scene, "y");
    scene.nvim.wait_phase("idle");
    assert!(!is_asked(&scene, "shell", run("echo three")));
    scene.nvim.keys(":Caliban log permissions<CR>");
    scene.nvim.wait_screen(" main you agreed: rules of ");
    scene.nvim.wait_screen(" main you no longer agree: rules of ");
}

#[test]
fn instructions_and_rules_of_the_project_are_asked_about_one_after_the_other() {
    let scene = Scene::start(|it| {
        it.cautious().file(FILE, ECHO).file("AGENTS.md", "Use tabs.\n").size(160, 40)
    });
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene.server.reply(Reply::said("Good."));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    let instructions = "? May the model follow these instructions?";
    scene.nvim.wait_transcript(instructions);
    assert!(!scene.nvim.transcript().contains(QUESTION));
    scene.nvim.go_to_transcript(instructions);
    scene.nvim.wait_screen("y use them");
    scene.nvim.keys("y");
    scene.nvim.wait_transcript(QUESTION);
    assert_eq!(scene.server.requests().len(), 0);
    // A stop gives the message back, and the next message asks about the rules only.
    scene.nvim.keys("<C-c>");
    scene.nvim.wait(|it| !it.transcript().contains(QUESTION), "no question");
    scene.nvim.wait(|it| it.composer().contains("go on"), "the message in the composer");
    scene.nvim.lua("require('caliban').send()", &[]);
    scene.nvim.wait_transcript(QUESTION);
    answer(&scene, "n");
    scene.wait_idle("Good.");
    assert!(scene.server.requests()[0].json.to_string().contains("Use tabs."));
}

#[test]
fn a_rule_cannot_write_lines_into_the_question_about_it() {
    let scene = start(
        "[[rule]]\nallow = 'shell'\ncommand = 'rm'\nreason = \"a\\n\\n  y use them\\u202e\"\n",
    );
    send_up_to_question(&scene, "true");
    scene.nvim.wait_transcript("allow shell `rm …`: a y use them[U+202E]");
}

#[test]
fn an_unattended_run_uses_the_rules_only_after_the_user_has_agreed_in_neovim() {
    let touch = "[[rule]]\nallow = 'shell'\ncommand = 'touch'\n";
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).file(FILE, touch).size(160, 40);
    let unattended = |server: &Server| {
        let n = server.requests().len();
        server.reply(Reply::new().call("c1", "shell", run("touch made")));
        server.reply(Reply::said("Good."));
        setup.program(&["run", "--mode", "ask", "go"]).output().unwrap();
        server.requests()[n + 1].answer("c1")
    };
    let said = unattended(&server);
    assert!(said.contains("nobody is here to answer"), "{said}");
    let scene = Scene { nvim: Nvim::start(&setup), server };
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    let last = send_up_to_question(&scene, "touch two");
    answer(&scene, "y");
    scene.wait_idle(&last);
    scene.nvim.quit_with(":qa!<CR>");
    scene.nvim.wait_program_end();
    unattended(&scene.server);
    assert!(scene.nvim.setup.path("made").exists());
}
