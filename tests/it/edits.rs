//! Tests the tools `edit` and `write` on files of every kind: bytes that must not change, and files that are refused.

use super::review::scene::{Scene, edit, nine, write};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;

/// Accepts an edit of `a.txt`, once without and once with a buffer, and compares the bytes on disk with `after`.
#[track_caller]
fn bytes(before: &[u8], change: (&str, &str), after: &[u8]) {
    for open in [false, true] {
        let scene = Scene::start(|it| it.file("a.txt", before));
        if open {
            scene.nvim.keys(":edit a.txt<CR>");
        }
        scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[change])));
        scene.wait_pending(1);
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(":Caliban accept all<CR>");
        scene.wait_idle("I see.");
        let found = fs::read(scene.nvim.setup.path("a.txt")).unwrap();
        assert_eq!(found.escape_ascii().to_string(), after.escape_ascii().to_string(), "{open}");
        assert!(scene.answer(2, "e1").contains("accepted"), "{}", scene.answer(2, "e1"));
    }
}

#[test]
fn an_edit_keeps_dos_line_ends() {
    bytes(b"a\r\nb\r\nc\r\n", ("b", "B\nB2"), b"a\r\nB\r\nB2\r\nc\r\n");
}

#[test]
fn an_edit_keeps_mixed_line_ends() {
    bytes(b"a\r\nb\nc\r\n", ("b\n", "B\n"), b"a\r\nB\nc\r\n");
}

#[test]
fn an_edit_keeps_the_byte_order_mark() {
    bytes(b"\xef\xbb\xbfa\nb\n", ("a", "A"), b"\xef\xbb\xbfA\nb\n");
}

#[test]
fn an_edit_does_not_add_a_newline_at_the_end_of_a_file_that_has_none() {
    bytes(b"a\nb\nc", ("b", "B"), b"a\nB\nc");
    bytes(b"a\nb\nc", ("c", "C"), b"a\nb\nC");
}

#[test]
fn an_edit_keeps_the_files_encoding() {
    bytes(b"caf\xe9\nb\xff\n", ("b", "\u{e4}b"), b"caf\xe9\n\xe4b\xff\n");
    bytes(b"caf\xe9\r\nb\r\n", ("b\n", "B\n\u{e9}\n"), b"caf\xe9\r\nB\r\n\xe9\r\n");
    let utf_16 = |text: &str, big: bool| -> Vec<u8> {
        let units = text.encode_utf16();
        units.flat_map(|it| if big { it.to_be_bytes() } else { it.to_le_bytes() }).collect()
    };
    for big in [false, true] {
        let [before, after] =
            ["\u{feff}\u{e9}\n\u{1f600}b\n", "\u{feff}\u{e9}\n\u{1f600}\u{6f22}\n"];
        bytes(&utf_16(before, big), ("b", "\u{6f22}"), &utf_16(after, big));
    }
}

#[test]
fn text_that_cannot_be_written_in_the_files_encoding_is_refused() {
    let told = "a.txt was not changed: its encoding (latin1) cannot represent the new text.";
    refused(
        |it| it.file("a.txt", b"caf\xe9\n"),
        "",
        "edit",
        edit("a.txt", &[("caf", "\u{6f22}")]),
        told,
    );
}

#[test]
fn an_edit_keeps_line_ends_that_are_carriage_returns() {
    bytes(b"a\rb\rc\r", ("b", "B"), b"a\rB\rc\r");
    let scene = Scene::start(|it| {
        it.file("a.txt", b"a\rb\rc\r").before("vim.o.fileformats = 'unix,dos,mac'")
    });
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("b", "B")])));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some("a\rB\rc\r"));
}

#[test]
fn an_edit_keeps_the_rest_of_a_very_long_line() {
    let long = "x".repeat(300_000);
    let (before, after) = (format!("{long}a{long}\n"), format!("{long}b{long}\n"));
    bytes(before.as_bytes(), ("a", "b"), after.as_bytes());
}

#[test]
fn an_edit_can_fill_an_empty_file() {
    bytes(b"", ("", "one\ntwo\n"), b"one\ntwo\n");
}

