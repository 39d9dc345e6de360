//! Sessions on disk, and starts, ends and crashes of Neovim and the program.

mod apart;
mod clock;
mod copied;
mod crash;
mod drafts;
mod exported;
mod former;
mod large;
mod long;
mod many;
mod moves;
mod names;
mod old;
mod out;
mod projects;
mod second;
mod titles;

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::{Setup, kill};
use rmpv::Value as Lua;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A setup with a screen so wide that no sentence is wrapped.
fn wide() -> Setup {
    Setup::new().size(240, 40)
}

/// The names in the project's folder of sessions, without the locks and the prompt history. Empty if there is no
/// folder.
fn files(setup: &Setup) -> Vec<String> {
    let all = setup.dir().join("data/caliban/sessions");
    let entries = fs::read_dir(all)
        .into_iter()
        .flatten()
        .flatten()
        .flat_map(|it| fs::read_dir(it.path()).unwrap());
    let mut names: Vec<String> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|it| Path::new(it).extension() != Some("lock".as_ref()) && it != "history");
    names.sort();
    names
}

fn session(setup: &Setup, name: &str) -> Value {
    serde_json::from_slice(&fs::read(setup.sessions().join(format!("{name}.json"))).unwrap())
        .unwrap()
}

/// The messages of a session file as `role: text`, the system prompt left out.
fn said(setup: &Setup, name: &str) -> Vec<String> {
    let file = session(setup, name);
    let messages = file["messages"].as_array().unwrap().iter().skip(1);
    let shown = messages.map(|it| {
        let texts = it["blocks"].as_array().unwrap().iter().filter_map(|it| it["text"].as_str());
        format!("{}: {}", it["role"].as_str().unwrap(), texts.collect::<Vec<_>>().join(" | "))
    });
    shown.collect()
}

fn program(setup: &Setup) -> Option<u32> {
    let own = env!("CARGO_BIN_EXE_caliban");
    setup.processes().into_iter().find(|(_, line)| line == own).map(|(pid, _)| pid)
}

pub(crate) fn kill_program(nvim: &Nvim) {
    kill(program(&nvim.setup).unwrap());
    nvim.wait(|nvim| nvim.phase() == "offline", "the program's end to be seen");
}

fn no_processes(nvim: &Nvim) {
    nvim.wait(|nvim| nvim.setup.processes().is_empty(), "the end of all processes");
}

fn has(setup: &Setup, command: &str) -> bool {
    setup.processes().iter().any(|(_, line)| line == command)
}

/// How often the transcript contains a text.
fn count(nvim: &Nvim, session: &str, text: &str) -> usize {
    nvim.buffer(&format!("caliban://{session}")).matches(text).count()
}

