//! What a worker may not do, and calls of a coordinator with wrong arguments.

use super::{coordinator, done, worker};
use crate::agents::{begin, project};
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::sandbox::is_full;
use crate::kit::server::Server;
use crate::review::scene::{Scene, edit, nine};
use crate::tasks::{has_got, is_of, saved};
use serde_json::json;

/// The last request of the worker with this prompt.
fn last_of(scene: &Scene, prompt: &str) -> Request {
    scene.server.requests().into_iter().rfind(is_of(prompt)).unwrap()
}

/// Sends a prompt. The coordinator's first reply spawns these workers, its second reply waits for them.
fn spawned(scene: &Scene, workers: &serde_json::Value) {
    scene.server.reply(Reply::new().call("c1", "spawn_workers", json!({ "workers": workers })));
    scene.server.reply(Reply::new().call("c2", "await_workers", json!({})));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
}

#[test]
fn a_worker_can_edit_only_the_paths_that_it_owns() {
    let scene = coordinator(|it| it.file("b.txt", "b1\nb2\n").config("{ mode = 'auto-edit' }"));
    let mut own = worker("implementer", "Change it.");
    own["owns"] = json!(["a.txt", "new"]);
    let calls = Reply::new()
        .call("e1", "edit", edit("b.txt", &[("b1", "B1")]))
        .call("e2", "edit", edit("a.txt", &[("l2", "L2")]))
        .call("e3", "write", json!({ "path": "new/x.txt", "text": "x\n" }))
        .call("e4", "rename", json!({ "path": "a.txt", "to": "c.txt" }));
    scene.server.reply_to(has_got("Change it.", 0), calls);
    scene.server.reply_to(has_got("Change it.", 4), Reply::said(&done("It is changed.")));
    let calls = Reply::new()
        .call("x1", "shell", json!({ "command": "echo hi" }))
        .call("x2", "edit", edit("a.txt", &[("l3", "L3")]))
        .call("x3", "spawn_worker", worker("explorer", "Deeper."));
    scene.server.reply_to(has_got("Look.", 0), calls);
    scene.server.reply_to(has_got("Look.", 3), Reply::said("I have looked."));
    spawned(&scene, &json!([own, worker("explorer", "Look.")]));
    scene.server.reply(Reply::said("So it is."));
    scene.wait_idle("So it is.");
    let implementer = last_of(&scene, "Change it.");
    for id in ["e1", "e4"] {
        assert!(
            implementer.answer(id).contains("is not yours. You may edit `a.txt`, `new` only."),
            "{id}"
        );
    }
    assert!(scene.on_disk("a.txt").unwrap().contains("L2\nl3"));
    assert_eq!(scene.on_disk("b.txt").unwrap(), "b1\nb2\n");
    assert_eq!(scene.on_disk("new/x.txt").unwrap(), "x\n");
    let explorer = last_of(&scene, "Look.");
    for (id, tool) in [("x1", "shell"), ("x2", "edit"), ("x3", "spawn_worker")] {
        assert!(explorer.answer(id).starts_with(&format!("There is no tool `{tool}`.")), "{id}");
    }
    let answer = scene.server.requests().pop().unwrap().answer("c2");
    assert!(answer.contains("[It changed `a.txt`, `new/x.txt`.]"), "{answer}");
    // a report that is not JSON counts as a partial result
    assert!(answer.contains("w2 explorer (Find it): finished, partial"), "{answer}");
    assert!(answer.contains("\"what_was_done\": \"I have looked.\""), "{answer}");
    // a rewind of the coordinator's turn takes the workers' edits back
    scene.nvim.lua("vim.ui.select = function(items, _, choose) choose(items[1], 1) end", &[]);
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("a take back all");
    scene.nvim.keys("a");
    scene.nvim.wait(|nvim| nvim.setup.on_disk("new/x.txt").is_none(), "the new file is gone");
}

#[test]
fn a_worker_ends_after_twelve_requests_and_a_long_report_is_cut() {
    let scene = coordinator(|it| it);
    for n in 0..12 {
        let path = format!("a{n}.txt");
        let reply = Reply::said("I go on.").call(&format!("r{n}"), "read", json!({ "path": path }));
        scene.server.reply_to(has_got("Never end.", n), reply);
    }
    let line = "x".repeat(2_000_000);
    scene.server.reply_to(has_got("Talk.", 0), Reply::said(&line));
    spawned(&scene, &json!([worker("explorer", "Never end."), worker("summarizer", "Talk.")]));
    scene.server.reply(Reply::said("So it is."));
    scene.wait_idle("So it is.");
    let last = last_of(&scene, "Never end.");
    assert_eq!(last.answers().len(), 11);
    assert!(last.last_user_text().contains("This is your last request."));
    let answer = scene.server.requests().pop().unwrap().answer("c2");
    assert!(answer.contains("w1 explorer (Find it): failed, partial"), "{answer}");
    assert!(answer.contains("The worker used up its 12 requests."), "{answer}");
    assert!(answer.contains("w2 summarizer (Find it): finished, partial"), "{answer}");
    assert!(answer.len() < 20_000, "{}", answer.len());
}