#[test]
fn a_file_that_has_only_a_newline_is_not_treated_as_empty() {
    bytes(b"\n", ("\n", "one\n"), b"one\n");
}

#[test]
fn an_edit_can_empty_a_file() {
    bytes(b"a\nb\n", ("a\nb\n", ""), b"");
}

#[test]
fn first_and_last_lines_can_be_added_and_deleted() {
    bytes(b"a\nb\nc\n", ("a\n", ""), b"b\nc\n");
    bytes(b"a\nb\nc\n", ("c\n", ""), b"a\nb\n");
    bytes(b"a\nb\nc\n", ("a\n", "0\na\n"), b"0\na\nb\nc\n");
    bytes(b"a\nb\nc\n", ("c\n", "c\nd\n"), b"a\nb\nc\nd\n");
}

#[test]
fn an_edit_keeps_text_that_is_not_ascii() {
    bytes("ä\u{301} 漢\n\t\u{a0}b\n".as_bytes(), ("b", "ß"), "ä\u{301} 漢\n\t\u{a0}ß\n".as_bytes());
}

/// Checks that the call is answered at once with the error `told`, without a question and without hunks.
#[track_caller]
fn refused(setup: impl FnOnce(Setup) -> Setup, keys: &str, tool: &str, input: Value, told: &str) {
    let scene = Scene::start(|it| setup(it.file("a.txt", nine())));
    scene.nvim.keys(keys);
    refused_in(&scene, tool, input, told);
}

#[track_caller]
fn refused_in(scene: &Scene, tool: &str, input: Value, told: &str) {
    let lines = scene.nvim.buffer_now();
    scene.server.reply(Reply::new().call("e1", tool, input));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_idle("I see.");
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    let dir = scene.nvim.setup.dir().display().to_string();
    assert_eq!(scene.answer(2, "e1").replace(&dir, "/DIR"), told);
    assert_eq!(scene.pending(), 0);
    assert_eq!(scene.nvim.buffer_now(), lines);
}

impl Nvim {
    fn buffer_now(&self) -> String {
        self.lua_str("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")
    }
}

fn change() -> Value {
    edit("a.txt", &[("l2", "L2")])
}

#[test]
fn edits_of_buffers_that_cannot_be_changed_are_refused() {
    refused(
        |it| it,
        ":view a.txt<CR>",
        "edit",
        change(),
        "a.txt was not changed: it is read-only.",
    );
    refused(
        |it| it,
        ":edit a.txt<CR>:setlocal noma<CR>",
        "edit",
        change(),
        "a.txt was not changed: its buffer is 'nomodifiable'.",
    );
    for kind in ["nofile", "help", "nowrite"] {
        let keys = format!(":edit a.txt<CR>:setlocal bt={kind}<CR>");
        let told = format!("a.txt was not changed: its buffer is a special buffer ({kind}).");
        refused(|it| it, &keys, "edit", change(), &told);
    }
}

#[test]
fn edits_of_folders_binary_files_and_missing_files_are_refused() {
    refused(
        |it| it.file("dir/x", ""),
        "",
        "edit",
        edit("dir", &[("a", "b")]),
        "path: `dir` is a folder. Name a file.",
    );
    refused(
        |it| it.file("b", b"a\0b"),
        "",
        "edit",
        edit("b", &[("a", "c")]),
        "b was not changed: it is a binary file.",
    );
    refused(
        |it| it,
        "",
        "edit",
        edit("none.txt", &[("a", "c")]),
        "none.txt does not exist. Use write to create it.",
    );
    refused(
        |it| it,
        "",
        "write",
        write("a.txt/b.txt", "x\n"),
        "path: `a.txt` is a file, not a folder.",
    );
}

