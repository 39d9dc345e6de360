--- The rows that differ between a text and a later one, collected from the changes in between, and the edits that lead
--- from one text to the other. Neovim reports many commands as lines removed here and inserted there (filters, `cc`,
--- plugins that set all lines), so the lines of a region are compared. Pure functions on lists that belong to the caller.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local index = require('caliban.review.hunks.index')
local rope = require('caliban.review.hunks.rope')

--- More regions than this become one region, which covers them: each change looks at all of them.
local MOST = 200
--- Hunks and regions with at most so many lines between them are looked at together, up to `WIDE` lines.
local GAP, WIDE = 20, 400

---@class caliban.Region rows [first, last) of the earlier text are rows [from, upto) of the later one
---@field first integer
---@field last integer
---@field from integer
---@field upto integer

--- Adds a change of the later text: its rows [first, last) became rows [first, new_last).
---@param list caliban.Region[] ascending; no two touch
---@param first integer
---@param last integer
---@param new_last integer
function M.add(list, first, last, new_last)
  local i = 1
  while list[i] and list[i].upto < first do
    i = i + 1
  end
  local shift = i > 1 and list[i - 1].upto - list[i - 1].last or 0
  local it = { first = first - shift, last = last - shift, from = first, upto = last }
  local j = i
  while list[j] and list[j].from <= last do
    local other = list[j]
    if other.from < it.from then
      it.first, it.from = other.first, other.from
    elseif j == i then
      it.first = other.first - (other.from - it.from)
    end
    it.last = other.last + math.max(0, it.upto - other.upto)
    it.upto = math.max(it.upto, other.upto)
    j = j + 1
  end
  it.upto = it.upto + new_last - last
  for _ = i, j - 1 do
    table.remove(list, i)
  end
  table.insert(list, i, it)
  for k = i + 1, #list do
    list[k].from, list[k].upto = list[k].from + new_last - last, list[k].upto + new_last - last
  end
  if #list > MOST then
    local head, tail = list[1], list[#list]
    for k = #list, 2, -1 do
      list[k] = nil
    end
    list[1] = { first = head.first, last = tail.last, from = head.from, upto = tail.upto }
  end
end

---@class caliban.NetEdit rows [first, last) of the earlier text became `new`, at row `at` of the later text
---@field first integer
---@field last integer
---@field at integer
---@field old string[]
---@field new string[]
---@field restores? boolean whether the rows are a hunk and `new` its lines of the base

--- How many of these rows are in hunks.
---@param near caliban.Hunk[]
---@param first integer
---@param last integer
---@return integer
local function covered(near, first, last)
  local n = 0
  for _, hunk in ipairs(near) do
    n = n + math.max(0, math.min(last, hunk.start + #hunk.new) - math.max(first, hunk.start))
  end
  return n
end

--- Of equal lines in a row, some were removed. Nothing tells which: those in hunks, because a line of the user counts as
--- removed only if it must be.
---@param first integer
---@param last integer
---@param limits integer[] the rows [first, last) in which the lines are the same before and after
---@param hunks caliban.Hunks
---@param get fun(first: integer, last: integer): string[]
---@return integer first of the removed rows
local function slid(first, last, limits, hunks, get)
  local best, most = first, -1
  for _, step in ipairs({ -1, 1 }) do
    local at, count = first, last - first
    repeat
      local covers = covered(index.near(hunks, at, at + count), at, at + count)
      if covers > most then
        best, most = at, covers
      end
      local out, into = at + (step == 1 and 0 or count - 1), at + (step == 1 and count or -1)
      local is_free = into >= limits[1] and into < limits[2] and most < count
      local same = is_free and get(out, out + 1)[1] == get(into, into + 1)[1]
      at = at + step
    until not same
  end
  return best
end

--- The lines of the base in rows [first, last), whose hunks are all within these rows.
---@param hunks caliban.Hunk[]
---@param first integer
---@param old string[] the lines in these rows
---@return string[]
local function base_of(hunks, first, old)
  return algebra.base(
    old,
    vim.tbl_map(function(hunk)
      return algebra.moved(hunk, -first)
    end, hunks)
  )
end

--- A region with the hunks and the regions near it.
---@param list caliban.Region[]
---@param k integer the number of the region
---@param hunks caliban.Hunks
---@return caliban.Region
---@return caliban.Hunk[] within its hunks
---@return integer j the number of its last region
local function grown(list, k, hunks)
  local first, last, floor = list[k].first, list[k].last, k > 1 and list[k - 1].last or 0
  local within, j = {}, k ---@type caliban.Hunk[], integer
  repeat
    local was = last - first
    within = vim.tbl_filter(function(hunk)
      return hunk.start >= floor
    end, index.near(hunks, first - GAP, last + GAP))
    for _, hunk in ipairs(within) do
      first, last = math.min(first, hunk.start), math.max(last, hunk.start + #hunk.new)
    end
    while list[j + 1] and list[j + 1].first - last <= GAP do
      j = j + 1
      last = math.max(last, list[j].last)
    end
  until last - first == was or last - first > WIDE
  local from, upto = list[k].from - (list[k].first - first), list[j].upto + last - list[j].last
  return { first = first, last = last, from = from, upto = upto }, within, j
end

--- Appends edits that lead from the hunks to the base.
---@param it caliban.Region
---@param hunks caliban.Hunk[]
---@param out caliban.NetEdit[]
local function restore(it, hunks, out)
  local shift = it.from - it.first
  for _, hunk in ipairs(hunks) do
    local last = hunk.start + #hunk.new
    local edit = { first = hunk.start, last = last, at = hunk.start + shift }
    edit.old, edit.new, edit.restores = hunk.new, hunk.old, true
    out[#out + 1] = edit
    shift = shift + #hunk.old - #hunk.new
  end
end

--- Divides a place where lines were broken up or joined at each row at which both sides have the same text so far, apart
--- from blanks: what is pending between two such lines stays between them.
---@param run integer[]
---@param old string[]
---@param new string[]
---@param out integer[][]
local function divided(run, old, new, out)
  local from, to, i, j = run[1], run[3], 0, 0
  local a, b = '', '' -- the text of each side since the last such row
  local is_wide = run[2] == run[4] or run[2] == 0 or run[4] == 0 or run[2] + run[4] > WIDE
  while not is_wide and from + i < run[1] + run[2] and to + j < run[3] + run[4] do
    if #a <= #b then
      i, a = i + 1, a .. old[from + i + 1]:gsub('%s', '')
    else
      j, b = j + 1, b .. new[to + j + 1]:gsub('%s', '')
    end
    if #a == #b and #a > 0 then
      if a ~= b then
        break
      end
      local is_same = i == 1 and j == 1 and old[from + 1] == new[to + 1]
      out[#out + 1] = not is_same and { from, i, to, j } or nil
      from, to, i, j, a, b = from + i, to + j, 0, 0, '', ''
    end
  end
  local rest = { from, run[1] + run[2] - from, to, run[3] + run[4] - to }
  out[#out + 1] = rest[2] + rest[4] > 0 and rest or nil
end

--- Appends the edits within a region.
---@param it caliban.Region
---@param limits integer[] the rows [first, last) up to the regions beside it
---@param hunks caliban.Hunks the hunks of the earlier text
---@param get fun(first: integer, last: integer): string[] lines of the earlier text
---@param new string[] the region's lines in the later text
---@param out caliban.NetEdit[] ascending
local function split(it, limits, hunks, get, new, out)
  local old = get(it.first, it.last)
  local runs = {} ---@type integer[][]
  for _, run in ipairs(algebra.runs(old, new)) do
    divided(run, old, new, runs)
  end
  for k, run in ipairs(runs) do
    local first, last = it.first + run[1], it.first + run[1] + run[2]
    local by, after = 0, runs[k + 1]
    if run[4] == 0 then
      local upto = after and it.first + after[1] or limits[2]
      by = slid(first, last, { out[#out] and out[#out].last or limits[1], upto }, hunks, get)
        - first
    end
    out[#out + 1] = {
      first = first + by,
      last = last + by,
      at = it.from + run[3] + by,
      old = vim.list_slice(old, run[1] + 1, run[1] + run[2]),
      new = vim.list_slice(new, run[3] + 1, run[3] + run[4]),
    }
    if by ~= 0 then
      out[#out].old = get(first + by, last + by)
    end
  end
end

--- The edits that lead from one text to the other.
---@param list caliban.Region[]
---@param before caliban.Rope
---@param now caliban.Rope
---@param hunks caliban.Hunks the hunks of the text before
---@return caliban.NetEdit[] ascending
function M.edits(list, before, now, hunks)
  local out = {} ---@type caliban.NetEdit[]
  ---@param first integer
  ---@param last integer
  local function get(first, last)
    return rope.lines(before, first, last)
  end
  local k = 1
  while list[k] do
    local it, after = list[k], list[k + 1]
    local wide, within, j = grown(list, k, hunks)
    local old, new = get(wide.first, wide.last), rope.lines(now, wide.from, wide.upto)
    if #within > 0 and vim.deep_equal(new, base_of(within, wide.first, old)) then
      -- a diff could find other lines that are the same
      restore(wide, within, out)
      k = j + 1
    else
      local limits = { k > 1 and list[k - 1].last or 0, after and after.first or before.count }
      split(it, limits, hunks, get, rope.lines(now, it.from, it.upto), out)
      k = k + 1
    end
  end
  return out
end

return M
