//! `kill -9` of either process, at any moment.

use super::*;
use crate::kit::server::Gate;

#[test]
fn the_programs_death_is_reported_and_loses_no_text() {
    let server = Server::start();
    let (_setup, nvim, _gate) = in_mid_turn(&server);
    nvim.keys("and the tests?<C-s>");
    nvim.wait_screen("queued: and the tests?");
    nvim.keys("unsent");
    kill_program(&nvim);
    let sentence =
        "The program ended (signal 9). :Caliban restart starts it again; your text is safe.";
    nvim.wait_screen(sentence);
    nvim.keys(", typed after<C-s>");
    assert_eq!(nvim.buffer("caliban://main/prompt"), "unsent, typed after");
    assert_eq!(count(&nvim, "main", "The program ended"), 1);

    server.reply(Reply::said("Back again."));
    server.reply(Reply::said("And here."));
    nvim.keys("<Esc>:Caliban restart<CR>");
    nvim.wait_screen("! Interrupted: ");
    nvim.wait_screen("not sent: and the tests?");
    assert_eq!(count(&nvim, "main", "I see"), 1);
    assert_eq!(count(&nvim, "main", "The program ended"), 0);
    nvim.keys("<C-s>");
    nvim.wait_screen("Back again.");
    nvim.wait_phase("idle");
    nvim.go_to_transcript("not sent: and the tests?");
    nvim.keys("s");
    nvim.wait_screen("And here.");
    let requests = server.wait_requests(3);
    assert_eq!(requests[1].outline().lines().nth(1), Some("assistant: I see "));
    assert!(requests[1].last_user_text().contains("The turn was interrupted"));
    assert!(requests[1].last_user_text().ends_with("unsent, typed after"));
    assert!(requests[2].last_user_text().ends_with("and the tests?"));
}

/// A chat in which a command is running and has printed its first line.
fn sleeping(server: &Server) -> (Setup, Nvim) {
    let command = serde_json::json!({"command": "echo it is up; setsid sleep 613 & sleep 613"});
    server.reply(Reply::new().call("c1", "shell", command));
    let setup = wide().anthropic(server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>irun it<C-s>");
    nvim.wait_question();
    nvim.keys("<Esc>:Caliban approve<CR>");
    nvim.wait_screen("    it is up");
    nvim.wait(|nvim| has(&nvim.setup, "sleep 613"), "the command's process");
    (setup, nvim)
}

fn goes_on_after_it(server: &Server, nvim: &Nvim) {
    server.reply(Reply::said("Let us see."));
    nvim.lua("require('caliban').ask('well?')", &[]);
    nvim.wait_screen("Let us see.");
    nvim.wait_phase("idle");
    let body = server.wait_requests(2)[1].json.to_string();
    assert!(body.contains("The call may have had effects"), "{body}");
}

#[test]
fn a_command_ends_when_its_editor_is_killed() {
    let server = Server::start();
    let (setup, nvim) = sleeping(&server);
    nvim.kill();
    no_processes(&nvim);
    drop(nvim);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("sleep 613");
    nvim.wait_screen("may have run");
    assert_eq!(session(&setup, "main")["messages"].as_array().unwrap().len(), 5);
    goes_on_after_it(&server, &nvim);
    assert!(!has(&setup, "sleep 613"));
}

#[test]
fn a_command_ends_when_its_program_is_killed() {
    let server = Server::start();
    let (setup, nvim) = sleeping(&server);
    kill_program(&nvim);
    nvim.wait(|nvim| !has(&nvim.setup, "sleep 613"), "the command's end");
    nvim.keys(":Caliban restart<CR>");
    nvim.wait_screen("! Interrupted: ");
    nvim.wait_screen("may have run");
    goes_on_after_it(&server, &nvim);
    assert!(!has(&setup, "sleep 613"));
}

#[test]
fn a_restart_during_a_turn_ends_its_command() {
    let server = Server::start();
    let (setup, nvim) = sleeping(&server);
    let before = program(&setup);
    nvim.keys(":Caliban restart<CR>:Caliban restart<CR>");
    nvim.wait_screen("! Interrupted: ");
    nvim.wait(|nvim| !has(&nvim.setup, "sleep 613"), "the command's end");
    goes_on_after_it(&server, &nvim);
    nvim.wait(|_| setup.processes().len() == 2, "the end of all but Neovim and one program");
    assert_ne!(program(&setup), before);
    assert_eq!(
        files(&setup),
        [".permissions.log", "last", "main.checkpoints", "main.journal", "main.json"]
    );
}

#[test]
fn a_program_killed_as_it_starts_a_command_leaves_no_process() {
    let server = Server::start();
    let nvim = Nvim::start(&wide().anthropic(&server));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Project");
    for moment in 0..30 {
        let command = serde_json::json!({"command": "setsid sleep 617 & sleep 617"});
        server.reply(Reply::new().call(&format!("c{moment}"), "shell", command));
        nvim.lua("require('caliban').ask('run it')", &[]);
        nvim.wait_phase("asking");
        let pid = program(&nvim.setup).unwrap();
        nvim.wait_question();
        nvim.lua("require('caliban').approve()", &[]);
        (0..moment * 2).for_each(|_| drop(nvim.request("nvim_get_mode", vec![])));
        kill(pid);
        nvim.wait(|nvim| nvim.setup.processes().len() == 1, "the end of all but Neovim");
        nvim.wait_phase("offline");
        nvim.command("Caliban restart");
        nvim.wait_phase("idle");
    }
}

/// The messages of a request without cache marks, which differ between requests.
fn messages(body: &Value) -> Vec<Value> {
    fn strip(value: &mut Value) {
        if let Some(map) = value.as_object_mut() {
            map.remove("cache_control");
            map.values_mut().for_each(strip);
        }
        value.as_array_mut().into_iter().flatten().for_each(strip);
    }
    let mut messages = body["messages"].clone();
    strip(&mut messages);
    messages.as_array().unwrap().clone()
}

/// The lines of the transcript that the model wrote.
fn words(nvim: &Nvim) -> Vec<String> {
    let transcript = nvim.buffer("caliban://main");
    transcript.lines().filter(|it| it.starts_with("words ")).map(str::to_owned).collect()
}

/// Keeps replies queued at the server, each with gates. Some replies end with a call, others end the turn.
struct Script<'a> {
    server: &'a Server,
    gates: Vec<Gate>,
}

