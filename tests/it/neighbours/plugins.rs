//! The page of the help about other plugins: each of its lines is tried with what the plugin does to a Neovim.

use super::{CHANGED, each, errors, opened};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::root;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::plans::planned;
use crate::review::scene::{Scene, nine};
use crate::winbar::LUALINE;

/// The plugins of the page, each with the check of what its line says.
const PLUGINS: [(&str, fn()); 18] = [
    ("auto-save.nvim", writes_are_refused),
    ("blink.cmp", items_are_offered),
    ("conform.nvim", files_are_formatted),
    ("copilot.vim", text_is_not_sent),
    ("focus.nvim", sizes_are_left_alone),
    ("fzf-lua", lists_are_shown),
    ("gitsigns.nvim", keys_come_back),
    ("lualine.nvim", state_is_shown),
    ("mini.completion", items_are_offered),
    ("noice.nvim", messages_are_shown),
    ("nvim-cmp", items_are_offered),
    ("nvim-notify", messages_are_shown),
    ("nvim-treesitter-context", nothing_is_parsed),
    ("persistence.nvim", sessions_come_back),
    ("render-markdown.nvim", plans_are_drawn),
    ("smear-cursor.nvim", small_windows_do_no_harm),
    ("telescope.nvim", lists_are_shown),
    ("which-key.nvim", keys_have_meanings),
];

#[test]
fn each_line_of_the_page_about_other_plugins_is_true() {
    let help = std::fs::read_to_string(root().join("doc/caliban.txt")).unwrap();
    let page = help.split_once("*caliban-plugins*\n").unwrap().1;
    let page = page.split_once("\n vim:").unwrap().0;
    let is_line = |it: &&str| it.starts_with("  ") && !it.starts_with("   ");
    let named: Vec<&str> =
        page.lines().filter(is_line).filter_map(|it| it.split_whitespace().next()).collect();
    assert_eq!(named, PLUGINS.map(|it| it.0), "the page and the table name the same plugins");
    each(PLUGINS, |(_, check)| check());
}

/// Writes at each change, as often as it can.
fn writes_are_refused() {
    let saves = "vim.api.nvim_create_autocmd({ 'InsertLeave', 'TextChanged', 'BufLeave', 'FocusLost' }, {
          nested = true, callback = function() pcall(vim.cmd, 'silent! write') pcall(vim.cmd, 'silent! wall') end,
        })";
    let scene = Scene::two_hunks(|it| it.before(saves));
    scene.nvim.keys("5GAmine<Esc>gg:doautocmd FocusLost<CR>");
    assert_eq!((scene.on_disk("a.txt"), scene.pending()), (Some(nine()), 2));
}

/// Asks the language servers of the buffer.
fn items_are_offered() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).file("src/map.rs", "struct Map;\n");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Project");
    nvim.keys("isee @ma");
    let asks = "local all = vim.lsp.buf_request_sync(0, 'textDocument/completion',
          vim.lsp.util.make_position_params(0, 'utf-16'), 2000)
        return vim.json.encode(all or {})";
    nvim.wait(|it| it.lua_str(asks).contains("map.rs"), "the file among the items");
}

fn files_are_formatted() {
    let formats = "vim.api.nvim_create_autocmd('BufWritePre', { callback = function(args)
          local lines = vim.api.nvim_buf_get_lines(args.buf, 0, -1, false)
          for i, line in ipairs(lines) do lines[i] = line:gsub('^L2$', 'L2;') end
          vim.api.nvim_buf_set_lines(args.buf, 0, -1, false, lines)
        end })";
    let scene = Scene::two_hunks(|it| it.before(formats));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_idle("I see.");
    assert!(scene.on_disk("a.txt").unwrap().contains("L2;\n"));
    assert!(scene.answer(2, "e1").contains("L2;"), "{}", scene.answer(2, "e1"));
}

fn text_is_not_sent() {
    let server = Server::start();
    let nvim = opened(&server, "");
    let variables = "local chat = require('caliban.chat.chats').current
        return vim.b[chat.transcript].copilot_enabled == false and vim.b[chat.composer].copilot_enabled == false";
    assert_eq!(nvim.lua_json(variables), true);
}

