--- Wraps the lines of a transcript at blanks, not inside a path or a code span. The characters at which Neovim wraps
--- are a global option ('breakat'): it is changed only while no window of the user depends on it.
local M = {}

local api = vim.api

--- Caliban's value of 'breakat'. Nobody else writes the blanks in this order: that shows that the value is Caliban's,
--- even after a session file has restored it.
local BLANKS = '\t '

--- Neovim's default of 'breakat'.
local default = api.nvim_get_option_info2('breakat', {}).default

--- Whether the current tab shows a transcript, and no window of the user that wraps at 'breakat' ('linebreak').
---@return boolean
local function wanted()
  local chats, shown = require('caliban.chat.chats'), false
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local buf = api.nvim_win_get_buf(win)
    local chat = chats.of(buf)
    shown = shown or chat ~= nil and chat.transcript == buf
    if not chat and vim.wo[win].linebreak and vim.wo[win].wrap then
      return false
    end
  end
  return shown
end

--- Sets or resets 'breakat' as the windows now require. Does not change a value that the user has set.
function M.update()
  local now, want = vim.o.breakat, wanted()
  if want and now == default then
    vim.cmd("noautocmd lua vim.o.breakat = '\\t '")
  elseif now == BLANKS and not want then
    vim.cmd('noautocmd set breakat&')
  end
end

--- Begins to watch the windows.
function M.watch()
  local group = api.nvim_create_augroup('caliban_breaks', {})
  local events = { 'BufWinEnter', 'WinNew', 'WinClosed', 'TabEnter' }
  local update = vim.schedule_wrap(M.update)
  api.nvim_create_autocmd(events, { group = group, callback = update })
  local pattern = { 'linebreak', 'wrap', 'breakat' }
  api.nvim_create_autocmd('OptionSet', { group = group, pattern = pattern, callback = update })
end

return M
