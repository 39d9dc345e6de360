//! Formatters that run as the file of a review is written: what they did is told as theirs, not as the user's.

use super::super::scene::{Scene, edit, nine};
use super::{ACCEPT, REJECT, asked, nothing, story, told, written};
use crate::kit::reply::Reply;
use expect_test::expect;

/// Formats in Neovim before the write, also lines that no edit has touched.
const BEFORE: &str =
    "vim.cmd([[autocmd BufWritePre *.txt keepjumps silent %s/L/M/ge | silent 5s/^l5$/m5/e]])";
/// Formats the file on disk after the write.
const AFTER: &str =
    "vim.cmd([[autocmd BufWritePost *.txt silent !sed -i -e s/L/M/ -e s/^l5$/m5/ a.txt]])";
/// Puts a space after each line, and removes the spaces again as the file is written.
const STRIPS: &str = "vim.cmd([[autocmd BufWritePre *.txt keepjumps silent %s/ \\+$//e]])";

#[test]
fn a_formatter_of_the_write_is_not_told_as_the_users_work() {
    for formatter in [BEFORE, AFTER] {
        expect![[r#"
            Of 2 changes in a.txt: 2 accepted and formatted.
            line 2, accepted and formatted, now reads:
            M2
            line 8, accepted and formatted, now reads:
            M8
            M8b
            ---
            a.txt: 2 accepted
            ---
            l1 M2 l3 l4 m5 l6 l7 M8 M8b l9"#]]
        .assert_eq(&written(formatter, None, ACCEPT));
        expect![[r#"
            The user rejected 2 changes in a.txt: they are undone.
            ---
            a.txt: 2 rejected, saved
            ---
            l1 l2 l3 l4 m5 l6 l7 l8 l9"#]]
        .assert_eq(&written(formatter, None, REJECT));
        expect![[r#"
            Of 2 changes in a.txt: 1 rejected and undone, 1 accepted and formatted.
            line 2, rejected, reads as before:
            l2
            line 8, accepted and formatted, now reads:
            M8
            M8b
            ---
            a.txt: 1 accepted, 1 rejected
            ---
            l1 l2 l3 l4 m5 l6 l7 M8 M8b l9"#]]
        .assert_eq(&written(formatter, None, "2G\\r8G\\a"));
    }
    // the user types before and after the formatter
    expect![[r#"
        Of 2 changes in a.txt: 2 reworked by the user.
        line 2, reworked, now reads:
        M2 mine
        line 8, reworked, now reads:
        M
        M8b
        ---
        a.txt: 2 reworked
        ---
        l1 M2 mine l3 l4 m5 l6 l7 M M8b l9"#]]
    .assert_eq(&written(BEFORE, None, "2GA mine<Esc>8Gx:w<CR>:Caliban accept all<CR>"));
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted and formatted, 1 reworked by the user.
        line 2, reworked, now reads:
        M2 M
        line 8, accepted and formatted, now reads:
        M8
        M8b
        ---
        a.txt: 1 accepted, 1 reworked
        ---
        l1 M2 M l3 l4 m5 l6 l7 M8 M8b l9"#]]
    .assert_eq(&written(BEFORE, None, "2GA L<Esc>:w<CR>:Caliban accept all<CR>"));
}

#[test]
fn a_formatter_of_a_forced_write_is_not_told_as_the_users_work() {
    expect![[r#"
        Of 2 changes in a.txt: 2 accepted and formatted.
        line 2, accepted and formatted, now reads:
        M2
        line 8, accepted and formatted, now reads:
        M8
        M8b
        The file changed elsewhere too:
        @@ line 5
        -l5
        +m5
        ---
        a.txt: 2 accepted
        ---
        l1 M2 l3 l4 m5 l6 l7 M8 M8b l9"#]]
    .assert_eq(&asked(BEFORE, nothing, ":w!<CR>:Caliban accept all<CR>"));
    expect![[r#"
        Of 2 changes in a.txt: 2 accepted and formatted.
        line 2, accepted and formatted, now reads:
        M2
        line 8, accepted and formatted, now reads:
        M8
        M8b
        The file changed elsewhere too:
        @@ line 5
        -l5
        +m5
        ---
        a.txt: 2 accepted, saved
        ---
        l1 M2 l3 l4 m5 l6 l7 M8 M8b l9"#]]
    .assert_eq(&asked(BEFORE, nothing, "2Gi<Cmd>w!<CR><Esc>:Caliban accept all<CR>"));
}

#[test]
fn an_edit_that_a_formatter_takes_back_is_not_told_as_rejected() {
    let mode = "{ mode = 'auto-edit' }";
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(mode).before(STRIPS));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(Reply::new().call(
        "e1",
        "edit",
        edit("a.txt", &[("l2", "l2 "), ("l8", "L8")]),
    ));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(1);
    scene.nvim.keys(ACCEPT);
    scene.wait_hunks(0);
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 taken back by a formatter or an autocommand.
        line 2, taken back by a formatter or an autocommand, reads as before:
        l2
        line 8, accepted:
        L8
        ---
        a.txt: 1 accepted, 1 taken back by a formatter
        ---
        l1 l2 l3 l4 l5 l6 l7 L8 l9"#]]
    .assert_eq(&story(&scene, &told(&scene)));
    scene.server.reply(Reply::new().call("e2", "edit", edit("a.txt", &[("l3", "l3 ")])));
    scene.ask_until(Reply::said("All of it."), "All of it.");
    let n = scene.server.count();
    expect![[r#"
        Applied and written to a.txt; the user may still review it.
        A formatter or an autocommand of the user's changed the file as it was written:
        @@ line 3
        -l3 
        +l3"#]]
    .assert_eq(&scene.answer(n, "e2"));
    expect![[r#"
        A formatter or an autocommand of the user's took back the change in a.txt as the file was written: it is not in the file.
        ---
        a.txt: 1 taken back by a formatter
        ---
        l1 l2 l3 l4 l5 l6 l7 L8 l9"#]].assert_eq(&story(&scene, &told(&scene)));
}
