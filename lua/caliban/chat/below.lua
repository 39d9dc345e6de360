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
  local rows = api.nvim_win_text_height(win, { start_row = top - 1 }).all
  if fn.line('w$', win) == last and top > 1 and rows < info.height then
    require('caliban.chat.scroll').bottom(win, last, top)
  end
end

--- Scrolls all windows of a chat that have empty rows below the end.
---@param chat caliban.Chat
function M.fill(chat)
  for _, win in ipairs(fn.win_findbuf(chat.transcript)) do
    M.pull(win, chat.transcript)
  end
end

--- Keeps a list or the end in sight after words that take rows of their own were drawn: a window that follows the end
--- shows the list from its head, if it has no room for all of it, else the last line.
---@param chat caliban.Chat
---@param head? integer the row of the list's head
function M.stay(chat, head)
  local last = api.nvim_buf_line_count(chat.transcript)
  for _, win in ipairs(fn.win_findbuf(chat.transcript)) do
    local info = fn.getwininfo(win)[1]
    ---@param row integer
    ---@return boolean # whether the window has room for all lines from this row on
    local function fits(row)
      return api.nvim_win_text_height(win, { start_row = row }).all <= info.height
    end
    local cursor, scroll = api.nvim_win_get_cursor(win)[1], require('caliban.chat.scroll')
    local follows = cursor == last or head and cursor == head + 1
    if follows and head and not fits(head) then
      api.nvim_win_set_cursor(win, { head + 1, 0 })
      scroll.top(win, head + 1)
    elseif follows and fn.line('w$', win) < last and fits(last - 1) then
      api.nvim_win_set_cursor(win, { last, 0 })
      scroll.bottom(win, last)
    end
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
