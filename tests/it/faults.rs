//! Tests invalid messages from Neovim, and a full disk.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;
use std::fs;
use std::process::Command;

const UNREADABLE: &str = "The program ended (it could not read what Neovim sent). \
    :Caliban restart starts it again; your text is safe.";

/// Checks that the program has ended, that the chat says so once, and that the program can be restarted.
fn goes_on(nvim: &Nvim, server: &Server) {
    nvim.wait_transcript(UNREADABLE);
    assert_eq!(nvim.transcript().matches("The program ended").count(), 1);
    server.reply(Reply::said("All is well."));
    nvim.command("Caliban restart");
    nvim.wait_transcript("The first.");
    nvim.ask("two", "All is well.");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn if_neovim_sends_a_message_nested_too_deeply_the_program_ends_with_one_sentence() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().size(160, 40).anthropic(&server));
    server.reply(Reply::said("The first."));
    nvim.ask("one", "The first.");
    nvim.lua(
        "local deep = {}
        for _ = 1, 2000 do deep = { deep } end
        vim.rpcnotify(require('caliban.program.process').program(), 'caliban', deep)",
        &[],
    );
    goes_on(&nvim, &server);
}

#[test]
fn if_neovim_sends_bytes_that_are_not_msgpack_the_program_ends_with_one_sentence() {
    let server = Server::start();
    let setup = Setup::new().size(160, 40).anthropic(&server);
    let fifo = setup.dir().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let setup = setup.started_by(
        &format!(
            "set -o pipefail\nexec 3<&0\n{{ cat <&3 & read -r noise < {}; printf '\\300'; kill $!; }} | \"$KIT_BIN\" | cat",
            fifo.display()
        ),
    );
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("The first."));
    nvim.ask("one", "The first.");
    fs::write(&fifo, "now\n").unwrap();
    goes_on(&nvim, &server);
}

/// A chat on a full disk in which the user has allowed a command, and is then asked whether to run it although its
/// start cannot be recorded.
fn on_a_full_disk(server: &Server, command: &str) -> Nvim {
    let nvim = asked_on_a_full_disk(server, command);
    nvim.command("Caliban approve");
    nvim.wait_transcript(
        "? Caliban could not record the start of this command on disk (file too large",
    );
    assert_eq!(nvim.setup.on_disk("ran.txt"), None);
    nvim.command("redraw");
    nvim.wait_question();
    nvim
}

/// A chat on a full disk that asks whether to run a command.
fn asked_on_a_full_disk(server: &Server, command: &str) -> Nvim {
    let setup = Setup::new().size(160, 40).anthropic(server).without("CALIBAN_DEBUG");
    // The limit prevents the program's files from growing. The command removes the limit for its own files.
    let setup = setup.started_by("trap '' XFSZ\nulimit -S -f 0\nexec \"$KIT_BIN\"");
    let command = format!("ulimit -f unlimited; {command}");
    server.reply(Reply::new().call("r1", "list", json!({})).call(
        "c1",
        "shell",
        json!({"command": command}),
    ));
    server.reply(Reply::said("I see."));
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_transcript("? Run");
    nvim.wait_question();
    nvim
}

#[test]
fn on_a_full_disk_an_approved_command_runs_only_after_a_second_question() {
    let server = Server::start();
    let nvim = on_a_full_disk(&server, "echo ran > ran.txt");
    nvim.command("Caliban approve");
    nvim.wait_transcript("I see.");
    let request = &server.requests()[1];
    let ran = nvim.setup.on_disk("ran.txt");
    assert_eq!(ran, Some("ran\n".into()), "{}", request.answer("c1"));
    assert!(!request.answer("r1").contains("Not run"), "reads go on");
    assert_eq!(request.answer("c1"), "[no output]");
}

#[test]
fn pressing_a_key_several_times_answers_only_one_question() {
    let server = Server::start();
    let nvim = asked_on_a_full_disk(&server, "echo ran > ran.txt");
    nvim.keys("<C-w>kGyyy");
    nvim.wait_transcript(
        "? Caliban could not record the start of this command on disk (file too large",
    );
    nvim.command("redraw");
    nvim.wait_question();
    assert_eq!((nvim.phase().as_str(), nvim.setup.on_disk("ran.txt")), ("asking", None));
    nvim.command("Caliban deny");
    nvim.wait_transcript("I see.");
    assert_eq!(nvim.setup.on_disk("ran.txt"), None);
}

#[test]
fn a_command_does_not_run_if_the_user_refuses_to_run_it_without_a_record_on_disk() {
    let server = Server::start();
    let nvim = on_a_full_disk(&server, "echo ran > ran.txt");
    nvim.command("Caliban deny");
    nvim.wait_transcript("I see.");
    assert_eq!(nvim.setup.on_disk("ran.txt"), None);
    let answer = server.requests()[1].answer("c1");
    assert!(
        answer.starts_with("Not run: Caliban could not record the start of this command on disk"),
        "{answer}"
    );
    assert!(!nvim.transcript().contains("running"), "{}", nvim.transcript());
}

#[test]
fn if_the_user_stops_the_turn_at_the_question_about_a_full_disk_no_command_runs() {
    let server = Server::start();
    let nvim = on_a_full_disk(&server, "echo ran > ran.txt");
    nvim.command("Caliban stop");
    nvim.wait_transcript("! Stopped.");
    nvim.ask("and now?", "I see.");
    assert_eq!(nvim.setup.on_disk("ran.txt"), None);
    assert_eq!(server.requests()[1].answer("c1"), "Not run: the user stopped the turn.");
}

#[test]
fn in_a_conversation_that_is_never_saved_a_command_runs_without_a_record_on_disk() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({"command": "echo ran > ran.txt"})));
    server.reply(Reply::said("I see."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban! new<CR>igo<C-s><Esc>");
    nvim.wait_transcript("? Run");
    nvim.wait_question();
    nvim.command("Caliban approve");
    nvim.wait_transcript("I see.");
    assert_eq!(nvim.setup.on_disk("ran.txt"), Some("ran\n".into()));
}
