//! All options of the user's windows before, during and after a turn, a review and a chat.

use super::{CHANGED, LAYOUTS, each};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::edit;

/// The options of each window that shows a file, and its place and size.
const KEPT: &str = "local out = {}
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(vim.api.nvim_list_tabpages()[1])) do
      local file = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)):match('[^/]*%.txt$')
      for name, info in pairs(vim.api.nvim_get_all_options_info()) do
        if file and info.scope == 'win' and name ~= 'scroll' then
          local value = vim.api.nvim_get_option_value(name, { scope = 'local', win = win })
          out[#out + 1] = ('%s %s=%s'):format(file, name, tostring(value))
        end
      end
    end
    table.sort(out)
    return table.concat(out, '\\n')";

#[test]
fn the_users_windows_keep_all_their_options() {
    each(LAYOUTS, |layout| {
        let server = Server::start();
        let setup = Setup::new().anthropic(&server).size(160, 50).file("a.txt", "one\n");
        let setup = setup.file("b.txt", "two\n").config(&format!("{{ layout = '{layout}' }}"));
        let nvim = Nvim::start(&setup);
        nvim.keys(":edit a.txt<CR>:vsplit b.txt<CR>");
        nvim.lua(CHANGED, &[]);
        if *layout == "current" {
            // no chat opens in a window that keeps its buffer, nor in the one for previews
            nvim.lua("vim.wo.winfixbuf, vim.wo.previewwindow = false, false", &[]);
        }
        let before = nvim.lua_str(KEPT);
        assert!(before.contains("b.txt diff=true") && before.contains("a.txt diff=false"));
        let in_its_window = *layout == "current";
        let seen: Vec<&str> =
            before.lines().filter(|it| !in_its_window || it.starts_with("a.txt")).collect();
        let keeps = |what: &str| {
            let now = nvim.lua_str(KEPT);
            let other: Vec<&str> = now.lines().filter(|it| !seen.contains(it)).collect();
            assert!(other.is_empty() && now.lines().count() == seen.len(), "{what}: {other:?}");
        };
        nvim.keys(":Caliban<CR>");
        nvim.wait_transcript("Project");
        keeps("a chat");
        let gate = server.reply(Reply::new().text("Half of").gate().call(
            "e1",
            "edit",
            edit("a.txt", &[("one", "ONE")]),
        ));
        nvim.keys("igo<C-s><Esc>");
        nvim.wait_screen("Half of");
        keeps("a turn");
        gate.finish();
        nvim.wait_pending(1);
        keeps("a review");
        server.reply(Reply::said("Done."));
        nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
        nvim.wait_phase("idle");
        keeps("the end of a review");
        nvim.keys(":Caliban close<CR>");
        nvim.wait(|it| it.lua_str("return #vim.api.nvim_list_wins()") == "2", "the user's windows");
        assert_eq!(nvim.lua_str(KEPT), before);
    });
}
