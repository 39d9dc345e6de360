--- A three-way merge by lines: the file has changed on disk while its buffer has changed too. Pure functions.
local M = {}

local algebra = require('caliban.review.hunks.algebra')

--- The most lines that are named.
local NAMED = 20

---@class caliban.DiskEdit a change on disk, as an edit of the buffer
---@field start integer
---@field count integer
---@field lines string[]
---@field above? boolean whether the lines belong above lines that the buffer has changed at this row

--- Whether a change of the buffer is completely before a change on disk. Nobody can say which of two insertions at one
--- place comes first, so neither is before the other.
---@param ours integer[]
---@param theirs integer[]
---@return boolean
local function is_before(ours, theirs)
  local stop = ours[1] + ours[2]
  return stop < theirs[1] or stop == theirs[1] and ours[2] + theirs[2] > 0
end

--- The file has changed from `origin` to `disk` while the buffer has changed from `origin` to `mine`. Returns edits of
--- the buffer, so that hunks, marks and cursors are kept. Changes of adjacent lines do not conflict. If a line has
--- changed in both, or both have different new lines at one place, the buffer's lines are kept. `edit::merge` in the
--- program, which merges whole texts for checkpoints, keeps the other side's lines instead.
---@param origin string[]
---@param disk string[]
---@param mine string[]
---@return caliban.DiskEdit[] edits to `mine`, ascending
---@return integer clashes the number of changes on disk that conflict with changes of the buffer
---@return integer[] rows the rows of `mine` at which they conflict
---@return string[] stand `disk` without these changes: the text whose differences from `mine` are all changes of the buffer
function M.merge(origin, disk, mine)
  local ours, theirs = algebra.runs(origin, mine), algebra.runs(origin, disk)
  local edits, rows, shift, k = {}, {}, 0, 1 ---@type caliban.DiskEdit[], integer[], integer, integer
  local stand, left = disk, {} ---@type string[], integer[][]
  for _, d in ipairs(theirs) do
    while ours[k] and is_before(ours[k], d) do
      shift = shift + ours[k][4] - ours[k][2]
      k = k + 1
    end
    local near = ours[k]
    local lines = vim.list_slice(disk, d[3] + 1, d[3] + d[4])
    if not near or is_before(d, near) then
      local above = near ~= nil and near[1] == d[1] and d[2] == 0
      edits[#edits + 1] = { start = d[1] + shift, count = d[2], lines = lines, above = above }
    elseif
      near[1] ~= d[1]
      or near[2] ~= d[2]
      or not vim.deep_equal(vim.list_slice(mine, near[3] + 1, near[3] + near[4]), lines)
    then
      rows[#rows + 1], left[#left + 1] = near[3], d
    end
  end
  for i = #left, 1, -1 do
    local d = left[i]
    local old = vim.list_slice(origin, d[1] + 1, d[1] + d[2])
    local above, below = vim.list_slice(stand, 1, d[3]), vim.list_slice(stand, d[3] + d[4] + 1)
    stand = vim.list_extend(vim.list_extend(above, old), below)
  end
  return edits, #rows, rows, stand
end

--- The lines of the buffer, from 1, at which changes on disk conflict, in words.
---@param edits caliban.DiskEdit[] the edits that were made
---@param rows integer[] where the others belong, before these edits
---@return string # such as `line 3`, or `lines 3, 9`
function M.places(edits, rows)
  local lines = {} ---@type string[]
  for i, row in ipairs(rows) do
    for _, e in ipairs(edits) do
      row = row + (e.start < row and #e.lines - e.count or 0)
    end
    lines[i] = tostring(row + 1)
  end
  local more = #lines > NAMED and (' and %d more'):format(#lines - NAMED) or ''
  local named = table.concat(lines, ', ', 1, math.min(#lines, NAMED))
  return ('line%s %s%s'):format(#lines == 1 and '' or 's', named, more)
end

--- The lines of a text.
---@param text string
---@return string[]
function M.split(text)
  return text == '' and {} or vim.split(text, '\n', { plain = true })
end

return M
