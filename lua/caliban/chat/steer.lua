--- Which key sends a message into the running turn.

local api = vim.api

local M = {}

--- Terminals that send distinct bytes for `<M-CR>`, by Neovim's name for the terminal. All others may send the bytes of
--- `<Esc>` and `<CR>`, which Neovim reads as `<M-CR>` if both arrive within 'ttimeoutlen'.
---@type table<string, boolean?>
local distinct =
  { ['xterm-kitty'] = true, ['xterm-ghostty'] = true, foot = true, ['foot-extra'] = true }

--- The key that steers: `<M-CR>`, if each UI is graphical or is a terminal that sends distinct bytes for it.
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