/// Enlarges each window that is entered, unless it is told not to.
fn sizes_are_left_alone() {
    let server = Server::start();
    let enlarges = "vim.api.nvim_create_autocmd({ 'WinEnter', 'BufEnter' }, { callback = function()
          vim.schedule(function()
            if not (vim.b.focus_disable or vim.w.focus_disable) then
              vim.api.nvim_win_set_height(0, math.floor(vim.o.lines * 0.62))
            end
          end)
        end })";
    let nvim = opened(&server, enlarges);
    let rows = "local chat = require('caliban.chat.chats').current
        local function rows(buf) return vim.api.nvim_win_get_height(vim.fn.win_findbuf(buf)[1]) end
        return ('%d %d'):format(rows(chat.transcript), rows(chat.composer))";
    let before = nvim.lua_str(rows);
    for keys in ["<C-w>k", "<C-w>j"] {
        nvim.keys(keys);
        nvim.lua("vim.wait(50)", &[]);
        assert_eq!(nvim.lua_str(rows), before, "{keys}");
    }
}

/// Shows the list later, in a way of its own, and chooses the conversation `main`.
fn lists_are_shown() {
    let server = Server::start();
    let picks = "vim.ui.select = function(items, opts, done)
          vim.schedule(function()
            for i, it in ipairs(items) do
              if opts.format_item(it):find('^main') then return done(it, i) end
            end
          end)
        end";
    let nvim = opened(&server, picks);
    nvim.keys(":Caliban new two<CR>");
    nvim.wait_session("two");
    nvim.keys("<Esc>gs");
    nvim.wait_session("main");
}

fn keys_come_back() {
    let maps = "vim.api.nvim_create_autocmd('BufReadPost', { callback = function(args)
          vim.schedule(function()
            vim.keymap.set('n', ']h', '<Cmd>let g:theirs = 1<CR>', { buffer = args.buf })
          end)
        end })";
    let scene = Scene::two_hunks(|it| it.before(maps));
    scene.nvim.keys("gg]h");
    assert_eq!(scene.nvim.lua_str("return vim.fn.line('.') .. tostring(vim.g.theirs)"), "2nil");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_idle("I see.");
    scene.nvim.keys("]h");
    assert_eq!(scene.nvim.lua_str("return vim.g.theirs"), "1");
}

fn state_is_shown() {
    let server = Server::start();
    let nvim = opened(&server, &format!("{LUALINE} KitLualine()"));
    nvim.wait_screen("THEIRS");
    nvim.wait_screen("ask · ○ idle");
}

fn messages_are_shown() {
    let server = Server::start();
    let nvim = opened(
        &server,
        "SHOWN = '' vim.notify = setmetatable({}, { __call = function(_, text) SHOWN = SHOWN .. text end })",
    );
    nvim.keys("<Esc>:Caliban todo<CR>");
    let shown = |it: &Nvim| it.lua_str("return SHOWN").contains("has no to-do list");
    nvim.wait(shown, "the message");
}

fn nothing_is_parsed() {
    let server = Server::start();
    server.reply(Reply::said("```lua\nlocal function f()\n  return 1\nend\n```\n"));
    let nvim = opened(&server, "");
    nvim.keys("igo<C-s><Esc>");
    nvim.wait_screen("return 1");
    let parsed = "local chat = require('caliban.chat.chats').current
        for _, buf in ipairs({ chat.transcript, chat.composer }) do
          local ok, parser = pcall(vim.treesitter.get_parser, buf)
          if ok and parser then return true end
        end
        return false";
    assert_eq!(nvim.lua_json(parsed), false);
}

fn sessions_come_back() {
    let server = Server::start();
    server.reply(Reply::said("First."));
    let nvim = opened(&server, "");
    nvim.keys("igo<C-s><Esc>");
    nvim.wait_screen("First.");
    nvim.wait_phase("idle");
    nvim.keys(":mksession! s.vim<CR>");
    nvim.quit_with(":qa!<CR>");
    nvim.wait_program_end();
    let nvim = Nvim::start(&nvim.setup);
    nvim.keys(":source s.vim<CR>");
    nvim.wait_screen("First.");
    nvim.wait_screen("one");
}

fn plans_are_drawn() {
    let server = Server::start();
    let draws = "package.loaded['render-markdown.core.manager'] = {
          attached = function(buf) return vim.bo[buf].filetype == 'markdown' end,
        }
        DRAWN = {} vim.api.nvim_create_autocmd('FileType', { pattern = 'markdown', callback = function(args)
          DRAWN[#DRAWN + 1] = vim.api.nvim_buf_get_name(args.buf):match('[^/]*$')
        end })";
    let nvim = opened(&server, draws);
    server.reply(planned("p1", "Change it."));
    nvim.keys("i/plan it<C-s><Esc>");
    nvim.wait_screen("Plan · waits");
    // nothing but the plugin hides the marks
    nvim.wait_screen("## Summary");
    assert_eq!(nvim.lua_str("return table.concat(DRAWN, ' ')"), "plan");
}