#[test]
fn calls_about_workers_with_wrong_arguments_are_answered_and_start_no_worker() {
    let scene = coordinator(|it| it);
    let many: Vec<_> = (0..50).map(|n| worker("explorer", &format!("Task {n}."))).collect();
    let owner = |path: &str| {
        let mut it = worker("implementer", "x");
        it["owns"] = json!([path]);
        it
    };
    let calls = Reply::new()
        .call("c1", "spawn_workers", json!({ "workers": many }))
        .call("c2", "await_workers", json!({ "workers": ["w1"] }))
        .call("c3", "await_workers", json!({ "workers": ["main"] }))
        .call("c4", "spawn_worker", worker("implementer", "x"))
        .call("c5", "spawn_worker", owner("/etc/passwd"))
        .call("c6", "spawn_worker", owner("../x"))
        .call("c7", "spawn_worker", worker("boss", "x"))
        .call("c8", "edit", edit("a.txt", &[("l2", "L2")]));
    scene.server.reply(calls);
    scene.ask_until(Reply::said("So it is."), "So it is.");
    let last = scene.request(2);
    for (id, text) in [
        ("c1", "No worker was begun: 50 more would make 50, and at most 32"),
        ("c2", "There is no worker `w1`: you have begun none."),
        ("c3", "There is no worker `main`: you have begun none."),
        ("c4", "$.owns: expected the paths that the implementer may edit, got none"),
        ("c5", "$.owns: `/etc/passwd` is outside the project"),
        ("c6", "$.owns: `../x` is outside the project"),
        ("c7", "$.role: expected one of explorer, implementer, verifier, summarizer"),
        ("c8", "There is no tool `edit`."),
    ] {
        assert!(last.answer(id).contains(text), "{id}: {}", last.answer(id));
    }
    assert_eq!(scene.server.count(), 2);
}

#[test]
fn a_workers_question_is_answered_in_the_coordinators_chat() {
    let scene = coordinator(|it| it);
    let calls = Reply::new().call("s1", "shell", json!({ "command": "echo hi" }));
    scene.server.reply_to(has_got("Greet.", 0), calls);
    scene.server.reply_to(has_got("Greet.", 1), Reply::said(&done("It is done.")));
    spawned(&scene, &json!([worker("verifier", "Greet.")]));
    scene.nvim.wait_question();
    scene.wait_chat("? w1: Run `echo hi`?");
    scene.wait_chat("w1 verifier  Find it  waits: ");
    assert_eq!(
        scene.nvim.lua_json("return require('caliban.chat.chats').current.status.workers"),
        json!({ "active": 1, "asking": 1, "unread": 0 })
    );
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("So it is.");
    assert!(last_of(&scene, "Greet.").answer("s1").starts_with("hi"));
    // the worker's result comes from a command, so it is marked as a stranger's text
    let body = scene.server.requests().pop().unwrap().json.to_string();
    assert!(
        body.contains("from=\\\\\\\"a command\\\\\\\"") || body.contains("a command"),
        "{body}"
    );
}

#[test]
fn workers_that_ask_are_counted_in_the_winbar_at_every_width() {
    for (columns, lines, two, one) in [
        (200, 40, "2 workers wait for you", "1 worker waits for you"),
        (60, 20, "2 wait for you", "1 waits for you"),
    ] {
        let scene = coordinator(|it| it.size(columns, lines));
        for (prompt, id) in [("Greet.", "s1"), ("Part.", "s2")] {
            let calls = Reply::new().call(id, "shell", json!({ "command": "echo hi" }));
            scene.server.reply_to(has_got(prompt, 0), calls);
            scene.server.reply_to(has_got(prompt, 1), Reply::said(&done("It is done.")));
        }
        spawned(&scene, &json!([worker("verifier", "Greet."), worker("verifier", "Part.")]));
        scene.nvim.keys(":Caliban<CR>");
        scene.nvim.wait_screen(two);
        scene.nvim.wait_question();
        scene.server.reply(Reply::said("So it is."));
        scene.nvim.keys(":Caliban approve<CR>");
        scene.nvim.wait_screen(one);
        scene.nvim.wait_question();
        scene.nvim.keys(":Caliban approve<CR>");
        scene.wait_idle("So it is.");
    }
}

