//! Subagents: tasks that the model gives to other agents, each in a session of its own.

mod answers;
mod bounds;
mod models;
mod sessions;
mod stops;

use crate::kit::chat::{DIALECTS, assert_grows};
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, edit, nine};
use serde_json::{Value, json};
use std::fs;

/// The arguments of a `task` call.
pub(crate) fn task(prompt: &str) -> Value {
    json!({ "description": "Find it", "prompt": prompt })
}

/// Whether a request is that of the subagent which has this prompt.
pub(crate) fn is_of(prompt: &str) -> impl Fn(&Request) -> bool + use<> {
    let prompt = prompt.to_owned();
    move |it| {
        let turns = it.turns();
        let first = turns.iter().find(|it| it.role == "user");
        first.is_some_and(|it| it.text().trim_end().ends_with(&prompt))
    }
}

/// As `is_of`, for a request with this many answers to calls.
pub(crate) fn has_got(prompt: &str, answers: usize) -> impl Fn(&Request) -> bool + use<> {
    let is_meant = is_of(prompt);
    move |it| is_meant(it) && it.answers().len() == answers
}

/// The JSON of a saved session.
pub(crate) fn saved(setup: &Setup, name: &str) -> Value {
    let text = fs::read_to_string(setup.sessions().join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_subagent_has_its_own_context_and_only_its_last_reply_comes_back() {
    for dialect in DIALECTS {
        let server = Server::start();
        let prompt = "Find the word.";
        server.reply(Reply::new().call("t1", "task", task(prompt)));
        server.reply_to(
            has_got(prompt, 0),
            Reply::said("I look.").call("r1", "read", json!({ "path": "a.txt" })),
        );
        server.reply_to(has_got(prompt, 1), Reply::said("The word is in a.txt:2."));
        server.reply(Reply::said("Found."));
        let setup = Setup::new().file("a.txt", nine());
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        nvim.ask("please", "Found.");
        let (children, parents): (Vec<Request>, Vec<Request>) =
            server.requests().into_iter().partition(is_of(prompt));
        assert_eq!((children.len(), parents.len()), (2, 2));
        let mut tools = parents[0].tools();
        tools.retain(|it| !["task", "todo", "ask", "plan"].contains(&it.as_str()));
        assert_eq!(children[0].tools(), tools);
        assert_eq!(parents[0].tools().len(), tools.len() + 4);
        assert!(children[0].system_text().contains("The working directory is"));
        assert!(!children[0].outline().contains("please"));
        assert!(children[0].last_user_text().contains("You are a subagent"));
        assert!(children[1].answers()[0].1.contains("l2"));
        let answer = &parents[1].answers()[0].1;
        assert!(
            answer.starts_with("The word is in a.txt:2.\n[Its conversation is `main-task`: 2 ")
        );
        assert!(!answer.contains("I look."), "{answer}");
        assert_grows(children);
        assert_grows(parents);
        let path = nvim.setup.sessions().join("main-task.json");
        nvim.wait(|_| path.exists(), "the file of the subagent's session");
        let file = saved(&nvim.setup, "main-task");
        assert_eq!(file["parent"]["session"], "main");
        assert_eq!(file["title"], "Find it");
    }
}

#[test]
fn at_most_four_subagents_work_at_the_same_time() {
    let scene = Scene::start(|it| it);
    let calls = (1..=6).fold(Reply::new(), |reply, n| {
        reply.call(&format!("t{n}"), "task", task(&format!("Task {n}.")))
    });
    scene.server.reply(calls);
    let gates: Vec<_> =
        (0..6).map(|_| scene.server.reply(Reply::new().gate().text("Done."))).collect();
    scene.nvim.keys(":Caliban ask please<CR>");
    for (n, gate) in gates.iter().enumerate() {
        let running = scene.server.wait_requests((n + 5).min(7)).len() - 1 - n;
        assert!(running <= 4, "{running}");
        gate.finish();
    }
    scene.server.reply(Reply::said("All done."));
    scene.wait_idle("All done.");
    let last = scene.request(8);
    let answers = last.answers();
    assert_eq!(
        answers.iter().map(|it| &*it.0).collect::<Vec<_>>(),
        ["t1", "t2", "t3", "t4", "t5", "t6"]
    );
    assert!(answers.iter().all(|it| it.1.starts_with("Done.\n")), "{answers:?}");
}

#[test]
fn the_line_of_a_task_shows_what_the_subagent_does_and_opens_its_chat() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).size(160, 40));
    let prompt = "Find the word.";
    scene.server.reply(Reply::new().call("t1", "task", task(prompt)));
    scene
        .server
        .reply_to(has_got(prompt, 0), Reply::new().call("r1", "read", json!({ "path": "a.txt" })));
    let gate = scene.server.reply(Reply::said("Half of").gate().text(" the report."));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.server.wait_count(3);
    scene.wait_chat("▾ task  Find it");
    scene.wait_chat("main-task · thinking · 1 request");
    scene.nvim.keys(":Caliban<CR>");
    let row =
        |it: &Nvim| it.screen().lines().find(|it| it.contains("task  Find it")).map(str::to_owned);
    scene.nvim.wait(|it| row(it).is_some_and(|it| it.contains("running")), "the task's line");
    assert!(!scene.nvim.screen().contains("done"), "{}", scene.nvim.screen());
    scene.nvim.go_to_transcript("task  Find it");
    scene.nvim.keys("gf");
    scene.nvim.wait_session("main-task");
    scene.wait_chat("Half of");
    assert!(
        scene.nvim.transcript().contains("read  path=\"a.txt\""),
        "{}",
        scene.nvim.transcript()
    );
    // the user cannot send the subagent a message
    scene.nvim.lua("require('caliban').ask('and you?')", &[]);
    scene.nvim.wait_screen("A subagent of main works here");
    assert_eq!(scene.server.count(), 3);
    gate.finish();
    scene.wait_chat("Half of the report.");
    scene.server.reply(Reply::said("Found."));
    scene.nvim.keys(":Caliban resume main<CR>");
    scene.wait_idle("Found.");
    assert!(scene.request(4).answer("t1").starts_with("Half of the report.\n"));
    // the chat of the subagent stays readable
    scene.nvim.keys(":Caliban resume main-task<CR>");
    scene.wait_chat("Half of the report.");
    scene.nvim.lua("require('caliban').ask('and you?')", &[]);
    scene.nvim.wait_screen("This conversation is read-only here.");
}

