--- Pure functions on hunks: the pending changes between the base (the text to which the user has agreed) and the
--- buffer. A hunk keeps the lines of the base that it replaces, so rejecting all hunks restores the base. A change
--- outside of all hunks was made by the user and belongs to the base. No list is changed in place. Rows are counted
--- from 0. The hunks of a list are in ascending order and do not touch each other.
local M = {}

local edges = require('caliban.review.hunks.edges')

---@class caliban.Hunk
---@field start integer the hunk's first row in the buffer
---@field new string[] the hunk's lines in the buffer
---@field old string[] the lines of the base that `new` replaces
---@field loose? boolean the hunk has changed since the last diff: `new` and `old` may share lines (see `tighten`)
---@field typed? boolean the user has changed some of the hunk's lines
---@field of? integer[] keys of its proposed changes (see `verdict`); negative if a later proposal changed it again
---@field above? integer how many of the user's own lines, added during the review, are directly above the hunk
---@field below? integer and how many are directly below it
---@field mixed? boolean lines next to the hunk may have text of the base: one change has replaced lines of both

--- `vim.diff` is called `vim.text.diff` since Neovim 0.12.
local diff = vim.text and vim.text.diff or vim.diff

---@generic T
---@param list T[]
---@param first integer from 1
---@param last integer inclusive
---@return T[]
local function slice(list, first, last)
  return vim.list_slice(list, first, last)
end

---@param ... string[]
---@return string[]
local function join(...)
  local out = {}
  for _, list in ipairs({ ... }) do
    vim.list_extend(out, list)
  end
  return out
end

