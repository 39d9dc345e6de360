//! The ends of a coordinator's turn and of its workers.

use super::{coordinator, done, worker};
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, edit};
use crate::tasks::{has_got, is_of, saved};
use serde_json::json;

/// Sends `and?`, and returns the outline of its request. While workers run, the reply may be held back.
fn told_next(scene: &Scene) -> String {
    let n = scene.server.count();
    scene.server.otherwise(Reply::said("So it is."));
    scene.nvim.lua("require('caliban').ask('and?')", &[]);
    scene.wait_idle("So it is.");
    scene.request(n + 1).outline()
}

#[test]
fn a_coordinators_answer_is_held_back_twice_while_its_workers_run() {
    let scene = coordinator(|it| it);
    scene.server.reply(Reply::new().call("c1", "spawn_worker", worker("explorer", "Look.")));
    let early = |n: &str| Reply::said(&format!("Early {n}."));
    for n in ["one", "two", "three"] {
        scene.server.reply(early(n));
    }
    scene.server.reply_gated(is_of("Look."), Reply::said("I begin.").gate());
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_idle("Stopped: the model answered three times before its workers were done.");
    scene.wait_chat("w1 explorer  Find it  stopped");
    let parents: Vec<Request> =
        scene.server.requests().into_iter().filter(|it| !is_of("Look.")(it)).collect();
    assert_eq!(parents.len(), 4);
    assert!(parents[2].outline().contains("Your answer is held. Not finished yet: w1"));
    let told = told_next(&scene);
    assert!(told.contains("<result of=\"w1\">"), "{told}");
    assert!(told.contains("The turn ended before the worker was done."), "{told}");
}

#[test]
fn the_result_of_a_worker_that_was_stopped_is_in_the_chat_as_words() {
    let scene = coordinator(|it| it.size(80, 24));
    scene.server.reply(Reply::new().call("c1", "spawn_worker", worker("explorer", "Look.")));
    for n in ["one", "two"] {
        scene.server.reply(Reply::said(&format!("Early {n}.")));
    }
    let third = scene.server.reply(Reply::said("Early three.").gate());
    scene.server.reply_gated(is_of("Look."), Reply::said("I begin.").gate());
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    // the worker has a conversation before it is stopped
    scene.server.wait_count(5);
    third.release();
    scene.wait_chat(
        "! w1 explorer (Find it): stopped, partial
Not known.
Risks: The turn ended before the worker was done.
Next: Check what the worker has changed before you repeat the work.
[Its conversation is `main-w1`.]",
    );
    assert!(!scene.nvim.transcript().contains("what_was_done"), "{}", scene.nvim.transcript());
}

#[test]
fn the_user_can_write_to_a_waiting_coordinator_and_to_one_of_its_workers() {
    let scene = coordinator(|it| it);
    scene.server.reply(Reply::new().call(
        "c1",
        "spawn_workers",
        json!({ "workers": [worker("explorer", "One."), worker("explorer", "Two.")] }),
    ));
    let call = |id: &str| Reply::new().call(id, "await_workers", json!({}));
    scene.server.reply(call("c2"));
    scene.server.reply_gated(
        has_got("One.", 0),
        Reply::new().call("r1", "read", json!({ "path": "a.txt" })).gate(),
    );
    scene.server.reply_gated(has_got("Two.", 0), Reply::said("Half").gate());
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.wait_count(4);
    scene.wait_chat("w2 explorer  Find it  thinking");
    // no other mode can be chosen while workers run
    scene.nvim.keys(":Caliban mode auto<CR>");
    scene.nvim.wait_screen("Workers are running, so the conversation stays");
    scene.server.reply(call("c3"));
    scene.nvim.keys(":Caliban steer hurry<CR>");
    let heard = scene.request(5);
    assert!(heard.answer("c2").starts_with("The user has sent a message, which follows."));
    assert!(heard.answer("c2").ends_with("w1 is still running.\nw2 is still running."));
    assert!(heard.outline().contains("user: hurry"), "{}", heard.outline());
    let send = "local worker, text = ...
      require('caliban.chat').send({ kind = 'worker', worker = worker, text = text })";
    scene.nvim.lua(send, &[2.into()]);
    scene.wait_chat("w2 explorer  Find it  stopped");
    scene.nvim.lua(send, &[9.into()]);
    scene.nvim.wait_screen("The worker w9 does not exist.");
    scene.nvim.lua(send, &[1.into(), "also b.txt".into()]);
    scene.wait_chat("You told w1: also b.txt");
    scene.nvim.keys(":Caliban stop<CR>");
    scene.wait_idle("Stopped.");
    scene.wait_chat("w1 explorer  Find it  stopped");
    let told = told_next(&scene);
    assert!(told.contains("The user stopped w2."), "{told}");
    assert!(told.contains("The user has told w1: also b.txt"), "{told}");
}

