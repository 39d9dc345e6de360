//! `:Caliban run` in a Neovim without a window.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::run::{Ran, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::process::Stdio;

fn setup(server: &Server) -> Setup {
    Setup::new().anthropic(server)
}

#[test]
fn neovim_runs_a_prompt_with_its_own_settings_and_quits_with_the_exit_code() {
    let server = Server::start();
    let edit = json!({ "path": "a.txt", "edits": [{ "old": "beta", "new": "gamma" }] });
    server.reply(Reply::new().call("c1", "edit", edit));
    server.reply(Reply::said("Done."));
    let config = "{ mode = 'auto-edit', system = 'Be brief.', notify = function() end }";
    let setup = setup(&server).file("a.txt", "alpha\nbeta\n").config(config);
    let ran = Ran::of(&mut setup.scripted("Caliban run change \"a.txt\" | it's 100 %"));
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert_eq!(setup.on_disk("a.txt").unwrap(), "alpha\ngamma\n");
    assert!(ran.err.contains("@@ -1,2 +1,2 @@\n alpha\n-beta\n+gamma\n"), "{}", ran.err);
    let first = server.requests()[0].json.to_string();
    assert!(first.contains(r#"change \"a.txt\" | it's 100 %"#), "{first}");
    assert!(first.contains("Be brief.") && first.contains("nobody answers questions"), "{first}");
}

#[test]
fn the_flags_of_caliban_run_also_work_in_neovim() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({ "command": "touch made" })));
    server.reply(Reply::said("No."));
    let line = "Caliban run --json --mode auto-edit --session=ci \"go on\"";
    let setup = setup(&server);
    let ran = Ran::of(&mut setup.scripted(line));
    assert_eq!((ran.code, ran.err.as_str()), (3, ""));
    let lines = ran.lines();
    assert_eq!((&lines[0]["session"], &lines[0]["mode"]), (&json!("ci"), &json!("auto-edit")));
    assert_eq!(lines.last().unwrap()["exit_code"], 3);
    assert!(setup.sessions().join("ci.json").exists());
}

#[test]
fn with_wrong_arguments_neovim_quits_with_code_2_before_any_request() {
    let server = Server::start();
    for (line, why) in [
        ("Caliban run", "the prompt is missing"),
        ("Caliban run --mode", "The value of --mode is missing."),
        ("Caliban run --mode wild go", "the modes are plan, ask, auto-edit and auto"),
        ("Caliban run --jsn go", "There is no option '--jsn'. Did you mean '--json'?"),
        ("Caliban run --config x go", "There is no option '--config'."),
        ("Caliban run -", "There is no option '-'."),
        ("Caliban run -- -", "cannot come from standard input"),
    ] {
        let ran = Ran::of(&mut setup(&server).scripted(line));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{line}: {}", ran.err);
        assert!(ran.err.contains(why), "{line}: {}", ran.err);
    }
    let missing = setup(&server).config("{ bin = '/nowhere/caliban' }");
    let ran = Ran::of(&mut missing.scripted("Caliban run go"));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("is not an executable file"), "{}", ran.err);
    assert_eq!(server.count(), 0);
}

#[test]
fn the_command_caliban_run_does_nothing_in_a_neovim_with_a_window() {
    let server = Server::start();
    let nvim = Nvim::start(&setup(&server));
    nvim.keys(":Caliban run go<CR>");
    nvim.wait(
        |it| {
            it.lua_str("return vim.fn.execute('messages')").contains("in a Neovim without a window")
        },
        "a sentence",
    );
    assert_eq!(server.count(), 0);
}

/// A run whose command has begun and does not end by itself.
fn begun(line: &str) -> (Server, Setup, std::process::Child) {
    let server = Server::start();
    let command = json!({ "command": "cp a.txt b.txt && sleep 1000" });
    server.reply(Reply::new().call("c1", "shell", command));
    let rules = "{ { allow = 'shell', command = 'cp' }, { allow = 'shell', command = 'sleep' } }";
    let setup = setup(&server).file("a.txt", "x\n").config(&format!("{{ permissions = {rules} }}"));
    let child = setup.scripted(line).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    wait_for(|| setup.on_disk("b.txt").as_deref() == Some("x\n"));
    (server, setup, child)
}

#[test]
fn a_signal_to_neovim_stops_the_turn_and_keeps_the_conversation() {
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::TERM, None), (Signal::KILL, None)] {
        let (_server, setup, child) = begun("Caliban run --session ci go");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert!(code.is_none_or(|it| it == ran.code), "{signal:?}: {} {}", ran.code, ran.err);
        assert!(ran.err.contains("Tokens   "), "{signal:?}: {}", ran.err);
        assert!(ran.err.contains("+++ b/b.txt\n"), "{signal:?}: {}", ran.err);
        wait_for(|| setup.processes().is_empty());
        let session = std::fs::read_to_string(setup.sessions().join("ci.json")).unwrap();
        assert!(session.contains("sleep 1000"), "{signal:?}: {session}");
    }
}
