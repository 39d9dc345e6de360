//! The user's reasons for rejections: each is told with the hunks that it is for.

use super::super::scene::{Scene, edit, nine};
use super::{asked, nothing};
use crate::kit::reply::Reply;
use expect_test::expect;

#[test]
fn each_of_two_reasons_names_the_lines_of_its_hunk() {
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        The user's reason for line 2: too loud
        The user's reason for line 8: not needed
        ---
        a.txt: 2 rejected
        ---
        as it was"#]]
    .assert_eq(&asked(
        "",
        nothing,
        "2G:Caliban reject hunk too loud<CR>8G:Caliban reject hunk not needed<CR>",
    ));
    // one reason for all, and one for the only rejected hunk
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        The user's reason: no
        ---
        a.txt: 2 rejected
        ---
        as it was"#]]
    .assert_eq(&asked("", nothing, ":Caliban reject file no<CR>"));
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        The user's reason for line 8: not needed
        ---
        a.txt: 2 rejected
        ---
        as it was"#]]
    .assert_eq(&asked("", nothing, "2G\\r8G:Caliban reject hunk not needed<CR>"));
}

#[test]
fn a_reason_is_not_told_after_its_rejection_was_undone() {
    expect![[r#"
        The user accepted 2 changes in a.txt.
        ---
        a.txt: 2 accepted, saved
        ---
        both changes"#]]
    .assert_eq(&asked("", nothing, "2G:Caliban reject hunk too loud<CR>u:Caliban accept all<CR>"));
}

/// Two hunks with the same new line.
#[test]
fn the_reason_for_one_of_two_equal_hunks_is_told_of_this_one() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "same")])).call(
        "e2",
        "edit",
        edit("a.txt", &[("l5", "same"), ("l8", "same")]),
    ));
    scene.wait_pending(3);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("8G:Caliban reject hunk once is enough<CR>:Caliban reject all<CR>");
    scene.wait_idle("I see.");
    let told = [scene.answer(2, "e1"), scene.answer(2, "e2")];
    expect![[r#"
        The user rejected the change in a.txt: it is undone.
        ---
        The user rejected 2 changes in a.txt: they are undone.
        The user's reason for line 8: once is enough"#]]
    .assert_eq(&told.join("\n---\n"));
}
