//! What other programs do to the file on disk before a verdict and as the file is written.

use super::super::scene::{Scene, nine};
use super::{ACCEPT, REJECT, asked, both, nothing, put, story, written};
use crate::kit::reply::Reply;
use expect_test::expect;

#[test]
fn what_was_thrown_away_on_disk_is_not_told_as_accepted_or_rejected() {
    let one = nine().replace("l8", "L8\nL8b");
    expect![[r#"
        2 changes in a.txt were undone on disk: they are not in the file.
        ---
        a.txt: 2 undone on disk
        ---
        as it was"#]]
    .assert_eq(&written("", Some(nine()), ACCEPT));
    expect![[r#"
        2 changes in a.txt were undone on disk: they are not in the file.
        ---
        a.txt: 2 undone on disk
        ---
        as it was"#]]
    .assert_eq(&written("", Some(nine()), REJECT));
    expect![[r#"
        2 changes in a.txt were undone on disk: they are not in the file.
        ---
        a.txt: 2 undone on disk
        ---
        as it was"#]]
    .assert_eq(&written("", Some(nine()), ":checktime<CR>"));
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 undone on disk.
        line 2, accepted:
        L2
        line 8, undone on disk, reads as before:
        l8
        ---
        a.txt: 1 accepted, 1 undone on disk
        ---
        l1 L2 l3 l4 l5 l6 l7 l8 l9"#]]
    .assert_eq(&written("", Some(nine().replace("l2", "L2")), ACCEPT));
    expect![[r#"
        Of 2 changes in a.txt: 1 rejected and undone, 1 undone on disk.
        line 2, undone on disk, reads as before:
        l2
        line 8, rejected, reads as before:
        l8
        ---
        a.txt: 1 rejected, 1 undone on disk, saved
        ---
        as it was"#]]
    .assert_eq(&written("", Some(one), "8G\\r"));
}

#[test]
fn what_was_thrown_away_in_part_or_after_the_decision_is_told() {
    let one = nine().replace("l8", "L8\nL8b");
    let part = nine().replace("l8", "L8").replace("l5", "theirs");
    expect![[r#"
        Of 2 changes in a.txt: 2 undone on disk.
        line 2, undone on disk, reads as before:
        l2
        line 8, undone on disk, now reads:
        L8
        The file changed elsewhere too:
        @@ line 5
        -l5
        +theirs
        ---
        a.txt: 2 undone on disk
        ---
        l1 l2 l3 l4 theirs l6 l7 L8 l9"#]]
    .assert_eq(&written("", Some(part), ACCEPT));
    // thrown away after it was accepted
    let lines: Vec<&str> = one.lines().collect();
    let later = format!("2G\\a:call writefile({lines:?}, 'a.txt')<CR>\\A");
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 accepted, but not in the file any more.
        line 2, accepted, but not in the file any more, reads as before:
        l2
        line 8, accepted:
        L8
        L8b
        ---
        a.txt: 2 accepted, but 1 not in the file any more
        ---
        l1 l2 l3 l4 l5 l6 l7 L8 L8b l9"#]]
    .assert_eq(&written("", None, &later));
}

/// A generator that keeps its own text: it writes the file again whenever the editor has written it.
fn generator() -> String {
    format!(
        "vim.api.nvim_create_autocmd('BufWritePost', {{ callback = function(event)
            vim.fn.writefile(vim.split({:?}, '\\n'), event.match)
            vim.cmd('checktime')
        end }})",
        both().trim_end()
    )
}

#[test]
fn a_rejected_hunk_that_another_program_writes_again_is_told_as_being_in_the_file() {
    let again = generator();
    expect![[r#"
        Of 2 changes in a.txt: 2 rejected, but in the file again.
        line 2, rejected, but in the file again:
        L2
        line 8, rejected, but in the file again:
        L8
        L8b
        ---
        a.txt: 2 rejected, but 2 in the file again
        ---
        both changes"#]]
    .assert_eq(&written(&again, None, REJECT));
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 rejected, but in the file again.
        line 2, rejected, but in the file again:
        L2
        line 8, accepted:
        L8
        L8b
        ---
        a.txt: 1 accepted, 1 rejected, but 1 in the file again
        ---
        both changes"#]]
    .assert_eq(&written(&again, None, "2G\\r:Caliban accept all<CR>"));
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        ---
        a.txt: 2 rejected
        ---
        as it was"#]]
    .assert_eq(&asked(&again, nothing, REJECT));
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 rejected, but in the file again.
        line 2, rejected, but in the file again:
        L2
        line 8, accepted:
        L8
        L8b
        ---
        a.txt: 1 accepted, 1 rejected, but 1 in the file again
        ---
        both changes"#]]
    .assert_eq(&asked(&again, nothing, "2G\\r8G\\a"));
}

/// A formatter that reads and writes the file on disk after the editor has written it, and tells Neovim nothing.
const FORMATTER: &str = "vim.api.nvim_create_autocmd('BufWritePost', { callback = function(event)
        local lines = vim.fn.readfile(event.match)
        for i, line in ipairs(lines) do
          lines[i] = line:gsub('^L(%d.*)$', 'L(%1)')
        end
        vim.fn.writefile(lines, event.match)
    end })";

#[test]
fn what_a_formatter_on_disk_made_of_the_hunks_is_told() {
    expect![[r#"
        Of 2 changes in a.txt: 2 accepted and formatted.
        line 2, accepted and formatted, now reads:
        L(2)
        line 8, accepted and formatted, now reads:
        L(8)
        L(8b)
        ---
        a.txt: 2 accepted, saved
        ---
        l1 L(2) l3 l4 l5 l6 l7 L(8) L(8b) l9"#]]
    .assert_eq(&asked(FORMATTER, nothing, ACCEPT));
    expect![[r#"
        Of 2 changes in a.txt: 1 rejected and undone, 1 accepted and formatted.
        line 2, rejected, reads as before:
        l2
        line 8, accepted and formatted, now reads:
        L(8)
        L(8b)
        ---
        a.txt: 1 accepted, 1 rejected, saved
        ---
        l1 l2 l3 l4 l5 l6 l7 L(8) L(8b) l9"#]]
    .assert_eq(&asked(FORMATTER, nothing, "2G\\r8G\\a"));
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        ---
        a.txt: 2 rejected, saved
        ---
        as it was"#]]
    .assert_eq(&written(FORMATTER, None, REJECT));
    expect![[r#"
        Of 2 changes in a.txt: 1 rejected and undone, 1 accepted and formatted.
        line 2, rejected, reads as before:
        l2
        line 8, accepted and formatted, now reads:
        L(8)
        L(8b)
        ---
        a.txt: 1 accepted, 1 rejected
        ---
        l1 l2 l3 l4 l5 l6 l7 L(8) L(8b) l9"#]]
    .assert_eq(&written(FORMATTER, None, "2G\\r8G\\a"));
}

#[test]
fn what_a_program_that_watches_the_disk_made_of_the_hunks_before_the_decision_is_told() {
    let formatted = nine().replace("l2", "L2;").replace("l8", "L8;\nL8b;").replace("l9", "l9;");
    // the lines are the program's, and neither decision is about them
    for keys in [ACCEPT, REJECT] {
        expect![[r#"
            Of 2 changes in a.txt: 2 undone on disk.
            line 2, undone on disk, now reads:
            L2;
            line 8, undone on disk, now reads:
            L8;
            L8b;
            l9;
            ---
            a.txt: 2 undone on disk
            ---
            l1 L2; l3 l4 l5 l6 l7 L8; L8b; l9;"#]]
        .assert_eq(&written("", Some(formatted.clone()), keys));
    }
    let indented = nine().replace("l2", "  L2").replace("l8", "  L8\n  L8b").replace("l9", "  l9");
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        The file changed elsewhere too:
        @@ line 9
        -l9
        +  l9
        ---
        a.txt: 2 rejected, saved
        ---
        l1 l2 l3 l4 l5 l6 l7 l8   l9"#]]
    .assert_eq(&written("", Some(indented), REJECT));
}

#[test]
fn changes_on_disk_beside_a_hunk_are_merged_and_of_the_same_line_they_conflict() {
    let theirs = |text: String| move |scene: &Scene| put(scene, &text);
    expect![[r#"
        The user accepted 2 changes in a.txt.
        The file changed elsewhere too:
        @@ line 3
        -l3
        +theirs
        ---
        a.txt: 2 accepted, saved
        ---
        l1 L2 theirs l4 l5 l6 l7 L8 L8b l9"#]]
    .assert_eq(&asked("", theirs(nine().replace("l3", "theirs")), ACCEPT));
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        The file changed elsewhere too:
        @@ line 1
        -l1
        +theirs
        ---
        a.txt: 2 rejected
        ---
        theirs l2 l3 l4 l5 l6 l7 l8 l9"#]]
    .assert_eq(&asked("", theirs(nine().replace("l1", "theirs")), REJECT));
    let more = nine().replace("l7", "l7\ntheirs").replace("l9", "theirs");
    expect![[r#"
        The user accepted 2 changes in a.txt.
        The file changed elsewhere too:
        @@ line 8
        +theirs
        @@ line 11
        -l9
        +theirs
        ---
        a.txt: 2 accepted, saved
        ---
        l1 L2 l3 l4 l5 l6 l7 theirs L8 L8b theirs"#]]
    .assert_eq(&asked("", theirs(more), ACCEPT));
}

#[test]
fn changes_on_disk_that_cannot_be_merged_are_told_as_not_saved() {
    let theirs = |text: String| move |scene: &Scene| put(scene, &text);
    expect![[r#"
        The user accepted 2 changes in a.txt.
        a.txt is not saved (it changed on disk too): on disk, other lines are in the place of 1 of the 2 changes.
        ---
        a.txt: 2 accepted, not saved: it changed on disk too
        ---
        l1 theirs l3 l4 l5 l6 l7 l8 l9"#]]
    .assert_eq(&asked("", theirs(nine().replace("l2", "theirs")), ACCEPT));
    expect![[r#"
        The user rejected 2 changes in a.txt: they are undone.
        a.txt is not saved (it changed on disk too): on disk, other lines are in the place of 1 of the 2 changes.
        ---
        a.txt: 2 rejected, not saved: it changed on disk too
        ---
        l1 theirs l3 l4 l5 l6 l7 l8 l9"#]]
    .assert_eq(&asked("", theirs(nine().replace("l2", "theirs")), REJECT));
    // the buffer cannot take the change over
    let text = nine().replace("l5", "theirs");
    let keys = format!(":set nomodifiable<CR>{ACCEPT}");
    expect![[r#"
        The user accepted 2 changes in a.txt.
        a.txt is not saved (it changed on disk too): the changes are not on disk yet.
        ---
        a.txt: 2 accepted, not saved: it changed on disk too
        ---
        l1 l2 l3 l4 theirs l6 l7 l8 l9"#]]
    .assert_eq(&asked("", theirs(text), &keys));
}

/// After `:w!` the buffer is not modified, and Neovim would read it again.
#[test]
fn a_change_on_disk_after_a_forced_write_is_merged_or_told_as_thrown_away() {
    let after = |keys: &str, theirs: String, last: &str| {
        let keys = keys.to_owned();
        let act = move |scene: &Scene| {
            scene.nvim.keys(&format!("{keys}:w!<CR>"));
            scene.nvim.wait(|_| scene.on_disk("a.txt").is_some_and(|it| it != nine()), "the write");
            put(scene, &theirs);
        };
        asked("", act, last)
    };
    let look = ":doautocmd CursorHold<CR>";
    for last in [look, ":checktime<CR>"] {
        expect![[r#"
            2 changes in a.txt were undone on disk: they are not in the file.
            ---
            a.txt: 2 undone on disk
            ---
            as it was"#]]
        .assert_eq(&after("", nine(), last));
        expect![[r#"
            Of 2 changes in a.txt: 1 accepted, but not in the file any more, 1 undone on disk.
            line 2, accepted, but not in the file any more, reads as before:
            l2
            line 8, undone on disk, reads as before:
            l8
            ---
            a.txt: 1 accepted, 1 undone on disk, but 1 not in the file any more
            ---
            as it was"#]]
        .assert_eq(&after("2G\\a", nine(), last));
    }
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("2G\\a:w!<CR>");
    scene.nvim.wait(|_| scene.on_disk("a.txt") == Some(both()), "the write");
    put(&scene, &(both() + "theirs\n"));
    scene.nvim.keys(look);
    scene.nvim.wait(|it| it.buffer("/a.txt").contains("theirs"), "the change on disk");
    assert_eq!(scene.pending(), 1);
    scene.nvim.keys(ACCEPT);
    scene.wait_idle("I see.");
    expect![[r#"
        The user accepted 2 changes in a.txt.
        The file changed elsewhere too:
        @@ line 11
        +theirs
        ---
        a.txt: 2 accepted
        ---
        l1 L2 l3 l4 l5 l6 l7 L8 L8b l9 theirs"#]]
    .assert_eq(&story(&scene, &scene.answer(2, "e1")));
    assert_eq!(scene.nvim.lua_json("return vim.fn.getbufvar('a.txt', '&autoread')"), 1);
}

#[test]
fn reading_the_file_again_decides_on_no_pending_hunk() {
    expect![[r#"
        The user did not decide on 2 changes in a.txt: they are not in the file.
        ---
        a.txt: 2 not decided, but 2 not in the file any more
        ---
        as it was"#]]
    .assert_eq(&asked("", nothing, ":edit!<CR>"));
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, but not in the file any more, 1 not decided on and not in the file.
        line 2, accepted, but not in the file any more, reads as before:
        l2
        line 8, not decided on and not in the file, reads as before:
        l8
        ---
        a.txt: 1 accepted, 1 not decided, but 2 not in the file any more
        ---
        as it was"#]]
    .assert_eq(&asked("", nothing, "2G\\a:edit!<CR>"));
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
        Of 2 changes in a.txt: 1 rejected and undone, 1 not decided on and not in the file.
        line 2, rejected, reads as before:
        l2
        line 8, not decided on and not in the file, reads as before:
        l8
        ---
        a.txt: 1 rejected, 1 not decided, but 1 not in the file any more
        ---
        as it was"#]]
    .assert_eq(&asked("", nothing, "2G\\r:edit!<CR>"));
}
