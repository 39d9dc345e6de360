--- Which key sends a message into the running turn.

local api = vim.api

local M = {}

--- Terminals that send `<M-CR>` as bytes of its own, by the name that Neovim has for them. All others may send the bytes
--- of `<Esc>` and `<CR>`, and Neovim reads these as `<M-CR>` if both arrive within 'ttimeoutlen'.
---@type table<string, boolean?>
local distinct =
  { ['xterm-kitty'] = true, ['xterm-ghostty'] = true, foot = true, ['foot-extra'] = true }

--- The key that steers: `<M-CR>`, if each UI is a graphical one or a terminal that sends it as a key of its own.
---@return '<M-CR>'|'g<CR>'
function M.key()
  for _, ui in ipairs(api.nvim_list_uis()) do
    -- of a remote UI 'stdout_tty' is not set
    if (ui.stdout_tty or ui.term_name ~= '') and not distinct[ui.term_name] then
      return 'g<CR>'
    end
  end
  return '<M-CR>'
end

return M
