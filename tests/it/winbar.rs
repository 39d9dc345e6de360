//! The line that shows the chat's state, when another plugin sets its own 'winbar' in every window; and the share of
//! the model's context window that is full.

use crate::kit::chat::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

/// Lua code that sets the window-local option 'winbar' as lualine does: on events, and when the test calls it in place
/// of lualine's timer.
pub(crate) const LUALINE: &str = "local function refresh()
      for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
        if vim.api.nvim_win_get_height(win) > 1 then
          vim.api.nvim_set_option_value('winbar', ' THEIRS ', { scope = 'local', win = win })
        end
      end
    end
    function KitLualine()
      vim.api.nvim_create_autocmd({ 'WinEnter', 'BufEnter', 'CursorMoved', 'CursorMovedI', 'ModeChanged' }, {
        group = vim.api.nvim_create_augroup('lualine', {}),
        callback = function() vim.schedule(refresh) end,
      })
      refresh()
    end\n";

fn start(server: &Server, more: &str) -> Nvim {
    let setup = Setup::new().anthropic(server).size(150, 30);
    Nvim::start(&setup.before(&format!("{LUALINE}{more}")))
}

#[test]
fn the_state_is_shown_inside_the_chat_if_a_plugin_sets_the_winbar() {
    let server = Server::start();
    let gate = server.reply(Reply::new().text("I see ").gate().text("it."));
    let nvim = start(&server, "KitLualine()");
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("ask · ○ idle");
    nvim.keys("igo<C-s>");
    nvim.wait_screen("I see");
    nvim.wait_screen("ask · ● answering");
    // The other plugin's line stays: neither plugin overwrites the other's.
    let has_all = |nvim: &Nvim| nvim.screen().matches("THEIRS").count() == 3;
    nvim.wait(has_all, "the plugin's line above each window");
    gate.finish();
    nvim.wait_screen("ask · ○ idle");
    nvim.wait(has_all, "the plugin's line above each window");
    assert_eq!(nvim.composer(), "");
}

#[test]
fn the_state_returns_to_the_winbar_once_a_plugin_frees_it() {
    let server = Server::start();
    let nvim = start(&server, "");
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("ask · ○ idle");
    let rows = "return vim.api.nvim_win_text_height(0, {}).all";
    assert_eq!(nvim.lua_json(rows), 1);
    // With an unsent draft and an attached selection, the state is above both.
    nvim.keys("idraft<Esc>:Caliban add<CR>");
    nvim.wait_screen("<C-x> removes");
    nvim.lua("KitLualine()", &[]);
    nvim.wait(|it| it.lua_json(rows) == 3, "the line in the composer");
    nvim.wait_screen("ask · ○ idle");
    nvim.wait_screen("<C-x> removes");
    let free = "vim.api.nvim_del_augroup_by_name('lualine')
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do vim.wo[win].winbar = '' end";
    nvim.lua(free, &[]);
    nvim.wait(|it| it.lua_json(rows) == 2, "the line gone from the composer");
    nvim.wait_screen("ask · ○ idle");
    nvim.wait_screen("<CR> send · <Tab> to the chat");
}

/// With a statusline of the user's there is no rule, and with a winbar of a plugin's the state is above the composer.
#[test]
fn the_lines_below_are_named_wherever_the_bars_are() {
    for more in [
        "",
        "KitLualine()",
        "vim.o.statusline = ' OURS '",
        "vim.o.statusline = ' OURS ' KitLualine()",
        "vim.o.laststatus = 3 KitLualine()",
        "vim.o.laststatus = 0",
    ] {
        let server = Server::start();
        let all: Vec<String> = (1..=60).map(|n| format!("line {n}\n")).collect();
        server.reply(Reply::said(&all.join("\n")));
        let setup = Setup::new().anthropic(&server).size(80, 24);
        let nvim = Nvim::start(&setup.before(&format!("{LUALINE}{more}")));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_screen("line 60");
        nvim.keys("<C-w>kgg");
        let is_named = |it: &Nvim| {
            let screen = it.screen();
            let after = screen.split_once("↓ ").map(|it| it.1).unwrap_or_default();
            after.split(' ').next().is_some_and(|it| it.parse().is_ok_and(|it: u32| it > 80))
        };
        nvim.wait(is_named, &format!("the number of lines below, with {more:?}"));
        nvim.keys("G");
        nvim.wait_gone("↓ ");
    }
}

/// Lets a reply fill this many thousandths of the model's context window. Returns the percentage in the winbar, and the
/// fill and the free tokens of the chat's status.
fn filled(nvim: &Nvim, server: &Server, n: usize, thousandths: u64) -> String {
    nvim.wait_phase("idle");
    let window = nvim.lua_json("return require('caliban').state().usage.window");
    let tokens = window.as_u64().unwrap() * thousandths / 1000;
    server.reply(Reply::said(&format!("Reply {n}.")).usage(tokens - 10, 10));
    nvim.ask("go", &format!("Reply {n}."));
    let status = "local status = require('caliban.chat.chats').current.status
        return status.fill .. ' ' .. status.size - status.context";
    let percent = format!(" {}%", (thousandths + 5) / 10);
    nvim.wait(
        |it| it.lua_str("return require('caliban').status(200)").contains(&percent),
        &percent,
    );
    format!("{percent} {}", nvim.lua_str(status))
}