#[test]
fn proposals_of_workers_that_died_with_the_editor_stay_under_review() {
    let server = Server::start();
    let setup =
        Setup::new().file("a.txt", crate::review::scene::nine()).size(160, 40).anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit a.txt<CR>:Caliban<CR><Esc>:Caliban mode coordinator<CR>");
    nvim.wait_transcript("Coordinator mode is on");
    let mut all: Vec<_> = (1..5).map(|n| worker("explorer", &format!("Task {n}."))).collect();
    let mut own = worker("implementer", "Change it.");
    own["owns"] = json!(["a.txt"]);
    all.push(own);
    server.reply(Reply::new().call("c1", "spawn_workers", json!({ "workers": all })));
    server.reply(Reply::new().call("c2", "await_workers", json!({})));
    for n in 1..5 {
        server.reply_gated(is_of(&format!("Task {n}.")), Reply::said("I begin.").gate());
    }
    server.reply_to(
        is_of("Change it."),
        Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])),
    );
    nvim.lua("require('caliban').ask('please')", &[]);
    server.wait_count(7);
    nvim.wait_hunks(1);
    nvim.wait_transcript("w5 implementer  Find it  waits: ");
    nvim.kill();
    drop(nvim);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("w5 implementer  Find it  failed");
    assert!(!nvim.transcript().contains("The settings, the tools"), "{}", nvim.transcript());
    let answer = "vim.api.nvim_create_autocmd('SwapExists', { callback = function() vim.v.swapchoice = 'd' end })";
    nvim.lua(answer, &[]);
    nvim.keys(":wincmd p<CR>:silent edit a.txt<CR>");
    nvim.wait_hunks(1);
    let call = |id: &str| Reply::new().call(id, "await_workers", json!({}));
    server.reply(call("c3"));
    server.reply(Reply::said("So it is."));
    nvim.ask("and?", "So it is.");
    let last = server.requests().pop().unwrap();
    assert!(last.answer("c2").starts_with("The wait ended"), "{}", last.answer("c2"));
    let answer = last.answer("c3");
    assert_eq!(answer.matches("The worker may have run.").count(), 5, "{answer}");
    assert_eq!(saved(&setup, "main")["coordinates"], true);
    assert!(!saved(&setup, "main").to_string().contains("<workers>"));
}

#[test]
fn caliban_run_can_coordinate_workers() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "spawn_worker", worker("verifier", "Greet.")));
    server.reply(Reply::new().call("c2", "await_workers", json!({})));
    let calls = Reply::new().call("s1", "shell", json!({ "command": "curl example.org" }));
    server.reply_to(has_got("Greet.", 0), calls);
    server.reply_to(has_got("Greet.", 1), Reply::said(&done("It is denied.")));
    server.reply(Reply::said("So it is."));
    let setup = Setup::new().anthropic(&server);
    let ran = setup.program(&["run", "--coordinator", "please"]).output().unwrap();
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(shown.contains("So it is."), "{ran:?}");
    let all = server.requests();
    let child = all.iter().rfind(|it| is_of("Greet.")(it)).unwrap();
    assert!(child.answer("s1").starts_with("Not run: nobody is here to answer"));
    assert!(all.last().unwrap().answer("c2").contains("It is denied."));
}
