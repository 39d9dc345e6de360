//! Runs of `caliban run` beside another run, or a Neovim, in the same project.

use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::{edit, nine, write};
use crate::run::{Ran, wait_for};
use serde_json::json;
use std::fs;
use std::process::Stdio;

/// Whether a request belongs to the run with this prompt and has this many answers.
fn of(prompt: &'static str, answers: usize) -> impl Fn(&Request) -> bool {
    move |it| it.outline().contains(prompt) && it.answers().len() == answers
}

fn shell(id: &str, command: &str) -> Reply {
    Reply::new().call(id, "shell", json!({ "command": command }))
}

/// The lines of the summary about files, and the notes.
fn summary(ran: &Ran) -> (&str, Vec<&str>) {
    let files = ran.err.lines().find_map(|it| it.strip_prefix("Files    ")).unwrap_or_default();
    (files, ran.err.lines().filter_map(|it| it.strip_prefix("Note     ")).collect())
}

/// The first run's command waits while the second run edits files and runs a command; each changes a file meanwhile.
#[test]
fn two_runs_name_no_file_that_only_the_other_one_edited() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).file("a.txt", nine()).file("b.txt", nine());
    let setup = setup.file(".gitignore", "started\nmid\ngo\n");
    let wait = |name: &str| format!("until [ -e {name} ]; do sleep 0.02; done");
    let first =
        format!("echo 1 >one.txt; touch started; {}; echo 1 >>b.txt; {}", wait("mid"), wait("go"));
    server.reply_to(of("first run", 0), shell("s1", &first));
    server.reply_to(of("first run", 1), Reply::said("First."));
    let edits = Reply::new().call("e1", "edit", edit("b.txt", &[("l2", "L2")])).call(
        "w1",
        "write",
        write("two.txt", "2\n"),
    );
    server.reply_to(of("second run", 0), edits);
    server.reply_to(of("second run", 2), shell("s2", "echo 2 >three.txt"));
    server.reply_to(of("second run", 3), Reply::said("Second."));
    let run = |prompt: &str| setup.program(&["run", "--mode", "auto", prompt]);
    let mut began = run("first run");
    let began = began.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(|| setup.path("started").exists());
    let second = Ran::of(&mut run("second run"));
    let note = "Another conversation of this project ran a command at the same time. What that command changed may be \
        among the changes of this turn.";
    assert_eq!(
        summary(&second),
        ("b.txt, three.txt (new), two.txt (new)", vec![note]),
        "{}",
        second.err
    );
    fs::write(setup.path("mid"), "").unwrap();
    wait_for(|| setup.on_disk("b.txt").is_some_and(|it| it.ends_with("1\n")));
    fs::write(setup.path("go"), "").unwrap();
    let first = Ran::from(began.wait_with_output().unwrap());
    assert_eq!(
        summary(&first),
        ("b.txt, one.txt (new), three.txt (new)", vec![note]),
        "{}",
        first.err
    );
    assert!(first.err.contains("+1\n") && !first.err.contains("L2\n-"), "{}", first.err);
    assert!(!first.err.contains("+L2"), "{}", first.err);
}

#[test]
fn a_run_says_that_a_neovim_has_the_project_open() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).file("a.txt", nine());
    server.reply(Reply::said("Hello."));
    let nvim = Nvim::start(&setup);
    nvim.ask("hi", "Hello.");
    nvim.keys(":split a.txt<CR>5GAmine<Esc>");
    server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    server.reply(Reply::said("Done."));
    let ran = Ran::of(&mut nvim.setup.program(&["run", "--mode", "auto-edit", "go"]));
    let note = "A Neovim has this project open, with the conversation `main`. This run has changed the files on disk. If \
        a buffer there has unsaved changes of such a file, compare the two before you write the buffer: `:help W12`.";
    assert_eq!(summary(&ran), ("a.txt", vec![note]), "{}", ran.err);
    drop(nvim);
}

/// A run that changes nothing says nothing about the Neovim.
#[test]
fn a_run_that_only_answers_does_not_speak_of_a_neovim() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).file("a.txt", nine());
    server.reply(Reply::said("Hello."));
    let nvim = Nvim::start(&setup);
    nvim.ask("hi", "Hello.");
    server.reply(Reply::said("Done."));
    let ran = Ran::of(&mut nvim.setup.program(&["run", "go"]));
    assert_eq!((ran.code, summary(&ran)), (0, ("", Vec::new())), "{}", ran.err);
}
