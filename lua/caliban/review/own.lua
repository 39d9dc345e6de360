--- Whether a buffer under review has text of the user's own that is not on disk. What the user types counts as their own
--- until it is written; a command that changes all lines, and another one that changes them back, leave nothing of it.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local bytes = require('caliban.editor.bytes')
local file = require('caliban.editor.file')
local merging = require('caliban.review.hunks.merge')
local state = require('caliban.review.state')
local tracking = require('caliban.review.hunks.tracking')

---@param old string[]
---@param new string[]
---@return string
local function key(old, new)
  return table.concat(new, '\n') .. '\0' .. table.concat(old, '\n')
end

--- The differences between the file and the buffer that decisions and pending hunks explain, each with how often.
---@param r caliban.Review
---@return table<string, integer>
local function explained(r)
  local counts = {} ---@type table<string, integer>
  ---@param old string[]
  ---@param new string[]
  local function add(old, new)
    local it = key(old, new)
    counts[it] = (counts[it] or 0) + 1
  end
  for _, hunk in ipairs(state.agreed(r)) do
    add(hunk.old, hunk.new)
  end
  for _, hunk in ipairs(tracking.list(r)) do
    add(hunk.old, hunk.new)
  end
  for _, hunk in ipairs(state.rejected(r)) do
    add(hunk.new, hunk.old)
  end
  return counts
end

--- Called before the buffer is written: forgets that the user has typed, if every difference from the file on disk is a
--- decision or waits for one.
---@param r caliban.Review
function M.look(r)
  -- another encoding is the user's change too
  if not r.own or not r.origin or r.clash or r.whole or bytes.changed(r.buf) then
    return
  end
  local from, to, counts = merging.split(r.origin), file.lines(r.buf), explained(r)
  for _, d in ipairs(algebra.runs(from, to)) do
    local old = vim.list_slice(from, d[1] + 1, d[1] + d[2])
    local it = key(old, vim.list_slice(to, d[3] + 1, d[3] + d[4]))
    if (counts[it] or 0) < 1 then
      return
    end
    counts[it] = counts[it] - 1
  end
  tracking.set_own(r, false)
end

return M
