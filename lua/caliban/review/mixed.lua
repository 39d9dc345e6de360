--- Another program changes a file of whose hunks some are on disk and others wait in the buffer: in mode ask the user has
--- written the file (`:w!`), or has taken a decision back. The hunks that wait stand on the text on disk, with the others.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local carrying = require('caliban.review.hunks.carried')
local conflict = require('caliban.review.conflict')
local file = require('caliban.editor.file')
local merging = require('caliban.review.hunks.merge')
local standing = require('caliban.review.hunks.standing')
local tracking = require('caliban.review.hunks.tracking')

---@class caliban.Mixed changes on disk as changes of the buffer
---@field edits caliban.DiskEdit[] ascending
---@field hunks caliban.Hunk[] the hunks after these changes
---@field thrown caliban.Hunk[] the hunks that were thrown away on disk
---@field mine string[] the buffer's lines before
---@field rows integer[] the rows of the hunks that other changes meet, which are not made
---@field stand string[] the text on which the buffer's text stands

--- Which hunks are only in the buffer.
---@param list caliban.Hunk[]
---@param runs integer[][] from the text on disk to the buffer
---@return table<integer, true>
local function waiting(list, runs)
  local out, k = {}, 1 ---@type table<integer, true>, integer
  for n, hunk in ipairs(list) do
    while runs[k] and runs[k][3] + runs[k][4] < hunk.start do
      k = k + 1
    end
    out[n] = runs[k] ~= nil and runs[k][3] <= hunk.start + #hunk.new or nil
  end
  return out
end

--- Divides the hunks: those that wait, with their rows in the buffer, and the others, with their rows in the text without
--- those that wait.
---@param list caliban.Hunk[]
---@param waits table<integer, true>
---@return caliban.Hunk[] waiting
---@return caliban.Hunk[] written
local function divided(list, waits)
  local mine, written, delta = {}, {}, 0 ---@type caliban.Hunk[], caliban.Hunk[], integer
  for n, hunk in ipairs(list) do
    if waits[n] == true then
      mine[#mine + 1] = hunk
      delta = delta + #hunk.old - #hunk.new
    else
      written[#written + 1] = algebra.moved(hunk, delta)
    end
  end
  return mine, written
end

--- Edits of the buffer, as edits of the text without the hunks that wait.
---@param edits caliban.DiskEdit[] ascending
---@param ours caliban.Hunk[]
---@return caliban.DiskEdit[]
local function without(edits, ours)
  local k, delta = 1, 0
  return vim.tbl_map(function(e)
    while ours[k] and ours[k].start + #ours[k].new <= e.start do
      delta, k = delta + #ours[k].old - #ours[k].new, k + 1
    end
    return { start = e.start + delta, count = e.count, lines = e.lines }
  end, edits)
end

---@param lines string[]
---@param edits caliban.DiskEdit[] ascending
---@return string[]
local function made(lines, edits)
  local out, row = {}, 0
  for _, e in ipairs(edits) do
    vim.list_extend(vim.list_extend(out, lines, row + 1, e.start), e.lines)
    row = e.start + e.count
  end
  return vim.list_extend(out, lines, row + 1)
end

--- How another program's changes are made in the buffer.
---@param r caliban.Review
---@param was string the file's text before
---@param disk string its text now
---@param is_left fun(e: caliban.DiskEdit, mine: string[]): boolean whether a change is not made
---@return caliban.Mixed? # nil if not some hunks are on disk and others wait, or if other lines have changed in both
function M.plan(r, was, disk, is_left)
  local mine, list, from = file.lines(r.buf), tracking.list(r), merging.split(was)
  local waits = waiting(list, algebra.runs(from, mine))
  local ours, written = divided(list, waits)
  if r.auto or #ours == 0 or #written == 0 or conflict.stand(r) then
    return nil
  end
  local text = algebra.base(mine, ours)
  local edits, clashes = merging.merge(from, merging.split(disk), text)
  edits = vim.tbl_filter(function(e)
    return not is_left(e, text)
  end, edits)
  local carried = carrying.carried(ours, text, edits)
  if clashes > 0 then
    return nil
  end
  edits = without(carried.edits, ours)
  local all = {} ---@type table<integer, true>
  for n = 1, #written do
    all[n] = true
  end
  local stood = standing.stood(written, text, edits, all)
  ---@type caliban.Mixed
  local out = {
    edits = carried.edits,
    hunks = {},
    thrown = {},
    mine = mine,
    rows = carried.rows,
    stand = require('caliban.review.waiting').followed(from, text, made(text, edits)),
  }
  local k, i, delta = 0, 0, 0 ---@type integer, integer, integer
  for n, hunk in ipairs(list) do
    if waits[n] == true then
      k = k + 1
      out.hunks[#out.hunks + 1] = carried.hunks[k]
      delta = delta + #hunk.new - #hunk.old
    else
      i = i + 1
      local there = stood.hunks[i] ---@type caliban.Hunk?
      if there then
        out.hunks[#out.hunks + 1] = algebra.moved(there, delta)
      elseif stood.thrown[i] == true then
        out.thrown[#out.thrown + 1] = hunk
      else
        return nil
      end
    end
  end
  for n = 2, #out.hunks do
    -- a hunk that has come to another place among those that wait
    if out.hunks[n].start < out.hunks[n - 1].start + #out.hunks[n - 1].new then
      return nil
    end
  end
  return out
end

--- Makes these changes in the buffer.
---@param r caliban.Review
---@param plan caliban.Mixed
---@return boolean? reworked
---@return integer clashes the number of changes on disk that conflict with hunks
---@return string[]? stand if there are any, the text on which the buffer's text stands
---@return string? places where they conflict, in words
function M.make(r, plan)
  local done = #plan.edits == 0
    or tracking.edit(r, function()
      for i = #plan.edits, 1, -1 do
        local e = plan.edits[i]
        file.put(r.buf, e.start, e.count, e.lines)
      end
    end)
  if not done then
    return conflict.stick(r), #plan.rows
  end
  tracking.set_list(r, algebra.fused(plan.hunks))
  require('caliban.review.state').count_lost(r, plan.edits, plan.mine)
  require('caliban.review.verdict').decided(r, 'throw', plan.thrown)
  if #plan.rows == 0 then
    return false, 0
  end
  return false, #plan.rows, plan.stand, merging.places(plan.edits, plan.rows)
end

return M
