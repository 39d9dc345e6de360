//! Reviews that end without a decision or without a save, and rejected new files.

use super::super::scene::{Scene, nine, write};
use super::{ACCEPT, REJECT, asked, nothing, story, told, written};
use crate::kit::reply::Reply;
use expect_test::expect;
use std::fs;

#[test]
fn hunks_on_which_the_user_did_not_decide_are_not_told_as_decided() {
    expect![[r#"
        The user did not decide on 2 changes in a.txt: they are in the file.
        ---
        nothing
        ---
        both changes"#]]
    .assert_eq(&written("", None, ":bdelete<CR>"));
    expect![[r#"
        The user did not decide on 2 changes in a.txt: they are in the file.
        ---
        a.txt: 2 not decided
        ---
        both changes"#]]
    .assert_eq(&written("", None, ":edit!<CR>"));
    expect![[r#"
        The user did not decide on 2 changes in a.txt: they are in the file.
        ---
        nothing
        ---
        both changes"#]]
    .assert_eq(&written("", None, ":enew<CR>:bwipeout a.txt<CR>"));
    expect![[r#"
        The user did not decide on 2 changes in a.txt: they are not in the file.
        ---
        a.txt: 2 not decided, but 2 not in the file any more
        ---
        as it was"#]]
    .assert_eq(&written("", Some(nine()), ":edit!<CR>"));
    expect![[r#"
        Of 2 changes in a.txt: 1 rejected and undone, 1 not decided on.
        line 2, rejected, reads as before:
        l2
        line 8, not decided on, now reads:
        L8
        L8b
        ---
        nothing
        ---
        l1 l2 l3 l4 l5 l6 l7 L8 L8b l9"#]]
    .assert_eq(&written("", None, "2G\\r:bdelete<CR>"));
}

#[test]
fn what_a_read_of_the_file_from_disk_has_lost_is_told_to_the_user_too() {
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, but not in the file any more, 1 not decided on and not in the file.
        line 2, accepted, but not in the file any more, reads as before:
        l2
        line 8, not decided on and not in the file, reads as before:
        l8
        ---
        a.txt: 1 accepted, 1 not decided, but 2 not in the file any more
        ---
        as it was"#]].assert_eq(&asked("", nothing, "2G\\a:edit!<CR>"));
    expect![[r#"
        The user did not decide on 2 changes in a.txt: they are not in the file.
        ---
        a.txt: 2 not decided, but 2 not in the file any more
        ---
        as it was"#]]
    .assert_eq(&asked("", nothing, ":edit!<CR>"));
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 not decided on.
        line 2, accepted:
        L2
        line 8, not decided on, now reads:
        L8
        L8b
        ---
        a.txt: 1 accepted, 1 not decided
        ---
        both changes"#]]
    .assert_eq(&asked("", nothing, "2G\\a:w!<CR>:edit!<CR>"));
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 not decided on.
        line 2, accepted:
        L2
        line 8, not decided on, now reads:
        L8
        L8b
        ---
        a.txt: 1 accepted, 1 not decided
        ---
        both changes"#]]
    .assert_eq(&written("", None, "2G\\a:edit!<CR>"));
    expect![[r#"
        Of 2 changes in a.txt: 1 rejected and undone, 1 not decided on.
        line 2, rejected, reads as before:
        l2
        line 8, not decided on, now reads:
        L8
        L8b
        ---
        a.txt: 1 rejected, 1 not decided
        ---
        l1 l2 l3 l4 l5 l6 l7 L8 L8b l9"#]]
    .assert_eq(&written("", None, "2G\\r:edit!<CR>"));
}

#[test]
fn hunks_that_were_not_written_and_not_decided_are_told_as_not_in_the_file() {
    expect![[r#"
        The user did not decide on 2 changes in a.txt: they are not in the file.
        ---
        nothing
        ---
        as it was"#]]
    .assert_eq(&asked("", nothing, ":bwipeout!<CR>"));
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, but not in the file any more, 1 not decided on and not in the file.
        line 2, accepted, but not in the file any more, reads as before:
        l2
        line 8, not decided on and not in the file, reads as before:
        l8
        ---
        nothing
        ---
        as it was"#]]
    .assert_eq(&asked("", nothing, "2G\\a:bwipeout!<CR>"));
    expect![[r#"
        The user did not decide on 2 changes in a.txt: they are in the file.
        ---
        nothing
        ---
        both changes"#]]
    .assert_eq(&asked("", nothing, ":w!<CR>:bwipeout!<CR>"));
}

#[test]
fn a_verdict_that_is_not_saved_says_what_is_on_disk() {
    let readonly = ":call setfperm('a.txt', 'r--r--r--')<CR>";
    expect![[r#"
        The user accepted 2 changes in a.txt.
        ---
        a.txt: 2 accepted
        ---
        both changes"#]]
    .assert_eq(&written("", None, &format!("{readonly}{ACCEPT}")));
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        a.txt is not saved (there is no permission to write it): all 2 changes are still on disk.
        ---
        a.txt: 2 rejected, not saved: there is no permission to write it
        ---
        both changes"#]]
    .assert_eq(&written("", None, &format!("{readonly}{REJECT}")));
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 rejected and undone.
        line 2, rejected, reads as before:
        l2
        line 8, accepted:
        L8
        L8b
        a.txt is not saved (there is no permission to write it): all 2 changes are on disk.
        ---
        a.txt: 1 accepted, 1 rejected, not saved: there is no permission to write it
        ---
        both changes"#]]
    .assert_eq(&written("", None, &format!("{readonly}2G\\r8G\\a")));
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        a.txt is not saved (there is no permission to write it): all 2 changes are still on disk.
        ---
        a.txt: 2 rejected, not saved: there is no permission to write it
        ---
        both changes"#]]
    .assert_eq(&asked("", nothing, &format!(":w!<CR>{readonly}{REJECT}")));
}

#[test]
fn a_verdict_beside_unsaved_text_of_the_user_says_what_is_on_disk() {
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        The file changed elsewhere too:
        @@ line 5
        -l5
        +l5mine
        a.txt is not saved (it has other unsaved changes): all 2 changes are still on disk.
        ---
        a.txt: 2 rejected, not saved: it has other unsaved changes
        ---
        both changes"#]]
    .assert_eq(&written("", None, "5GAmine<Esc>:Caliban reject all<CR>"));
    expect![[r#"
        The user accepted 2 changes in a.txt.
        The file changed elsewhere too:
        @@ line 5
        -l5
        +l5mine
        a.txt is not saved (it has other unsaved changes): all 2 changes are on disk.
        ---
        a.txt: 2 accepted, not saved: it has other unsaved changes
        ---
        both changes"#]]
    .assert_eq(&written("", None, "5GAmine<Esc>:Caliban accept all<CR>"));
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        The file changed elsewhere too:
        @@ line 5
        -l5
        +l5mine
        a.txt is not saved (it has other unsaved changes): none of your changes is on disk.
        ---
        a.txt: 2 rejected, not saved: it has other unsaved changes
        ---
        as it was"#]]
    .assert_eq(&asked("", nothing, "5GAmine<Esc>:Caliban reject all<CR>"));
}

#[test]
fn a_verdict_on_a_file_that_is_not_there_any_more_is_told_as_not_saved() {
    let path = |scene: &Scene| scene.nvim.setup.path("a.txt");
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        a.txt is not saved (it was deleted or moved on disk): none of your changes is on disk.
        <context kind="changes" path="a.txt">
        The file changed since you saw it last:
        It does not exist now.
        </context>
        ---
        a.txt: 2 rejected, not saved: it was deleted or moved on disk
        ---
        no file"#]]
    .assert_eq(&written("", None, ":call delete('a.txt')<CR>:Caliban reject all<CR>"));
    let folder = |it: &Scene| {
        fs::remove_file(path(it)).unwrap();
        fs::create_dir(path(it)).unwrap();
    };
    expect![[r#"
        The user accepted 2 changes in a.txt.
        a.txt is not saved (it is a directory): the changes are not on disk yet.
        ---
        a.txt: 2 accepted, not saved: it is a directory
        ---
        no file"#]]
    .assert_eq(&asked("", folder, ACCEPT));
    let elsewhere = |it: &Scene| fs::rename(path(it), it.nvim.setup.path("b.txt")).unwrap();
    expect![[r#"
        The user accepted 2 changes in a.txt.
        a.txt is not saved (it was deleted or moved on disk): the changes are not on disk yet.
        ---
        a.txt: 2 accepted, not saved: it was deleted or moved on disk
        ---
        no file"#]]
    .assert_eq(&asked("", elsewhere, ACCEPT));
}

/// The model creates `a.txt`; then the user types `keys`.
#[track_caller]
fn created(mode: &str, keys: &str) -> String {
    let scene = Scene::start(|it| it.config(&format!("{{ mode = '{mode}' }}")));
    let call = Reply::new().call("e1", "write", write("a.txt", "one\n"));
    let heard = if mode == "ask" {
        scene.ask(call);
        scene.wait_pending(1);
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(keys);
        scene.wait_idle("I see.");
        scene.answer(2, "e1")
    } else {
        scene.server.reply(call);
        scene.ask_until(Reply::said("I see."), "I see.");
        scene.nvim.keys(keys);
        scene.wait_hunks(0);
        told(&scene)
    };
    story(&scene, &heard)
}

#[test]
fn a_rejected_new_file_is_told_as_not_existing_and_a_closed_one_as_undecided() {
    expect![[r#"
        The user rejected the new file a.txt: it does not exist.
        ---
        a.txt: 1 rejected
        ---
        no file"#]]
    .assert_eq(&created("ask", REJECT));
    expect![[r#"
        The user did not decide on the change in a.txt: it is not in the file.
        ---
        nothing
        ---
        no file"#]]
    .assert_eq(&created("ask", ":Caliban next<CR>:bwipeout!<CR>"));
    expect![[r#"
        The user rejected the new file a.txt: it does not exist.
        ---
        a.txt: 1 rejected
        ---
        no file"#]]
    .assert_eq(&created("auto-edit", REJECT));
    expect![[r#"
        The user did not decide on the change in a.txt: it is in the file.
        ---
        nothing
        ---
        one"#]]
    .assert_eq(&created("auto-edit", ":edit a.txt<CR>:bwipeout!<CR>"));
    expect![[r#"
        The user accepted the change in a.txt.
        ---
        a.txt: 1 accepted, saved
        ---
        one"#]]
    .assert_eq(&created("auto-edit", ":call delete('a.txt')<CR>:Caliban accept all<CR>"));
}
