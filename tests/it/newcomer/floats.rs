//! Small windows over the chat: what lies below them is announced, and they never cover the composer. The menu of
//! completion shows its words whole or with a sign where they are cut.

use super::small;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use serde_json::json;

const SIZES: [(u16, u16); 5] = [(80, 24), (60, 20), (120, 36), (200, 50), (100, 30)];

/// What is wrong with the visible floating windows: one covers the composer, or does not say how many lines are below it.
const WRONG: &str = "local function rect(win)
      local config, at = vim.api.nvim_win_get_config(win), vim.api.nvim_win_get_position(win)
      local edge = config.relative ~= '' and 2 or 0
      return { at[1], at[1] + vim.api.nvim_win_get_height(win) + edge,
        at[2], at[2] + vim.api.nvim_win_get_width(win) + edge }
    end
    local composer
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
      composer = composer or name:find('^caliban://.*/prompt$') and rect(win) or nil
    end
    if not composer then return 'no composer' end
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      local config, it = vim.api.nvim_win_get_config(win), rect(win)
      if config.relative ~= '' and not config.hide then
        if it[1] < composer[2] and composer[1] < it[2] and it[3] < composer[4] and composer[3] < it[4] then
          return 'covers the composer: ' .. vim.inspect({ it, composer })
        end
        local below = vim.fn.line('$', win) - vim.fn.line('w$', win)
        local foot = config.footer and config.footer[1] and config.footer[1][1] or ''
        if foot ~= (below > 0 and (' ↓ %d more '):format(below) or '') then
          return ('%d lines below, but says %q'):format(below, foot)
        end
      end
    end
    return ''";

#[track_caller]
fn wait_right(nvim: &Nvim, what: &str) {
    let wrong = |it: &Nvim| it.lua_str(WRONG);
    nvim.wait(|it| wrong(it).is_empty(), &format!("{what}: {}", wrong(nvim)));
}

#[test]
fn the_window_of_keys_announces_what_is_below_it_and_leaves_the_composer_free() {
    for (columns, rows) in SIZES {
        let server = Server::start();
        let nvim = Nvim::start(&small(&server).size(columns, rows));
        nvim.keys(":edit a.txt<CR>:Caliban<CR><Esc>");
        nvim.wait_screen("g? keys");
        for (go, part) in [("", "composer"), ("<C-w>k", "transcript")] {
            nvim.keys(&format!("{go}g?"));
            nvim.wait_screen("Keys · q closes");
            let at = format!("keys of the {part} at {columns}x{rows}");
            wait_right(&nvim, &at);
            nvim.keys("G");
            nvim.command("redraw");
            wait_right(&nvim, &format!("the end of the {at}"));
            nvim.wait_gone(" more ─");
            nvim.keys("q");
            nvim.wait_gone("Keys · q closes");
        }
    }
}

#[test]
fn the_list_of_tasks_leaves_the_composer_free() {
    let texts = ["Read", "Change all of the modules that share the table of factors", "Test"];
    let texts = texts.iter().cycle().take(9).enumerate();
    let todos: Vec<_> = texts.map(|(n, it)| json!({ "text": format!("{it} {n}") })).collect();
    for (columns, rows) in SIZES {
        let server = Server::start();
        let call = json!({ "action": "write", "todos": todos });
        server.reply(Reply::new().call("t1", "todo", call));
        server.reply(Reply::said("Listed."));
        let nvim = Nvim::start(&small(&server).size(columns, rows));
        nvim.keys(":edit a.txt<CR>:Caliban<CR><Esc>");
        nvim.ask("go", "Listed.");
        nvim.keys("gl");
        nvim.wait_screen("Todo · 0 of 9");
        wait_right(&nvim, &format!("the list at {columns}x{rows}"));
        nvim.keys("iwords<Esc>");
        wait_right(&nvim, &format!("the list after typing at {columns}x{rows}"));
    }
}

#[test]
fn the_words_of_the_menu_are_whole_or_cut_with_a_sign_at_every_width() {
    let server = Server::start();
    let nvim = Nvim::start(&small(&server));
    for columns in [40, 52, 60, 72, 80, 100, 120, 160, 200] {
        nvim.resize(columns, 30);
        nvim.keys(":Caliban<CR>i/und");
        let row = |it: &Nvim| {
            let words = it.lua_str(
                "local item = vim.fn.complete_info({ 'items' }).items[1]
                return item and item.word:find('^/undo') and vim.trim(item.menu) or 'no menu'",
            );
            let screen = it.screen();
            let whole = words.starts_with("goes back") && screen.contains(&words);
            whole && (words.ends_with('…') || words.contains("`/undo 2`"))
        };
        nvim.wait(row, &format!("the words about /undo at {columns}"));
        nvim.keys("<C-e><C-u><Esc>");
    }
}

#[test]
fn wrapped_rows_of_a_to_do_item_are_indented_to_its_first_word() {
    let server = Server::start();
    let text = "Replace the literal factors by a table that all of the three modules share";
    let call = json!({ "action": "write", "todos": [{ "text": text }] });
    server.reply(Reply::new().call("t1", "todo", call));
    server.reply(Reply::said("Listed."));
    let nvim = Nvim::start(&small(&server).size(60, 30));
    nvim.keys(":edit a.txt<CR>:Caliban<CR><Esc>");
    nvim.ask("go", "Listed.");
    let rows = |it: &Nvim| {
        let screen = it.screen();
        let rows: Vec<&str> = screen.lines().skip_while(|it| !it.contains("[ ] Repl")).collect();
        let column = |row: &&str, word: &str| row.find(word);
        let first = rows.first().and_then(|it| column(it, "Replace"));
        let next = rows.get(1).map(|it| it.len() - it.trim_start().len());
        first.is_some() && first == next
    };
    nvim.wait(rows, "the second row below the first word");
}
