--- Determines which key sends a message into the running turn.

local api = vim.api

local M = {}

--- Terminals (by Neovim's name for them) that send special bytes for `<M-CR>`. All others may send
--- the bytes of `<Esc>` and `<CR>`, which Neovim reads as `<M-CR>` if both arrive within
--- 'ttimeoutlen'.
---@type table<string, boolean?>
local distinct =
  { ['xterm-kitty'] = true, ['xterm-ghostty'] = true, foot = true, ['foot-extra'] = true }

--- The key that sends into the running turn: `<M-CR>` if each attached UI is graphical or a
--- terminal that sends special bytes for this key.
---@return '<M-CR>'|'g<CR>'
function M.key()
  for _, ui in ipairs(api.nvim_list_uis()) do
    -- a remote UI does not set 'stdout_tty'
    if (ui.stdout_tty or ui.term_name ~= '') and not distinct[ui.term_name] then
      return 'g<CR>'
    end
  end
  return '<M-CR>'
end

return M