#[test]
fn the_commands_of_an_implementer_write_its_own_paths_only() {
    if !is_full() {
        return;
    }
    let scene = coordinator(|it| it.file("own/x.txt", "x\n").config("{ mode = 'auto' }"));
    let mut own = worker("implementer", "Change it.");
    own["owns"] = json!(["own", "not-there"]);
    let command = "echo a > own/x.txt; echo b > a.txt; echo c > new.txt; cat a.txt";
    let calls = Reply::new().call("s1", "shell", json!({ "command": command }));
    scene.server.reply_to(has_got("Change it.", 0), calls);
    scene.server.reply_to(has_got("Change it.", 1), Reply::said(&done("It is changed.")));
    spawned(&scene, &json!([own]));
    scene.server.reply(Reply::said("So it is."));
    scene.wait_idle("So it is.");
    assert_eq!(scene.on_disk("own/x.txt").unwrap(), "a\n");
    let text = last_of(&scene, "Change it.").answer("s1");
    assert!(text.contains("l2") && text.contains("Read-only file system"), "{text}");
    assert_eq!(scene.on_disk("new.txt"), None);
}

#[test]
fn edits_of_two_implementers_in_one_file_are_reviewed_together() {
    let scene = coordinator(|it| it);
    scene.nvim.keys(":edit a.txt<CR>");
    let own = |prompt: &str| {
        let mut it = worker("implementer", prompt);
        it["owns"] = json!(["a.txt"]);
        it
    };
    for (prompt, id, old, new) in [("One.", "e1", "l2", "L2"), ("Two.", "e2", "l8", "L8")] {
        let reply = Reply::new().call(id, "edit", edit("a.txt", &[(old, new)]));
        scene.server.reply_to(has_got(prompt, 0), reply);
        scene.server.reply_to(has_got(prompt, 1), Reply::said(&done(prompt)));
    }
    spawned(&scene, &json!([own("One."), own("Two.")]));
    scene.wait_pending(2);
    scene.wait_chat("w2 implementer  Find it  waits: ");
    scene.server.reply(Reply::said("Both are done."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("Both are done.");
    let expected = nine().replace("l2", "L2").replace("l8", "L8");
    assert_eq!(scene.on_disk("a.txt").unwrap(), expected);
    let answer = scene.server.requests().pop().unwrap().answer("c2");
    assert_eq!(answer.matches("[It changed `a.txt`.]").count(), 2, "{answer}");
    // what the workers spend counts for the coordinator: seven replies of fifteen tokens
    let usage = &saved(&scene.nvim.setup, "main")["usage"];
    assert_eq!((usage["input"].as_u64(), usage["output"].as_u64()), (Some(70), Some(35)));
}

#[test]
fn the_workers_of_a_named_agent_have_no_tool_that_the_agent_lacks() {
    let server = Server::start();
    let nvim = Nvim::start(&project().anthropic(&server).size(160, 40));
    begin(&nvim, "@reviewer one");
    nvim.keys(":Caliban mode coordinator<CR>");
    nvim.wait_transcript("Coordinator mode is on");
    let calls = Reply::new().call("n1", "notify", json!({ "text": "Hm." })).call(
        "s1",
        "shell",
        json!({ "command": "echo hi" }),
    );
    server.reply_to(has_got("Check it.", 0), calls);
    server.reply_to(has_got("Check it.", 2), Reply::said(&done("It is checked.")));
    server.reply(Reply::new().call("c1", "spawn_worker", worker("verifier", "Check it.")));
    server.reply(Reply::new().call("c2", "await_workers", json!({})));
    server.reply(Reply::said("So it is."));
    nvim.ask("please", "So it is.");
    let all = server.requests();
    let child = all.iter().rfind(|it| is_of("Check it.")(it)).unwrap();
    assert_eq!(child.tools(), ["read", "grep", "notify"]);
    assert!(child.answer("n1").starts_with("Your coordinator sees it."), "{}", child.answer("n1"));
    assert!(child.answer("s1").starts_with("There is no tool `shell`."), "{}", child.answer("s1"));
    let tools = all[0].tools();
    assert_eq!(tools[..3], ["read", "grep", "spawn_worker"]);
    assert_eq!(tools.len(), 8);
}