#[test]
fn edits_of_files_without_read_or_write_permission_are_refused() {
    for keys in ["", ":edit a.txt<CR>"] {
        let told = "a.txt was not changed: it is read-only.";
        refused(|it| it.mode("a.txt", 0o444), keys, "edit", change(), told);
    }
    let told = "a.txt was not changed: it cannot be read: permission denied.";
    refused(|it| it.mode("a.txt", 0o000), "", "edit", change(), told);
    let told = "path: `a.txt` cannot be read: permission denied.";
    refused(|it| it.mode("a.txt", 0o000), "", "read", json!({"path": "a.txt"}), told);
    refused(
        |it| it.file("dir/x", "").mode("dir", 0o555),
        "",
        "write",
        write("dir/new.txt", "x\n"),
        "dir/new.txt was not changed: there is no permission to create it.",
    );
}

#[test]
fn edits_of_files_outside_the_project_or_in_dot_git_are_refused() {
    refused(
        |it| it,
        "",
        "edit",
        edit("../setup.lua", &[("a", "b")]),
        "path: `../setup.lua` is outside the project (/DIR/project). Only files in the project can be edited.",
    );
    refused(
        |it| it,
        "",
        "write",
        write(".git/hooks/pre-commit", "x\n"),
        "path: `.git/hooks/pre-commit` is in .git, which no tool reads or writes. Run git with `shell`, which needs consent.",
    );
    refused(
        |it| it,
        "",
        "write",
        write(".GIT/config", "x\n"),
        "path: `.GIT/config` is in .git, which no tool reads or writes. Run git with `shell`, which needs consent.",
    );
}

#[test]
fn an_edit_of_a_file_that_was_deleted_while_its_buffer_is_open_is_refused() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    fs::remove_file(scene.nvim.setup.path("a.txt")).unwrap();
    refused_in(&scene, "edit", change(), "a.txt does not exist. Use write to create it.");
}

#[test]
fn an_edit_of_a_file_that_is_open_in_another_neovim_is_refused() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    let other = Nvim::start(&scene.nvim.setup);
    other.keys(":edit a.txt<CR>GAx<Esc>:preserve<CR>");
    refused_in(
        &scene,
        "edit",
        change(),
        "a.txt was not changed: it is open in another Neovim (swap file).",
    );
    assert_eq!(scene.nvim.lua_str("return vim.fn.bufloaded('a.txt')"), "0");
}

#[test]
fn a_file_that_the_model_has_not_read_is_not_overwritten() {
    refused(
        |it| it,
        "",
        "write",
        write("a.txt", "x\n"),
        "a.txt exists and you have not read it. Read it first, then write, or use edit.",
    );
}

#[test]
fn a_file_that_changed_since_the_model_read_it_is_not_overwritten() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(Reply::new().call("r1", "read", json!({ "path": "a.txt" })));
    scene.server.reply(Reply::said("Read."));
    scene.nvim.lua("require('caliban').ask('read it')", &[]);
    scene.wait_idle("Read.");
    let written = Reply::new().gate().call("w1", "write", write("a.txt", "x\n"));
    let gate = scene.server.reply(written);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('write it')", &[]);
    scene.server.wait_requests(3);
    scene.nvim.keys("5GA by me<Esc>");
    gate.finish();
    scene.wait_idle("I see.");
    expect![
        "a.txt changed since you read it, so it was not overwritten. Read it again, or use edit."
    ]
    .assert_eq(&scene.answer(4, "w1"));
    assert_eq!(scene.pending(), 0);
}

#[test]
fn a_file_that_changed_on_disk_since_it_was_opened_is_reloaded_and_edited() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    fs::write(scene.nvim.setup.path("a.txt"), nine().replace("l5", "five")).unwrap();
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("five", "FIVE")])));
    scene.wait_pending(1);
    assert!(!scene.nvim.is_blocked());
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l5", "FIVE")));
}

#[test]
fn edits_of_a_call_with_truncated_arguments_are_never_proposed() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.server.reply(Reply::new().call_raw(
        "e1",
        "edit",
        r#"{"path":"a.txt","edits":[{"old":"l2","new":"L"#,
    ));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_idle("I see.");
    expect!["Your call of edit was cut off after 45 bytes of its arguments, so nothing was done. Send it again in smaller pieces."].assert_eq(&scene.answer(2, "e1"));
    assert_eq!(scene.pending(), 0);
}