#[test]
fn stopping_the_turn_stops_its_subagents_and_answers_their_calls() {
    let scene = Scene::start(|it| it);
    let calls = (1..=3).fold(Reply::new(), |reply, n| {
        reply.call(&format!("t{n}"), "task", task(&format!("Task {n}.")))
    });
    scene.server.reply(calls);
    for _ in 0..3 {
        scene.server.reply(Reply::said("I begin.").text(" ").gate());
    }
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.server.wait_count(4);
    scene.nvim.keys(":Caliban stop<CR>");
    for n in 2..=4 {
        scene.server.wait_closed(n);
    }
    scene.wait_idle("Stopped.");
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.lua("require('caliban').ask('and?')", &[]);
    scene.wait_idle("So it is.");
    let answers = scene.request(5).answers();
    assert_eq!(answers.len(), 3);
    assert!(
        answers
            .iter()
            .all(|it| it.1.starts_with("The subagent was stopped before it had finished")),
        "{answers:?}"
    );
}

/// Has a subagent run `echo hi`, and waits for the question in its parent's chat.
fn asking(scene: &Scene) {
    let prompt = "Greet.";
    scene.server.reply(Reply::new().call("t1", "task", task(prompt)));
    scene.server.reply_to(
        has_got(prompt, 0),
        Reply::new().call("s1", "shell", json!({ "command": "echo hi" })),
    );
    scene.server.reply_to(has_got(prompt, 1), Reply::said("It is done."));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.nvim.wait_question();
    scene.wait_chat("? main-task: Run `echo hi`?");
    assert_eq!(scene.nvim.phase(), "asking");
    assert_eq!(scene.nvim.lua_str("return require('caliban').state().waiting_for"), "permission");
}

