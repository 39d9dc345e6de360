--- The options of a new window of a chat before it gets its own.
local M = {}

local api = vim.api

--- The names of the options that a window has for itself, without those that fix its size.
local options = {} ---@type string[]

--- Gives all options of a window the user's global values, so that nothing is taken over from the window beside which
--- it was opened, or from an autocommand for new windows.
---@param win integer
function M.clear(win)
  if #options == 0 then
    for name, info in pairs(api.nvim_get_all_options_info()) do
      if info.scope == 'win' and name ~= 'winfixwidth' and name ~= 'winfixheight' then
        table.insert(options, name)
      end
    end
  end
  for _, name in ipairs(options) do
    pcall(api.nvim_set_option_value, name, nil, { scope = 'local', win = win })
  end
  -- what follows would fail in a window with one of these options
  for _, name in ipairs({ 'winfixbuf', 'diff', 'scrollbind', 'cursorbind' }) do
    api.nvim_set_option_value(name, false, { scope = 'local', win = win })
  end
end

return M
