--- Lines of the base that the user has put back. A hunk has removed the line `two`; the user adds a line `two` next to
--- the hunk: the line is there again, and its removal is no longer pending. Pure functions.
local M = {}

local algebra = require('caliban.review.hunks.algebra')

---@param hunk caliban.Hunk
---@return boolean whether lines that this hunk has removed can be next to it
local function waits(hunk)
  return #hunk.old > 0 and ((hunk.above or 0) > 0 or (hunk.below or 0) > 0)
end

--- The hunks in place of one hunk, after removed lines were put back.
---@param hunk caliban.Hunk
---@param upper string[] the user's lines above the hunk
---@param lower string[] the user's lines below it
---@param rows table<integer, boolean> gets the rows of these lines
---@return caliban.Hunk[]? # nil if none was put back
local function again(hunk, upper, lower, rows)
  local all = vim.list_extend(vim.list_extend(vim.list_slice(upper), hunk.new), lower)
  local at, stop = hunk.start - #upper, #upper + #hunk.new
  local out, left, row = {}, 0, 0
  for _, run in ipairs(algebra.runs(hunk.old, all)) do
    for n = row, run[3] - 1 do
      rows[at + n] = (n < #upper or n >= stop) or nil
    end
    row = run[3] + run[4]
    local from, upto = run[3], run[3] + run[4]
    local first = math.min(math.max(from, #upper), upto)
    local last = math.max(math.min(upto, stop), first)
    left = left + upto - from - (last - first)
    out[#out + 1] = vim.tbl_extend('force', {}, hunk, {
      start = at + first,
      old = vim.list_slice(hunk.old, run[1] + 1, run[1] + run[2]),
      new = vim.list_slice(all, first + 1, last),
      above = first - from,
      below = upto - last,
      typed = true,
    })
  end
  for n = row, #all - 1 do
    rows[at + n] = (n < #upper or n >= stop) or nil
  end
  return left < #upper + #lower and out or nil
end

--- The hunks, without the lines that were put back.
---@param hunks caliban.Hunk[]
---@param get fun(first: integer, last: integer): string[] lines of the text
---@return caliban.Hunk[]
---@return table<integer, boolean> rows of the lines that were put back
function M.returned(hunks, get)
  local out, floor, rows = {}, 0, {}
  for k, hunk in ipairs(hunks) do
    local parts ---@type caliban.Hunk[]?
    if waits(hunk) then
      local stop, after = hunk.start + #hunk.new, hunks[k + 1]
      local first = math.max(floor, hunk.start - (hunk.above or 0))
      local last = math.min(after and after.start or math.huge, stop + (hunk.below or 0))
      parts = again(hunk, get(first, hunk.start), get(stop, last), rows)
      floor = parts and last or floor
    end
    vim.list_extend(out, parts or { hunk })
    floor = math.max(floor, hunk.start + #hunk.new)
  end
  return algebra.fused(out), rows
end

--- A removal of lines can have more than one place: of three equal lines, any may be the removed one. Gives the hunk the
--- place at a row, if it can be there.
---@param hunk? caliban.Hunk
---@param row integer
---@param get fun(first: integer, last: integer): string[] lines of the text with the hunk
---@return caliban.Hunk?
function M.placed(hunk, row, get)
  if not hunk or #hunk.new > 0 or hunk.start == row then
    return nil
  end
  local up = hunk.start > row
  local old = vim.list_slice(hunk.old)
  local beside = hunk.start - (up and 1 or 0)
  if get(beside, beside + 1)[1] ~= old[up and #old or 1] then
    return nil
  end
  local lines = up and get(row, hunk.start) or get(hunk.start, row)
  for n = 1, #lines do
    local line = lines[up and #lines + 1 - n or n]
    if old[up and #old or 1] ~= line then
      return nil
    end
    table.remove(old, up and #old or 1)
    table.insert(old, up and 1 or #old + 1, line)
  end
  local it = vim.tbl_extend('force', {}, hunk, { start = row, old = old, above = 0, below = 0 })
  return it --[[@as caliban.Hunk]]
end

--- Whether a change reaches lines of the user next to this hunk, which may be lines that the hunk has removed.
---@param hunk? caliban.Hunk
---@param first integer
---@param last integer
---@return boolean
function M.concerns(hunk, first, last)
  return hunk ~= nil
    and waits(hunk)
    and hunk.start - (hunk.above or 0) <= last
    and first <= hunk.start + #hunk.new + (hunk.below or 0)
end

return M
