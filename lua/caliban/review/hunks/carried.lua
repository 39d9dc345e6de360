--- Changes of the text under hunks that are only in the buffer. The hunks keep their lines and their places, so that the
--- text without them is exactly the changed one: a diff of the buffer and the text on disk could take other equal lines
--- (`{`, `}`, empty ones) for the same. Pure functions.
local M = {}

local algebra = require('caliban.review.hunks.algebra')

---@class caliban.Carried
---@field edits caliban.DiskEdit[] those of the changes that meet no hunk, ascending, as edits of the text with the hunks
---@field hunks caliban.Hunk[] the hunks after these edits
---@field rows integer[] the rows of the hunks that other changes meet, which are left out, before these edits
---@field met table<integer, true> which hunks these are, and those that the other changes have made too

---@param start integer
---@param count integer
---@param other integer
---@param more integer
---@return boolean whether rows of the base are completely before others
local function is_before(start, count, other, more)
  return start + count < other or start + count == other and count + more > 0
end

--- The first hunk that a change meets.
---@param at integer[] the first rows of the hunks in the base
---@param list caliban.Hunk[]
---@param e caliban.DiskEdit
---@return integer?
local function met(at, list, e)
  for n, hunk in ipairs(list) do
    if is_before(e.start, e.count, at[n], #hunk.old) then
      return nil
    elseif not is_before(at[n], #hunk.old, e.start, e.count) then
      return n
    end
  end
end

--- A change that only adds or only removes lines can have more than one place: of equal lines in a row, any may be the
--- added one. Looks for the nearest place at which it meets no hunk.
---@param e caliban.DiskEdit
---@param base string[]
---@param limits integer[] the first row and the last one at which it may be
---@param is_free fun(e: caliban.DiskEdit): boolean
---@return caliban.DiskEdit?
local function slid(e, base, limits, is_free)
  if e.count > 0 and #e.lines > 0 then
    return nil
  end
  for _, step in ipairs({ 1, -1 }) do
    local it = { start = e.start, count = e.count, lines = vim.list_slice(e.lines) }
    while true do
      local out = step == 1 and it.start + it.count + 1 or it.start
      local inner = step == 1 and it.start + 1 or it.start + it.count
      local line = it.count > 0 and base[inner] or it.lines[step == 1 and 1 or #it.lines]
      local is_inside = it.start + step >= limits[1] and it.start + it.count + step <= limits[2]
      if not is_inside or base[out] == nil or base[out] ~= line then
        break
      elseif it.count == 0 then
        table.remove(it.lines, step == 1 and 1 or #it.lines)
        table.insert(it.lines, step == 1 and #it.lines + 1 or 1, line)
      end
      it.start = it.start + step
      if is_free(it) then
        return it
      end
    end
  end
end

--- The changes that meet no hunk.
---@param list caliban.Hunk[]
---@param at integer[] the first rows of the hunks in the base
---@param base string[]
---@param edits caliban.DiskEdit[]
---@param out caliban.Carried gets what is left out
---@return caliban.DiskEdit[]
local function apart(list, at, base, edits, out)
  local free, floor = {}, 0 ---@type caliban.DiskEdit[], integer
  for k, e in ipairs(edits) do
    local n, after = met(at, list, e), edits[k + 1]
    local limits = { floor, after and after.start or #base }
    local it = n
        and slid(e, base, limits, function(moved)
          return not met(at, list, moved)
        end)
      or e
    if not n or it ~= e then
      free[#free + 1], floor = it, it.start + it.count
    else
      local hunk = list[n]
      out.met[n] = true
      local is_same = e.start == at[n] and e.count == #hunk.old
      local is_made = is_same and vim.deep_equal(e.lines, hunk.new)
      out.rows[#out.rows + 1] = not is_made and hunk.start or nil
      floor = e.start + e.count
    end
  end
  return free
end

--- A hunk between changes: the lines beside it are the user's own only as far as no change has reached them.
---@param hunk caliban.Hunk
---@param by integer
---@param upper? integer how many lines above it no change has reached; nil if all
---@param lower? integer
---@return caliban.Hunk
local function between(hunk, by, upper, lower)
  local it = vim.tbl_extend('force', {}, algebra.moved(hunk, by)) --[[@as caliban.Hunk]]
  it.above = (not upper or (hunk.above or 0) <= upper) and hunk.above or nil
  it.below = (not lower or (hunk.below or 0) <= lower) and hunk.below or nil
  return it
end

--- Makes changes of the base under the hunks.
---@param list caliban.Hunk[]
---@param base string[] the text without the hunks
---@param edits caliban.DiskEdit[] changes of the base, ascending
---@return caliban.Carried
function M.carried(list, base, edits)
  local out = { edits = {}, hunks = {}, rows = {}, met = {} } ---@type caliban.Carried
  local at, delta = {}, 0 ---@type integer[], integer
  for n, hunk in ipairs(list) do
    at[n] = hunk.start - delta
    delta = delta + #hunk.new - #hunk.old
  end
  local free = apart(list, at, base, edits, out)
  local k, shift, floor = 1, 0, 0
  delta = 0
  ---@param e caliban.DiskEdit
  local function make(e)
    out.edits[#out.edits + 1] = { start = e.start + delta, count = e.count, lines = e.lines }
    k, shift, floor = k + 1, shift + #e.lines - e.count, e.start + e.count
  end
  for n, hunk in ipairs(list) do
    while free[k] and is_before(free[k].start, free[k].count, at[n], #hunk.old) do
      make(free[k])
    end
    local upper = k > 1 and at[n] - floor - 1 or nil
    local lower = free[k] and free[k].start - at[n] - #hunk.old - 1 or nil
    out.hunks[n] = between(hunk, shift, upper, lower)
    delta = delta + #hunk.new - #hunk.old
  end
  while free[k] do
    make(free[k])
  end
  return out
end

return M
