//! A conversation hears of the edits that it has made, and of no others.

use super::super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;
use crate::tasks::{has_got, is_of, task};
use serde_json::json;

#[test]
fn an_emptied_conversation_does_not_hear_of_edits_that_it_never_made() {
    for keys in ["accept", "reject"] {
        let scene = Scene::two_hunks(|it| it);
        scene.server.reply(Reply::said("As you like."));
        scene.nvim.keys(":Caliban ask do b first<CR>");
        scene.wait_idle("As you like.");
        scene.nvim.keys(":Caliban ask /clear<CR>");
        scene.nvim.wait(|it| !it.transcript().contains("As you like."), "the empty chat");
        assert_eq!(scene.told_next(), "and?");
        scene.nvim.keys(&format!(":Caliban {keys} all<CR>"));
        scene.wait_hunks(0);
        assert_eq!(scene.told_next(), "and?");
        scene.nvim.keys("u");
        scene.wait_hunks(2);
        assert_eq!(scene.told_next(), "and?");
    }
}

#[test]
fn the_end_of_a_review_of_a_deleted_conversation_is_one_true_sentence() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("As you like."));
    scene.nvim.keys(":Caliban ask do b first<CR>");
    scene.wait_idle("As you like.");
    scene.nvim.keys(":Caliban delete<CR>2<CR>");
    scene.nvim.wait_screen("main is in the trash: ");
    scene.nvim.keys(":edit a.txt<CR>:messages clear<CR>:Caliban accept all<CR>");
    scene.wait_hunks(0);
    // by the program, or by the conversation that has the name now if it is open already
    let sentences = [
        "The conversation main is not open: its model does not hear of your decision on a.txt.",
        "No model hears of your decision on a.txt: the conversation with the edit is gone.",
    ];
    let told = || sentences.iter().map(|it| scene.said().matches(it).count()).sum::<usize>();
    scene.nvim.wait(|_| told() > 0, "the sentence about the conversation");
    assert_eq!(told(), 1, "{}", scene.said());
    let both = nine().replace("l2", "L2").replace("l8", "L8\nL8b");
    assert_eq!(scene.on_disk("a.txt"), Some(both));
    assert_eq!(scene.told_next(), "and?");
}

/// Two subagents have edited adjacent lines, which are one hunk. The second one was told of the first one's line before
/// the user's decision.
fn two_subagents(decide: &str) -> (String, String) {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    let read = || Reply::new().call("r1", "read", json!({ "path": "a.txt" }));
    let tasks = Reply::new().call("t1", "task", task("One.")).call("t2", "task", task("Two."));
    scene.server.reply_to(has_got("One.", 0), read());
    scene.server.reply_to(has_got("Two.", 0), read());
    let one = scene
        .server
        .hold(has_got("One.", 1), Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    let two = scene
        .server
        .hold(has_got("Two.", 1), Reply::new().call("e2", "edit", edit("a.txt", &[("l3", "L3")])));
    scene.server.reply_to(has_got("One.", 2), Reply::said("Done one."));
    scene.server.reply_to(has_got("Two.", 2), Reply::said("Done two."));
    scene.ask(tasks);
    one.finish();
    scene.nvim.wait(|it| it.buffer("/a.txt").contains("L2"), "the first edit");
    two.finish();
    scene.nvim.wait(|it| it.buffer("/a.txt").contains("L3"), "the second edit");
    scene.server.reply(Reply::said("All done."));
    scene.nvim.keys(decide);
    scene.wait_idle("All done.");
    let all = scene.server.requests();
    let last = |prompt: &str| all.iter().rfind(|it| is_of(prompt)(it)).unwrap();
    let told = |prompt: &str, call: &str| {
        let request = last(prompt);
        format!("{}\n---\n{}", request.answer(call), request.last_user_text())
    };
    (told("One.", "e1"), told("Two.", "e2"))
}

#[test]
fn a_rejected_change_of_one_subagent_is_not_told_to_the_other_as_there() {
    let (one, two) = two_subagents(":Caliban reject all<CR>");
    assert!(one.contains("The user rejected the change in a.txt: it is undone."), "{one}");
    assert!(two.contains("The user rejected the change in a.txt: it is undone."), "{two}");
    for told in [one, two] {
        assert!(!told.contains("+L2") && !told.contains("+L3"), "{told}");
    }
}

#[test]
fn an_accepted_change_of_one_subagent_is_told_to_the_other() {
    let (one, two) = two_subagents(":Caliban accept all<CR>");
    assert!(one.contains("The user accepted the change in a.txt."), "{one}");
    assert!(one.contains("-l3\n+L3"), "{one}");
    assert!(two.contains("The user accepted the change in a.txt."), "{two}");
    assert!(two.contains("-l2\n+L2"), "{two}");
}
