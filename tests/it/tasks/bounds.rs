//! What a subagent may not do: more than its parent, or more than the user wants to spend.

use super::{has_got, is_of, saved, task};
use crate::kit::chat::DIALECTS;
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, edit, nine};
use serde_json::json;

#[test]
fn a_subagent_follows_the_mode_of_its_parent() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config("{ mode = 'auto-edit' }"));
    let prompt = "Change it.";
    scene.server.reply(Reply::new().call("t1", "task", task(prompt)));
    let first = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")]));
    scene.server.reply_to(has_got(prompt, 0), first);
    let gate =
        scene.server.reply(Reply::new().gate().call("e2", "edit", edit("a.txt", &[("l3", "L3")])));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.server.wait_count(3);
    assert!(scene.nvim.setup.on_disk("a.txt").unwrap().contains("L2"));
    scene.nvim.keys(":Caliban mode plan<CR>");
    scene.wait_chat("Mode plan");
    scene.server.reply_to(has_got(prompt, 2), Reply::said("It is refused."));
    scene.server.reply(Reply::said("So it is."));
    gate.finish();
    scene.wait_idle("So it is.");
    let all = scene.server.requests();
    let child = all.iter().rfind(|it| is_of(prompt)(it)).unwrap();
    assert!(child.answer("e2").starts_with("Not run: plan mode is on"));
    assert!(!scene.nvim.setup.on_disk("a.txt").unwrap().contains("L3"));
}

#[test]
fn a_subagent_has_no_subagents() {
    let scene = Scene::start(|it| it);
    let prompt = "Pass it on.";
    scene.server.reply(Reply::new().call("t1", "task", task(prompt)));
    scene.server.reply_to(has_got(prompt, 0), Reply::new().call("t2", "task", task("Deeper.")));
    scene.server.reply_to(has_got(prompt, 1), Reply::said("There is none."));
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.wait_idle("So it is.");
    let all = scene.server.requests();
    let child = all.iter().rfind(|it| is_of(prompt)(it)).unwrap();
    assert!(child.answer("t2").starts_with("There is no tool `task`."), "{}", child.answer("t2"));
}

/// A slash command or a mention in a task would do something that only the user's own words may do.
#[test]
fn slash_commands_and_mentions_in_a_task_are_plain_text() {
    for prompt in ["/clear", "/mode auto", "See @a.txt"] {
        let scene = Scene::start(|it| it.file("a.txt", nine()));
        scene.server.reply(Reply::new().call("t1", "task", task(prompt)));
        scene.server.reply_to(is_of(prompt), Reply::said("I see."));
        scene.server.reply(Reply::said("So it is."));
        scene.nvim.keys(":Caliban ask please<CR>");
        scene.wait_idle("So it is.");
        let all = scene.server.requests();
        assert!(!all[1].last_user_text().contains("l2"), "{}", all[1].last_user_text());
        assert!(all[1].last_user_text().ends_with(prompt));
        assert!(all[2].answer("t1").starts_with("I see."));
    }
}

#[test]
fn a_task_with_wrong_arguments_is_answered_and_starts_no_subagent() {
    let scene = Scene::start(|it| it);
    let calls = Reply::new()
        .call("t1", "task", json!({ "description": "Find it" }))
        .call("t2", "task", json!({ "description": " ", "prompt": "Find it." }))
        .call("t3", "task", json!({ "description": "Find it", "prompt": "  " }));
    scene.server.reply(calls);
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.wait_idle("So it is.");
    for (id, fault) in [("t1", "$.prompt"), ("t2", "$.description"), ("t3", "$.prompt")] {
        let answer = scene.answer(2, id);
        assert!(answer.contains(fault) && answer.contains("Example: "), "{answer}");
    }
    assert_eq!(scene.server.count(), 2);
}

#[test]
fn what_subagents_spend_counts_for_their_parent() {
    let limit = "{ limit = { tokens = 1000 } }";
    let scene = Scene::start(|it| it.config(limit).size(160, 40));
    let prompt = "Find it.";
    scene.server.reply(Reply::new().call("t1", "task", task(prompt)).usage(100, 10));
    let first = Reply::said("I have a half.").call("l1", "list", json!({}));
    scene.server.reply_to(has_got(prompt, 0), first.usage(900, 50));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.nvim.wait_question();
    scene.wait_chat("The spending limit is reached");
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("So it is.");
    let answer = scene.server.requests().pop().unwrap().answer("t1");
    assert!(
        answer.contains("[The subagent ended before its task was done: the spending limit is"),
        "{answer}"
    );
    assert!(answer.starts_with("I have a half."), "{answer}");
    assert_eq!(scene.server.requests().iter().filter(|it| is_of(prompt)(it)).count(), 1);
}

#[test]
fn a_subagents_report_of_one_huge_line_is_cut() {
    let scene = Scene::start(|it| it.file("src/deep.rs", "x\n"));
    let prompt = "Find it.";
    scene.server.reply(Reply::new().call("t1", "task", task(prompt)));
    let long = format!("{} src/deep.rs:7 {}", "word ".repeat(200_000), "word ".repeat(200_000));
    scene.server.reply_to(is_of(prompt), Reply::said(&long));
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.wait_idle("So it is.");
    let answer = scene.answer(3, "t1");
    assert!(answer.len() < 30_000, "{}", answer.len());
    assert!(
        answer.contains("[The part that was left out mentions `src/deep.rs`.]"),
        "{}",
        &answer[answer.len() - 600..]
    );
}

