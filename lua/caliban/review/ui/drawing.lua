--- Draws a hunk: its added and removed lines, the words that differ, its signs. Marks that are
--- already right are kept, so that a redraw only draws the new part of the screen.
local M = {}

local api = vim.api
local algebra = require('caliban.review.hunks.algebra')
local removed = require('caliban.review.ui.removed')
local tint = require('caliban.editor.tint')

local space = api.nvim_create_namespace('caliban.review')

--- This many rows of a long hunk are also drawn above and below the requested rows.
local MORE = 200

--- The text after a removed last line that differs from the new last line only in the newline at
--- its end.
local NO_END, WITH_END = ' (no newline at the end)', ' (a newline at the end)'

--- The highlight group for the background of words that differ.
local WORD = 'CalibanAddWordGround'

---@class caliban.Drawn a hunk on the screen
---@field old string[]
---@field first integer first drawn row, counted from the hunk's first row
---@field last integer the row after the last drawn one, counted from the hunk's first row
---@field marks table<integer, integer> by id: the `place` of a mark, its row counted from the hunk's first row
---@field edge? 'top'|'end' where the hunk is in the buffer, if removed lines are drawn differently there
---@field above [string, string|string[]][][] the removed lines
---@field words caliban.Words

--- A row and a column as one number.
---@param row integer
---@param col integer
---@return integer
local function place(row, col)
  return row * 2 ^ 28 + col
end

--- Shows virtual lines above a row.
---@param buf integer
---@param row integer
---@param lines [string, string|string[]][][]
---@param id? integer the id of the mark to replace
---@return integer id the id of the mark
function M.above(buf, row, lines, id)
  local rows = api.nvim_buf_line_count(buf)
  local opts = { id = id, virt_lines = lines, virt_lines_above = row < rows }
  opts.virt_lines_leftcol = require('caliban.review.ui.gutter').cells(buf) ~= nil
  return api.nvim_buf_set_extmark(buf, space, math.min(row, rows - 1), 0, opts)
end

---@param buf integer
---@param hunk caliban.Hunk
---@return 'top'|'end'|nil
local function edge(buf, hunk)
  return hunk.start == 0 and 'top' or hunk.start >= api.nvim_buf_line_count(buf) and 'end' or nil
end

--- The words that differ in a hunk, and its removed lines. Reuses those of the previous drawing if
--- it shows the same removed lines.
---@param buf integer
---@param hunk caliban.Hunk
---@param code? caliban.RemovedCode
---@param was? caliban.Drawn
---@return caliban.Words
---@return [string, string|string[]][][]
local function texts(buf, hunk, code, was)
  if was and was.old == hunk.old then
    return was.words, was.above
  elseif algebra.ends(hunk) then
    local tail = vim.bo[buf].endofline and NO_END or WITH_END
    local none = { old = {}, new = {} }
    return none, removed.lines(buf, hunk, none.old, code, tail)
  end
  local words = require('caliban.review.hunks.words').changed(hunk.old, hunk.new)
  return words, removed.lines(buf, hunk, words.old, code)
end

--- Finds where the comment in a line of a hunk begins, if the colour of comments is not legible on
--- the background of changed words. A comment sign in a string counts too: changed words after it
--- only lose their colours.
---@param buf integer
---@param hunk caliban.Hunk
---@return fun(i: integer): integer # by the line's index: the comment's first byte, else infinity
local function comments(buf, hunk)
  local sign = vim.bo[buf].commentstring:match('^%s*(%S+)%s*%%s')
  local is_faint = sign and tint.on(WORD, 'Comment') ~= 'Comment'
  return function(i)
    return is_faint and hunk.new[i]:find(sign, 1, true) or math.huge
  end
end