/// A Neovim in the middle of a turn: `hello` was sent, the reply has begun with `I see `, and a gate holds back the
/// rest of the reply.
fn in_mid_turn(server: &Server) -> (Setup, Nvim, crate::kit::server::Gate) {
    let gate = server.reply(Reply::new().text("I see ").gate().text("two files.").gate());
    let setup = wide().anthropic(server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>ihello<C-s>");
    nvim.wait_screen("I see");
    nvim.wait_phase("streaming");
    (setup, nvim, gate)
}

#[test]
fn the_program_runs_only_from_the_first_use_to_neovims_end() {
    let setup = wide();
    let nvim = Nvim::start(&setup);
    assert_eq!(setup.processes().len(), 1);
    let loaded = "return vim.tbl_filter(function(it) return it:find('^caliban') end, vim.tbl_keys(package.loaded))";
    let loaded = nvim.lua_json(loaded);
    let looks = [
        "caliban.chat.interrupted",
        "caliban.editor.disk",
        "caliban.program.project",
        "caliban.program.roots",
    ];
    assert!(
        loaded.as_array().unwrap().iter().all(|it| looks.contains(&it.as_str().unwrap())),
        "{loaded}"
    );
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Project");
    assert!(program(&setup).is_some());
    assert!(nvim.quit_with(":qa<CR>").success());
    no_processes(&nvim);
    assert_eq!(files(&setup), ["last"]);
}

#[test]
fn quitting_in_mid_turn_keeps_the_conversation() {
    let server = Server::start();
    let (setup, nvim, _gate) = in_mid_turn(&server);
    nvim.keys("half a thought<Esc>");
    nvim.quit_with(":qa!<CR>");
    no_processes(&nvim);
    assert!(setup.sessions().file_name().unwrap().to_str().unwrap().starts_with("project-"));

    server.reply(Reply::said("Gladly."));
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("I see");
    nvim.wait_screen("! Interrupted: ");
    nvim.wait_screen("half a thought");
    let kept = said(&setup, "main");
    assert_eq!(kept[..2], ["user: hello", "assistant: I see "]);
    nvim.keys("A, ended<C-s>");
    nvim.wait_screen("Gladly.");
    let request = &server.wait_requests(2)[1];
    assert!(request.last_user_text().ends_with("half a thought, ended"));
    assert!(request.last_user_text().contains("The turn was interrupted"));
}

#[test]
fn the_queue_and_the_draft_survive_the_editors_death() {
    let server = Server::start();
    let (setup, nvim, _gate) = in_mid_turn(&server);
    nvim.keys("and the tests?<C-s>");
    nvim.wait_screen("queued: and the tests?");
    nvim.keys("half a thought");
    let draft = setup.sessions().join("main.draft");
    nvim.wait(|_| fs::read_to_string(&draft).is_ok_and(|it| it.contains("half a th")), "the draft");
    nvim.kill();
    no_processes(&nvim);
    drop(nvim);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("not sent: and the tests?");
    nvim.wait_screen("I see");
    nvim.wait_screen("half a th");
}

#[test]
fn reopening_a_wiped_chat_restores_its_text_and_its_draft() {
    let server = Server::start();
    let (_setup, nvim, gate) = in_mid_turn(&server);
    nvim.keys("unsent<Esc>");
    nvim.command("bwipeout! caliban://main");
    nvim.command("bwipeout! caliban://main/prompt");
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("I see");
    nvim.wait_screen("unsent");
    gate.finish();
    nvim.wait_screen("I see two files.");
    nvim.wait_phase("idle");
    nvim.command("bwipeout! caliban://main");
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("I see two files.");
    assert_eq!((count(&nvim, "main", "I see"), count(&nvim, "main", "hello")), (1, 1));
}

#[test]
fn plugin_and_program_of_different_versions_are_reported_in_one_sentence() {
    let wrong = "package.preload['caliban.version'] = function() return '9.9.9' end";
    let setup = wide().before(wrong);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen(
        "The plugin is version 9.9.9, but its program is version 0.1.0. Run: cargo build --release",
    );
    nvim.wait(|nvim| program(&nvim.setup).is_none(), "the program's end");
    assert_eq!(nvim.screen().matches("9.9.9").count(), 1);
}

/// Nothing that the user has typed is lost while no program runs: it waits in the composer.
#[test]
fn what_is_sent_by_a_command_while_the_program_is_dead_waits_in_the_composer() {
    let server = Server::start();
    server.reply(Reply::said("Hello."));
    let nvim = Nvim::start(&Setup::new().file("a.txt", "alpha\n").anthropic(&server));
    nvim.ask("hi", "Hello.");
    kill_program(&nvim);
    nvim.wait_screen("The program ended");
    nvim.keys(":Caliban ask one more<CR>");
    nvim.wait(|it| it.composer() == "one more", "the first message");
    nvim.keys(":edit a.txt<CR>:1Caliban ask about this<CR>:Caliban steer at once<CR>");
    let all = "one more\n\nabout this\n\nat once";
    nvim.wait(|it| it.composer() == all, "all messages");
    nvim.keys(":Caliban restart<CR>");
    nvim.wait_phase("idle");
    nvim.wait(|it| it.composer() == all, "the messages after the restart");
    server.reply(Reply::said("Again."));
    nvim.keys(":Caliban<CR><C-s>");
    nvim.wait_transcript("Again.");
    let said = server.requests().pop().unwrap().last_user_text();
    assert!(said.ends_with(all) && said.contains("alpha"), "{said}");
}
