//! Failures of the write that ends a review: no file is damaged, and the user and the model get the reason.

use super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;
use expect_test::{Expect, expect};

/// Puts two hunks under review, types keys and accepts everything. Compares the user's messages, the model's answer and
/// the bytes on disk with the snapshot.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(before: &str, keys: &str, expected: Expect) {
    let scene = Scene::two_hunks(|it| it.before(before));
    scene.nvim.keys(keys);
    scene.nvim.command("messages clear");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_idle("I see.");
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    let bytes = std::fs::read(scene.nvim.setup.path("a.txt")).unwrap();
    let disk = if bytes == nine().into_bytes() {
        "as it was".to_owned()
    } else {
        bytes.escape_ascii().to_string()
    };
    let story = format!("{}\n---\n{}\n---\n{disk}", scene.said(), scene.answer(2, "e1"));
    expected.assert_eq(&story);
}

#[test]
fn an_error_in_a_bufwritepre_autocommand_is_reported() {
    check(
        "vim.cmd('autocmd BufWritePre * echoerr \"no formatter\"')",
        "",
        expect![[r#"
            a.txt: 2 accepted, not saved: no formatter
            ---
            The user accepted 2 changes in a.txt.
            a.txt is not saved (no formatter): the changes are not on disk yet.
            ---
            as it was"#]],
    );
    check(
        "vim.cmd('autocmd BufWritePre * throw \"no formatter\"')",
        "",
        expect![[r#"
            a.txt: 2 accepted, not saved: no formatter
            ---
            The user accepted 2 changes in a.txt.
            a.txt is not saved (no formatter): the changes are not on disk yet.
            ---
            as it was"#]],
    );
    check(
        "vim.cmd('autocmd BufWritePre * call NoSuch()')",
        "",
        expect![[r#"
        a.txt: 2 accepted, not saved: E117: Unknown function: NoSuch
        ---
        The user accepted 2 changes in a.txt.
        a.txt is not saved (E117: Unknown function: NoSuch): the changes are not on disk yet.
        ---
        as it was"#]],
    );
}

#[test]
fn a_buffer_closed_by_a_write_autocommand_is_reported() {
    check(
        "vim.cmd('autocmd BufWritePre * bwipeout!')",
        "",
        expect![[r#"
            a.txt: 2 accepted, not saved: its buffer is gone
            ---
            The user accepted 2 changes in a.txt.
            a.txt was not saved (its buffer is gone), and its buffer does not hold that text any more: the changes are not on disk.
            ---
            as it was"#]],
    );
    check(
        "vim.cmd('autocmd BufWritePre * bdelete!')",
        "",
        expect![[r#"
            a.txt: 2 accepted, not saved: its buffer is gone
            ---
            The user accepted 2 changes in a.txt.
            a.txt was not saved (its buffer is gone), and its buffer does not hold that text any more: the changes are not on disk.
            ---
            as it was"#]],
    );
    check(
        "vim.cmd('autocmd BufWritePost * bwipeout!')",
        "",
        expect![[r#"
            a.txt: 2 accepted, saved
            ---
            The user accepted 2 changes in a.txt.
            ---
            l1\nL2\nl3\nl4\nl5\nl6\nl7\nL8\nL8b\nl9\n"#]],
    );
    check(
        "vim.cmd('autocmd BufWritePost * bdelete!')",
        "",
        expect![[r#"
        a.txt: 2 accepted, saved
        ---
        The user accepted 2 changes in a.txt.
        ---
        l1\nL2\nl3\nl4\nl5\nl6\nl7\nL8\nL8b\nl9\n"#]],
    );
}

#[test]
fn text_that_the_files_encoding_cannot_hold_is_not_saved() {
    check(
        "",
        ":set fileencoding=latin1<CR>5GA über<Esc>:w!<CR>2GA 日本<Esc>",
        expect![[r#"
            a.txt: 1 accepted, 1 reworked, not saved: its encoding (latin1) cannot represent the text
            ---
            Of 2 changes in a.txt: 1 accepted, 1 reworked by the user.
            line 2, reworked, now reads:
            L2 日本
            line 8, accepted:
            L8
            L8b
            The file changed elsewhere too:
            @@ line 5
            -l5
            +l5 über
            a.txt is not saved (its encoding (latin1) cannot represent the text): all 2 changes are on disk.
            ---
            l1\nL2\nl3\nl4\nl5 \xfcber\nl6\nl7\nL8\nL8b\nl9\n"#]],
    );
    check(
        "",
        ":set fileencoding=latin1<CR>2GA 日本<Esc>",
        expect![[r#"
            a.txt: 1 accepted, 1 reworked, not saved: its encoding (latin1) cannot represent the text
            ---
            Of 2 changes in a.txt: 1 accepted, 1 reworked by the user.
            line 2, reworked, now reads:
            L2 日本
            line 8, accepted:
            L8
            L8b
            a.txt is not saved (its encoding (latin1) cannot represent the text): the changes are not on disk yet.
            ---
            as it was"#]],
    );
    check(
        "",
        ":set fileencoding=no-such<CR>",
        expect![[r#"
            a.txt: 2 accepted, not saved: its encoding (no-such) cannot represent the text
            ---
            The user accepted 2 changes in a.txt.
            a.txt is not saved (its encoding (no-such) cannot represent the text): the changes are not on disk yet.
            ---
            as it was"#]],
    );
}

#[test]
fn a_buffer_set_readonly_is_not_saved() {
    check(
        "",
        ":set readonly<CR>",
        expect![[r#"
        a.txt: 2 accepted, not saved: E45: 'readonly' option is set (add ! to override)
        ---
        The user accepted 2 changes in a.txt.
        a.txt is not saved (E45: 'readonly' option is set (add ! to override)): the changes are not on disk yet.
        ---
        as it was"#]],
    );
}

#[test]
fn a_file_without_write_permission_is_not_saved() {
    check(
        "",
        ":call setfperm('a.txt', 'r--r--r--')<CR>",
        expect![[r#"
        a.txt: 2 accepted, not saved: there is no permission to write it
        ---
        The user accepted 2 changes in a.txt.
        a.txt is not saved (there is no permission to write it): the changes are not on disk yet.
        ---
        as it was"#]],
    );
}

#[test]
fn a_file_in_a_read_only_folder_is_saved() {
    check(
        "",
        ":call setfperm('.', 'r-xr-xr-x')<CR>",
        expect![[r#"
        a.txt: 2 accepted, saved
        ---
        The user accepted 2 changes in a.txt.
        ---
        l1\nL2\nl3\nl4\nl5\nl6\nl7\nL8\nL8b\nl9\n"#]],
    );
}

/// The message on the command line is soon written over.
#[test]
fn the_line_of_the_call_says_why_an_accepted_change_is_not_saved() {
    let scene = Scene::start(|it| it.file("clash.txt", "theirs\n").size(150, 40));
    scene.ask(Reply::new().call("e1", "edit", edit("clash.txt", &[("theirs", "mine")])));
    scene.wait_pending(1);
    std::fs::write(scene.nvim.setup.path("clash.txt"), "others\n").unwrap();
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    scene.nvim.wait_screen("1 accepted · not saved: ");
    assert_eq!(scene.on_disk("clash.txt").as_deref(), Some("others\n"));
}
