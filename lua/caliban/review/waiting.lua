--- Another program changes a file whose hunks are only in the buffer, because they wait for the user's decision.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local carrying = require('caliban.review.hunks.carried')
local file = require('caliban.editor.file')
local merging = require('caliban.review.hunks.merge')
local state = require('caliban.review.state')
local tracking = require('caliban.review.hunks.tracking')

--- Whether no pending hunk is on disk.
---@param r caliban.Review
---@param was string the file's text
---@return boolean
function M.are_waiting(r, was)
  if r.auto then
    return false
  end
  local runs, k = algebra.runs(merging.split(was), file.lines(r.buf)), 1
  for _, hunk in ipairs(tracking.list(r)) do
    while runs[k] and runs[k][3] + runs[k][4] < hunk.start do
      k = k + 1
    end
    if not runs[k] or runs[k][3] > hunk.start + #hunk.new then
      return false
    end
  end
  return tracking.count(r) > 0
end

--- Makes the changes in the buffer that another program has made in the file. Rejecting all hunks then gives the text on
--- disk, with the user's own lines.
---@param r caliban.Review
---@param was string the file's text before
---@param disk string its text now
---@param is_left fun(e: caliban.DiskEdit, mine: string[]): boolean whether a change is not made
---@return boolean done false if the buffer cannot be changed
---@return boolean reworked whether other hunks are pending than before
---@return integer clashes the number of changes on disk that conflict with changes of the buffer
function M.follow(r, was, disk, is_left)
  local mine, list = file.lines(r.buf), tracking.list(r)
  local base = algebra.base(mine, list)
  local edits, clashes = merging.merge(merging.split(was), merging.split(disk), base)
  edits = vim.tbl_filter(function(e)
    return not is_left(e, base)
  end, edits)
  local carried = carrying.carried(list, base, edits)
  state.count_lost(r, carried.edits, mine)
  local done = #carried.edits == 0
    or tracking.edit(r, function()
      for i = #carried.edits, 1, -1 do
        local e = carried.edits[i]
        file.put(r.buf, e.start, e.count, e.lines)
      end
    end)
  if done then
    tracking.set_list(r, algebra.fused(carried.hunks))
  end
  return done, false, clashes + carried.clashes
end

return M
