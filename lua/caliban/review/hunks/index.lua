--- A list of possibly thousands of hunks, stored in blocks. The rows of a block's hunks are
--- relative to the block's own row. So a change copies only the blocks around it and moves the
--- others, and the lists of two undo states share their equal blocks. Functions with the same name
--- as in `algebra` do the same as those do with a plain list. Nothing is changed in place.
local M = {}

local algebra = require('caliban.review.hunks.algebra')

---@class caliban.HunkBlock
---@field at integer the block's row, from which its hunks' rows count
---@field list caliban.Hunk[] the block's hunks, at least one
---@field loose boolean whether any hunk is loose

---@class caliban.Hunks
---@field blocks caliban.HunkBlock[] ascending
---@field count integer
---@field list? caliban.Hunk[] all hunks, once `list` was called

--- How many hunks a new block has. Through changes a block may get up to twice as many.
local SIZE = 64

--- Appends hunks in blocks.
---@param blocks caliban.HunkBlock[]
---@param list caliban.Hunk[]
local function cut(blocks, list)
  local parts = math.max(1, math.floor(#list / SIZE))
  local from = 1
  for part = 1, parts do
    local to = math.floor(#list * part / parts)
    if to >= from then
      local block = { at = list[from].start, list = {}, loose = false }
      for k = from, to do
        table.insert(block.list, algebra.moved(list[k], -block.at))
        block.loose = block.loose or list[k].loose == true
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
  cut(blocks, list)
  return { blocks = blocks, count = #list, list = list }
end

--- The hunks of blocks `i`..`j`.
---@param hunks caliban.Hunks
---@param i integer
---@param j integer
---@return caliban.Hunk[]
local function plain(hunks, i, j)
  local out = {} ---@type caliban.Hunk[]
  for k = i, j do
    local block = hunks.blocks[k]
    for _, hunk in ipairs(block.list) do
      out[#out + 1] = algebra.moved(hunk, block.at)
    end
  end
  return out
end

--- All hunks as a plain list.
---@param hunks caliban.Hunks
---@return caliban.Hunk[]
function M.list(hunks)
  hunks.list = hunks.list or plain(hunks, 1, #hunks.blocks)
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
  local list = plain(hunks, i, j)
  for k = step == 1 and 1 or #list, step == 1 and #list or 1, step do
    if (list[k].start - row) * step > 0 then
      return list[k]
    end
  end
end

--- Replaces blocks `i`..`j` by these hunks, and moves the blocks after them by `delta` rows.
---@param hunks caliban.Hunks
---@param i integer
---@param j integer
---@param list caliban.Hunk[]
---@param delta integer
---@return caliban.Hunks
local function replaced(hunks, i, j, list, delta)
  local count = hunks.count + #list
  for k = i, j do
    count = count - #hunks.blocks[k].list
  end
  local blocks = vim.list_slice(hunks.blocks, 1, i - 1)
  cut(blocks, list)
  for k = j + 1, #hunks.blocks do
    local it = hunks.blocks[k]
    if delta ~= 0 then
      it = { at = it.at + delta, list = it.list, loose = it.loose }
    end
    blocks[#blocks + 1] = it
  end
  return { blocks = blocks, count = count }
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
  local list = plain(hunks, i, j)
  local after, own = algebra.change(list, first, last, new)
  if after == list then
    return hunks, own
  elseif formats then
    formatted(list, after)
  end
  return replaced(hunks, i, j, after, #new - (last - first)), own
end

--- Compares the old and new lines of changed hunks again, as `algebra.tighten` does.
---@param hunks caliban.Hunks
---@return caliban.Hunks
function M.tighten(hunks)
  for i = #hunks.blocks, 1, -1 do
    if hunks.blocks[i].loose then
      hunks = replaced(hunks, i, i, algebra.tighten(plain(hunks, i, i)), 0)
    end
  end
  return hunks
end

return M
