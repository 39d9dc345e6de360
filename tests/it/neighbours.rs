//! Laws of the chat's windows among others: nothing is taken over from a neighbour or from an autocommand, whichever
//! way a layout is left, the user's buffer is there, and plugins that complete text leave the chat alone.

mod hands;
mod kept;
mod plugins;
mod ways;

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::plans::planned;
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// All options of all windows but the user's own, by what the window shows.
const OPTIONS: &str = "local out = {}
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      local part = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)):match('[^/]*$')
      part = part:find('^main') and 'transcript' or part
      for name, info in pairs(vim.api.nvim_get_all_options_info()) do
        -- the values of the bars are texts
        local is_text = name == 'winbar' or name == 'statusline'
        if part ~= 'a.txt' and info.scope == 'win' and name ~= 'scroll' and not is_text then
          local value = vim.api.nvim_get_option_value(name, { scope = 'local', win = win })
          out[#out + 1] = ('%s %s=%s'):format(part, name, tostring(value))
        end
      end
    end
    table.sort(out)
    return table.concat(out, '\\n')";

/// Gives each option of the current window, one after the other, another value.
const CHANGED: &str = "local texts = {
      foldmethod = 'marker', colorcolumn = '80', signcolumn = 'no', virtualedit = 'all', showbreak = '> ',
      listchars = 'tab:> ', fillchars = 'eob:x', winhighlight = 'Normal:Error', foldcolumn = '2', spell = true,
      statuscolumn = '%l', cursorlineopt = 'line', breakindentopt = 'shift:4', concealcursor = 'n', foldexpr = '1',
    }
    for name, info in pairs(vim.api.nvim_get_all_options_info()) do
      if info.scope == 'win' then
        local now = vim.wo[name]
        local new = texts[name]
        if new == nil and type(now) == 'boolean' then new = not now end
        if new == nil and type(now) == 'number' then new = now + 1 end
        if new ~= nil then
          pcall(vim.api.nvim_set_option_value, name, new, { scope = 'local', win = 0 })
        end
      end
    end";

/// The layouts of the chat.
const LAYOUTS: [&str; 7] = ["right", "left", "top", "bottom", "tab", "float", "current"];

/// A chat in this layout beside a file, after Lua code has run in the file's window.
fn laid_out(server: &Server, layout: &str, before: &str) -> Nvim {
    let setup = Setup::new().anthropic(server).size(100, 40).file("a.txt", "one\n");
    let nvim = Nvim::start(&setup.config(&format!("{{ layout = '{layout}' }}")));
    nvim.keys(":edit a.txt<CR>");
    nvim.lua(before, &[]);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Project");
    nvim
}

fn opened(server: &Server, before: &str) -> Nvim {
    laid_out(server, "bottom", before)
}

/// The lines of `:messages` that tell of an error.
fn errors(nvim: &Nvim) -> String {
    nvim.lua_str(
        "local lines = vim.split(vim.fn.execute('messages'), '\\n')
        return table.concat(vim.tbl_filter(function(line)
          return line:find('^E%d+:') or line:find('Error') or line:find('stack traceback')
        end, lines), '\\n')",
    )
}

/// Types keys in the window of a part of the chat. Neovim may refuse them, in its own words.
fn by_hand(nvim: &Nvim, part: &str, keys: &str) {
    let goes = format!(
        "local chat = require('caliban.chat.chats').current
        vim.api.nvim_set_current_win(vim.fn.win_findbuf(chat.{part})[1])"
    );
    nvim.lua(&goes, &[]);
    nvim.keys(keys);
    assert!(!errors(nvim).contains("Error"), "{part} {keys}: {}", errors(nvim));
    nvim.lua("vim.cmd('messages clear')", &[]);
}

