//! Files under review that somebody else writes: another Neovim, or a formatter that watches the file.

use super::scene::{Scene, answers, edit, nine, two_hunks};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use expect_test::expect;
use std::fs;

/// A second Neovim on the same file, with a pending hunk of its own.
fn second(scene: &Scene, hunk: (&str, &str)) -> Nvim {
    let other = Nvim::start(&scene.nvim.setup);
    other.keys(":edit a.txt<CR>");
    other.keys(":Caliban new other<CR>");
    other.wait_session("other");
    scene.server.reply(Reply::new().call("f1", "edit", edit("a.txt", &[hunk])));
    other.lua("require('caliban').ask('please')", &[]);
    other.wait_pending(1);
    other
}

/// Accepts everything in this Neovim, and returns what the user and the model are told.
fn accept(scene: &Scene, nvim: &Nvim, said: &str) -> String {
    nvim.command("messages clear");
    let n = scene.server.requests().len();
    scene.server.reply(Reply::said(said));
    nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    nvim.wait_transcript(said);
    nvim.wait_phase("idle");
    assert!(!nvim.is_blocked(), "{}", nvim.screen());
    let told = answers(&scene.request(n + 1));
    let messages = nvim.lua_str("return vim.fn.execute('messages')");
    format!("{}\n---\n{}", messages.trim(), told.last().unwrap().1)
}

#[test]
fn two_neovims_accept_hunks_of_one_file_and_both_are_kept() {
    let scene = Scene::two_hunks(|it| it);
    let other = second(&scene, ("l5", "L5"));
    let first = accept(&scene, &scene.nvim, "One.");
    expect![[r#"
        a.txt: 2 accepted, saved
        ---
        The user accepted 2 changes in a.txt."#]]
    .assert_eq(&first);
    expect![[r#"
        a.txt: 1 accepted, saved
        ---
        The user accepted the change in a.txt.
        The file changed elsewhere too:
        @@ line 2
        -l2
        +L2
        @@ line 8
        -l8
        +L8
        +L8b"#]]
    .assert_eq(&accept(&scene, &other, "Two."));
    let both = nine().replace("l2", "L2").replace("l5", "L5").replace("l8", "L8\nL8b");
    assert_eq!(scene.on_disk("a.txt"), Some(both.clone()));
    assert_eq!(other.buffer("/a.txt") + "\n", both);
}

#[test]
fn of_two_neovims_that_change_one_line_the_second_one_writes_nothing_and_keeps_its_text() {
    let scene = Scene::two_hunks(|it| it);
    let other = second(&scene, ("l2", "my l2"));
    accept(&scene, &scene.nvim, "One.");
    let first = nine().replace("l2", "L2").replace("l8", "L8\nL8b");
    assert_eq!(scene.on_disk("a.txt"), Some(first.clone()));
    expect![[r#"
        a.txt changed on disk while you were reviewing it. 1 of the changes on disk conflicts with yours: line 2.
        a.txt: 1 accepted, not saved: it changed on disk too
        ---
        The user accepted the change in a.txt.
        The file changed elsewhere too:
        @@ line 8
        -l8
        +L8
        +L8b
        a.txt is not saved (it changed on disk too): on disk, other lines are in its place."#]].assert_eq(&accept(&scene, &other, "Two."));
    assert_eq!(scene.on_disk("a.txt"), Some(first));
    assert!(other.buffer("/a.txt").contains("my l2"), "{}", other.buffer("/a.txt"));
}

/// The verdict was true when it was told.
#[test]
fn what_a_watcher_writes_after_the_verdict_is_told_with_the_next_message() {
    for mode in ["ask", "auto-edit"] {
        let config = format!("{{ mode = '{mode}' }}");
        let scene = Scene::start(|it| it.file("a.txt", nine()).config(&config));
        scene.nvim.keys(":edit a.txt<CR>");
        scene.server.reply(two_hunks());
        let gate = scene.server.reply(Reply::said("I see.").held());
        scene.nvim.keys(":Caliban ask please<CR>");
        if mode == "ask" {
            scene.wait_pending(2);
            scene.nvim.keys("\\A");
        }
        scene.answer(2, "e1");
        let text = nine().replace("l2", "L2;").replace("l8", "L8\nL8b");
        fs::write(scene.nvim.setup.path("a.txt"), text).unwrap();
        gate.release();
        scene.wait_idle("I see.");
        let told = scene.told_next();
        assert!(
            told.contains(
                "The file changed since you saw it last:\n@@ -1,5 +1,5 @@\n l1\n-L2\n+L2;\n"
            ),
            "{mode}: {told}"
        );
    }
}
