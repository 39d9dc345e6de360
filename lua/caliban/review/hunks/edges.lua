--- The user's own lines at the edges of a hunk. A line that the user adds next to a hunk belongs to the user and to the
--- base. It is remembered, because with it the user may have typed or put back a line of the base or of the hunk.
local M = {}

--- How many own lines are directly below a hunk after a change of rows [first, last) below the hunk. Only lines that
--- were added count, not changed lines of the base.
---@param hunk caliban.Hunk
---@param first integer
---@param last integer
---@param delta integer by how much the number of lines has changed
---@return integer
function M.below(hunk, first, last, delta)
  local stop, count = hunk.start + #hunk.new, hunk.below or 0
  if first > stop + count then
    return count
  elseif last <= stop + count then
    return math.max(0, count + delta)
  end
  return math.min(count, first - stop)
end

--- How many own lines are directly above a hunk after a change of rows [first, last) above the hunk.
---@param hunk caliban.Hunk
---@param first integer
---@param last integer
---@param delta integer
---@return integer
function M.above(hunk, first, last, delta)
  local count = hunk.above or 0
  if last < hunk.start - count then
    return count
  elseif first >= hunk.start - count then
    return math.max(0, count + delta)
  end
  return math.min(count, hunk.start - last)
end

return M
