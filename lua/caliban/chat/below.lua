--- The lines of a transcript below the last row of a window: how many there are, and the way to them.
local M = {}

local api, fn = vim.api, vim.fn
local icon = require('caliban.editor.icons').of

--- The number of lines below each window, as it was last shown; none for 0.
local counts = {} ---@type table<integer, integer?>

--- The words for the lines below a window, and shorter ones; nil if there are none. They name the key only while the
--- cursor is in that window, because the key works only there.
---@param win integer
---@return string?
---@return string? short
function M.words(win)
  local count = counts[win]
  if not count then
    return nil
  end
  local lines = count == 1 and 'line' or 'lines'
  local key = win == api.nvim_get_current_win() and ' · G' or ''
  return icon(('↓ %d more %s%s'):format(count, lines, key)), icon(('↓ %d%s'):format(count, key))
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

--- Scrolls a window that has empty rows below the transcript's end, so that the lines above fill these rows.
---@param win integer
---@param buf integer the transcript
function M.pull(win, buf)
  local last, info = api.nvim_buf_line_count(buf), fn.getwininfo(win)[1]
  local top = math.min(info.topline, last)
  ---@param line integer
  ---@return boolean # whether the window can show all lines from this one on
  local function fits(line)
    return api.nvim_win_text_height(win, { start_row = line - 1 }).all <= info.height
  end
  while fn.line('w$', win) == last and top > 1 and fits(top - 1) do
    top = top - 1
  end
  if top < info.topline then
    api.nvim_win_call(win, function()
      fn.winrestview({ topline = top, skipcol = 0 })
    end)
  end
end

--- Scrolls all windows of a chat that have empty rows below the end.
---@param chat caliban.Chat
function M.fill(chat)
  for _, win in ipairs(fn.win_findbuf(chat.transcript)) do
    M.pull(win, chat.transcript)
  end
end

--- Goes to the end in all windows that show the transcript, except in the current window, where the user reads. A
--- transcript that no window shows is shown at its end next time.
---@param chat caliban.Chat
function M.go(chat)
  chat.views.transcript = nil
  for _, win in ipairs(fn.win_findbuf(chat.transcript)) do
    if win ~= api.nvim_get_current_win() then
      api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(chat.transcript), vim.v.maxcol - 1 })
    end
  end
end

return M
