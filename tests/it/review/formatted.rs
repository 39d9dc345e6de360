//! Changes that a formatter makes in a file under review are reported as formatting, not as the user's edits.

use super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;
use expect_test::expect;

/// Lua code that formats like conform.nvim: it gives the text to a program, and applies the program's changes as text
/// edits. The program changes more than blanks.
const CONFORM: &str = "
  local function applied(buf, old, out)
    local new = vim.split(vim.trim(out.stdout), '\\n')
    local edits = {}
    for i, line in ipairs(new) do
      if line ~= old[i] then
        local place = { line = i - 1, character = 0 }
        local stop = { line = i - 1, character = #old[i] }
        edits[#edits + 1] = { range = { start = place, ['end'] = stop }, newText = line }
      end
    end
    vim.lsp.util.apply_text_edits(edits, buf, 'utf-8')
  end
  local function format(buf, wait)
    local old = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
    local opts = { stdin = table.concat(old, '\\n'), text = true }
    local cmd = { 'sed', 's/^L\\\\(.*\\\\)$/L(\"\\\\1\")/' }
    if wait then
      return applied(buf, old, vim.system(cmd, opts):wait())
    end
    vim.system(cmd, opts, vim.schedule_wrap(function(out) applied(buf, old, out) end))
  end
  vim.api.nvim_create_user_command('Format', function() format(vim.fn.bufnr(), true) end, {})
  vim.api.nvim_create_user_command('FormatLater', function() format(vim.fn.bufnr(), false) end, {})
  _G.format = format";

/// A language server inside Neovim that formats the second line, and can rename its symbol.
const SERVER: &str = "
  local function edit(text)
    local range = { start = { line = 1, character = 0 }, ['end'] = { line = 1, character = 2 } }
    return { range = range, newText = text }
  end
  local answers = {
    initialize = function()
      return { capabilities = { documentFormattingProvider = true, renameProvider = true } }
    end,
    ['textDocument/formatting'] = function() return { edit('\"L2\";') } end,
    ['textDocument/rename'] = function(params)
      return { changes = { [params.textDocument.uri] = { edit('named') } } }
    end,
  }
  vim.lsp.start({ name = 'in', cmd = function()
    local id = 0
    return {
      request = function(method, params, callback)
        id = id + 1
        local answer = answers[method]
        callback(nil, answer and answer(params) or vim.NIL)
        return true, id
      end,
      notify = function() return true end,
      is_closing = function() return false end,
      terminate = function() end,
    }
  end })";

/// Puts two hunks under review, types keys, waits until the screen shows `shown`, and accepts everything. Returns the
/// answer to the model.
fn told(before: &str, keys: &str, shown: &str) -> String {
    let scene = Scene::two_hunks(|it| it.before(before));
    scene.nvim.keys(keys);
    scene.nvim.wait_screen(shown);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    scene.answer(2, "e1")
}

fn without_diagnostics(told: &str) -> &str {
    told.split("\nDiagnostics").next().unwrap()
}

/// The answer to the model if a formatter changed both hunks.
const FORMATTED: &str = r#"Of 2 changes in a.txt: 2 accepted and formatted.
line 2, accepted and formatted, now reads:
L("2")
line 8, accepted and formatted, now reads:
L("8")
L("8b")"#;

#[test]
fn a_formatters_command_counts_as_formatting() {
    for command in [":Format<CR>", ":FormatLater<CR>"] {
        assert_eq!(told(CONFORM, command, "L(\"8b\")"), FORMATTED);
    }
}

#[test]
fn typing_after_a_formatter_counts_as_the_users_edit() {
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted and formatted, 1 reworked by the user.
        line 2, reworked, now reads:
        L("2") mine
        line 8, accepted and formatted, now reads:
        L("8")
        L("8b")"#]]
    .assert_eq(&told(CONFORM, ":Format<CR>2GA mine<Esc>", "L(\"2\") mine"));
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted and formatted, 1 reworked by the user.
        line 2, reworked, now reads:
        L("22")
        line 8, accepted and formatted, now reads:
        L("8")
        L("8b")"#]]
    .assert_eq(&told(CONFORM, "2GA2<Esc>:Format<CR>", "L(\"22\")"));
}

#[test]
fn undone_formatting_is_not_reported() {
    assert_eq!(told(CONFORM, ":Format<CR>u", "L8b"), "The user accepted 2 changes in a.txt.");
}

#[test]
fn a_language_servers_format_counts_as_formatting_and_its_rename_as_the_users_edit() {
    let start = format!("vim.api.nvim_create_user_command('Serve', function() {SERVER} end, {{}})");
    for call in ["vim.lsp.buf.format()", "vim.lsp.buf.format({ async = true })"] {
        let keys = format!(":Serve<CR>:lua {call}<CR>");
        expect![[r#"
            Of 2 changes in a.txt: 1 accepted, 1 accepted and formatted.
            line 2, accepted and formatted, now reads:
            "L2";
            line 8, accepted:
            L8
            L8b"#]]
        .assert_eq(without_diagnostics(&told(&start, &keys, "\"L2\";")));
    }
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 reworked by the user.
        line 2, reworked, now reads:
        named
        line 8, accepted:
        L8
        L8b"#]]
    .assert_eq(without_diagnostics(&told(
        &start,
        ":Serve<CR>2G:lua vim.lsp.buf.rename('named')<CR>",
        "named",
    )));
}

#[test]
fn changing_only_blanks_counts_as_formatting() {
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 accepted and formatted.
        line 2, accepted and formatted, now reads:
            L2
        line 8, accepted:
        L8
        L8b"#]]
    .assert_eq(&told("vim.o.shiftwidth = 4", "2G>>", "    L2"));
}

#[test]
fn a_format_at_the_save_counts_as_formatting() {
    let on_save = "vim.api.nvim_create_autocmd('BufWritePre', { callback = function(event)
        format(event.buf, true)
      end })";
    assert_eq!(told(&format!("{CONFORM}\n{on_save}"), "", "L8b"), FORMATTED);
}

/// Autocommands that format all lines of a file before it is written.
const ON_SAVE: [&str; 2] = [
    "vim.cmd([[autocmd BufWritePre * silent! %s/^\\([lL]\\)\\(\\d\\)$/\\1(\\2)/e]])",
    "vim.api.nvim_create_autocmd('BufWritePre', { callback = function(event)
        local lines = vim.api.nvim_buf_get_lines(event.buf, 0, -1, false)
        for i, line in ipairs(lines) do lines[i] = line:gsub('^(%a)(%d)$', '%1(%2)') end
        vim.api.nvim_buf_set_lines(event.buf, 0, -1, false, lines)
      end })",
];