--- The lines joined, for a diff. Neovim gives a NUL within a line as '\n'.
---@param lines string[]
---@return string
local function text(lines)
  local out = {}
  for i, line in ipairs(lines) do
    out[i] = line:find('\n', 1, true) and line:gsub('\n', '\0') or line
  end
  out[#out + 1] = ''
  return table.concat(out, '\n')
end

--- The places where two lists differ, ascending: { old first, old count, new first, new count }, firsts from 0.
---@param old string[]
---@param new string[]
---@return integer[][]
function M.runs(old, new)
  if #old == 0 or #new == 0 then
    return (#old + #new > 0) and { { 0, #old, 0, #new } } or {}
  elseif #old == 1 and #new == 1 then
    return old[1] ~= new[1] and { { 0, 1, 0, 1 } } or {}
  end
  -- `histogram` takes seconds for texts with thousands of differences
  local opts = { result_type = 'indices', algorithm = 'patience' }
  local out = {}
  for _, d in
    ipairs(diff(text(old), text(new), opts) --[[@as integer[][] ]])
  do
    local from, to = d[2] == 0 and d[1] or d[1] - 1, d[4] == 0 and d[3] or d[3] - 1
    out[#out + 1] = { from, d[2], to, d[4] }
  end
  return out
end

---@class caliban.Edit
---@field start integer row in the text before the first edit
---@field old string[]
---@field new string[]
---@field of? integer[] keys of the proposed changes, as in a hunk
---@field typed? boolean

--- The keys in either list, each once.
---@param one? integer[]
---@param other? integer[]
---@return integer[]?
function M.both(one, other)
  if not one or not other or one == other then
    return one or other
  end
  local out = vim.list_slice(one)
  for _, key in ipairs(other) do
    if not vim.list_contains(out, key) then
      out[#out + 1] = key
    end
  end
  return out
end

--- The hunks that replace `old` by `new`, which begins at row `at`.
---@param old string[]
---@param new string[]
---@param at integer
---@param of? integer[]
---@param typed? boolean
---@return caliban.Hunk[]
function M.diff(old, new, at, of, typed)
  return vim.tbl_map(function(d)
    local removed, added = slice(old, d[1] + 1, d[1] + d[2]), slice(new, d[3] + 1, d[3] + d[4])
    return { start = at + d[3], new = added, old = removed, of = of, typed = typed }
  end, M.runs(old, new))
end

--- Whether a hunk changes only the newline at the end of the file: its old and its new line are the same.
---@param it caliban.Hunk|caliban.Edit
---@return boolean
function M.ends(it)
  return #it.old == 1 and #it.new == 1 and it.old[1] == it.new[1]
end

---@param hunk caliban.Hunk
---@return integer the row after the hunk's last line
local function stop(hunk)
  return hunk.start + #hunk.new
end

---@param hunk caliban.Hunk
---@param by integer
---@return caliban.Hunk
function M.moved(hunk, by)
  if by == 0 then
    return hunk
  end
  return {
    start = hunk.start + by,
    new = hunk.new,
    old = hunk.old,
    loose = hunk.loose,
    of = hunk.of,
    typed = hunk.typed,
    above = hunk.above,
    below = hunk.below,
    mixed = hunk.mixed,
  }
end

--- A copy of a hunk with other lines, which the user has changed.
---@param hunk caliban.Hunk
---@param start integer
---@param new string[]
---@return caliban.Hunk
local function reworked(hunk, start, new)
  local out = { start = start, new = new, old = hunk.old, loose = true, of = hunk.of, typed = true }
  out.above, out.below, out.mixed = hunk.above, hunk.below, hunk.mixed
  return out
end

--- Drops empty hunks, and joins hunks that touch.
---@param hunks caliban.Hunk[]
---@return caliban.Hunk[]
function M.fused(hunks)
  local out = {} ---@type caliban.Hunk[]
  for _, hunk in ipairs(hunks) do
    local before = out[#out]
    if #hunk.new == 0 and #hunk.old == 0 then
      -- an empty hunk is dropped
    elseif before and stop(before) == hunk.start then
      local new, old = join(before.new, hunk.new), join(before.old, hunk.old)
      out[#out] = { start = before.start, new = new, old = old, loose = true }
      out[#out].of, out[#out].typed = M.both(before.of, hunk.of), before.typed or hunk.typed
      out[#out].mixed = before.mixed or hunk.mixed
      out[#out].above = before.above or math.max(0, (hunk.above or 0) - #before.new)
      out[#out].below = hunk.below or math.max(0, (before.below or 0) - #hunk.new)
    else
      out[#out + 1] = hunk
    end
  end
  return out
end

--- The hunks of edits in a text without hunks.
---@param edits caliban.Edit[] ascending
---@return caliban.Hunk[]
function M.proposed(edits)
  local out, delta = {}, 0
  for i, e in ipairs(edits) do
    out[i] = { start = e.start + delta, new = e.new, old = e.old, of = e.of, typed = e.typed }
    delta = delta + #e.new - #e.old
  end
  return M.tighten(M.fused(out))
end

--- Diffs the hunks again that changed since their last diff: lines that `new` and `old` share are no longer pending.
---@param hunks caliban.Hunk[]
---@return caliban.Hunk[]
function M.tighten(hunks)
  local out, changed = {}, false
  for _, hunk in ipairs(hunks) do
    if hunk.loose then
      changed = true
      local parts = M.diff(hunk.old, hunk.new, hunk.start, hunk.of, hunk.typed)
      for i, part in ipairs(parts) do
        -- lines of the base lie between two parts
        part.above, part.below = i == 1 and hunk.above or nil, i == #parts and hunk.below or nil
        part.mixed = hunk.mixed
        out[#out + 1] = part
      end
    else
      out[#out + 1] = hunk
    end
  end
  return changed and out or hunks
end

--- The base: the buffer's lines, in which the new lines of the hunks are replaced by the old ones.
---@param lines string[]
---@param hunks caliban.Hunk[]
---@return string[]
function M.base(lines, hunks)
  local out, row = {}, 0
  for _, hunk in ipairs(hunks) do
    vim.list_extend(out, lines, row + 1, hunk.start)
    vim.list_extend(out, hunk.old)
    row = stop(hunk)
  end
  return vim.list_extend(out, lines, row + 1, #lines)
end

--- Replaces hunks `i`..`j` by `with`, and moves the hunks after them by `delta` rows.
---@param hunks caliban.Hunk[]
---@param i integer
---@param j integer
---@param with caliban.Hunk[]
---@param delta integer
---@return caliban.Hunk[]
local function replaced(hunks, i, j, with, delta)
  local out = vim.list_extend(slice(hunks, 1, i - 1), with)
  for k = j + 1, #hunks do
    out[#out + 1] = M.moved(hunks[k], delta)
  end
  return out
end

--- The hunks that a change of rows [first, last) affects: those with indices `i`..`j`, none if j < i. A change beside a
--- hunk does not affect the hunk, because a new line next to a hunk belongs to the user.
---@param hunks caliban.Hunk[]
---@param first integer
---@param last integer
---@return integer i, integer j
local function reached(hunks, first, last)
  local i = 1
  while hunks[i] and stop(hunks[i]) <= first do
    i = i + 1
  end
  local j = i - 1
  while hunks[j + 1] and hunks[j + 1].start < last do
    j = j + 1
  end
  -- lines inserted within a hunk
  if first == last and hunks[i] and hunks[i].start < first then
    j = i
  end
  return i, j
end

--- The hunks after a change that keeps the number of lines: each line stays inside or outside its hunk.
---@param hunks caliban.Hunk[]
---@param first integer
---@param new string[]
---@return caliban.Hunk[] touched
---@return integer how many of the new lines are in hunks
local function line_by_line(hunks, first, new)
  local out, within = {}, 0
  for k, hunk in ipairs(hunks) do
    local lines, was = slice(hunk.new, 1, #hunk.new), within
    for n = 1, #lines do
      local line = new[hunk.start + n - first]
      if hunk.start + n > first and line then
        lines[n], within = line, within + 1
      end
    end
    out[k] = reworked(hunk, hunk.start, lines)
    out[k].typed = hunk.typed or within > was
  end
  return out, within
end

--- Whether rows [first, last) have lines that are neither in these hunks nor the user's own lines beside them.
---@param hunks caliban.Hunk[]
---@param first integer
---@param last integer
---@return boolean
local function reaches_base(hunks, first, last)
  local row = first
  for _, hunk in ipairs(hunks) do
    if row < hunk.start - (hunk.above or 0) then
      return true
    end
    row = stop(hunk) + (hunk.below or 0)
  end
  return row < last
end

--- The hunks after a change whose new lines all belong to the user: the hunks lose the replaced lines, and keep `old`.
---@param hunks caliban.Hunk[]
---@param first integer
---@param last integer
---@param count integer the number of new lines
---@return caliban.Hunk[]
local function users(hunks, first, last, count)
  local out, inside = {}, 0
  local mixes = count > 0 and reaches_base(hunks, first, last)
  for k, hunk in ipairs(hunks) do
    local from, to = math.max(hunk.start, first), math.min(stop(hunk), last)
    local outside = from - first - inside
    inside = inside + to - from
    local start, keep = first + math.min(count, outside), {}
    local above, below = hunk.above or 0, hunk.below or 0
    if hunk.start < first then
      start, keep = hunk.start, slice(hunk.new, 1, first - hunk.start)
    elseif stop(hunk) > last then
      start, keep = first + count, slice(hunk.new, last - hunk.start + 1, #hunk.new)
    end
    if hunk.start >= first then
      above = start - first + math.max(0, above - (hunk.start - first))
    end
    if stop(hunk) <= last then
      below = first + count - start - #keep + math.max(0, below - (last - stop(hunk)))
    end
    out[k] = reworked(hunk, start, keep)
    out[k].above, out[k].below = above, below
    out[k].mixed = hunk.mixed or mixes or nil
  end
  return out
end

--- The hunks after a change between hunks `i - 1` and `i`.
---@param hunks caliban.Hunk[]
---@param i integer
---@param first integer
---@param last integer
---@param delta integer
---@return caliban.Hunk[]
local function between(hunks, i, first, last, delta)
  local lower = i > 1 and edges.below(hunks[i - 1], first, last, delta) or 0
  local upper = i <= #hunks and edges.above(hunks[i], first, last, delta) or 0
  local is_same = (i == 1 or lower == (hunks[i - 1].below or 0))
    and (i > #hunks or upper == (hunks[i].above or 0))
  if delta == 0 and is_same then
    return hunks
  end
  local out = replaced(hunks, i, i - 1, {}, delta)
  if i > 1 then
    out[i - 1] = vim.tbl_extend('force', {}, out[i - 1], { below = lower }) --[[@as caliban.Hunk]]
  end
  if i <= #out then
    out[i] = vim.tbl_extend('force', {}, out[i], { above = upper }) --[[@as caliban.Hunk]]
  end
  return M.fused(out)
end

--- The hunks after rows [first, last) were replaced by `new`. A change inside a hunk belongs to the hunk. A change
--- outside of all hunks belongs to the user and needs no decision. If a change covers both and keeps the number of
--- lines, each line stays inside or outside its hunk; otherwise the new lines belong to the user.
---@param hunks caliban.Hunk[]
---@param first integer
---@param last integer
---@param new string[]
---@return caliban.Hunk[]
---@return boolean own whether lines outside of the hunks changed
function M.change(hunks, first, last, new)
  local i, j = reached(hunks, first, last)
  local delta = #new - (last - first)
  if j < i then
    return between(hunks, i, first, last, delta), true
  end
  local touched = slice(hunks, i, j)
  if delta == 0 then
    local with, within = line_by_line(touched, first, new)
    return replaced(hunks, i, j, with, 0), within < #new
  end
  local one = touched[1]
  if i == j and one.start <= first and last <= stop(one) then
    local lines = join(
      slice(one.new, 1, first - one.start),
      new,
      slice(one.new, last - one.start + 1, #one.new)
    )
    local with = { reworked(one, one.start, lines) }
    return M.fused(replaced(hunks, i, j, with, delta)), false
  end
  return M.fused(replaced(hunks, i, j, users(touched, first, last, #new), delta)), true
end

--- Splits a hunk into the part in rows [first, last) and the parts before and after it. The n-th new line counts as the
--- replacement of the n-th old line, and the last new line as that of all remaining old lines. A hunk without new lines
--- is between two rows; it is in the range if one of these rows is.
---@param hunk caliban.Hunk
---@param first integer
---@param last integer
---@return caliban.Hunk? before, caliban.Hunk? taken, caliban.Hunk? after
local function split(hunk, first, last)
  local count = #hunk.new
  local a, b = math.max(first - hunk.start, 0), math.min(last - hunk.start, count)
  if
    count == 0 and first <= hunk.start and hunk.start <= last
    or (a == 0 and b == count and count > 0)
  then
    return nil, hunk, nil
  elseif count == 0 or a >= b then
    return hunk, nil, nil
  end
  ---@param from integer
  ---@param to integer
  local function part(from, to)
    if from == to then
      return nil
    end
    local old = slice(hunk.old, from + 1, to == count and #hunk.old or math.min(to, #hunk.old))
    local it = { start = hunk.start + from, new = slice(hunk.new, from + 1, to), old = old }
    it.of, it.typed, it.mixed = hunk.of, hunk.typed, hunk.mixed
    it.above, it.below = from == 0 and hunk.above or nil, to == count and hunk.below or nil
    return it
  end
  return part(0, a), part(a, b), part(b, count)
end

--- Splits the hunks at the ends of the rows [first, last).
---@param hunks caliban.Hunk[]
---@param first integer
---@param last integer
---@param back? boolean whether the rows get the lines of the base, because their hunks are rejected
---@return caliban.Hunk[] taken the parts in these rows
---@return caliban.Hunk[] rest the other hunks, in the text after the decision
function M.take(hunks, first, last, back)
  local taken, rest, delta = {}, {}, 0
  for _, hunk in ipairs(hunks) do
    local left, mid, right = split(hunk, first, last)
    rest[#rest + 1] = left and M.moved(left, delta)
    taken[#taken + 1] = mid
    delta = mid and back and delta + #mid.old - #mid.new or delta
    rest[#rest + 1] = right and M.moved(right, delta)
  end
  return taken, back and M.fused(rest) or rest
end

--- The hunk that contains a row. A hunk without new lines counts as containing the rows above and below it.
---@param hunks caliban.Hunk[]
---@param row integer
---@return integer? index
function M.at(hunks, row)
  local between ---@type integer?
  for i, hunk in ipairs(hunks) do
    if hunk.start > row + 1 then
      break
    elseif hunk.start <= row and row < stop(hunk) then
      return i
    elseif #hunk.new == 0 and (hunk.start == row or hunk.start == row + 1) then
      between = between or i
    end
  end
  return between
end

return M
