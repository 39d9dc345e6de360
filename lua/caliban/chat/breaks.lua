--- Wraps the lines of a transcript at blanks, not inside a path or a code span. 'breakat', the characters at which
--- Neovim wraps, is a global option: this module changes it only while no other window depends on it.
local M = {}

local api = vim.api

--- Caliban's value of 'breakat'. The two blanks are in an order that nobody else uses, so Caliban
--- recognises its own value, even after a session file (`:mksession`) has restored it.
local BLANKS = '\t '

--- The value of 'breakat' when it was last looked at.
local seen ---@type string?

--- Neovim's default of 'breakat'.
local default = api.nvim_get_option_info2('breakat', {}).default

--- Whether the current tab shows a transcript, and no window of the user's in it wraps at 'breakat' ('linebreak').
--- Caliban's other windows wrap like a transcript.
---@return boolean
local function wanted()
  local chats, scratch = require('caliban.chat.chats'), require('caliban.editor.scratch')
  local shown = false
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local buf = api.nvim_win_get_buf(win)
    local chat = chats.of(buf)
    shown = shown or chat ~= nil and chat.transcript == buf
    local is_ours = chat or vim.w[win].caliban_plan or scratch.made(buf)
    if not is_ours and vim.wo[win].linebreak and vim.wo[win].wrap then
      return false
    end
  end
  return shown
end

--- Sets 'breakat' to Caliban's value while a transcript needs it, otherwise resets the option to
--- its default. Does not change a value that the user has set.
---@return boolean # whether the option has changed since the last call
function M.update()
  local now, want = vim.o.breakat, wanted()
  if want and now == default then
    vim.cmd("noautocmd lua vim.o.breakat = '\\t '")
  elseif now == BLANKS and not want then
    vim.cmd('noautocmd set breakat&')
  end
  local is = vim.o.breakat
  local changed = is ~= seen
  seen = is
  return changed
end

--- The characters at which Neovim wraps, as a character class for a Lua pattern.
---@return string
function M.class()
  return '[ ' .. vim.o.breakat:gsub('%W', '%%%0') .. ']'
end

return M