/// Checks each case, and fails with all that have failed.
#[track_caller]
fn each<T: std::fmt::Debug>(cases: impl IntoIterator<Item = T>, check: impl Fn(&T)) {
    let failed: Vec<String> = cases
        .into_iter()
        .filter(|it| catch_unwind(AssertUnwindSafe(|| check(it))).is_err())
        .map(|it| format!("{it:?}"))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn the_chat_takes_no_option_from_the_window_beside_it() {
    each(LAYOUTS, |layout| {
        let server = Server::start();
        let plain = laid_out(&server, layout, "");
        // in this layout the chat has the user's own window, with the size that the user has fixed
        let own = if *layout == "current" {
            "vim.wo.winfixwidth, vim.wo.winfixheight, vim.wo.winfixbuf = false, false, false"
        } else {
            ""
        };
        let changed = laid_out(&server, layout, &format!("{CHANGED} {own}"));
        assert_same(&plain.lua_str(OPTIONS), &changed.lua_str(OPTIONS));
        if *layout != "current" {
            let diff = "return tostring(vim.wo[vim.fn.win_findbuf(vim.fn.bufnr('a.txt'))[1]].diff)";
            assert_eq!(changed.lua_str(diff), "true", "the neighbour keeps its options");
        }
    });
}

/// Opens one window of the chat's after the other, each from the user's window where that is possible, and tells the
/// options of each.
fn of_other_windows(before: &str) -> Vec<String> {
    let server = Server::start();
    let nvim = opened(&server, before);
    let todos = json!([{ "text": "Read", "status": "pending" }, { "text": "Write" }]);
    server.reply(Reply::new().call("t1", "todo", json!({ "action": "write", "todos": todos })));
    server.reply(Reply::said("I see."));
    nvim.ask("@a.txt go", "I see.");
    server.reply(Reply::new().call("c1", "shell", json!({ "command": "touch b" })));
    nvim.lua("require('caliban').ask('touch')", &[]);
    nvim.wait_question();
    let mut told = Vec::new();
    for (opens, shown, closes) in [
        ("<C-w>t:Caliban todo<CR>", "Todo · 0 of 2", ":Caliban todo<CR>"),
        ("<C-w>t:Caliban request<CR>", "\"model\": \"claude", ":quit<CR>"),
        ("<C-w>b<C-w>k:Caliban request<CR>", "\"model\": \"claude", ":quit<CR>"),
        ("<C-w>t:Caliban permissions<CR>", "touch b", "<CR>"),
        ("<C-w>bg?", "Keys · q closes", "q"),
        ("<C-w>bi@a.txt<Esc>K", "Sent with the message · q closes", "q:%d<CR>"),
        ("<C-w>b<Tab>c", "Your command", "<Esc>:q!<CR>"),
    ] {
        nvim.keys(opens);
        nvim.wait_screen(shown);
        told.push(format!("{opens}\n{}", nvim.lua_str(OPTIONS)));
        nvim.keys(closes);
        nvim.wait(|it| it.lua_str("return #vim.api.nvim_list_wins()") == "3", opens);
    }
    server.reply(Reply::said("Then not."));
    nvim.keys("<C-w>b<Tab>n");
    nvim.wait_phase("idle");
    server.reply(planned("p1", "Change it."));
    nvim.keys("<C-w>bi/plan it<C-s><Esc>");
    nvim.wait_screen("Plan · waits");
    told.push(format!("plan\n{}", nvim.lua_str(OPTIONS)));
    told
}

#[test]
fn no_window_of_the_chat_takes_an_option_from_the_window_beside_it() {
    let plain = of_other_windows("");
    let changed = of_other_windows(CHANGED);
    each(plain.iter().zip(&changed), |(plain, changed)| assert_same(plain, changed));
}

/// Names the lines that differ.
#[track_caller]
fn assert_same(left: &str, right: &str) {
    let other: Vec<&str> = left.lines().collect();
    let new: Vec<&str> = right.lines().filter(|it| !other.contains(it)).collect();
    assert!(new.is_empty(), "{}", new.join("\n"));
}

#[test]
fn the_windows_of_another_conversation_have_the_same_options() {
    let server = Server::start();
    let plain = opened(&server, "").lua_str(OPTIONS);
    for keys in ["<Esc>:Caliban new<CR>", "<Esc><C-w>k:Caliban new<CR>"] {
        let nvim = opened(&server, "");
        nvim.keys(keys);
        nvim.wait_session("main-2");
        nvim.wait(|it| it.phase() == "idle", "the new conversation");
        assert_same(&plain, &nvim.lua_str(OPTIONS));
        nvim.keys("<C-^>");
        nvim.wait_session("main");
        assert_same(&plain, &nvim.lua_str(OPTIONS));
    }
}

/// All options that are not of a window or a buffer, and the values that new windows and buffers get. Neovim itself sets
/// the latter of 'syntax' with each filetype.
const GLOBALS: &str = "local out = {}
    for name in pairs(vim.api.nvim_get_all_options_info()) do
      local value = vim.api.nvim_get_option_value(name, { scope = 'global' })
      out[#out + 1] = name ~= 'syntax' and ('%s=%s'):format(name, tostring(value)) or nil
    end
    table.sort(out)
    return table.concat(out, '\\n')";

#[test]
fn no_window_changes_an_option_of_the_user() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(100, 40).file("a.txt", "one\n"));
    nvim.keys(":edit a.txt<CR>");
    let before = nvim.lua_str(GLOBALS);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Project");
    let todos = json!([{ "text": "Read", "status": "pending" }, { "text": "Write" }]);
    let call = json!({ "action": "write", "todos": todos });
    server.reply(Reply::new().call("t1", "todo", call));
    server.reply(Reply::said("I see."));
    nvim.ask("@a.txt go", "I see.");
    let with_chat = nvim.lua_str(GLOBALS);
    for (opens, shown, closes) in [
        ("gl", "Todo · 0 of 2", "gl"),
        ("g?", "Keys · q closes", "q"),
        ("i@a.txt<Esc>K", "Sent with the message · q closes", "q:%d<CR>"),
    ] {
        nvim.keys(opens);
        nvim.wait_screen(shown);
        // a window to read has no ruler
        let during = nvim.lua_str(GLOBALS).replace("ruler=false", "ruler=true");
        assert_same(&with_chat, &during);
        nvim.keys(closes);
        nvim.wait(|it| it.lua_str(GLOBALS) == with_chat, &format!("the options after {opens}"));
    }
    nvim.keys(":Caliban close<CR>");
    nvim.wait(|it| it.lua_str(GLOBALS).contains("breakat= \t!@"), "the option as it was");
    assert_same(&before, &nvim.lua_str(GLOBALS));
}