#[test]
fn the_winbar_says_how_full_the_context_window_is_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        let config = "{ models = { ['ollama/qwen3:8b'] = { num_ctx = 200000 } } }";
        let setup = Setup::new().config(config).size(150, 30).speaking(dialect, &server);
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        let shares = [100, 390, 410, 490, 510].into_iter().enumerate();
        let told: Vec<String> = shares.map(|(n, it)| filled(&nvim, &server, n, it)).collect();
        let expected =
            [" 10% ample 0", " 39% ample 0", " 41% long 0", " 49% long 0", " 51% full 0"];
        assert_eq!(told, expected);
    }
}

#[test]
fn a_rather_full_context_window_is_marked_in_the_winbar_and_shown_even_on_a_narrow_screen() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(70, 30));
    nvim.name_groups();
    nvim.keys(":Caliban<CR>");
    filled(&nvim, &server, 1, 390);
    nvim.wait_screen("78k/200k  39%");
    assert_eq!(nvim.hl_of("78k/200k").iter().filter(|it| it.starts_with("Caliban")).count(), 0);
    filled(&nvim, &server, 2, 450);
    nvim.wait(|it| it.hl_of("90k/200k  45%").contains(&"CalibanLong".to_owned()), "the mark");
    filled(&nvim, &server, 3, 800);
    nvim.wait(|it| it.hl_of("160k/200k  80%").contains(&"CalibanFull".to_owned()), "the mark");
    for (columns, shown) in [(60, " 160k/200k  80%"), (44, "○ idle"), (36, "○ idle")] {
        nvim.resize(columns, 30);
        nvim.wait(|it| it.screen().lines().any(|it| it.contains("○ idle")), shown);
        nvim.wait_screen("80%");
    }
    nvim.resize(16, 30);
    nvim.wait_gone("80%");
    nvim.wait_screen("○ idle");
}

/// If another plugin has the winbar, a line in the composer shows the chat's state, with the same mark.
#[test]
fn a_rather_full_context_window_is_marked_in_the_composers_line_too() {
    let server = Server::start();
    let nvim = start(&server, "KitLualine()");
    nvim.name_groups();
    nvim.keys(":Caliban<CR>");
    filled(&nvim, &server, 1, 800);
    nvim.wait(|it| it.hl_of("160k/200k  80%").contains(&"CalibanFull".to_owned()), "the mark");
}

/// A model's name with an item of a 'statusline', blanks, a wide character and a character that Neovim spells out.
const HOSTILE: &str =
    "anthropic/x/%#Error#%{system('id')} 語\u{200b} of a very long name that goes on and on";

/// The bars of a model with a usual name, from narrow to wide.
const SHORT: [&str; 7] = [
    "12 ● waiting",
    "30 ask · ● waiting for you 6%\n30 <Tab> to the question",
    "40 ask · ● waiting for you 6%\n40 <Tab> to the question · g? keys",
    "60 claude-sonnet-4-5 · ask · ● waiting for you 6% · $0.04\n60 <Tab> to the question · <C-c> stop · <CR> queue · g? keys",
    "80 anthropic/claude-sonnet-4-5 · ask · ● waiting for you 12.4k/200k 6% · $0.04\n80 <Tab> to the question · <C-c> stop · <CR> queue · <M-CR> join turn · g? keys",
    "120 anthropic/claude-sonnet-4-5 · ask · ● waiting for you 12.4k/200k 6% · in 12k · out 400 · $0.04\n120 <Tab> to the question · <C-c> stop · <CR> queue · <M-CR> join turn · g? keys",
    "200 anthropic/claude-sonnet-4-5 · ask · ● waiting for you 12.4k/200k 6% · in 12k · out 400 · $0.04\n200 <Tab> to the question · <C-c> stop · <CR> queue · <M-CR> join turn · g? keys",
];

/// The bars of a model with a hostile name.
const LONG: [&str; 7] = [
    "12 ● waiting",
    "30 ask · ● waiting for you\n30 <Tab> to the question",
    "40 ask · ● waiting for you\n40 <Tab> to the question · g? keys",
    "60 ask · ● waiting for you\n60 <Tab> to the question · <C-c> stop · <CR> queue · g? keys",
    "80 ask · ● waiting for you\n80 <Tab> to the question · <C-c> stop · <CR> queue · <M-CR> join turn · g? keys",
    "120 anthropic/x/?#Error#?{system('id')} 語<200b> of a very long name that goes on and on · ask · ● waiting for you 12.4k\n120 <Tab> to the question · <C-c> stop · <CR> queue · <M-CR> join turn · g? keys",
    "200 anthropic/x/?#Error#?{system('id')} 語<200b> of a very long name that goes on and on · ask · ● waiting for you 12.4k tokens · in 12k · out 400\n200 <Tab> to the question · <C-c> stop · <CR> queue · <M-CR> join turn · g? keys",
];