/// Opens a small window wherever the cursor is.
fn small_windows_do_no_harm() {
    let server = Server::start();
    let trail = "local buf, win = vim.api.nvim_create_buf(false, true), nil
        vim.api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI', 'WinEnter' }, { callback = function()
          if win and vim.api.nvim_win_is_valid(win) then pcall(vim.api.nvim_win_close, win, true) end
          win = vim.api.nvim_open_win(buf, false, { relative = 'editor', row = 1, col = 1, width = 1, height = 1,
            style = 'minimal', focusable = false, noautocmd = true })
        end })";
    let nvim = opened(&server, &format!("{CHANGED} {trail} vim.wo.winfixbuf = false"));
    server.reply(Reply::said("First."));
    nvim.keys("igo<C-s><Esc>");
    nvim.wait_screen("First.");
    nvim.keys("<Tab>gg:Caliban close<CR>");
    let files = "return vim.iter(vim.api.nvim_list_wins())
        :filter(function(win) return vim.api.nvim_win_get_config(win).relative == '' end)
        :map(function(win) return vim.fs.basename(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))) end)
        :join(' ')";
    nvim.wait(|it| it.lua_str(files) == "a.txt", "the file alone");
    assert_eq!(errors(&nvim), "");
}

fn keys_have_meanings() {
    let server = Server::start();
    let nvim = opened(&server, "");
    let without = "local chat, out = require('caliban.chat.chats').current, {}
        for _, buf in ipairs({ chat.transcript, chat.composer }) do
          for _, mode in ipairs({ 'n', 'i', 'x' }) do
            local maps = vim.api.nvim_buf_get_keymap(buf, mode)
            assert(mode ~= 'n' or #maps > 5)
            for _, map in ipairs(maps) do
              if (map.desc or '') == '' then out[#out + 1] = map.lhs end
            end
          end
        end
        return table.concat(out, ' ')";
    assert_eq!(nvim.lua_str(without), "");
}

/// A chat, a review and a plan beside the plugins themselves.
#[test]
#[ignore = "needs the plugins"]
fn a_session_beside_the_plugins_themselves() {
    let folder = std::env::var("CALIBAN_PLUGINS").unwrap();
    let plugins = [
        ("auto-save.nvim", "require('auto-save').setup({ debounce_delay = 50 })"),
        (
            "conform.nvim",
            "require('conform').setup({ format_on_save = { lsp_format = 'fallback' } })",
        ),
        ("focus.nvim", "require('focus').setup()"),
        ("gitsigns.nvim", "require('gitsigns').setup()"),
        (
            "lualine.nvim",
            "require('lualine').setup({ winbar = { lualine_a = { 'filename' } }, inactive_winbar = { lualine_a = { 'filename' } } })",
        ),
        ("nui.nvim", ""),
        ("nvim-notify", "vim.notify = require('notify')"),
        ("noice.nvim", "require('noice').setup()"),
        ("nvim-treesitter-context", "require('treesitter-context').setup()"),
        ("persistence.nvim", "require('persistence').setup()"),
        ("render-markdown.nvim", "require('render-markdown').setup({})"),
        ("smear-cursor.nvim", "require('smear_cursor').setup()"),
        ("which-key.nvim", "require('which-key').setup()"),
    ];
    let lua = |(name, setup): (&str, &str)| {
        let path = format!("{folder}/{name}");
        assert!(std::path::Path::new(&path).is_dir(), "{path} is missing");
        format!(
            "vim.opt.runtimepath:append({{ [==[{path}]==], [==[{path}/after]==] }})
            vim.api.nvim_create_autocmd('VimEnter', {{ callback = function() {setup} end }})\n"
        )
    };
    let before: String = plugins.into_iter().map(lua).collect();
    let scene = Scene::two_hunks(|it| it.size(140, 45).before(&before));
    let nvim = &scene.nvim;
    nvim.keys("5GAmine<Esc>");
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("waiting for you");
    assert_eq!((scene.on_disk("a.txt"), scene.pending()), (Some(nine()), 2));
    scene.server.reply(Reply::said("# One\n\nI see."));
    nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_idle("I see.");
    scene.server.reply(planned("p1", "Change it."));
    nvim.keys("<Esc>i/plan it<C-s><Esc>");
    nvim.wait_screen("A plan waits for you.");
    nvim.wait_screen("Summary");
    nvim.keys(":Caliban todo<CR>");
    nvim.wait_screen("has no to-do list");
    nvim.keys(":Caliban close<CR>");
    nvim.wait_gone("waiting for you");
    assert_eq!(errors(nvim), "");
}
