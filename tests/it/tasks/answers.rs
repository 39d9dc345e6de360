//! What the user answers while subagents work: to their questions, and by a message in place of a review.

use super::{has_got, is_of, task};
use crate::kit::reply::Reply;
use crate::review::scene::{Scene, edit, nine};
use serde_json::json;

#[test]
fn a_message_of_the_user_ends_the_subagents_wait_for_a_review() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).size(160, 40));
    scene.nvim.keys(":edit a.txt<CR>");
    let calls = Reply::new().call("t1", "task", task("One.")).call("t2", "task", task("Two."));
    scene.server.reply(calls);
    for (prompt, id, old, new) in [("One.", "e1", "l2", "L2"), ("Two.", "e2", "l8", "L8")] {
        let reply = Reply::new().call(id, "edit", edit("a.txt", &[(old, new)]));
        scene.server.reply_to(has_got(prompt, 0), reply);
    }
    // one subagent proposes another edit afterwards, and does not wait for its review either
    let again = Reply::new().call("e3", "edit", edit("a.txt", &[("l5", "L5")]));
    scene.server.reply_to(has_got("One.", 1), again);
    scene.server.reply_to(has_got("One.", 2), Reply::said("One. Done."));
    scene.server.reply_to(has_got("Two.", 1), Reply::said("Two. Done."));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.wait_pending(2);
    scene.server.reply(Reply::said("I go on."));
    scene.nvim.lua("require('caliban').ask('and the tests?')", &[]);
    scene.wait_idle("I go on.");
    scene.nvim.wait_hunks(3);
    let all = scene.server.requests();
    let child = all.iter().rfind(|it| is_of("One.")(it)).unwrap();
    for id in ["e1", "e3"] {
        let answer = child.answer(id);
        assert!(
            answer.starts_with("Not decided yet: 1 hunk of this edit is under review"),
            "{answer}"
        );
        assert!(answer.contains("The user wants the work to go on"), "{answer}");
    }
    let last = all.last().unwrap();
    assert!(last.last_user_text().ends_with("and the tests?"), "{}", last.last_user_text());
    let answer = last.answer("t1");
    assert!(
        answer
            .starts_with("One. Done.\n[It proposed changes that are still under review: `a.txt`.]"),
        "{answer}"
    );
    // the verdict reaches the conversation for which the subagents worked
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.nvim.wait_hunks(0);
    let told = scene.told_next();
    assert!(told.contains("a.txt") && told.contains("accepted"), "{told}");
}

/// The subagent's edit is in the buffer beside text of the user's own, and not written.
#[test]
fn a_file_that_was_not_written_is_not_said_to_be_changed() {
    let config = "{ mode = 'auto-edit' }";
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(config).size(160, 40));
    scene.nvim.keys(":edit a.txt<CR>5GAmine<Esc>");
    scene.server.reply(Reply::new().call("t1", "task", task("One.")));
    let read = Reply::new().call("r1", "read", json!({ "path": "a.txt" }));
    scene.server.reply_to(has_got("One.", 0), read);
    let change = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")]));
    scene.server.reply_to(has_got("One.", 1), change);
    scene.server.reply_to(has_got("One.", 2), Reply::said("One. Done."));
    scene.ask_until(Reply::said("I see."), "I see.");
    let answer = scene.server.requests().pop().unwrap().answer("t1");
    let told = "One. Done.\n[It changed in the editor, but not on disk: `a.txt`.]";
    assert!(answer.starts_with(told), "{answer}");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn a_subagents_question_can_be_answered_with_always_or_with_a_changed_command() {
    let scene = Scene::start(|it| it.size(160, 40));
    let run = |command: &str| json!({ "command": command });
    scene.server.reply(Reply::new().call("t1", "task", task("Greet.")));
    scene
        .server
        .reply_to(has_got("Greet.", 0), Reply::new().call("s1", "shell", run("git status -s")));
    scene
        .server
        .reply_to(has_got("Greet.", 1), Reply::new().call("s2", "shell", run("echo one > out")));
    scene.server.reply_to(has_got("Greet.", 2), Reply::said("It is done."));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.nvim.wait_question();
    scene.wait_chat("`a` allows `git status …` in this project from now on.");
    scene.nvim.go_to_transcript("main-task: Run `git status -s`?");
    scene.nvim.keys("i");
    scene.nvim.wait_screen("git status -s: needs your consent.");
    scene.nvim.keys("a");
    scene.nvim.wait_screen("From now on git status … runs without a question.");
    scene.wait_chat("main-task: Run `echo one > out`?");
    scene.nvim.wait_question();
    scene.nvim.go_to_transcript("main-task: Run `echo one > out`?");
    // the rule also applies to the parent
    scene.server.reply(Reply::new().call("s3", "shell", run("git status -b")));
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.keys("c");
    scene.nvim.wait_screen("<C-s> run, in normal mode also <CR> ·");
    scene.nvim.keys("ccecho two > out; cat out<Esc><CR>");
    scene.wait_idle("So it is.");
    assert_eq!(scene.on_disk("out").as_deref(), Some("two\n"));
    let all = scene.server.requests();
    let child = all.iter().rfind(|it| is_of("Greet.")(it)).unwrap();
    let answer = child.answer("s2");
    assert!(answer.starts_with("The user changed the command of this call."), "{answer}");
    assert!(answer.ends_with("\n\ntwo"), "{answer}");
    assert!(
        !all.last().unwrap().answer("s3").contains("Not run"),
        "{}",
        all.last().unwrap().answer("s3")
    );
}
