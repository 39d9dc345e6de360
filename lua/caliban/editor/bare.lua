--- The options of a new window of Caliban's before it gets its own.
local M = {}

local api = vim.api

--- The names of the options that a window has for itself, without those that fix its size.
local options = {} ---@type string[]

--- The options of a window whose text is no code.
local plain = {
  wrap = true,
  breakindent = true,
  linebreak = true,
  number = false,
  relativenumber = false,
  cursorline = false,
  cursorcolumn = false,
  colorcolumn = '',
  signcolumn = 'no',
  statuscolumn = '',
  foldcolumn = '0',
  foldenable = false,
  list = false,
  spell = false,
}

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

--- Makes the options of a window those of one whose text is no code, whatever the window beside it has.
---@param win integer
function M.prose(win)
  M.clear(win)
  for name, value in pairs(plain) do
    vim.wo[win][0][name] = value
  end
  -- not `vim.o`: that may be the value which a rule of Caliban's has in the current window
  local chars = vim.go.fillchars
  vim.wo[win][0].fillchars = chars .. (chars == '' and '' or ',') .. 'eob: ,lastline: '
end

return M