#[test]
fn a_subagents_question_is_answered_in_its_parents_chat() {
    for (keys, expected) in [
        (":Caliban approve<CR>", "hi"),
        (":Caliban deny not now<CR>", "Not run: the user refused, and says: not now"),
    ] {
        let scene = Scene::start(|it| it.size(160, 40));
        asking(&scene);
        scene.server.reply(Reply::said("So it is."));
        scene.nvim.keys(keys);
        scene.wait_idle("So it is.");
        assert!(!scene.nvim.transcript().contains("Run `echo hi`?"));
        let all = scene.server.requests();
        let child = all.iter().rfind(|it| is_of("Greet.")(it)).unwrap();
        assert!(child.answer("s1").starts_with(expected), "{}", child.answer("s1"));
        assert!(all.last().unwrap().answer("t1").starts_with("It is done."));
    }
}

#[test]
fn a_subagents_open_question_goes_away_when_its_parent_is_stopped() {
    let scene = Scene::start(|it| it.size(160, 40));
    asking(&scene);
    scene.nvim.keys(":Caliban stop<CR>");
    scene.wait_idle("Stopped.");
    assert!(!scene.nvim.transcript().contains("Run `echo hi`?"), "{}", scene.nvim.transcript());
    assert!(scene.told_next().contains("The user stopped the turn"));
    assert_eq!(scene.server.requests().iter().filter(|it| is_of("Greet.")(it)).count(), 1);
}

#[test]
fn edits_of_two_subagents_in_one_file_are_reviewed_together() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).size(160, 40));
    scene.nvim.keys(":edit a.txt<CR>");
    let calls = Reply::new().call("t1", "task", task("One.")).call("t2", "task", task("Two."));
    scene.server.reply(calls);
    for (prompt, id, old, new) in [("One.", "e1", "l2", "L2"), ("Two.", "e2", "l8", "L8")] {
        let reply = Reply::new().call(id, "edit", edit("a.txt", &[(old, new)]));
        scene.server.reply_to(has_got(prompt, 0), reply);
        scene.server.reply_to(has_got(prompt, 1), Reply::said(&format!("{prompt} Done.")));
    }
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.wait_pending(2);
    scene.wait_chat("waits for your review of 1 hunk");
    scene.server.reply(Reply::said("Both are done."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("Both are done.");
    let expected = nine().replace("l2", "L2").replace("l8", "L8");
    assert_eq!(scene.nvim.setup.on_disk("a.txt").unwrap(), expected);
    let last = scene.server.requests().pop().unwrap();
    for (id, prompt) in [("t1", "One."), ("t2", "Two.")] {
        let answer = last.answer(id);
        assert!(answer.starts_with(&format!("{prompt} Done.\n[It changed `a.txt`.]")), "{answer}");
    }
}

/// The subagent's call that needs consent is denied, because nobody attends `caliban run`.
#[test]
fn caliban_run_has_subagents_too() {
    let server = Server::start();
    let prompt = "Greet.";
    server.reply(Reply::new().call("t1", "task", task(prompt)));
    let calls = Reply::new().call("s1", "shell", json!({ "command": "curl example.org" }));
    server.reply_to(has_got(prompt, 0), calls);
    server.reply_to(has_got(prompt, 1), Reply::said("It is denied."));
    server.reply(Reply::said("So it is."));
    let setup = Setup::new().anthropic(&server);
    let ran = setup.program(&["run", "please"]).output().unwrap();
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(shown.contains("So it is."), "{ran:?}");
    let all = server.requests();
    let child = all.iter().rfind(|it| is_of(prompt)(it)).unwrap();
    assert!(
        child.answer("s1").starts_with("Not run: nobody is here to answer"),
        "{}",
        child.answer("s1")
    );
    assert!(all.last().unwrap().answer("t1").starts_with("It is denied."));
}

/// An argument that does not exist may ask for something that would silently not be done, such as a worktree.
#[test]
fn a_task_with_an_argument_that_does_not_exist_is_not_begun_and_the_arguments_are_named() {
    for dialect in DIALECTS {
        let server = Server::start();
        let mut given = task("Find the word.");
        given["worktree"] = json!(true);
        server.reply(Reply::new().call("t1", "task", given));
        server.reply(Reply::said("I see."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.ask("please", "I see.");
        assert_eq!(server.count(), 2);
        let answer = server.requests()[1].answers()[0].1.clone();
        for said in [
            "The arguments are not valid for the tool `task`, so nothing was done.",
            "$.worktree: there is no such argument",
            "Known: description, prompt, agent, isolation. Not known: worktree.",
        ] {
            assert!(answer.contains(said), "{said}: {answer}");
        }
    }
}