/// What the model hears of two hunks of auto-edit mode after these keys.
fn told_after(on_save: &str, keys: &str) -> String {
    let scene = Scene::two_written(|it| it.before(on_save));
    scene.nvim.keys(keys);
    scene.nvim.wait(|it| it.pending() == 0, "the end of the review");
    scene.told_next()
}

#[test]
fn a_formatter_at_any_write_is_not_taken_for_the_user() {
    let rows = [
        ":Caliban accept all<CR>",
        ":Caliban reject all<CR>",
        ":w<CR>:Caliban accept all<CR>",
        ":w<CR>:Caliban reject all<CR>",
        "2G\\r8G\\a",
    ];
    for on_save in ON_SAVE {
        for keys in rows {
            let told = told_after(on_save, keys);
            let is_users = ["reworked", "edited", "by the user"].iter().any(|it| told.contains(it));
            assert!(!is_users, "{keys}: {told}");
        }
    }
}

/// The user types beside a hunk that was accepted, or in it; the formatter then changes each line.
#[test]
fn text_that_the_user_types_elsewhere_makes_no_formatted_hunk_the_users() {
    for on_save in ON_SAVE {
        for (keys, is_users) in
            [("5GA<CR>m5<Esc>", false), ("3Om3<Esc>", false), ("2GAmine<Esc>", true)]
        {
            let told = told_after(on_save, &format!("2G\\a{keys}:w<CR>:Caliban accept all<CR>"));
            assert!(told.contains("L(8)"), "{keys}: {told}");
            let says = ["reworked", "edited", "by the user"].iter().any(|it| told.contains(it));
            assert_eq!(says, is_users, "{keys}: {told}");
        }
    }
}

/// The same for hunks that are written only when the user has decided, or by `:w!`.
#[test]
fn a_formatter_at_the_users_write_is_not_taken_for_the_user() {
    for on_save in ON_SAVE {
        for keys in [":w!<CR>\\A", ":w!<CR>\\R", "\\R", "\\A"] {
            let scene = Scene::two_hunks(|it| it.before(on_save));
            let n = scene.server.count();
            scene.server.reply(Reply::said("I see."));
            scene.nvim.keys(keys);
            scene.wait_idle("I see.");
            let told = scene.answer(n + 1, "e1");
            let is_users = ["reworked", "edited", "by the user"].iter().any(|it| told.contains(it));
            assert!(!is_users, "{keys}: {told}");
        }
    }
}

#[test]
fn formatting_in_one_review_does_not_count_in_the_next() {
    let scene = Scene::two_hunks(|it| it.before(CONFORM));
    scene.nvim.keys(":Format<CR>");
    scene.nvim.wait_screen("L(\"8b\")");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\R");
    scene.wait_idle("I see.");
    assert!(scene.answer(2, "e1").starts_with("The user rejected 2 changes in a.txt"));
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    scene.ask(Reply::new().call("e2", "edit", edit("a.txt", &[("l2", "L2")])));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.keys("2GcwL(\"2\")<Esc>:Caliban accept all<CR>");
    scene.wait_idle("So it is.");
    let said = scene.answer(scene.server.count(), "e2");
    assert!(said.contains("1 reworked by the user"), "{said}");
}

#[test]
fn the_list_in_the_chat_counts_a_formatted_hunk_as_accepted() {
    let scene = Scene::two_hunks(|it| it.before(CONFORM).size(200, 40));
    scene.nvim.keys(":Format<CR>");
    scene.nvim.wait_screen("L(\"8b\")");
    scene.nvim.keys("2G\\a");
    scene.nvim.wait_screen("1 hunk · 1 accepted");
    scene.nvim.keys("8GA mine<Esc>");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("8G\\a");
    scene.nvim.wait_screen("a.txt: 1 accepted, 1 reworked, saved");
    scene.wait_idle("I see.");
}
