//! The chat's state when another plugin sets its own 'winbar' in every window.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;

/// Sets the window-local option 'winbar' as lualine does: on events, and when called, as lualine's timer does.
const LUALINE: &str = "local function refresh()
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
fn the_state_moves_into_the_chat_where_a_plugin_has_the_winbar() {
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
    nvim.wait_screen("<CR> send · g? keys");
}
