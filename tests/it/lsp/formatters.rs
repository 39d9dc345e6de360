//! The user's own formatters, for files that no language server formats.

use super::scene::{PATIENT, answer_to};
use crate::kit::reply::Reply;
use crate::review::scene::Scene;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

const TEXT: &str = "b: ñé \nA\n";

/// A fake conform.nvim with the functions that list formatters. The Lua variable `FORMATTERS` holds them.
const CONFORM: &str = "
package.preload.conform = function()
  local M = {}
  local function info(it)
    return { name = it.name, command = it.command, available = not it.missing,
      available_msg = it.missing, cwd = it.cwd }
  end
  local function find(name)
    for _, it in ipairs(FORMATTERS or {}) do
      if it.name == name then return it end
    end
  end
  function M.list_formatters_to_run()
    local out = {}
    for _, it in ipairs(FORMATTERS or {}) do
      if not it.missing then out[#out + 1] = info(it) end
    end
    return out, false
  end
  function M.list_formatters_for_buffer()
    return vim.tbl_map(function(it) return it.name end, FORMATTERS or {})
  end
  function M.get_formatter_info(name) return info(find(name)) end
  function M.get_formatter_config(name) return find(name) end
  return M
end
";

const AUTO_EDIT: &str = "{ mode = 'auto-edit' }";

fn started(config: &str) -> Scene {
    Scene::start(|it| it.file("a.txt", TEXT).config(config).before(CONFORM))
}

/// Sets 'formatprg'.
fn option(scene: &Scene, line: &str) {
    scene.nvim.lua("vim.o.formatprg = ...", &[line.into()]);
}

/// Configures conform.nvim with these formatters, given as the source of Lua tables.
fn conform(scene: &Scene, formatters: &str) {
    scene.nvim.lua(&format!("FORMATTERS = {{ {formatters} }}"), &[]);
}

fn file() -> Value {
    json!({ "path": "a.txt" })
}

/// Has the model call `format`, and lets the command run. Returns the answer to the call.
#[track_caller]
fn allowed(scene: &Scene, args: Value) -> String {
    let n = scene.server.requests().len();
    scene.ask(Reply::new().call(&format!("f{n}"), "format", args));
    scene.nvim.wait_question();
    scene.server.reply(Reply::said(&format!("Well {n}.")));
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle(&format!("Well {n}."));
    scene.answer(n + 2, &format!("f{n}"))
}

#[test]
fn formatprg_formats_a_file_as_a_proposal_after_a_question() {
    let scene = started(PATIENT);
    option(&scene, "tr a-z A-Z");
    scene.ask(Reply::new().call("f1", "format", file()));
    scene.wait_chat("Format `a.txt` with your `tr a-z A-Z`?");
    scene.nvim.wait_question();
    assert_eq!(scene.pending(), 0);
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_pending(1);
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some(TEXT));
    scene.server.reply(Reply::said("Well."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("Well.");
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some("B: ñé \nA\n"));
}

#[test]
fn the_formatters_of_conform_run_one_after_the_other_before_formatprg() {
    let scene = started(AUTO_EDIT);
    option(&scene, "false");
    conform(
        &scene,
        "{ name = 'one', command = 'sed', args = { 's|^b|$FILENAME|' } },
         { name = 'two', command = 'sh', args = function(_, ctx)
             return { '-c', 'sort; echo \"$X\"; exit 3', '$RELATIVE_FILEPATH' } end,
           env = { X = \"it's\" }, exit_codes = { 3 } }",
    );
    let said = allowed(&scene, file());
    assert!(said.starts_with("Applied and written to a.txt"), "{said}");
    let path = scene.nvim.setup.path("a.txt").display().to_string();
    assert_eq!(scene.on_disk("a.txt"), Some(format!("{path}: ñé \nA\nit's\n")));
}

#[test]
fn encoding_and_line_ends_of_the_file_are_kept() {
    let scene = Scene::start(|it| {
        let it = it.file("a.txt", b"\xef\xbb\xbfb\r\na\r\n").file("b.txt", b"\xf1 b\r\na");
        it.config(AUTO_EDIT).before("vim.o.fileencodings = 'ucs-bom,utf-8,latin1'")
    });
    option(&scene, "sort");
    allowed(&scene, file());
    let bytes = |name: &str| std::fs::read(scene.nvim.setup.path(name)).unwrap();
    assert_eq!(bytes("a.txt"), b"\xef\xbb\xbfa\r\nb\r\n");
    scene.nvim.keys(":edit b.txt<CR>");
    allowed(&scene, json!({ "path": "b.txt" }));
    assert_eq!(bytes("b.txt"), b"a\r\n\xf1 b");
}

#[test]
fn only_the_lines_of_a_range_change() {
    let text = "b1\nb2\na3\nb4\n";
    let scene = Scene::start(|it| it.file("a.txt", text).config(AUTO_EDIT).before(CONFORM));
    option(&scene, "tr b B; echo end");
    allowed(&scene, json!({ "path": "a.txt", "line": 2, "last_line": 3 }));
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some("b1\nB2\na3\nend\nb4\n"));
    conform(&scene, "{ name = 'one', command = 'tr', args = 'b c' }");
    allowed(&scene, json!({ "path": "a.txt", "line": 5 }));
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some("b1\nB2\na3\nend\nc4\n"));
}

#[test]
fn the_formatters_command_gets_a_hostile_file_name_as_one_argument() {
    let name = "a'$(touch x);`touch y` %.txt";
    let scene = Scene::start(|it| it.file(name, "a\n").config(AUTO_EDIT).before(CONFORM));
    option(&scene, r"printf '\%s\n' % \% %:t:S");
    let args = || json!({ "path": name });
    allowed(&scene, args());
    assert_eq!(scene.on_disk(name), Some(format!("{name}\n%\n{name}\n")));
    conform(&scene, "{ name = 'one', command = 'echo', args = '$FILENAME' }");
    allowed(&scene, args());
    assert_eq!(scene.on_disk(name), Some(format!("{}\n", scene.nvim.setup.path(name).display())));
    conform(&scene, "{ name = 'one', command = 'echo', args = { '--', '$RELATIVE_FILEPATH' } }");
    allowed(&scene, args());
    assert_eq!(scene.on_disk(name), Some(format!("-- {name}\n")));
    assert_eq!((scene.on_disk("x"), scene.on_disk("y")), (None, None));
}

#[test]
fn a_formatter_can_write_no_file_of_the_project() {
    let scene = started(AUTO_EDIT);
    option(&scene, "echo mine > b.txt; echo mine > a.txt; cat; echo $?");
    allowed(&scene, file());
    if crate::sandbox::is_full() {
        assert_eq!(scene.on_disk("b.txt"), None);
        assert_eq!(scene.on_disk("a.txt"), Some(format!("{TEXT}0\n")));
    }
}

#[test]
fn no_formatter_runs_in_plan_mode_or_if_a_rule_denies_it() {
    let scene =
        started("{ permissions = { { deny = 'shell', command = 'tr', reason = 'Use sed.' } } }");
    option(&scene, "tr a-z A-Z");
    let said = answer_to(&scene, "format", file());
    assert!(said.contains("Use sed."), "{said}");
    scene.nvim.lua("require('caliban').mode('plan')", &[]);
    option(&scene, "touch b.txt");
    let said = answer_to(&scene, "format", file());
    assert!(said.contains("plan mode"), "{said}");
    assert_eq!(scene.on_disk("b.txt"), None);
}

#[test]
fn a_formatter_that_an_allowing_rule_names_runs_without_a_question_and_its_result_is_reviewed() {
    let scene = started("{ permissions = { { allow = 'shell', command = 'tr' } } }");
    option(&scene, "tr a-z A-Z");
    scene.ask(Reply::new().call("f1", "format", file()));
    scene.wait_pending(1);
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some(TEXT));
}