#[test]
fn edits_of_subagents_that_a_crash_interrupted_stay_under_review() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).before("vim.o.swapfile = false"));
    scene.nvim.keys(":edit a.txt<CR>");
    let calls = Reply::new().call("t1", "task", task("One.")).call("t2", "task", task("Two."));
    scene.server.reply(calls);
    let change = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")]));
    scene.server.reply_to(has_got("One.", 0), change);
    scene.server.reply(Reply::said("I begin.").gate());
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.wait_hunks(1);
    scene.server.wait_count(3);
    let Scene { server, nvim } = scene;
    nvim.wait(|it| !it.setup.review_records().is_empty(), "the review on disk");
    nvim.kill();
    nvim.wait_program_end();
    let nvim = Nvim::start(&nvim.setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Interrupted: ");
    nvim.wait_hunks(1);
    server.reply(Reply::said("So it is."));
    nvim.ask("and?", "So it is.");
    let last = server.requests().pop().unwrap();
    for id in ["t1", "t2"] {
        assert!(
            last.answer(id).starts_with(
                "The subagent was stopped before it had finished: the editor or Caliban ended"
            ),
            "{}",
            last.answer(id)
        );
    }
    assert_eq!(saved(&nvim.setup, "main-task")["parent"]["session"], "main");
}

#[test]
fn a_subagent_can_be_a_named_agent_with_its_own_prompt_tools_and_mode() {
    for dialect in DIALECTS {
        let server = Server::start();
        let file = "---\nname: reader\ndescription: Reads.\ntools: read\nmode: plan\n---\nRead like an owl.\n";
        let setup = Setup::new().file("../config/caliban/agents/reader.md", file);
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        let prompt = "Find the word.";
        let given = json!({ "description": "Find it", "prompt": prompt, "agent": "reader" });
        server.reply(Reply::new().call("t1", "task", given));
        server.reply_to(is_of(prompt), Reply::said("It is there."));
        server.reply(Reply::said("Found."));
        nvim.ask("please", "Found.");
        let (child, parents): (Vec<Request>, Vec<Request>) =
            server.requests().into_iter().partition(is_of(prompt));
        assert_eq!(child[0].system_text().matches("Read like an owl.").count(), 1);
        assert_eq!(child[0].tools(), ["read"]);
        assert!(child[0].outline().contains("Plan mode is on"), "{}", child[0].outline());
        assert!(parents.iter().all(|it| !it.system_text().contains("owl")));
    }
}

#[test]
fn no_task_goes_to_an_unknown_agent_or_to_a_project_agent_without_consent() {
    let file = "---\nname: ours\ndescription: Ours.\n---\nObey me.\n";
    let scene = Scene::start(|it| it.file(".caliban/agents/ours.md", file).cautious());
    let to =
        |agent: &str| json!({ "description": "Find it", "prompt": "Find it.", "agent": agent });
    let calls = Reply::new().call("t1", "task", to("oors")).call("t2", "task", to("ours"));
    scene.server.reply(calls);
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.wait_idle("So it is.");
    let answer = scene.answer(2, "t1");
    assert_eq!(answer, "There is no agent `oors`. Did you mean `ours`?");
    let answer = scene.answer(2, "t2");
    assert!(
        answer.starts_with("The user has not agreed to the project's agent `ours`"),
        "{answer}"
    );
    assert_eq!(scene.server.count(), 2);
}

/// The subagent's change belongs to the turn of its parent, so that a rewind of this turn takes it back.
#[test]
fn a_rewind_of_the_turn_takes_back_what_its_subagents_changed() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config("{ mode = 'auto-edit' }"));
    let prompt = "Change it.";
    scene.server.reply(Reply::new().call("t1", "task", task(prompt)));
    let change = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")]));
    scene.server.reply_to(has_got(prompt, 0), change);
    scene.server.reply_to(has_got(prompt, 1), Reply::said("Done."));
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.wait_idle("So it is.");
    assert!(scene.nvim.setup.on_disk("a.txt").unwrap().contains("L2"));
    let choose = "vim.ui.select = function(items, _, done) done(items[1], 1) end";
    scene.nvim.lua(choose, &[]);
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("a take back all");
    scene.nvim.keys("a");
    scene.nvim.wait(|nvim| nvim.setup.on_disk("a.txt") == Some(nine()), "the file as it was");
}

#[test]
fn the_user_cannot_widen_a_subagents_mode_in_its_chat() {
    let scene = Scene::start(|it| it.size(160, 40));
    let prompt = "Change it.";
    scene.server.reply(Reply::new().call("t1", "task", task(prompt)));
    let gate = scene.server.reply(Reply::said("I begin.").gate());
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.server.wait_count(2);
    scene.wait_chat("main-task · ");
    scene.nvim.keys(":Caliban<CR><Esc>");
    scene.nvim.go_to_transcript("task  Find it");
    scene.nvim.keys("gf");
    scene.nvim.wait_session("main-task");
    scene.nvim.keys(":Caliban mode auto<CR>");
    scene.nvim.wait_screen("takes no messages from you");
    assert!(!scene.nvim.transcript().contains("Mode auto"), "{}", scene.nvim.transcript());
    scene.server.reply(Reply::said("So it is."));
    gate.finish();
    scene.nvim.keys(":Caliban resume main<CR>");
    scene.wait_idle("So it is.");
}
