--- The hunks of the undo states of a buffer, for `u` and `<C-r>`.
local M = {}

local api = vim.api
local rope = require('caliban.review.hunks.rope')

---@class caliban.UndoState
---@field hunks caliban.Hunks
---@field own boolean
---@field gone caliban.Gone
---@field decided? caliban.Decided

--- Saves the hunks of an undo state.
---@param kept table<integer, caliban.UndoState>
---@param first integer the undo state that has led to these hunks
---@param last integer the undo state now: a later one if commands have changed nothing, such as `:sort` of sorted lines
---@param state caliban.UndoState
function M.keep(kept, first, last, state)
  for between = first + 1, last - 1 do
    kept[between] = kept[between] or state
  end
  kept[first], kept[last] = state, state
end

---@param buf integer
---@param lines? caliban.Rope the buffer's lines, if they are known
---@param list caliban.Hunk[]
---@return boolean whether the buffer has the hunks' new lines at their rows
function M.fits(buf, lines, list)
  if lines then
    return rope.hold(lines, list)
  end
  for _, hunk in ipairs(list) do
    local there = api.nvim_buf_get_lines(buf, hunk.start, hunk.start + #hunk.new, false)
    if not vim.deep_equal(there, hunk.new) then
      return false
    end
  end
  return true
end

--- Whether a redo (`<C-r>`) can restore hunks.
---@param buf integer
---@param kept table<integer, caliban.UndoState>
---@return boolean
function M.returns(buf, kept)
  local undone = false
  for _, entry in ipairs(vim.fn.undotree(buf).entries) do
    undone = undone or entry.curhead == 1
    local state = undone and kept[entry.seq]
    if state and state.hunks.count > 0 then
      return true
    end
  end
  return false
end

return M
