//! The keys that Caliban maps in a file under review, if a plugin maps the same keys later.

use super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;

/// A plugin like gitsigns, which maps keys in a buffer some time after the file is read.
const LATE: &str = "
  vim.api.nvim_create_autocmd('BufReadPost', { callback = function(event)
    if event.file:find('b.txt', 1, true) then
      _G.on_attach = function(keys)
        for _, key in ipairs(keys) do
          vim.keymap.set('n', key, function() vim.g.theirs = key end,
            { buffer = event.buf, desc = 'Next Hunk', silent = true })
        end
        vim.keymap.set('n', '[h', '\"<lt>C-e>\"',
          { buffer = event.buf, expr = true, replace_keycodes = true, desc = 'Scroll' })
      end
    end
  end })";

const THEIRS: &str = "local out = {}
  for _, lhs in ipairs({ ']h', '[h', '\\\\a' }) do
    local map = vim.api.nvim_buf_call(vim.fn.bufnr('b.txt'), function()
      return vim.fn.maparg(lhs, 'n', false, true)
    end)
    map.lnum, map.callback = nil, tostring(map.callback)
    out[#out + 1] = vim.inspect(map)
  end
  return table.concat(out, '\\n')";

/// A scene with two hunks in `b.txt`, which has no window. Then the plugin maps its keys.
fn hidden() -> (Scene, String) {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()).before(LATE));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("b.txt", &[("l2", "L2"), ("l8", "L8")])));
    scene.wait_pending(2);
    scene.nvim.lua("on_attach({ ']h', '\\\\a' })", &[]);
    let theirs = scene.nvim.lua_str(THEIRS);
    assert!(theirs.contains("Next Hunk"), "{theirs}");
    (scene, theirs)
}

#[test]
fn a_review_takes_a_plugins_key_once_its_hidden_file_is_entered() {
    let (scene, theirs) = hidden();
    scene.nvim.keys(":edit b.txt<CR>2G");
    scene.nvim.wait_screen("[1/2] \\a accept  \\r reject  ]h next");
    scene.nvim.keys("]h");
    assert_eq!(scene.nvim.lua_str("return vim.fn.line('.')"), "8");
    scene.nvim.keys("\\a");
    scene.wait_hunks(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("]h\\a");
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.lua_str("return tostring(vim.g.theirs)"), "nil");
    assert_eq!(scene.nvim.lua_str(THEIRS), theirs, "the plugin's maps are back");
    scene.nvim.keys("]h");
    assert_eq!(scene.nvim.lua_str("return vim.g.theirs"), "]h");
}

#[test]
fn the_hint_shows_the_command_if_a_plugin_has_mapped_the_key() {
    let (scene, _) = hidden();
    scene.nvim.keys(":edit b.txt<CR>2G");
    scene.nvim.wait_screen("]h next");
    scene.nvim.lua("on_attach({ ']h' })", &[]);
    scene.nvim.keys("8G");
    scene.nvim.wait_screen("[2/2] \\a accept  \\r reject  :Caliban next");
    scene.nvim.keys("5G:Caliban accept hunk<CR>");
    scene.nvim.wait_screen("No hunk here. :Caliban next goes to the next one.");
    scene.nvim.keys(":Caliban next<CR>");
    assert_eq!(scene.nvim.lua_str("return vim.fn.line('.')"), "8");
    scene.nvim.keys(":edit a.txt<CR>:edit b.txt<CR>");
    scene.nvim.wait_screen("\\r reject  ]h next");
}

#[test]
fn the_hint_shows_the_key_with_the_users_localleader() {
    let scene = Scene::two_hunks(|it| it.before("vim.g.maplocalleader = ','"));
    scene.nvim.keys("2G");
    scene.nvim.wait_screen("[1/2] ,a accept  ,r reject  ]h next");
    scene.nvim.keys(":let maplocalleader = ';'<CR>8G");
    scene.nvim.wait_screen("[2/2] ,a accept  ,r reject  ]h next");
    scene.nvim.wait_screen(",A accept file · ,R reject file");
    scene.nvim.keys(",a");
    scene.wait_hunks(1);
}
