--- Another program changes a file whose hunks are only in the buffer, because they wait for the user's decision.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local carrying = require('caliban.review.hunks.carried')
local conflict = require('caliban.review.conflict')
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

--- Rows of the text without the hunks, as rows of the buffer.
---@param list caliban.Hunk[]
---@param rows integer[] ascending
---@return integer[]
local function shown(list, rows)
  local delta, k = 0, 1
  return vim.tbl_map(function(row)
    while list[k] and list[k].start - delta + #list[k].old <= row do
      delta, k = delta + #list[k].new - #list[k].old, k + 1
    end
    return row + delta
  end, rows)
end

--- A text in which the changes of the buffer are made that lead from one text to another.
---@param text string[]
---@param from string[]
---@param to string[]
---@return string[]
function M.followed(text, from, to)
  local out, row = {}, 0
  for _, e in ipairs((merging.merge(from, to, text))) do
    vim.list_extend(vim.list_extend(out, text, row + 1, e.start), e.lines)
    row = e.start + e.count
  end
  return vim.list_extend(out, text, row + 1)
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
---@return string[]? stand if there are any, the text on which the buffer's text stands
---@return string? places where they conflict, in words
function M.follow(r, was, disk, is_left)
  local mine, list = file.lines(r.buf), tracking.list(r)
  local base, from = algebra.base(mine, list), conflict.stand(r) or merging.split(was)
  local edits, _, own = merging.merge(from, merging.split(disk), base)
  edits = vim.tbl_filter(function(e)
    return not is_left(e, base)
  end, edits)
  local carried = carrying.carried(list, base, edits)
  local rows = vim.list_extend(shown(list, own), carried.rows)
  state.count_lost(r, carried.edits, mine)
  local done = #carried.edits == 0
    or tracking.edit(r, function()
      for i = #carried.edits, 1, -1 do
        local e = carried.edits[i]
        file.put(r.buf, e.start, e.count, e.lines)
      end
    end)
  if not done then
    return false, false, #rows
  end
  local hunks = algebra.fused(carried.hunks)
  tracking.set_list(r, hunks)
  if #rows == 0 then
    return true, false, 0
  end
  table.sort(rows)
  local stand = M.followed(from, base, algebra.base(file.lines(r.buf), hunks))
  return true, false, #rows, stand, merging.places(carried.edits, rows)
end

return M
