--- Keeps code spans in one row: a gap of virtual blanks before a span that would be broken moves the span to the next
--- row. The text of the line stays as it is.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat')

--- The most bytes and the most spans of a line that is fitted.
local LONGEST, SPANS = 2048, 64
--- The most lines of a block that are fitted when they are painted: its last ones. The others are
--- fitted when they are near the visible rows.
local LINES = 50
--- The most bytes that are measured in one pass. A line counts twice for each of its code spans.
local MOST = 200000

--- The bytes that may still be measured in this pass.
local budget = 0

--- Whether a block is no Markdown, but may have names in backticks.
---@param block caliban.Block
---@return boolean
function M.is_note(block)
  return block.shape == 'notice' or block.shape == 'error'
end

--- Begins a pass that fits lines.
---@param now boolean false: this pass fits no line; later, the lines near the visible rows are fitted
function M.begin(now)
  budget = now and MOST or 0
end

--- The narrowest window that shows the chat. Nil if there is none, or if the window that is noted
--- as the narrowest no longer shows the chat.
---@param chat caliban.Chat
---@return caliban.Narrowest?
local function window(chat)
  local wrap = require('caliban.editor.wrap')
  local known = chat.narrowest or wrap.narrowest(chat.transcript)
  chat.narrowest = known
  return known and wrap.shows(known.win, chat.transcript) and known or nil
end

--- The row of the screen, counted from the beginning of the line, that a cell of the line is in.
---@param cell integer
---@param room integer
---@return integer
local function row_of(cell, room)
  return math.floor((cell - 1) / room)
end

--- Moves a part of a line to the next row if the part is broken but would fit into one row.
---@param buf integer
---@param row integer
---@param into caliban.Narrowest
---@param from integer the first byte of the part, from 1
---@param to integer its last byte
---@param above integer the row of the screen in which the text before the part ends, if known; otherwise -1
---@return integer # the row of the screen in which the part ends
local function move(buf, row, into, from, to, above)
  local virtcol, room = vim.fn.virtcol, into.room
  local ends = row_of(virtcol({ row + 1, to }, false, into.win) --[[@as integer]], room)
  if ends == above then
    return ends
  end
  local first = virtcol({ row + 1, from }, true, into.win)[1] ---@type integer
  local begins = row_of(first, room)
  if begins == ends then
    return ends
  end
  local gap = (begins + 1) * room - (first - 1)
  local mark = api.nvim_buf_set_extmark(buf, ns, row, from - 1, {
    virt_text = { { (' '):rep(gap) } },
    virt_text_pos = 'inline',
  })
  local moved = row_of(virtcol({ row + 1, to }, false, into.win) --[[@as integer]], room)
  if moved > begins + 1 then
    api.nvim_buf_del_extmark(buf, ns, mark)
    return ends
  end
  return moved
end

--- Removes the gaps of a line from a byte on.
---@param buf integer
---@param row integer
---@param from integer byte, from 1
local function clear(buf, row, from)
  local found = api.nvim_buf_get_extmarks(
    buf,
    ns,
    { row, from - 1 },
    { row, -1 },
    { details = true }
  )
  for _, mark in ipairs(found) do
    if mark[4] and mark[4].virt_text_pos == 'inline' then
      api.nvim_buf_del_extmark(buf, ns, mark[1])
    end
  end
end

--- The code spans of a line.
---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer the block's first row
---@param i integer the line's index in the block
---@param line string
---@return integer[]
local function codes_of(chat, block, row, i, line)
  if #line > LONGEST then
    return {}
  elseif M.is_note(block) then
    return require('caliban.chat.notes').codes(line)
  end
  return require('caliban.chat.markdown').codes(chat.transcript, block, row, i, line)
end

--- Fits the code spans of a line.
---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer the block's first row
---@param i integer the line's index in the block
---@param line string
---@param from integer the byte from which the spans are fitted, from 1
---@return boolean # false if no window is known to show the chat, or if `budget` does not suffice for the line
local function fit(chat, block, row, i, line, from)
  local into, buf = window(chat), chat.transcript
  if not into then
    return false
  end
  local codes = budget > 0 and codes_of(chat, block, row, i, line) or {}
  codes = #codes > 2 * SPANS and {} or codes
  local breaks = require('caliban.chat.breaks').class()
  local parts = require('caliban.chat.code_spans').parts(line, codes, breaks)
  if #parts * #line >= budget then
    return false
  end
  budget = budget - #parts * #line
  local done, above, reaches = 0, -1, false
  while done < #parts and parts[done + 2] < from do
    done = done + 2
  end
  from = math.min(from, parts[done + 1] or from)
  clear(buf, row + i, from)
  -- blanks that fit the rows of one window would leave a hole in rows of another width
  local wraps = into.even and vim.wo[into.win].wrap
  for n = done + 1, wraps and #parts or 0, 2 do
    local first, last = parts[n], parts[n + 1] ---@type integer, integer
    above = move(buf, row + i, into, first, last, above)
    reaches = last == #line
    from = reaches and first or last + 1
  end
  if i == block.n - 1 then
    block.growing = { i = i, from = from, reaches = reaches }
  end
  block.wrapped[i] = chat.wrapping
  return true
end

--- Notes that some lines are not fitted. They are fitted when they are near the visible rows.
---@param chat caliban.Chat
local function postpone(chat)
  chat.unfitted = chat.unfitted or {}
end

--- Fits the code spans of lines that were painted.
---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer the block's first row
---@param from integer the index of the first line that may be new or longer
---@param text? string what was added at the end; nil if lines were replaced
function M.grow(chat, block, row, from, text)
  local growing = text and block.growing
  if text and not (growing and growing.reaches or text:find('`', 1, true)) then
    return
  end
  block.growing = nil
  if budget == 0 then
    return postpone(chat)
  end
  local first = math.max(from, block.n - LINES)
  if first > from then
    postpone(chat)
  end
  local lines = api.nvim_buf_get_lines(chat.transcript, row + first, row + block.n, false)
  for n, line in ipairs(lines) do
    local i = first + n - 1
    -- a double backtick may close a span that begins before spans that are already fitted
    local goes_on = not line:find('``', 1, true)
    local start = growing and growing.i == i and goes_on and growing.from or 1
    if line:find('`', 1, true) and not fit(chat, block, row, i, line, start) then
      postpone(chat)
    end
  end
end

--- Fits the code spans in a range of rows, except in lines that are fitted to the present wrapping.
---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer the block's first row
---@param first integer
---@param last integer
---@return boolean # whether all lines are fitted
function M.refit(chat, block, row, first, last)
  local from, to = math.max(first - row, 0), math.min(last - row, block.n - 1)
  if from > to or not (M.is_note(block) or require('caliban.chat.marks').is_markdown(block)) then
    return true
  end
  local lines, all ---@type string[]?, boolean
  all = true
  for i = from, to do
    if block.wrapped[i] ~= chat.wrapping then
      lines = lines or api.nvim_buf_get_lines(chat.transcript, row + from, row + to + 1, false)
      local line = lines[i - from + 1]
      if not line:find('`', 1, true) then
        block.wrapped[i] = chat.wrapping
      else
        all = fit(chat, block, row, i, line, 1) and all
      end
    end
  end
  return all
end

return M