impl Script<'_> {
    fn refill(&mut self) {
        while self.server.unfetched() < 3 {
            let n = self.gates.len();
            let reply = Reply::new().gate().text(&format!("words {n} ")).gate();
            let reply = if n.is_multiple_of(3) {
                reply.text("and an end")
            } else {
                reply.call(&format!("call-{n}"), "read", serde_json::json!({"path": "a.txt"}))
            };
            self.gates.push(self.server.reply(reply.gate()));
        }
    }

    /// Opens the next gate of the reply to the last request.
    fn release(&self) {
        self.gates[self.server.count() - 1].release();
    }
}

/// The number in this environment variable, or `usual` without the variable. With other numbers, the test kills at more
/// or other moments.
fn number(variable: &str, usual: u32) -> u32 {
    std::env::var(variable).map_or(usual, |it| it.parse().unwrap())
}

#[test]
fn a_conversation_survives_a_kill_at_any_moment() {
    let server = Server::start();
    let setup = wide().anthropic(&server).file("a.txt", "one\n").without("CALIBAN_DEBUG");
    let nvim = Nvim::start(&setup);
    let mut script = Script { server: &server, gates: Vec::new() };
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Project");
    let mut seed = number("CALIBAN_SEED", 7);
    let mut dice = |sides: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % sides
    };
    let mut prompts = Vec::new();
    for moment in 0..number("CALIBAN_KILLS", 40) {
        script.refill();
        let before = server.count();
        let prompt = format!("prompt {moment}.");
        nvim.lua("require('caliban').ask(...)", &[Lua::from(prompt.as_str())]);
        prompts.push(prompt);
        server.wait_count(before + 1);
        for _ in 0..dice(9) {
            script.release();
            (0..dice(6)).for_each(|_| drop(nvim.request("nvim_get_mode", vec![])));
            script.refill();
        }
        let shown = words(&nvim);
        kill_program(&nvim);
        nvim.command("Caliban restart");
        nvim.wait_phase("idle");
        let kept = |nvim: &Nvim| {
            let kept = words(nvim);
            kept.len() >= shown.len()
                && kept.iter().zip(&shown).all(|(it, was)| it.starts_with(was))
        };
        nvim.wait(kept, &format!("what was shown: {shown:#?}"));
    }
    nvim.quit_with(":qa!<CR>");
    let said = said(&setup, "main");
    let kept: Vec<&str> = said.iter().filter_map(|it| it.strip_prefix("user: ")).collect();
    for (prompt, n) in prompts.iter().zip(0..) {
        let places = kept.iter().filter(|it| it.ends_with(prompt.as_str())).count();
        assert_eq!(places, 1, "{prompt} ({n}) in {said:#?}");
    }
    let bodies: Vec<Vec<Value>> = server.requests().iter().map(|it| messages(&it.json)).collect();
    for pair in bodies.windows(2) {
        assert!(pair[1].starts_with(&pair[0]), "{:#?}\nis not begun by\n{:#?}", pair[1], pair[0]);
    }
}

/// After Neovim is killed, its program holds the lock of the session for a moment.
#[test]
fn an_interrupted_turn_is_announced_as_soon_as_its_lock_is_free() {
    let server = Server::start();
    let gate = server.reply(Reply::new().text("half an ").gate().text("answer"));
    let setup = Setup::new().anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>ihello<C-s>");
    nvim.wait_screen("half an");
    nvim.kill();
    let held = fs::File::open(setup.sessions().join("main.lock")).unwrap();
    held.lock().unwrap();
    let nvim = Nvim::start(&setup);
    let is_running = |_: &Nvim| setup.debug_log().matches("hello").count() == 2;
    nvim.wait(is_running, "the program");
    drop(held);
    nvim.wait_screen("A turn was interrupted in this project. :Caliban shows the conversation.");
    gate.finish();
}
