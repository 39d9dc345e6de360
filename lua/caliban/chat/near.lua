--- Fits the words beside lines, and the code spans, to the width of a transcript's windows, in the
--- visible rows and those near them.
local M = {}

local wrap = require('caliban.editor.wrap')

--- This many rows above and below the visible rows are fitted too.
local MARGIN = 50

--- Places the words beside blocks and fits the code spans of the blocks, unless they are fitted to
--- this width already.
---@param chat caliban.Chat
---@param room integer
---@param first integer the first row that is looked at
---@param last integer
---@return boolean # whether all rows of the chat are fitted
local function fit_rows(chat, room, first, last)
  local beside, unbroken = require('caliban.chat.beside'), require('caliban.chat.unbroken')
  local row, all = chat.total, first <= 0 and chat.total <= last
  for i = #chat.blocks, 1, -1 do
    local block = chat.blocks[i]
    row = row - block.n
    if row + block.n <= first then
      return false
    elseif row <= last then
      if block.need and block.need > math.min(block.room or 0, room) and block.room ~= room then
        beside.show(chat, block, row + (block.head or 0))
      end
      all = unbroken.refit(chat, block, row, first, last) and all
    end
  end
  return all
end

--- Fits the rows that a window shows, and then the rows near them.
---@param chat caliban.Chat
---@param win integer
---@param room integer
---@return boolean # whether all rows of the chat are fitted; false if the transcript is not intact
local function fit(chat, win, room)
  if not require('caliban.chat.order').is_intact(chat) then
    return false
  end
  local first, last = vim.fn.line('w0', win) - 1, vim.fn.line('w$', win) - 1
  require('caliban.chat.unbroken').begin(true)
  fit_rows(chat, room, first, last)
  return fit_rows(chat, room, first - MARGIN, last + MARGIN)
end

--- Fits the visible rows again after the windows of a transcript were opened or resized.
---@param chat caliban.Chat
---@return boolean # whether the width of the rows has changed
function M.refit(chat)
  local had, now = chat.narrowest, wrap.narrowest(chat.transcript)
  chat.narrowest = now
  if not now then
    return false
  end
  local changed, all = not had or had.room ~= now.room, false
  local rewraps = changed or not had or had.even ~= now.even
  chat.wrapping = chat.wrapping + (rewraps and 1 or 0)
  for _, win in ipairs(vim.fn.win_findbuf(chat.transcript)) do
    all = fit(chat, win, now.room) or all
  end
  chat.unfitted = not all and (rewraps and {} or chat.unfitted) or nil
  return changed
end

--- Called when a window draws a transcript. After a resize, only the rows near the visible ones are fitted again, so
--- others are fitted when the window has scrolled to them.
---@param chat caliban.Chat
---@param win integer
---@param top integer the first row that is drawn
function M.drawn(chat, win, top)
  if not chat.unfitted or chat.unfitted[win] == top then
    return
  end
  chat.unfitted[win] = top
  vim.schedule(function()
    local is_shown = wrap.shows(win, chat.transcript)
    -- a new width is noted by `refit` alone, whose caller adapts more than these rows
    if is_shown and chat.narrowest and fit(chat, win, chat.narrowest.room) then
      chat.unfitted = nil
    end
  end)
end

return M
