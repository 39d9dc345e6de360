--- Draws a hunk: its added and removed lines, the words that differ, its signs. Marks that are
--- already right are kept, so that a redraw only draws the new part of the screen.
local M = {}

local api = vim.api
local algebra = require('caliban.review.hunks.algebra')

local space = api.nvim_create_namespace('caliban.review')

--- This many rows of a long hunk are also drawn above and below the requested rows.
local MORE = 200
--- The most lines of a hunk, and bytes of a line, in which the changed words are highlighted.
local MOST_LINES, MOST_BYTES = 60, 800

--- The text behind a removed last line that differs from the new last line only in the newline at
--- its end.
local NO_END, WITH_END = ' (no newline at the end)', ' (a newline at the end)'

---@class caliban.Drawn a hunk on the screen
---@field old string[]
---@field first integer first drawn row, counted from the hunk's first row
---@field last integer the row after the last drawn one, counted from the hunk's first row
---@field marks table<integer, integer> by id: the `place` of a mark, its row counted from the hunk's first row
---@field edge? 'top'|'end' where the hunk is in the buffer, if removed lines are drawn differently there
---@field above [string, string][][] removed lines to show above row 0

--- A row and a column as one number.
---@param row integer
---@param col integer
---@return integer
local function place(row, col)
  return row * 2 ^ 28 + col
end

---@param line string
---@return string[] parts of the line: words, blanks and other characters
local function words(line)
  local out = {}
  for space_, word, other in line:gmatch('(%s*)([%w_\128-\255]*)([^%w%s_\128-\255]?)') do
    for _, part in ipairs({ space_, word, other }) do
      if part ~= '' then
        out[#out + 1] = part
      end
    end
  end
  return out
end

--- Byte ranges of the words that differ.
---@param old string
---@param new string
---@return integer[][] old, integer[][] new
local function differing(old, new)
  if #old > MOST_BYTES or #new > MOST_BYTES then
    return {}, {}
  end
  local a, b = words(old), words(new)
  local function ranges(list, at, size, out)
    local from = #table.concat(list, '', 1, at)
    if size > 0 then
      out[#out + 1] = { from, from + #table.concat(list, '', at + 1, at + size) }
    end
  end
  local left, right = {}, {}
  local runs = algebra.runs(a, b)
  -- lines that have little in common get no highlighted words
  local changed = 0
  for _, d in ipairs(runs) do
    changed = changed + math.max(d[2], d[4])
    ranges(a, d[1], d[2], left)
    ranges(b, d[3], d[4], right)
  end
  if changed * 2 > math.max(#a, #b) + 2 then
    return {}, {}
  end
  return left, right
end

--- The part of a line that fits on the screen, because virtual lines are not wrapped.
---@param line string
---@return string
local function cut(line)
  local most = vim.o.columns
  return #line > 8 * most and vim.fn.strcharpart(line:sub(1, 8 * most), 0, most) or line
end

--- A removed line as a virtual line.
---@param line string
---@param ranges integer[][] bytes of words that differ
---@return [string, string][] chunks
local function removed(line, ranges)
  line = cut(line):gsub('\t', (' '):rep(vim.bo.tabstop)):gsub('%c', '?')
  local out, at = {}, 0
  for _, range in ipairs(ranges) do
    out[#out + 1] = { line:sub(at + 1, range[1]), 'CalibanDelete' }
    out[#out + 1] = { line:sub(range[1] + 1, range[2]), 'CalibanDeleteWord' }
    at = range[2]
  end
  out[#out + 1] = { line:sub(at + 1), 'CalibanDelete' }
  -- a removed line is highlighted up to the right edge, like an added line
  out[#out + 1] =
    { (' '):rep(math.max(0, vim.o.columns - vim.fn.strdisplaywidth(line))), 'CalibanDelete' }
  return out
end

--- Shows virtual lines above a row.
---@param buf integer
---@param row integer
---@param lines [string, string][][]
---@param id? integer the id of the mark to replace
---@return integer id the id of the mark
function M.above(buf, row, lines, id)
  local rows = api.nvim_buf_line_count(buf)
  local opts = { id = id, virt_lines = lines, virt_lines_above = row < rows }
  return api.nvim_buf_set_extmark(buf, space, math.min(row, rows - 1), 0, opts)
end

---@param buf integer
---@param hunk caliban.Hunk
---@return 'top'|'end'|nil
local function edge(buf, hunk)
  return hunk.start == 0 and 'top' or hunk.start >= api.nvim_buf_line_count(buf) and 'end' or nil
end

---@param buf integer
---@param hunk caliban.Hunk
---@param from integer first row to draw
---@param to integer row after the last one to draw
---@return caliban.Drawn
local function draw(buf, hunk, from, to)
  local above, compare = {}, math.min(#hunk.old, #hunk.new) <= MOST_LINES
  local first, last = math.max(hunk.start, from), math.min(hunk.start + #hunk.new, to)
  local rows = api.nvim_buf_line_count(buf)
  local it = {
    old = hunk.old,
    first = first - hunk.start,
    last = last - hunk.start,
    marks = {},
    edge = edge(buf, hunk),
    above = {},
  }
  ---@param row integer
  ---@param col integer
  ---@param opts vim.api.keyset.set_extmark
  local function mark(row, col, opts)
    it.marks[api.nvim_buf_set_extmark(buf, space, row, col, opts)] = place(row - hunk.start, col)
  end
  for i, line in ipairs(hunk.old) do
    local left, right = {}, {}
    if compare and hunk.new[i] then
      left, right = differing(line, hunk.new[i])
    end
    above[i] = removed(line, #left > 0 and line:find('[%c]') and {} or left)
    if algebra.ends(hunk) then
      table.insert(
        above[i],
        2,
        { vim.bo[buf].endofline and NO_END or WITH_END, 'CalibanDeleteWord' }
      )
    end
    for _, range in ipairs(right) do
      local opts =
        { end_col = range[2], hl_group = 'CalibanAddWord', priority = 210, strict = false }
      mark(hunk.start + i - 1, range[1], opts)
    end
  end
  if first < last then
    local opts =
      { end_row = last, hl_group = 'CalibanAdd', hl_eol = true, priority = 100, strict = false }
    mark(first, 0, opts)
  end
  local sign = { sign_text = '▎', sign_hl_group = 'CalibanSign' }
  for row = first, last - 1 do
    mark(row, 0, sign)
  end
  if #hunk.new == 0 then
    mark(math.min(hunk.start, rows - 1), 0, sign)
  end
  if it.edge == 'top' then
    it.above = above
  elseif #above > 0 then
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
---@return caliban.Drawn
function M.draw(buf, hunk, rows, marks, was, other)
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
  it = draw(buf, hunk, from, to)
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