/// The bars above the transcript and the composer, with the number of the screen's columns.
fn bars(nvim: &Nvim) -> String {
    let screen = nvim.screen();
    let columns = screen.lines().next().map_or(0, |row| row.chars().count());
    let rows = screen.lines().map(str::trim);
    let rows = rows.filter(|row| row.contains("● waiting") || row.starts_with("<Tab> to the"));
    let words = |row: &str| row.split_whitespace().collect::<Vec<_>>().join(" ");
    rows.map(|row| format!("{columns} {}", words(row))).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_narrow_winbar_leaves_out_whole_words_and_keeps_the_state_and_the_mode() {
    let server = Server::start();
    let config = |model: &str| format!("{{ layout = 'tab', model = [=[{model}]=] }}");
    for (model, expected) in [("anthropic/claude-sonnet-4-5", SHORT), (HOSTILE, LONG)] {
        server.reply(Reply::new().usage(12_000, 400).call(
            "c1",
            "shell",
            json!({ "command": "cargo test" }),
        ));
        let setup = Setup::new().anthropic(&server).config(&config(model)).size(200, 30);
        let nvim = Nvim::start(&setup);
        nvim.name_groups();
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_screen("● waiting for you");
        let asks = nvim.hl_of("waiting for you").contains(&"CalibanAsk".to_owned());
        assert!(asks, "the state is in the colour of what waits for the user");
        assert!(!nvim.hl_of("ask ·").contains(&"CalibanAsk".to_owned()));
        for (columns, shown) in [12, 30, 40, 60, 80, 120, 200].into_iter().zip(expected) {
            nvim.resize(columns, 30);
            nvim.wait(|it| bars(it) == shown, shown);
        }
        let line = nvim.lua_str("return require('caliban').statusline()");
        assert_eq!(line, "caliban: %#CalibanAsk#waiting for you%*");
        let drawn = nvim.lua_str(
            "return vim.api.nvim_eval_statusline(require('caliban').statusline(200), { maxwidth = 400 }).str",
        );
        assert_eq!(drawn, nvim.lua_str("return require('caliban').status(200)"));
    }
}

/// The number of rows from the rule down to the line of keys.
fn frame(nvim: &Nvim) -> Option<usize> {
    let screen = nvim.screen();
    let at = |is: &dyn Fn(&str) -> bool| screen.lines().position(|it| is(it.trim_end()));
    let rule = at(&|it| it.starts_with("────") && it.ends_with("────"))?;
    let keys = ["<CR> send · <Tab> to the chat · g? keys", ":Caliban to the chat"];
    Some(at(&|it| keys.iter().any(|keys| it.ends_with(keys)))? - rule)
}

#[test]
fn a_rule_is_above_the_composer_and_its_keys_are_below_unless_the_statusline_is_the_users() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).config("{ layout = 'current' }").size(80, 24);
    let nvim = Nvim::start(&setup.before("vim.o.winhighlight = 'WinBar:Title'"));
    nvim.keys(":Caliban<CR>");
    nvim.wait(|it| frame(it) == Some(2), "a rule, one row, and the keys");
    assert!(!nvim.screen().contains("caliban://"));
    let colours = "return vim.wo.winhighlight";
    assert_eq!(nvim.lua_str(colours), "StatusLine:WinBarNC,StatusLineNC:WinBarNC,WinBar:Title");
    nvim.keys(":set laststatus=3<CR>");
    nvim.wait(|it| frame(it) == Some(1), "the keys above the composer");
    nvim.wait_screen("caliban://main/prompt");
    assert_eq!(nvim.lua_str(colours), "WinBar:Title");
    nvim.keys(":set laststatus=2<CR>");
    nvim.wait(|it| frame(it) == Some(2), "the keys below the composer");
    // The windows of other buffers have the usual statusline.
    nvim.keys(":split other<CR>");
    nvim.wait_screen("other");
    let own = "return vim.api.nvim_get_option_value('statusline', { scope = 'local' }) .. vim.wo.winhighlight";
    assert_eq!(nvim.lua_str(own), "WinBar:Title");
    // A plugin sets the statuslines of all windows while the cursor is elsewhere, and frees them later.
    for (line, is_framed) in [("theirs", false), ("", true)] {
        let set = "for _, it in ipairs(vim.api.nvim_list_wins()) do vim.fn.setwinvar(it, '&statusline', ...) end";
        nvim.lua(set, &[line.into()]);
        let has_keys = |it: &Nvim| it.screen().contains(":Caliban to the chat");
        nvim.wait(
            |it| has_keys(it) && frame(it).is_some() == is_framed,
            &format!("keys with {line:?}"),
        );
    }
    nvim.keys(":quit<CR>:Caliban toggle<CR>:set statusline=mine\\ %t<CR>:Caliban<CR>");
    nvim.wait_screen("mine prompt");
    nvim.wait_screen("mine main");
    nvim.wait_screen("<CR> send · <Tab> to the chat · g? keys");
    assert_eq!(frame(&nvim), None);
}