---@param buf integer
---@param hunk caliban.Hunk
---@param from integer first row to draw
---@param to integer row after the last one to draw
---@param code? caliban.RemovedCode
---@param was? caliban.Drawn
---@return caliban.Drawn
local function draw(buf, hunk, from, to, code, was)
  local words, above = texts(buf, hunk, code, was)
  local first, last = math.max(hunk.start, from), math.min(hunk.start + #hunk.new, to)
  local rows = api.nvim_buf_line_count(buf)
  local it = {
    old = hunk.old,
    first = first - hunk.start,
    last = last - hunk.start,
    marks = {},
    edge = edge(buf, hunk),
    above = above,
    words = words,
  }
  ---@param row integer
  ---@param col integer
  ---@param opts vim.api.keyset.set_extmark
  local function mark(row, col, opts)
    opts.strict = false
    it.marks[api.nvim_buf_set_extmark(buf, space, row, col, opts)] = place(row - hunk.start, col)
  end
  local comment = comments(buf, hunk)
  for i, ranges in pairs(words.new) do
    for n = 1, #ranges, 2 do
      local group = ranges[n] + 1 >= comment(i) and { WORD, tint.PLAIN } or WORD
      local opts = { end_col = ranges[n + 1], hl_group = group, priority = 210 }
      mark(hunk.start + i - 1, ranges[n], opts)
    end
  end
  if first < last then
    mark(first, 0, { end_row = last, hl_group = 'CalibanAddGround', hl_eol = true, priority = 90 })
  end
  local sign =
    { sign_text = require('caliban.editor.icons').of('▎'), sign_hl_group = 'CalibanSign' }
  local plus = require('caliban.review.ui.gutter').in_text(buf, '+')
  for row = first, last - 1 do
    mark(row, 0, sign)
    local _ = plus and mark(row, 0, { virt_text = { plus }, virt_text_pos = 'inline' })
  end
  if #hunk.new == 0 then
    mark(math.min(hunk.start, rows - 1), 0, sign)
  end
  if it.edge ~= 'top' and #above > 0 then
    local row = math.min(hunk.start, rows - 1) - hunk.start
    it.marks[M.above(buf, hunk.start, above)] = place(row, 0)
  end
  return it
end

---@param buf integer
---@param it caliban.Drawn
function M.erase(buf, it)
  for id in pairs(it.marks) do
    api.nvim_buf_del_extmark(buf, space, id)
  end
end

--- Whether a hunk is drawn already: its marks have not moved, and each requested row has its marks.
---@param buf integer
---@param it caliban.Drawn
---@param hunk caliban.Hunk
---@param from integer the first requested row
---@param to integer the row after the last requested one
---@param marks table<integer, integer> by id: the place of each mark in the buffer
---@return boolean
local function stands(buf, it, hunk, from, to, marks)
  local first, last = math.max(from - hunk.start, 0), math.min(to - hunk.start, #hunk.new)
  local lacks = first < last and (first < it.first or last > it.last)
  if it.old ~= hunk.old or it.edge ~= edge(buf, hunk) or lacks then
    return false
  end
  local start = place(hunk.start, 0)
  for id, at in pairs(it.marks) do
    if marks[id] ~= start + at then
      return false
    end
  end
  return true
end

--- Draws a hunk, unless it is drawn already.
---@param buf integer
---@param hunk caliban.Hunk
---@param rows [integer, integer] the rows to draw for a window
---@param marks table<integer, integer> by id: the place of each mark in the buffer; new marks are added
---@param was? caliban.Drawn the hunk as drawn before
---@param other? caliban.Drawn the hunk as just drawn for another window
---@param code? caliban.RemovedCode
---@return caliban.Drawn
function M.draw(buf, hunk, rows, marks, was, other, code)
  local it = other or was
  if it and stands(buf, it, hunk, rows[1], rows[2], marks) then
    return it
  end
  local from, to = rows[1] - MORE, rows[2] + MORE
  if it then
    M.erase(buf, it)
  end
  if other then
    from, to = math.min(from, hunk.start + other.first), math.max(to, hunk.start + other.last)
  end
  it = draw(buf, hunk, from, to, code, it)
  for id, at in pairs(it.marks) do
    marks[id] = place(hunk.start, 0) + at
  end
  return it
end

--- The places of the marks of all hunks.
---@param buf integer
---@return table<integer, integer> by id
function M.marks(buf)
  local out = {}
  for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, space, 0, -1, {})) do
    out[mark[1]] = place(mark[2], mark[3])
  end
  return out
end

---@param buf integer
function M.clear(buf)
  api.nvim_buf_clear_namespace(buf, space, 0, -1)
end

return M
