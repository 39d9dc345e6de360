--- A rope: the lines of a text in pieces. Versions of the text share pieces, because a change
--- copies only the pieces that it affects. Rows are counted from 0. No version is changed in place.
local M = {}

local slices = require('caliban.editor.slices')

---@class caliban.Piece
---@field [integer] string the piece's lines, at least one
---@field text? string the lines joined, once `text` was called

---@class caliban.Rope
---@field pieces caliban.Piece[]
---@field count integer the number of lines

--- How many lines a new piece has. Through changes a piece may get up to twice as many.
local SIZE = 256

--- Appends lines in pieces.
---@param pieces caliban.Piece[]
---@param lines string[]
local function cut(pieces, lines)
  local parts = math.max(1, math.floor(#lines / SIZE))
  local from = 1
  for part = 1, parts do
    local to = math.floor(#lines * part / parts)
    if to >= from then
      pieces[#pieces + 1] = vim.list_slice(lines, from, to) --[[@as caliban.Piece]]
    end
    from = to + 1
    if part % 16 == 0 then
      slices.rest()
    end
  end
end

---@param lines string[]
---@return caliban.Rope
function M.of(lines)
  local pieces = {} ---@type caliban.Piece[]
  cut(pieces, lines)
  return { pieces = pieces, count = #lines }
end

--- The piece that contains a row; the last piece if the row is past the end.
---@param rope caliban.Rope
---@param row integer
---@return integer index 0 if the rope has no pieces
---@return integer at the piece's first row
local function find(rope, row)
  local pieces, at = rope.pieces, 0
  for i = 1, #pieces - 1 do
    local after = at + #pieces[i]
    if row < after then
      return i, at
    end
    at = after
  end
  return #pieces, at
end

--- The lines in rows [first, last).
---@param rope caliban.Rope
---@param first integer
---@param last integer
---@return string[]
function M.lines(rope, first, last)
  local out = {}
  local i, at = find(rope, first)
  while at < last and rope.pieces[i] do
    local piece = rope.pieces[i]
    vim.list_extend(out, piece, math.max(1, first - at + 1), math.min(#piece, last - at))
    i, at = i + 1, at + #piece
  end
  return out
end

--- Whether the text has the hunks' new lines at their rows.
---@param rope caliban.Rope
---@param list caliban.Hunk[] ascending
---@return boolean
function M.hold(rope, list)
  local pieces, i, at = rope.pieces, 1, 0
  for _, hunk in ipairs(list) do
    for n, line in ipairs(hunk.new) do
      local row = hunk.start + n - 1
      while pieces[i] and row >= at + #pieces[i] do
        i, at = i + 1, at + #pieces[i]
      end
      if not pieces[i] or pieces[i][row - at + 1] ~= line then
        return false
      end
    end
  end
  return true
end

--- Replaces rows [first, last) by `new`.
---@param rope caliban.Rope
---@param first integer
---@param last integer
---@param new string[]
---@return caliban.Rope
function M.splice(rope, first, last, new)
  local i, at = find(rope, first)
  local j, to = find(rope, math.max(first, last - 1))
  local middle = {} ---@type string[]
  if i > 0 then
    vim.list_extend(middle, rope.pieces[i], 1, first - at)
  end
  vim.list_extend(middle, new)
  if j > 0 then
    vim.list_extend(middle, rope.pieces[j], last - to + 1)
  end
  local pieces = vim.list_slice(rope.pieces, 1, i - 1)
  cut(pieces, middle)
  vim.list_extend(pieces, rope.pieces, j + 1)
  return { pieces = pieces, count = rope.count + #new - (last - first) }
end

--- Where two versions differ: rows [first, last).
---@param a caliban.Rope
---@param b caliban.Rope
---@return integer first in both
---@return integer last in `a`
---@return integer last in `b`
function M.differing(a, b)
  local head, tail, first, behind = 0, 0, 0, 0
  local most = math.min(#a.pieces, #b.pieces)
  while head < most and a.pieces[head + 1] == b.pieces[head + 1] do
    head = head + 1
    first = first + #a.pieces[head]
  end
  while tail < most - head and a.pieces[#a.pieces - tail] == b.pieces[#b.pieces - tail] do
    behind = behind + #a.pieces[#a.pieces - tail]
    tail = tail + 1
  end
  local old, new = M.lines(a, first, a.count - behind), M.lines(b, first, b.count - behind)
  local from, upto, least = 0, 0, math.min(#old, #new)
  while from < least and old[from + 1] == new[from + 1] do
    from = from + 1
  end
  while upto < least - from and old[#old - upto] == new[#new - upto] do
    upto = upto + 1
  end
  return first + from, a.count - behind - upto, b.count - behind - upto
end

--- The lines joined by '\n'.
---@param rope caliban.Rope
---@return string
function M.text(rope)
  local out = {} ---@type string[]
  for i, piece in ipairs(rope.pieces) do
    piece.text = piece.text or table.concat(piece, '\n')
    out[i] = piece.text
  end
  return table.concat(out, '\n')
end

return M
