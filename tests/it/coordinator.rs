//! Coordinator mode: the conversation hands its work to workers, and reads their hand-offs.

mod bounds;
mod ends;
mod faults;

use crate::kit::chat::{DIALECTS, assert_grows};
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, nine};
use crate::tasks::{has_got, is_of, saved};
use serde_json::{Value, json};
use std::fs;

/// The arguments of a `spawn_worker` call.
fn worker(role: &str, prompt: &str) -> Value {
    json!({ "role": role, "description": "Find it", "prompt": prompt })
}

/// A hand-off of a worker that is done.
fn done(what: &str) -> String {
    json!({
        "what_was_done": what,
        "evidence": "a.txt:2",
        "unresolved_risks": "",
        "exact_next_step": "none",
        "status": "done"
    })
    .to_string()
}

/// A scene whose chat is a coordinator.
fn coordinator(setup: impl FnOnce(Setup) -> Setup) -> Scene {
    let scene = Scene::start(|it| setup(it.file("a.txt", nine()).size(160, 40)));
    scene.nvim.keys(":Caliban<CR><Esc>:Caliban mode coordinator<CR>");
    scene.wait_chat("Coordinator mode is on");
    scene
}

/// Removes the digest of the workers from the end of a request. Returns whether there was a digest.
fn take_digest(request: &mut Request) -> bool {
    let is_digest = |it: &Value| it.to_string().contains("<workers>");
    for list in ["messages", "input", "contents"] {
        let Some(all) = request.json[list].as_array_mut() else { continue };
        assert!(all.iter().rev().skip(1).all(|it| !is_digest(it)), "a digest stays");
        return all.pop_if(|it| is_digest(it)).is_some();
    }
    false
}

/// Checks that a coordinator has the reading tools and those for workers, and an explorer the reading tools and
/// `notify`.
fn assert_tools(parent: &Request, child: &Request) {
    let mut reading = parent.tools();
    let team = reading.split_off(reading.len() - 6);
    assert_eq!(
        team.join(" "),
        "spawn_worker spawn_workers list_workers await_workers worker_result stop_worker"
    );
    let has = |name: &&str| reading.iter().any(|it| it == name);
    assert!(["read", "grep", "skill"].iter().all(has));
    assert!(!["edit", "shell", "task", "todo"].iter().any(has));
    reading.push("notify".to_owned());
    assert_eq!(child.tools(), reading);
}

#[test]
fn a_coordinator_gets_the_reports_of_the_workers_that_it_starts() {
    for dialect in DIALECTS {
        let server = Server::start();
        let prompt = "Find the word.";
        server.reply(Reply::new().call("c1", "spawn_worker", worker("explorer", prompt)));
        server.reply(Reply::new().call("c2", "await_workers", json!({})));
        server.reply_to(
            has_got(prompt, 0),
            Reply::new().call("r1", "read", json!({ "path": "a.txt" })).call(
                "n1",
                "notify",
                json!({ "text": "I read." }),
            ),
        );
        server.reply_to(has_got(prompt, 2), Reply::said(&done("The word is in a.txt.")));
        server.reply(Reply::said("Found."));
        let setup = Setup::new().file("a.txt", nine()).size(160, 40);
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        nvim.keys(":Caliban<CR><Esc>:Caliban mode coordinator<CR>");
        nvim.wait_transcript("Coordinator mode is on");
        nvim.ask("please", "Found.");
        assert!(
            nvim.transcript().contains("w1 explorer  Find it  finished"),
            "{}",
            nvim.transcript()
        );
        let (children, mut parents): (Vec<Request>, Vec<Request>) =
            server.requests().into_iter().partition(is_of(prompt));
        assert_eq!((children.len(), parents.len()), (2, 3));
        assert_tools(&parents[0], &children[0]);
        assert!(children[0].last_user_text().contains("You are worker w1 of a coordinator"));
        let answer = parents[2].answer("c2");
        assert!(answer.starts_with("w1 explorer (Find it): finished\n{"), "{answer}");
        assert!(answer.contains("\"what_was_done\": \"The word is in a.txt.\""), "{answer}");
        assert!(answer.contains("[Its conversation is `main-w1`: 2 requests"), "{answer}");
        let digests: Vec<bool> = parents.iter_mut().map(take_digest).collect();
        assert_eq!(digests, [false, true, true]);
        assert_grows(children);
        assert_grows(parents);
        // the digest is not saved in any file
        let path = nvim.setup.sessions().join("main.json");
        let file = fs::read_to_string(&path).unwrap();
        assert!(file.contains("what_was_done"));
        for it in fs::read_dir(nvim.setup.sessions()).unwrap() {
            let text = fs::read(it.unwrap().path()).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&text).contains("<workers>"));
        }
        assert_eq!(saved(&nvim.setup, "main-w1")["parent"]["session"], "main");
    }
}
