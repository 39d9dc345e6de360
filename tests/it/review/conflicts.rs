//! The file on disk has other lines than the buffer in the place of a hunk that waits for the user's decision.

use super::scene::{Scene, nine};
use crate::kit::reply::Reply;

fn put(scene: &Scene, text: &str) {
    std::fs::write(scene.nvim.setup.path("a.txt"), text).unwrap();
    scene.nvim.keys(":checktime<CR>");
}

fn both() -> String {
    nine().replace("l2", "L2").replace("l8", "L8\nL8b")
}

const CONFLICT: &str = "a.txt changed on disk while you were reviewing it.";

/// Other branches have other lines in the place of a hunk, and beside it. Then the first text is there again.
#[test]
fn a_conflict_that_is_over_is_none() {
    for (keys, told, ended) in [
        ("accept", "The user accepted 2 changes in a.txt.", both()),
        ("reject", "The user rejected 2 changes in a.txt: they are undone.", nine()),
    ] {
        let scene = Scene::two_hunks(|it| it);
        scene.nvim.command("messages clear");
        put(&scene, &nine().replace("l2", "theirs").replace("l5", "five"));
        scene.nvim.wait(|it| it.buffer("/a.txt").contains("five"), "the line beside the hunks");
        assert_eq!(scene.said().matches(CONFLICT).count(), 1, "{}", scene.said());
        assert!(
            scene.said().ends_with("1 of the changes on disk conflicts with yours: line 2."),
            "{}",
            scene.said()
        );
        put(&scene, &nine().replace("l2", "others").replace("l5", "six"));
        scene.nvim.wait(|it| it.buffer("/a.txt").contains("six"), "the line of another branch");
        put(&scene, &nine());
        scene.nvim.wait(|it| it.buffer("/a.txt") + "\n" == both(), "the first text with the hunks");
        assert_eq!(scene.said().matches(CONFLICT).count(), 1, "{}", scene.said());
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(&format!(":Caliban {keys} all<CR>"));
        scene.wait_idle("I see.");
        assert_eq!(scene.answer(2, "e1"), told);
        assert_eq!(scene.on_disk("a.txt"), Some(ended));
    }
}

/// The user decides before Neovim has seen that the first text is there again.
#[test]
fn a_conflict_is_looked_at_before_a_decision() {
    let scene = Scene::two_hunks(|it| it);
    put(&scene, &nine().replace("l2", "theirs"));
    scene.nvim.wait(|_| scene.said().contains(CONFLICT), "the conflict");
    std::fs::write(scene.nvim.setup.path("a.txt"), nine()).unwrap();
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.answer(2, "e1"), "The user accepted 2 changes in a.txt.");
    assert_eq!(scene.on_disk("a.txt"), Some(both()));
}

#[test]
fn a_conflict_that_stays_keeps_the_text_from_being_saved() {
    let scene = Scene::two_hunks(|it| it);
    put(&scene, &nine().replace("l2", "theirs").replace("l8", "too"));
    scene.nvim.wait(|_| scene.said().contains("2 of the changes"), "the conflicts");
    put(&scene, &nine().replace("l8", "too"));
    scene.nvim.wait(|_| scene.said().contains("1 of the changes"), "one of them");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    let told = scene.answer(2, "e1");
    assert!(told.contains("a.txt is not saved (it changed on disk too)"), "{told}");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l8", "too")));
}
