--- An undo block: changes that can be undone together. The hunks after it follow from the hunks before it and from what
--- differs between the two texts. What Neovim has reported in between only tells where they differ. Pure functions.
local M = {}

local index = require('caliban.review.hunks.index')
local moved = require('caliban.review.hunks.moved')
local regions = require('caliban.review.hunks.regions')
local rope = require('caliban.review.hunks.rope')

---@class caliban.UndoBlock
---@field hunks caliban.Hunks the hunks before these changes
---@field lines caliban.Rope the buffer's lines before them
---@field own boolean whether the user had unsaved changes outside the hunks
---@field gone caliban.Gone the lines that the user had removed
---@field formats boolean whether a formatter makes the changes
---@field regions caliban.Region[] where the texts differ
---@field due boolean whether there was a change since the hunks were last computed

---@param hunks caliban.Hunks
---@param lines caliban.Rope
---@param own boolean
---@param gone caliban.Gone
---@param formats boolean
---@return caliban.UndoBlock
function M.new(hunks, lines, own, gone, formats)
  local it = { hunks = hunks, lines = lines, own = own, gone = gone, formats = formats }
  it.regions, it.due = {}, false
  return it
end

---@param hunks caliban.Hunks
---@param edits caliban.NetEdit[]
---@param own boolean
---@param formats boolean whether a formatter makes the edits
---@return caliban.Hunks hunks after the edits
---@return boolean own `own`, or whether lines outside of the hunks changed
function M.applied(hunks, edits, own, formats)
  for k = #edits, 1, -1 do
    local it, touched = edits[k], true
    if it.restores then
      hunks, touched = index.without(hunks, it.first, it.last, #it.new - #it.old), false
    elseif hunks.count > 0 then
      hunks, touched = index.change(hunks, it.first, it.last, it.new, formats)
    end
    own = own or touched
  end
  return hunks, own
end

--- The hunks after the changes of the block.
---@param block caliban.UndoBlock
---@param lines caliban.Rope the buffer's lines now
---@param past caliban.UndoBlock[] the blocks before this one: if their text is there again, so are their hunks
---@return caliban.Hunks hunks
---@return boolean own
---@return caliban.Gone gone
function M.settled(block, lines, past)
  local edits = regions.edits(block.regions, block.lines, lines, block.hunks)
  local placed = index.placed(block.hunks, edits, function(first, last)
    return rope.lines(block.lines, first, last)
  end)
  local raw, own = M.applied(placed, edits, block.own, block.formats)
  for _, it in ipairs(past) do
    if rope.same(it.lines, lines) then
      return it.hunks, own, moved.removed(block.gone, edits, block.hunks)
    end
  end
  local hunks, rows = index.returned(index.tighten(raw), edits, function(first, last)
    return rope.lines(lines, first, last)
  end)
  hunks = index.tighten(hunks)
  local gone ---@type caliban.Gone
  hunks, gone = moved.settled(edits, block.hunks, { raw = raw, tight = hunks }, block.gone, rows)
  return index.tighten(hunks), own, gone
end

return M