/// Notes at each event at which a plugin may take a buffer for code which buffer it is, if a plugin would send its text
/// away: the conditions are those of the plugins' own filters.
const TAKEN: &str = "vim.g.taken = ''
    vim.api.nvim_create_autocmd({ 'FileType', 'BufEnter', 'InsertEnter', 'CursorMovedI' }, {
      callback = function(args)
        local b = vim.b[args.buf]
        local is_own = vim.bo[args.buf].buftype ~= ''
        local function on(name) return is_own and b[name] ~= false and b[name] ~= 0 end
        for _, name in ipairs({ 'copilot_enabled', 'codeium_enabled', 'neocodeium_enabled', 'sidekick_nes',
          'copilot_suggestion_auto_trigger', 'minuet_virtual_text_auto_trigger' }) do
          if on(name) then
            local buf = vim.api.nvim_buf_get_name(args.buf)
            vim.g.taken = ('%s%s of %q at %s\\n'):format(vim.g.taken, name, buf, args.event)
          end
        end
      end,
    })";

#[test]
fn plugins_that_complete_text_leave_the_chats_buffers_alone() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(120, 40).before(TAKEN));
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Project");
    server.reply(Reply::new().call("c1", "shell", json!({ "command": "touch a" })));
    nvim.keys("igo<C-s><Esc>");
    nvim.wait_question();
    nvim.keys("<Tab>c");
    nvim.wait_screen("Your command");
    nvim.keys("Axyz<Esc>:q!<CR>");
    nvim.keys(":Caliban request<CR>");
    nvim.wait(|it| it.lua_str("return vim.bo.filetype") == "json", "the request");
    nvim.keys(":quit<CR>:Caliban todo<CR>:Caliban new<CR>iabc<Esc>");
    let wanted = "return vim.bo.filetype .. vim.fn.mode()";
    nvim.wait(|it| it.lua_str(wanted) == "caliban-promptn", "the composer");
    assert_eq!(nvim.lua_str("return vim.g.taken"), "");
    // the user's own choice for the filetype counts
    nvim.keys(":autocmd FileType caliban-prompt let b:copilot_enabled = v:true<CR>");
    nvim.keys(":Caliban new own<CR>");
    nvim.wait_session("own");
    let chosen = "return vim.b[require('caliban.chat.chats').current.composer].copilot_enabled";
    nvim.wait(|it| it.lua_str(chosen) == "true", "the user's choice");
}
