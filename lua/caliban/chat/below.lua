--- The lines of a transcript below the last row of a window: how many there are, and the way to them.
local M = {}

local api, fn = vim.api, vim.fn
local icon = require('caliban.editor.icons').of

--- The number of lines below each window, as it was last shown; none for 0.
local counts = {} ---@type table<integer, integer?>

--- The words for the lines below a window, and shorter ones; nil if there are none.
---@param win integer
---@return string?
---@return string? short
function M.words(win)
  local count = counts[win]
  if not count then
    return nil
  end
  local lines = count == 1 and 'line' or 'lines'
  return icon(('↓ %d more %s · G'):format(count, lines)), icon(('↓ %d · G'):format(count))
end

--- Called after a window of a transcript was drawn: counts the lines below it.
---@param win integer
---@return boolean # whether the number has changed
function M.count(win)
  local count = fn.line('$', win) - fn.line('w$', win)
  local now, last = count > 0 and count or nil, counts[win]
  counts[win] = now
  return now ~= last
end

--- Goes to the end, unless a window of this tab is there already or the user is in the transcript.
---@param chat caliban.Chat
function M.go(chat)
  local last, found = 0, nil ---@type integer, integer?
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == chat.transcript then
      last = api.nvim_buf_line_count(chat.transcript)
      if api.nvim_win_get_cursor(win)[1] >= last or win == api.nvim_get_current_win() then
        return
      end
      found = found or win
    end
  end
  if found then
    api.nvim_win_set_cursor(found, { last, vim.v.maxcol - 1 })
  end
end

return M