/// Accepts an edit that fits by a tolerance. Compares the file with `after`, and the answer's sentence about the
/// tolerance with `told`.
#[track_caller]
fn tolerated(before: &str, change: (&str, &str), after: &str, told: &str) {
    let scene = Scene::start(|it| it.file("a.txt", before));
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[change])));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some(after));
    let accepted = "The user accepted the change in a.txt.\n`old` does not match the file exactly. The edit was applied";
    assert_eq!(scene.answer(2, "e1"), format!("{accepted} {told}"));
}

#[test]
fn an_edit_fits_although_its_old_text_has_line_numbers_copied_from_read() {
    let change = ("2\tl2\n3\tl3", "2\tL2\n3\tl3");
    let told = "at lines 2-3, without the line numbers.";
    tolerated(&nine(), change, &nine().replace("l2", "L2"), told);
}

#[test]
fn an_edit_fits_although_blanks_at_line_ends_differ_and_the_files_blanks_are_kept() {
    let told = "at lines 1-2, ignoring blanks at line ends.";
    tolerated("a  \nb\t\nc \n", ("a\nb\n", "a\nB\nB2\n"), "a  \nB\nB2\nc \n", told);
}

#[test]
fn an_edit_fits_although_its_indentation_differs_and_the_new_text_is_indented_like_the_file() {
    let change = ("if x:\n    go()", "if x:\n    go()\n\n    stop()");
    let told = "at lines 2-3, with another indentation. The new text was indented to match.";
    let before = "def f():\n\tif x:\n\t    go()\n\nx\n";
    let after = "def f():\n\tif x:\n\t    go()\n\n\t    stop()\n\nx\n";
    tolerated(before, change, after, told);
}

#[test]
fn an_edit_fits_although_typographic_quotes_differ_and_the_files_quotes_are_kept() {
    let told = "at line 1, treating typographic quotes, dashes and spaces as plain ones.";
    tolerated("“One” – two…\n", ("\"One\" - two", "\"One\" - three"), "“One” – three…\n", told);
}

#[test]
fn an_edit_fits_although_its_old_text_has_an_extra_blank_line() {
    let told = "at line 1, without the blank line at its beginning.";
    tolerated("a\nb\n", ("\na\n", "\nA\n"), "A\nb\n", told);
}

#[test]
fn an_edit_that_fits_no_block_changes_nothing_and_the_model_is_shown_the_most_similar_block() {
    let told = "`old` is not in a.txt.\n\
        The nearest block begins at line 1 (- `old`, + the file):\n l1\n-l2b\n+l2\n l3";
    refused(|it| it, "", "edit", edit("a.txt", &[("l1\nl2b\nl3", "x")]), told);
}

/// An edit call that changes `a.txt` and `b.txt`.
fn both(a: (&str, &str), b: (&str, &str)) -> Value {
    json!({ "path": "a.txt", "edits": [
        { "old": a.0, "new": a.1 },
        { "path": "./b.txt", "old": b.0, "new": b.1 },
    ] })
}

#[test]
fn a_call_that_fits_only_one_of_two_files_changes_neither() {
    refused(
        |it| it.file("b.txt", "one\n"),
        "",
        "edit",
        both(("l2", "L2"), ("two", "2")),
        "$.edits[1] does not fit, so no edit was applied. `old` is not in b.txt. Nothing in the file is similar: \
         read it again.",
    );
}

#[test]
fn a_call_on_two_files_is_answered_once_both_are_decided() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", "one\ntwo\n"));
    scene.ask(Reply::new().call("e1", "edit", both(("l2", "L2"), ("two", "2"))));
    scene.wait_pending(2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":edit a.txt<CR>:Caliban accept file<CR>");
    scene.wait_pending(1);
    scene.nvim.wait_screen("1 hunk to review");
    scene.nvim.keys(":edit b.txt<CR>:Caliban reject file<CR>");
    scene.wait_idle("I see.");
    expect![[r#"
        The user accepted the change in a.txt.
        The user rejected the change in b.txt: it is undone."#]]
    .assert_eq(&scene.answer(2, "e1"));
    assert_eq!(scene.server.requests().len(), 2);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    assert_eq!(scene.on_disk("b.txt").as_deref(), Some("one\ntwo\n"));
}
