--- A list of possibly thousands of hunks, stored in blocks. The rows of a block's hunks are
--- relative to the block's row, so a change copies only the hunks of the blocks around it, and the
--- lists before and after the change share the other hunks. A function that is also in `algebra`
--- does the same here as there with a plain list. No list is changed in place.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local returned = require('caliban.review.hunks.returned')

---@class caliban.HunkBlock
---@field at integer the row of the block's first hunk, from which the rows of its hunks count
---@field list caliban.Hunk[] the block's hunks, at least one
---@field loose boolean whether any hunk is loose

---@class caliban.Hunks
---@field blocks caliban.HunkBlock[] ascending
---@field count integer
---@field list? caliban.Hunk[] all hunks, once `list` was called

--- The usual number of hunks in a block; a block never has twice as many. A change copies the hunks
--- of the blocks around it. If it changes the number of lines, it also gives each block after them
--- a new row, without copying that block's hunks. For 2,000 hunks and this size, the two steps cost
--- about the same.
local SIZE = 16

--- Appends hunks to `blocks`, as new blocks.
---@param blocks caliban.HunkBlock[]
---@param list caliban.Hunk[]
---@param at integer the row from which the rows of these hunks count
local function cut(blocks, list, at)
  local parts = math.max(1, math.floor(#list / SIZE))
  local from = 1
  for part = 1, parts do
    local to = math.floor(#list * part / parts)
    if to >= from then
      local start = list[from].start
      local block = { at = at + start, list = list, loose = false }
      if parts > 1 or start ~= 0 then
        block.list = {}
        for k = from, to do
          block.list[k - from + 1] = algebra.moved(list[k], -start)
        end
      end
      for _, hunk in ipairs(block.list) do
        block.loose = block.loose or hunk.loose == true
      end
      blocks[#blocks + 1] = block
    end
    from = to + 1
  end
end

---@param list caliban.Hunk[]
---@return caliban.Hunks
function M.of(list)
  local blocks = {} ---@type caliban.HunkBlock[]
  cut(blocks, list, 0)
  return { blocks = blocks, count = #list, list = list }
end

--- The hunks of blocks `i`..`j`.
---@param hunks caliban.Hunks
---@param i integer
---@param j integer
---@param at integer the row from which the rows of the returned hunks count
---@return caliban.Hunk[]
local function plain(hunks, i, j, at)
  if i == j and hunks.blocks[i].at == at then
    return hunks.blocks[i].list
  end
  local out = {} ---@type caliban.Hunk[]
  for k = i, j do
    local block = hunks.blocks[k]
    for _, hunk in ipairs(block.list) do
      out[#out + 1] = algebra.moved(hunk, block.at - at)
    end
  end
  return out
end

--- All hunks as a plain list.
---@param hunks caliban.Hunks
---@return caliban.Hunk[]
function M.list(hunks)
  hunks.list = hunks.list or plain(hunks, 1, #hunks.blocks, 0)
  return hunks.list
end

--- The last block that begins at or before a row; the first block if none does.
---@param hunks caliban.Hunks
---@param row integer
---@return integer
local function find(hunks, row)
  local low, high = 1, #hunks.blocks
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if hunks.blocks[middle].at <= row then
      low = middle
    else
      high = middle - 1
    end
  end
  return low
end

---@param block caliban.HunkBlock
---@return integer the row of the block's last hunk
local function last_start(block)
  return block.at + block.list[#block.list].start
end

--- The blocks that contain the hunks in rows [first, last) and the hunks next to those rows.
---@param hunks caliban.Hunks
---@param first integer
---@param last integer
---@return integer i, integer j no blocks if j < i
local function around(hunks, first, last)
  local i = find(hunks, first)
  local j = math.min(i, #hunks.blocks)
  while j < #hunks.blocks and last_start(hunks.blocks[j]) < last do
    j = j + 1
  end
  return i, j
end

---@param hunks caliban.Hunks
---@param i integer
---@return integer the number of hunks before block `i`
local function before(hunks, i)
  local n = 0
  for k = 1, i - 1 do
    n = n + #hunks.blocks[k].list
  end
  return n
end

--- The hunks that overlap or touch rows [first, last].
---@param hunks caliban.Hunks
---@param first integer
---@param last integer
---@return caliban.Hunk[]
function M.near(hunks, first, last)
  local out = {} ---@type caliban.Hunk[]
  local i, j = around(hunks, first, last)
  for k = i, j do
    local at = hunks.blocks[k].at
    for _, hunk in ipairs(hunks.blocks[k].list) do
      local start = at + hunk.start
      if start > last then
        break
      elseif start + #hunk.new >= first then
        out[#out + 1] = algebra.moved(hunk, at)
      end
    end
  end
  return out
end

--- The hunk that contains a row.
---@param hunks caliban.Hunks
---@param row integer
---@return integer? index
---@return caliban.Hunk?
function M.at(hunks, row)
  local i, j = around(hunks, row, row + 2)
  for k = i, j do
    local block = hunks.blocks[k]
    local n = algebra.at(block.list, row - block.at)
    if n then
      return before(hunks, k) + n, algebra.moved(block.list[n], block.at)
    end
  end
end

--- The first hunk that begins after a row, or the last hunk that begins before the row.
---@param hunks caliban.Hunks
---@param row integer
---@param step 1|-1
---@return caliban.Hunk?
function M.beyond(hunks, row, step)
  local i, j = around(hunks, step == 1 and row or row - 1, row + 1)
  for k = step == 1 and i or j, step == 1 and j or i, step do
    local at, list = hunks.blocks[k].at, hunks.blocks[k].list
    for n = step == 1 and 1 or #list, step == 1 and #list or 1, step do
      if (at + list[n].start - row) * step > 0 then
        return algebra.moved(list[n], at)
      end
    end
  end
end

--- Calls a function with each hunk. The hunk's `start` is relative to its block, not to the buffer.
---@param hunks caliban.Hunks
---@param fn fun(hunk: caliban.Hunk)
function M.each(hunks, fn)
  for _, block in ipairs(hunks.blocks) do
    for _, hunk in ipairs(block.list) do
      fn(hunk)
    end
  end
end

--- Replaces blocks `i`..`j` by these hunks, and moves the blocks after them by `delta` rows.
---@param hunks caliban.Hunks
---@param i integer
---@param j integer
---@param list caliban.Hunk[]
---@param at integer the row from which the rows of these hunks count
---@param delta integer
---@return caliban.Hunks
local function replaced(hunks, i, j, list, at, delta)
  local count = hunks.count + #list
  for k = i, j do
    count = count - #hunks.blocks[k].list
  end
  local blocks = vim.list_slice(hunks.blocks, 1, i - 1)
  cut(blocks, list, at)
  local n = #blocks - j
  for k = j + 1, #hunks.blocks do
    local it = hunks.blocks[k]
    if delta ~= 0 then
      it = { at = it.at + delta, list = it.list, loose = it.loose }
    end
    blocks[n + k] = it
  end
  return { blocks = blocks, count = count }
end

--- Splits the hunks at the ends of the rows [first, last), as `algebra.take` does.
---@param hunks caliban.Hunks
---@param first integer
---@param last integer
---@param back? boolean whether the rows get the lines of the base, because their hunks are rejected
---@return caliban.Hunk[] taken the parts in these rows
---@return caliban.Hunks rest the other hunks, in the text after the decision
function M.take(hunks, first, last, back)
  -- a hunk without new lines at row `last` is in the range too
  local i, j = around(hunks, first, last + 1)
  local is_all = i == 1 and j == #hunks.blocks
  local at = is_all and 0 or hunks.blocks[i].at
  local list = is_all and M.list(hunks) or plain(hunks, i, j, at)
  local taken, rest = algebra.take(list, first - at, last - at, back)
  if #taken == 0 then
    return taken, hunks
  end
  local delta = 0
  for n, hunk in ipairs(taken) do
    taken[n] = algebra.moved(hunk, at)
    delta = back and delta + #hunk.old - #hunk.new or delta
  end
  return taken, replaced(hunks, i, j, rest, at, delta)
end

--- Called when a formatter has changed the hunks `before` into `after`: a hunk in `after` is marked
--- `typed` (changed by the user) only if the user had changed one of its parts before the formatter
--- ran.
---@param before caliban.Hunk[]
---@param after caliban.Hunk[]
local function formatted(before, after)
  local typed = {} ---@type table<integer, true>
  for _, hunk in ipairs(before) do
    for _, key in ipairs(hunk.typed and hunk.of or {}) do
      typed[key] = true
    end
  end
  for i, hunk in ipairs(after) do
    local is_typed = false
    for _, key in ipairs(hunk.of or {}) do
      is_typed = is_typed or typed[key] == true
    end
    after[i] = vim.tbl_extend('force', hunk, { typed = is_typed })
  end
end

--- The hunks after rows [first, last) were replaced by `new`.
---@param hunks caliban.Hunks
---@param first integer
---@param last integer
---@param new string[]
---@param formats? boolean whether a formatter makes the change
---@return caliban.Hunks
---@return boolean own whether lines outside of the hunks changed
function M.change(hunks, first, last, new, formats)
  local i, j = around(hunks, first, last)
  local at = i <= j and hunks.blocks[i].at or 0
  local list = plain(hunks, i, j, at)
  local after, own = algebra.change(list, first - at, last - at, new)
  if after == list then
    return hunks, own
  elseif formats then
    formatted(list, after)
  end
  return replaced(hunks, i, j, after, at, #new - (last - first)), own
end

--- The hunks without the one in rows [first, last), which has the lines of the base again.
---@param hunks caliban.Hunks
---@param first integer
---@param last integer
---@param delta integer by how much the number of lines has changed
---@return caliban.Hunks
function M.without(hunks, first, last, delta)
  local i, j = around(hunks, first, last + 1)
  local list = plain(hunks, i, j, hunks.blocks[i].at)
  local out, at = {}, hunks.blocks[i].at
  for _, hunk in ipairs(list) do
    if hunk.start + at < first then
      out[#out + 1] = hunk
    elseif hunk.start + at > first then
      out[#out + 1] = algebra.moved(hunk, delta)
    end
  end
  return replaced(hunks, i, j, out, at, delta)
end

--- The hunks after edits, with the lines that the user has put back (see `returned`).
---@param hunks caliban.Hunks
---@param edits caliban.NetEdit[]
---@param get fun(first: integer, last: integer): string[] lines of the text
---@return caliban.Hunks
---@return table<integer, boolean> rows of these lines
function M.returned(hunks, edits, get)
  for _, it in ipairs(edits) do
    local first, last = it.at, it.at + #it.new
    local concerned = hunks.count > 0
      and (
        returned.concerns(M.beyond(hunks, first, -1), first, last)
        or returned.concerns(M.beyond(hunks, last, 1), first, last)
      )
    for _, hunk in ipairs((hunks.count == 0 or concerned) and {} or M.near(hunks, first, last)) do
      concerned = concerned or returned.concerns(hunk, first, last)
    end
    if concerned then
      local list, rows = returned.returned(M.list(hunks), get)
      return M.of(list), rows
    end
  end
  return hunks, {}
end

--- The hunks before edits, each removal at the place of an inserted line where it can be there (see `returned.placed`).
---@param hunks caliban.Hunks
---@param edits caliban.NetEdit[]
---@param get fun(first: integer, last: integer): string[] lines of the text before the edits
---@return caliban.Hunks
function M.placed(hunks, edits, get)
  for _, it in ipairs(edits) do
    for _, step in
      ipairs((#it.old == 0 and not it.restores and hunks.count > 0) and { -1, 1 } or {})
    do
      local hunk = M.beyond(hunks, it.first, step)
      local there = returned.placed(hunk, it.first, get)
      if hunk and there then
        local list = vim.tbl_map(function(other)
          return other.start == hunk.start and there or other
        end, M.list(hunks))
        hunks = M.of(algebra.fused(list))
      end
    end
  end
  return hunks
end

--- Compares the old and new lines of changed hunks again, as `algebra.tighten` does.
---@param hunks caliban.Hunks
---@return caliban.Hunks
function M.tighten(hunks)
  for i = #hunks.blocks, 1, -1 do
    local block = hunks.blocks[i]
    if block.loose then
      hunks = replaced(hunks, i, i, algebra.tighten(block.list), block.at, 0)
    end
  end
  return hunks
end

return M
