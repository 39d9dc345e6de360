//! Eight workers at once against a server with every fault of the wire.

use super::{coordinator, done, worker};
use crate::kit::http::Request;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::tasks::is_of;
use serde_json::json;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

fn prompt(name: &str) -> String {
    format!("Task {name}.")
}

/// Answers the requests of the worker of this name with the fault. A temporary fault comes once, and the next request
/// succeeds.
fn answer(server: &Server, name: &'static str, fault: Reply) {
    let passes = ["limited", "overloaded", "broken", "cut"].contains(&name);
    if passes {
        server.reply_to(is_of(&prompt(name)), Reply::said(&done(name)));
    }
    let (is_meant, is_used) = (is_of(&prompt(name)), AtomicBool::new(false));
    let is_next = move |it: &Request| is_meant(it) && !(passes && is_used.swap(true, Relaxed));
    drop(server.reply_gated(is_next, fault));
}

#[test]
fn a_network_fault_of_one_worker_does_not_affect_the_others() {
    let scene = coordinator(|it| it);
    let garbage = "data: {\"x\n\n\u{0}\n\n";
    let faults = [
        ("limited", Reply::error(429).header("retry-after", "0")),
        ("overloaded", Reply::error(529).header("retry-after", "0")),
        ("broken", Reply::error(500).header("retry-after", "0")),
        ("cut", Reply::said("I beg").cut()),
        ("garbage", Reply::raw(200, &[("content-type", "text/event-stream")], garbage)),
        ("page", Reply::html()),
        ("refused", Reply::error(400)),
        ("stalled", Reply::hang()),
    ];
    let all: Vec<_> = faults.iter().map(|it| worker("explorer", &prompt(it.0))).collect();
    for (name, fault) in faults {
        answer(&scene.server, name, fault);
    }
    scene.server.reply(Reply::new().call("c1", "spawn_workers", json!({ "workers": all })));
    scene.server.reply(Reply::new().call("c2", "await_workers", json!({})));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.wait_count(10);
    for n in 1..=7 {
        let is_over = move |it: &str| it == "finished" || it == "failed";
        let row = format!("w{n} explorer  Find it  ");
        let ended = |nvim: &crate::kit::nvim::Nvim| {
            let shown = nvim.transcript();
            let state =
                shown.split_once(&row).map(|it| it.1.split_whitespace().next().unwrap_or_default());
            state.is_some_and(is_over)
        };
        scene.nvim.wait(ended, &format!("the end of w{n}"));
    }
    scene.server.reply(Reply::said("So it is."));
    let stop = "require('caliban.chat').send({ kind = 'worker', worker = 8 })";
    scene.nvim.lua(stop, &[]);
    scene.wait_idle("So it is.");
    let answer = scene.server.requests().pop().unwrap().answer("c2");
    let states: Vec<&str> =
        answer.lines().filter(|it| it.contains("explorer (Find it): ")).collect();
    let expected = [
        "finished",
        "finished",
        "finished",
        "finished",
        "failed, partial",
        "failed, partial",
        "failed, partial",
        "stopped, partial",
    ];
    for (n, (state, expected)) in std::iter::zip(states, expected).enumerate() {
        assert_eq!(state, format!("w{} explorer (Find it): {expected}", n + 1), "{answer}");
    }
    assert!(answer.contains("\"what_was_done\": \"cut\""), "{answer}");
}
