--- The hint on the hunk under the cursor: its number and the keys, after the text of a line.
local M = {}

local api = vim.api
local tracking = require('caliban.review.hunks.tracking')
local undone = require('caliban.review.undone')

local space = api.nvim_create_namespace('caliban.review.hint')

--- The hint is shown at most this many rows away from the cursor or, outside of the hunk, from the
--- hunk.
local NEAR = 8

---@alias caliban.ReviewKey 'next hunk'|'accept hunk'|'reject hunk'|'accept file'|'reject file'

--- A key and its action in words. A command is returned without the action, because it names the
--- action itself.
---@param key string
---@param word string the action
---@return string
function M.worded(key, word)
  return vim.startswith(key, ':') and key or key .. ' ' .. word
end

--- How many cells are free after the text of a line and its mark (see `ui/syntax`) in the current
--- window.
---@param row integer
---@return integer
local function room_behind(row)
  local win = api.nvim_get_current_win()
  local left = require('caliban.review.ui.gutter').cells(api.nvim_win_get_buf(win))
  local room = api.nvim_win_get_width(win) - (left or vim.fn.getwininfo(win)[1].textoff)
  local line = api.nvim_buf_get_lines(0, row, row + 1, false)[1] or ''
  if #line > 8 * vim.o.columns or room <= 0 then
    return 0
  end
  -- `last` includes the cell after the line's end
  local last = vim.fn.virtcol({ row + 1, '$' }) --[[@as integer]]
  local used = vim.wo.wrap and last > 1 and (last - 2) % room + 1 or last - 1
  return room - used - 1 - require('caliban.review.ui.syntax').width(0, row)
end

--- The hints on the hunk under the cursor, the longest first. A hint with the actions of the keys
--- comes before a shorter one with the hunk's number, because the actions say more.
---@param r caliban.Review
---@param i integer the hunk's number, from 1
---@param far boolean whether the window does not show the header
---@param key fun(buf: integer, desc: caliban.ReviewKey): string the key for an action
---@return string[]
local function hints_of(r, i, far, key)
  local n, worded = tracking.count(r), M.worded
  local accept, reject = key(r.buf, 'accept hunk'), key(r.buf, 'reject hunk')
  local next = key(r.buf, 'next hunk')
  local number = ('  [%d/%d]'):format(i, n)
  local keys = ('  %s  %s'):format(worded(accept, 'accept'), worded(reject, 'reject'))
  local counted = number .. keys:sub(2)
  local jump = ('%s  %s'):format(counted, worded(next, 'next'))
  local all = worded(key(r.buf, 'accept file'), 'accept file')
  local whole = ('%s  %s  %s'):format(jump, all, worded(key(r.buf, 'reject file'), 'reject file'))
  local bare = ('  %s  %s'):format(accept, reject)
  local short = ('%s %s %s'):format(number, accept, reject)
  local least = n > 1 and { short .. ' ' .. next, short, bare, number } or { bare }
  return vim.list_extend(far and { whole, jump, counted, keys } or { jump, counted, keys }, least)
end

--- The rows of the hunk under the cursor that the window shows, the nearest first.
---@param hunk caliban.Hunk
---@param row integer the cursor's row
---@return integer[]
local function rows_of(hunk, row)
  local rows = { row }
  local first, last = vim.fn.line('w0') - 1, vim.fn.line('w$') - 1
  first, last = math.max(first, hunk.start), math.min(last, hunk.start + #hunk.new - 1)
  for distance = 1, NEAR do
    table.insert(rows, row + distance <= last and row + distance or nil)
    table.insert(rows, row - distance >= first and row - distance or nil)
  end
  return rows
end

--- The rows above and below the hunk that are visible and in no hunk, the nearest first.
---@param r caliban.Review
---@param hunk caliban.Hunk
---@return integer[]
local function rows_around(r, hunk)
  local rows, first, last = {}, vim.fn.line('w0') - 1, vim.fn.line('w$') - 1
  for distance = 1, NEAR do
    local below, above = hunk.start + #hunk.new - 1 + distance, hunk.start - distance
    table.insert(rows, below <= last and not tracking.at(r, below) and below or nil)
    table.insert(rows, above >= first and not tracking.at(r, above) and above or nil)
  end
  return rows
end

--- The first of these texts that fits on the screen after the text of a row, and the row. Neovim
--- would cut a longer text off.
---@param texts string[]
---@param rows integer[]
---@return string?
---@return integer? row
local function fitting(texts, rows)
  local room = {} ---@type table<integer, integer>
  for _, text in ipairs(texts) do
    for _, row in ipairs(rows) do
      room[row] = room[row] or room_behind(row)
      if api.nvim_strwidth(text) <= room[row] then
        return text, row
      end
    end
  end
end

---@class caliban.PlacedHint
---@field hunks caliban.Hunks
---@field win integer
---@field at integer the cursor's row
---@field top integer the first visible line
---@field text? string nil if no hint fits
---@field row? integer

--- The last hint, until Neovim handles other events: when a motion scrolls the window, Neovim reports the motion and the
--- scrolling one after the other, and both ask for the hint.
local last ---@type caliban.PlacedHint?

--- The hint on a hunk, and its row.
---@param r caliban.Review
---@param i integer the hunk's number, from 1
---@param hunk caliban.Hunk
---@param at integer the cursor's row
---@param key fun(buf: integer, desc: caliban.ReviewKey): string
---@return string?
---@return integer? row
local function on_hunk(r, i, hunk, at, key)
  local win, top, hunks = api.nvim_get_current_win(), vim.fn.line('w0'), tracking.hunks(r)
  local it = last
  if it and it.hunks == hunks and it.win == win and it.at == at and it.top == top then
    return it.text, it.row
  end
  local texts = hints_of(r, i, top > 1, key)
  local text, row = fitting(texts, rows_of(hunk, at))
  if not text then
    text, row = fitting(texts, rows_around(r, hunk))
  end
  last = { hunks = hunks, win = win, at = at, top = top, text = text, row = row }
  vim.schedule(function()
    last = nil
  end)
  return text, row
end

--- The hint for the cursor in the current window, and its row.
---@param r caliban.Review
---@param key fun(buf: integer, desc: caliban.ReviewKey): string
---@return string?
---@return integer? row
local function placed(r, key)
  local at = api.nvim_win_get_cursor(0)[1] - 1
  if undone.holds(r) then
    return fitting({ '  ' .. undone.words }, { at })
  end
  local i, hunk = tracking.at(r, at)
  if i and hunk then
    return on_hunk(r, i, hunk, at, key)
  end
end

--- Shows the hint on the hunk under the cursor, if the file's window is the current one.
---@param r caliban.Review
---@param key fun(buf: integer, desc: caliban.ReviewKey): string the key for an action
function M.show(r, key)
  local text, row ---@type string?, integer?
  if r.buf == api.nvim_get_current_buf() then
    text, row = placed(r, key)
  end
  if not (text and row) then
    api.nvim_buf_del_extmark(r.buf, space, 1)
    return
  end
  local now = api.nvim_buf_get_extmark_by_id(r.buf, space, 1, { details = true })
  if now[1] ~= row or now[2] ~= 0 or vim.tbl_get(now, 3, 'virt_text', 1, 1) ~= text then
    local chunks = { { text, 'CalibanDim' } }
    local opts = { id = 1, virt_text = chunks, hl_mode = 'combine', strict = false }
    api.nvim_buf_set_extmark(r.buf, space, row, 0, opts)
  end
end

---@param buf integer
function M.clear(buf)
  last = nil
  api.nvim_buf_clear_namespace(buf, space, 0, -1)
end

return M