#[test]
fn a_formatter_that_was_changed_after_the_question_does_not_run() {
    let scene = started(AUTO_EDIT);
    option(&scene, "tr a-z A-Z");
    scene.ask(Reply::new().call("f1", "format", file()));
    scene.wait_chat("Format `a.txt` with your `tr a-z A-Z`?");
    scene.nvim.wait_question();
    option(&scene, "tr a-z x");
    scene.server.reply(Reply::said("Well."));
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("Well.");
    expect!["Nothing was changed: the formatter's command is now `tr a-z x`. Call format again."]
        .assert_eq(&scene.answer(2, "f1"));
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some(TEXT));
}

#[test]
fn the_model_is_told_why_a_formatter_failed() {
    let scene = started("{ mode = 'auto-edit', lsp = { request_ms = 3000 } }");
    let check = |line: &str, expected: Expect| {
        option(&scene, line);
        // the shell's errors begin with its path
        let said =
            allowed(&scene, file()).replace("/usr/bin/bash", "bash").replace("/bin/bash", "bash");
        expected.assert_eq(&said);
    };
    check(
        "echo 'line 2: an error' >&2; exit 2",
        expect![[r#"
        Nothing was changed: the user's formatter `echo 'line 2: an error' >&2; exit 2` ended with exit code 2.
        line 2: an error"#]],
    );
    check(
        "no-such-formatter -x",
        expect![[r#"
            Nothing was changed: the user's formatter `no-such-formatter -x` ended with exit code 127. Is the program installed?
            bash: line 2: no-such-formatter: command not found"#]],
    );
    check(
        "sleep 1000",
        expect![
            "Nothing was changed: the user's formatter `sleep 1000` did not finish within 3 s and was stopped."
        ],
    );
    check(
        "yes",
        expect![
            "Nothing was changed: the user's formatter `yes` printed more than 20 MB and was stopped."
        ],
    );
    check(
        "cat '",
        expect![[r#"
        Nothing was changed: the user's formatter `cat '` ended with exit code 2.
        bash: eval: line 2: unexpected EOF while looking for matching `''"#]],
    );
    check(
        "kill -9 $$",
        expect!["Nothing was changed: the user's formatter `kill -9 $$` was ended by signal 9."],
    );
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some(TEXT));
}

#[test]
fn a_formatters_output_that_is_empty_or_not_utf8_is_refused() {
    let scene = started(AUTO_EDIT);
    let check = |line: &str, expected: Expect| {
        option(&scene, line);
        expected.assert_eq(&allowed(&scene, file()));
    };
    check(
        "cat >/dev/null",
        expect![
            "Nothing was changed: the user's formatter `cat >/dev/null` printed nothing for a text that is not empty. Perhaps it formats the file on disk instead of its standard input: run it with shell."
        ],
    );
    check(
        r"printf 'a\000b'",
        expect![[
            r#"Nothing was changed: the user's formatter `printf 'a\000b'` printed text that is not UTF-8 or contains a NUL."#
        ]],
    );
    check(
        r"printf '\377'",
        expect![[
            r#"Nothing was changed: the user's formatter `printf '\377'` printed text that is not UTF-8 or contains a NUL."#
        ]],
    );
    check(
        "cat; yes | head -c 1000000 >&2",
        expect!["The text stays as it is: there is nothing to change."],
    );
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some(TEXT));
}

#[test]
fn the_model_is_told_why_no_formatter_can_be_used() {
    let scene = started(AUTO_EDIT);
    let check = |expected: Expect| expected.assert_eq(&answer_to(&scene, "format", file()));
    check(expect![
        "No language server is attached to a.txt. The user has configured no formatter in conform.nvim, and 'formatprg' is empty."
    ]);
    conform(&scene, "{ name = 'one', command = 'sort', stdin = false, args = { '$FILENAME' } }");
    check(expect![
        "No language server is attached to a.txt. conform.nvim cannot be used either: one formats files on disk, not standard input. Format the saved file with shell."
    ]);
    conform(&scene, "{ name = 'one', command = 'sort', format = function() end }");
    check(expect![
        "No language server is attached to a.txt. conform.nvim cannot be used either: one is a Lua function. Format the saved file with shell."
    ]);
    conform(&scene, "{ name = 'one', command = 'sort', missing = 'Command not found' }");
    check(expect![
        "No language server is attached to a.txt. conform.nvim cannot be used either: one is not available: Command not found. Format the saved file with shell."
    ]);
    conform(&scene, "{ name = 'one', command = 'sort', args = function() error('no') end }");
    check(expect![
        "No language server is attached to a.txt. conform.nvim cannot be used either: no. Format the saved file with shell."
    ]);
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some(TEXT));
}

/// Whether a process with this command line runs.
#[cfg(target_os = "linux")]
fn runs(words: &[&str]) -> bool {
    let wanted: String = words.join("\0") + "\0";
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let line = |it: std::fs::DirEntry| std::fs::read_to_string(it.path().join("cmdline"));
    all.filter_map(|it| line(it).ok()).any(|it| it == wanted)
}

#[test]
#[cfg(target_os = "linux")]
fn a_stop_ends_the_formatter() {
    let scene = started("{ lsp = { request_ms = 120000 } }");
    let seconds = format!("1{}", scene.nvim.pid());
    option(&scene, &format!("sleep {seconds}"));
    scene.ask(Reply::new().call("f1", "format", file()));
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.nvim.wait(|_| runs(&["sleep", &seconds]), "the formatter");
    scene.nvim.keys(":Caliban stop<CR>");
    scene.wait_idle("Stopped.");
    scene.nvim.wait(|_| !runs(&["sleep", &seconds]), "its end");
}

/// `require` would load such a file from the project.
#[test]
fn no_plugin_is_loaded_from_the_project() {
    let ran = "ran = (ran or '') .. ... return {}";
    let scene =
        Scene::start(|it| it.file("a.txt", TEXT).file("conform.lua", ran).file("cmp.lua", ran));
    option(&scene, "cat");
    scene.ask(Reply::new().call("f1", "format", file()));
    scene.nvim.wait_question();
    scene.nvim.lua("pcall(require, 'cmp')", &[]);
    assert_eq!(scene.nvim.lua_json("return ran or ''"), json!(""));
    scene.server.reply(Reply::said("Well."));
    scene.nvim.keys(":Caliban deny<CR>");
    scene.wait_idle("Well.");
}
