--- Has the rows of a transcript broken between words, not inside a path or a code span. What rows are broken at is an
--- option of all windows together ('breakat'): it is changed only while no window of the user's looks different for it.
local M = {}

local api = vim.api

--- Our value of 'breakat', in an order that nobody else writes: it tells that it is ours, even where a session file has
--- kept it.
local BLANKS = '\t '

--- What Neovim has 'breakat' at by default.
local default = api.nvim_get_option_info2('breakat', {}).default

--- Whether the present tab shows a transcript, and no window of the user's that is broken at 'breakat'.
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

--- Changes 'breakat' or puts it back, as the windows are now. A value of the user's own stays.
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
