//! Several questions at the same time, one of them about a port of a job: the chat shows one of them, an answer counts
//! for that one only, and nothing waits for the one about the port.

use super::ONCE;
use super::server::{OPEN, PORT, answer, begin, outside, read_from, serve};
use crate::kit::reply::Reply;
use crate::kit::sandbox::is_full;
use crate::review::scene::Scene;
use crate::tasks::{has_got, is_of, task};
use serde_json::{Value, json};
use std::fs;

fn beyond(command: &str) -> Value {
    json!({ "command": command, "outside_sandbox": "it has to" })
}

/// A conversation in which the question about the port of a job is open.
fn with_open_port() -> Scene {
    let scene = Scene::start(|it| it.size(120, 40));
    begin(&scene, &serve(PORT, "hello"));
    scene.wait_chat(&format!("Open port {PORT} of job 1 on this machine?"));
    scene.nvim.wait_screen(OPEN);
    scene
}

/// The port's question is answered with yes.
fn is_opened(scene: &Scene) {
    answer(scene, ONCE);
    scene.wait_chat(&format!("Port {PORT} of job 1 is open at 127.0.0.1:"));
    assert_eq!(read_from(outside(&scene.nvim.transcript())), "hello");
}

/// No turn runs while the question waits: a message is sent at once, there is nothing to stop, and below it may be text.
#[test]
fn the_keys_beside_a_question_about_a_port_are_true() {
    if !is_full() {
        return;
    }
    let scene = with_open_port();
    let nvim = &scene.nvim;
    nvim.keys("<Esc>:Caliban<CR><Esc>");
    nvim.wait_screen("<CR> send · <Tab> to the question");
    nvim.wait_screen("Ask, or /command, @file");
    assert!(!nvim.screen().contains("<C-c> stop"), "{}", nvim.screen());
    nvim.keys("i");
    nvim.wait_screen("<Esc><Tab> to the question · <C-s> send");
    scene.server.reply(Reply::said("I hear."));
    nvim.keys("and now?<C-s><Esc>");
    nvim.wait_screen("I hear.");
    nvim.go_to_transcript("I hear.");
    nvim.wait_screen("i write · ");
    assert!(!nvim.screen().contains("G to the question"), "{}", nvim.screen());
    is_opened(&scene);
}

/// Also if the id of the call looks like that of the question about the port.
#[test]
fn an_answer_to_a_call_counts_for_no_question_about_a_port_which_comes_again() {
    if !is_full() {
        return;
    }
    for id in ["c1", "port-1-1", "caliban:port-1-1", "caliban:caliban:port-1-1"] {
        let scene = with_open_port();
        scene.server.reply(Reply::new().call(id, "shell", beyond("echo it ran")));
        scene.server.reply(Reply::said("So it is."));
        scene.nvim.lua("require('caliban').ask('and now?')", &[]);
        scene.nvim.wait_question();
        scene.wait_chat("Run `echo it ran` outside of the sandbox?");
        assert!(!scene.nvim.transcript().contains("Open port"), "{}", scene.nvim.transcript());
        scene.nvim.keys(ONCE);
        scene.wait_chat("So it is.");
        let answers = scene.server.requests().last().unwrap().answers();
        assert!(answers.iter().any(|it| it.1.contains("it ran")), "{answers:?}");
        assert!(!scene.nvim.transcript().contains("is open at"), "{id}");
        is_opened(&scene);
    }
}

/// The job begins to listen while the user is asked about a command.
#[test]
fn a_question_about_a_port_that_comes_second_waits() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.size(120, 40));
    scene.nvim.lua(
        "vim.g.asked = ''
        vim.api.nvim_create_autocmd('User', { pattern = 'CalibanAsk', callback = function(event)
          vim.g.asked = vim.g.asked .. event.data.question
        end })",
        &[],
    );
    begin(&scene, &format!("mkfifo go; read x < go; {}", serve(PORT, "hello")));
    scene.server.reply(Reply::new().call("c1", "shell", beyond("echo it ran")));
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.lua("require('caliban').ask('run it')", &[]);
    scene.nvim.wait_question();
    scene.wait_chat("Run `echo it ran` outside of the sandbox?");
    fs::write(scene.nvim.setup.path("go"), "\n").unwrap();
    let asked = "return vim.g.asked";
    scene.nvim.wait(|it| it.lua_str(asked).contains("Open port"), "the second question");
    assert!(!scene.nvim.transcript().contains("Open port"), "{}", scene.nvim.transcript());
    scene.nvim.keys(ONCE);
    scene.wait_chat("So it is.");
    is_opened(&scene);
}

/// The parent's call has the id that the subagent's question had before: name, stroke, id of the subagent's call.
#[test]
fn an_answer_to_a_call_counts_for_no_question_of_a_subagent() {
    if !is_full() {
        return;
    }
    for id in ["main-task/k", "caliban:main-task/k"] {
        let scene = with_open_port();
        let prompt = "Greet.";
        let read = json!({ "path": "/etc/hostname" });
        scene.server.reply(Reply::new().call("t1", "task", task(prompt)).call(id, "read", read));
        let escape = Reply::new().call("k", "shell", beyond("echo ran > out"));
        scene.server.reply_to(has_got(prompt, 0), escape);
        scene.server.reply_to(has_got(prompt, 1), Reply::said("It is done."));
        scene.server.reply(Reply::said("So it is."));
        scene.nvim.lua("require('caliban').ask('please')", &[]);
        scene.nvim.wait(
            |it| {
                it.transcript().contains("Let read look") || it.transcript().contains("main-task: ")
            },
            "a question",
        );
        // whichever of both comes first, each is shown and answered by itself
        for _ in 0..2 {
            scene.nvim.wait_question();
            let is_of_child = scene.nvim.transcript().contains("main-task: Run");
            let (shown, keys) = if is_of_child {
                ("main-task: Run", ":Caliban deny<CR>")
            } else {
                ("/etc/hostname", ONCE)
            };
            scene.wait_chat(shown);
            if !is_of_child {
                assert_eq!(scene.on_disk("out"), None);
            }
            scene.nvim.keys(keys);
            scene.nvim.wait(
                |it| {
                    it.transcript().contains("main-task: Run") != is_of_child
                        || it.transcript().contains("So it is.")
                },
                "the next question",
            );
        }
        scene.wait_chat("So it is.");
        assert_eq!(scene.on_disk("out"), None);
        let child = scene.server.requests();
        let child = child.iter().rfind(|it| is_of(prompt)(it)).unwrap();
        assert!(
            child.answer("k").starts_with("Not run: the user refused"),
            "{}",
            child.answer("k")
        );
    }
}
