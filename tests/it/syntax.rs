//! Edits after which a file does not parse any more, by Neovim's own parsers for Lua and C: what the model is told, and
//! the marks in the review and in the chat's list of changes.

use crate::kit::reply::Reply;
use crate::review::scene::{Scene, edit, write};
use expect_test::{Expect, expect};
use serde_json::Value;

const LUA: &str = "local function f(a)\n  return a\nend\nlocal b = 2\nreturn f(b)\n";
const C: &str = "int f(int a) {\n  return a;\n}\nint g(void) {\n  return f(1);\n}\n";
/// A text that the parser for C does not accept in its second line.
const ODD: &str = "int a;\nint b = = 2;\nint c;\n";

const AUTO: &str = "{ mode = 'auto-edit' }";
const ASK: &str = "{ mode = 'ask' }";

fn scene(config: &str, path: &str, text: &str) -> Scene {
    Scene::start(|setup| setup.file(path, text).config(config).size(140, 40))
}

/// The answer to an edit that is written at once.
fn written(path: &str, text: &str, tool: &str, args: Value) -> String {
    let scene = scene(AUTO, path, text);
    scene.server.reply(Reply::new().call("e1", tool, args));
    scene.ask_until(Reply::said("Well."), "Well.");
    scene.answer(2, "e1")
}

#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
#[track_caller]
fn check(path: &str, text: &str, edits: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&written(path, text, "edit", edit(path, edits)));
}

#[test]
fn the_model_is_told_where_a_file_does_not_parse_after_an_edit() {
    check(
        "a.lua",
        LUA,
        &[("local b = 2", "local b = = 2")],
        expect![[r#"
            Applied and written to a.lua; the user may still review it.
            a.lua does not parse: 1 new syntax error, according to Neovim's parser for lua. Correct the text, unless this parser does not know the syntax.
            a.lua:4: cannot be parsed: local b = = 2"#]],
    );
    check(
        "a.c",
        C,
        &[("return a;\n}", "if (a) {\n    return a;\n}"), ("f(1);", "f(1)")],
        expect![[r#"
            Applied and written to a.c; the user may still review it.
            a.c does not parse: 2 new syntax errors, according to Neovim's parser for c. Correct the text, unless this parser does not know the syntax.
            a.c:6: missing `;`: return f(1)
            a.c:7: missing `}` (in the construct that begins on line 1): }"#]],
    );
    let new = write("b.lua", "local x = {\n");
    expect![[r#"
        Applied and written to b.lua; the user may still review it.
        b.lua does not parse: 1 new syntax error, according to Neovim's parser for lua. Correct the text, unless this parser does not know the syntax.
        b.lua:1: cannot be parsed: local x = {"#]]
    .assert_eq(&written("a.lua", LUA, "write", new));
}

#[test]
fn syntax_errors_that_a_file_had_before_the_edit_are_not_reported_as_new() {
    let applied = "Applied and written to a.c; the user may still review it.";
    let same = [("int a;", "int a;\nint more;"), ("int c;", "int d;")];
    assert_eq!(written("a.c", ODD, "edit", edit("a.c", &same)), applied);
    let fixed = [("= = 2", "= 2")];
    assert_eq!(written("a.c", ODD, "edit", edit("a.c", &fixed)), applied);
    check(
        "a.c",
        ODD,
        &[("int a;\n", ""), ("int c;", "int c")],
        expect![[r#"
            Applied and written to a.c; the user may still review it.
            a.c does not parse: 1 new syntax error, according to Neovim's parser for c. Correct the text, unless this parser does not know the syntax.
            a.c:2: missing `;`: int c"#]],
    );
}

#[test]
fn files_without_a_parser_and_long_files_are_not_parsed() {
    let applied =
        |path: &str| format!("Applied and written to {path}; the user may still review it.");
    let broken = edit("a.py", &[("x = 1", "x = = (")]);
    assert_eq!(written("a.py", "x = 1\n", "edit", broken), applied("a.py"));
    let long = format!("{}int z;\n", "int a;\n".repeat(150_000));
    let broken = edit("a.c", &[("int z;", "int z")]);
    assert_eq!(written("a.c", &long, "edit", broken), applied("a.c"));
}

#[test]
fn many_syntax_errors_are_counted_and_hostile_lines_are_cut_and_cleaned() {
    let line = "int x = = \u{1b}]0;hi\u{7}1;\n";
    let long = format!("int y = = {};\n", "1".repeat(5000));
    let text = format!("int a;\n{long}{}", line.repeat(90));
    let said = written("b.c", "int a;\n", "write", write("a.c", &text));
    assert!(said.contains("91 new syntax errors"), "{said}");
    assert!(said.contains("… 71 more") && said.len() < 3000, "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains('\u{7}'), "{said}");
}

#[test]
fn the_verdict_names_the_syntax_errors_of_the_text_after_the_users_decisions() {
    let scene = scene(ASK, "a.lua", LUA);
    let args = edit("a.lua", &[("return a", "return a +"), ("local b = 2", "local b = = 2")]);
    scene.ask(Reply::new().call("e1", "edit", args));
    scene.wait_pending(2);
    scene.server.reply(Reply::said("Well."));
    scene.nvim.keys(":edit a.lua<CR>4G:Caliban reject<CR>:Caliban accept all<CR>");
    scene.wait_idle("Well.");
    let said = scene.answer(2, "e1");
    let told = "a.lua does not parse: 1 new syntax error, according to Neovim's parser for lua.";
    assert!(said.contains(told) && said.contains("a.lua:3: missing `end`"), "{said}");
}

#[test]
fn the_hunk_with_the_syntax_error_is_marked_until_the_text_parses_again() {
    let scene = scene(ASK, "a.lua", LUA);
    scene.nvim.keys(":edit a.lua<CR>");
    let args = edit("a.lua", &[("return a", "return a * 1"), ("local b = 2", "local b = = 2")]);
    scene.ask(Reply::new().call("e1", "edit", args));
    scene.wait_pending(2);
    scene.nvim.wait_screen("local b = = 2  syntax error: cannot be parsed");
    assert_eq!(scene.nvim.hl_of("syntax error: cannot be parsed"), ["CalibanSyntax"]);
    scene.nvim.wait_screen("4  -1 +1  local b…  syntax error: cannot be parsed");
    scene.nvim.keys("<C-w>t4Gfl:s/= =/=/<CR>");
    scene.nvim.wait_gone("syntax error");
    scene.nvim.keys("u");
    scene.nvim.wait_screen("local b = = 2  syntax error: cannot be parsed");
    scene.nvim.keys(":Caliban reject<CR>");
    scene.nvim.wait_gone("syntax error");
    scene.wait_pending(1);
}

/// The parser finds the error at the end of the file, far from the hunk that causes it.
#[test]
fn a_hunk_that_removes_a_bracket_is_marked_although_the_error_is_reported_further_down() {
    let text = format!("{C}int h(void) {{\n  return 1;\n}}\n");
    let scene = scene(ASK, "a.c", &text);
    scene.nvim.keys(":edit a.c<CR>");
    let args = edit("a.c", &[("  return f(1);\n}\n", "  return f(2);\n")]);
    scene.ask(Reply::new().call("e1", "edit", args));
    scene.wait_pending(1);
    scene.nvim.wait_screen("syntax error on line 8: missing `}`");
}
