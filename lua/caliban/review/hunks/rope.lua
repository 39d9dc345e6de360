--- A rope: the lines of a text in pieces, and the pieces in groups. Versions of the text share pieces and groups, because
--- a change copies only those that it affects. Rows are counted from 0. No version is changed in place.
local M = {}

local slices = require('caliban.editor.slices')

---@class caliban.Piece
---@field [integer] string the piece's lines, at least one
---@field text? string the lines joined, once `text` was called

---@class caliban.PieceGroup
---@field [integer] caliban.Piece at least one
---@field count integer the number of lines

---@class caliban.Rope
---@field groups caliban.PieceGroup[]
---@field count integer the number of lines

--- The usual number of lines in a piece, and of pieces in a group. None ever has twice as many.
local LINES, PIECES = 128, 32

--- Appends items `from`..`to` of a list. `vim.list_extend` computes the length of `out` for each
--- item, which is slower.
---@generic T
---@param out T[]
---@param list T[]
---@param from integer
---@param to integer
---@return T[] out
local function append(out, list, from, to)
  local before = #out - from + 1
  for i = from, to do
    out[before + i] = list[i]
  end
  return out
end

--- Cuts a list into parts of about `size` items.
---@generic T
---@param list T[]
---@param size integer
---@return T[][]
local function cut(list, size)
  local out, from = {}, 1
  local parts = math.max(1, math.floor(#list / size))
  for part = 1, parts do
    local to = math.floor(#list * part / parts)
    if to >= from then
      out[#out + 1] = append({}, list, from, to)
    end
    from = to + 1
    if part % 16 == 0 then
      slices.rest()
    end
  end
  return out
end

---@param lines string[]
---@return caliban.Piece[]
local function pieces_with(lines)
  return cut(lines, LINES) --[[@as caliban.Piece[] ]]
end

---@param pieces caliban.Piece[]
---@return caliban.PieceGroup[]
local function grouped(pieces)
  local groups = cut(pieces, PIECES) --[[@as caliban.PieceGroup[] ]]
  for _, group in ipairs(groups) do
    group.count = 0
    for _, piece in ipairs(group) do
      group.count = group.count + #piece
    end
  end
  return groups
end

---@param lines string[]
---@return caliban.Rope
function M.of(lines)
  return { groups = grouped(pieces_with(lines)), count = #lines }
end

---@param group caliban.PieceGroup
---@return integer
local function count_of(group)
  return group.count
end

---@param piece caliban.Piece
---@return integer
local function length_of(piece)
  return #piece
end

--- The item (a piece, or a group) that contains a row; the last item if the row is past the end.
---@generic T
---@param list T[]
---@param size fun(item: T): integer the number of the item's lines
---@param row integer
---@param at integer the first row of the first item
---@return integer index 0 if the list is empty
---@return integer at the item's first row
local function find(list, size, row, at)
  for i = 1, #list - 1 do
    local after = at + size(list[i])
    if row < after then
      return i, at
    end
    at = after
  end
  return #list, at
end

--- The pieces of groups `i`..`j`.
---@param rope caliban.Rope
---@param i integer
---@param j integer
---@return caliban.Piece[]
local function pieces_of(rope, i, j)
  local out = {} ---@type caliban.Piece[]
  for k = i, j do
    append(out, rope.groups[k], 1, #rope.groups[k])
  end
  return out
end

--- The lines in rows [first, last).
---@param rope caliban.Rope
---@param first integer
---@param last integer
---@return string[]
function M.lines(rope, first, last)
  local out = {} ---@type string[]
  local i, at = find(rope.groups, count_of, first, 0)
  while at < last and rope.groups[i] do
    for _, piece in ipairs(rope.groups[i]) do
      append(out, piece, math.max(1, first - at + 1), math.min(#piece, last - at))
      at = at + #piece
    end
    i = i + 1
  end
  return out
end

--- Whether the text has the hunks' new lines at their rows.
---@param rope caliban.Rope
---@param list caliban.Hunk[] ascending
---@return boolean
function M.hold(rope, list)
  local pieces, i, at = pieces_of(rope, 1, #rope.groups), 1, 0
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

--- Replaces rows [first, last) by `new` in a list of pieces.
---@param pieces caliban.Piece[]
---@param at integer the first row of the first piece
---@param first integer
---@param last integer
---@param new string[]
---@return caliban.Piece[]
local function spliced(pieces, at, first, last, new)
  local i, from = find(pieces, length_of, first, at)
  local j, to = find(pieces, length_of, math.max(first, last - 1), at)
  local middle = {} ---@type string[]
  if i > 0 then
    append(middle, pieces[i], 1, math.min(first - from, #pieces[i]))
  end
  append(middle, new, 1, #new)
  if j > 0 then
    append(middle, pieces[j], last - to + 1, #pieces[j])
  end
  local out, parts = append({}, pieces, 1, i - 1), pieces_with(middle)
  append(out, parts, 1, #parts)
  return append(out, pieces, j + 1, #pieces)
end

--- Replaces rows [first, last) by `new`.
---@param rope caliban.Rope
---@param first integer
---@param last integer
---@param new string[]
---@return caliban.Rope
function M.splice(rope, first, last, new)
  local i, at = find(rope.groups, count_of, first, 0)
  local j = find(rope.groups, count_of, math.max(first, last - 1), 0)
  local parts = grouped(spliced(pieces_of(rope, math.max(i, 1), j), at, first, last, new))
  local groups = append({}, rope.groups, 1, i - 1)
  append(groups, parts, 1, #parts)
  append(groups, rope.groups, j + 1, #rope.groups)
  return { groups = groups, count = rope.count + #new - (last - first) }
end

--- How many lines two lists of pieces or groups share at the beginning, and at the end.
---@generic T
---@param a T[]
---@param b T[]
---@param size fun(item: T): integer the number of the item's lines
---@return integer first, integer behind counted in lines
---@return integer head, integer tail counted in pieces or groups
local function shared(a, b, size)
  local first, behind, head, tail = 0, 0, 0, 0
  local most = math.min(#a, #b)
  while head < most and a[head + 1] == b[head + 1] do
    head = head + 1
    first = first + size(a[head])
  end
  while tail < most - head and a[#a - tail] == b[#b - tail] do
    behind = behind + size(a[#a - tail])
    tail = tail + 1
  end
  return first, behind, head, tail
end

--- Where two versions differ: rows [first, last).
---@param a caliban.Rope
---@param b caliban.Rope
---@return integer first in both
---@return integer last in `a`
---@return integer last in `b`
function M.differing(a, b)
  local first, behind, head, tail = shared(a.groups, b.groups, count_of)
  local more, less = shared(
    pieces_of(a, head + 1, #a.groups - tail),
    pieces_of(b, head + 1, #b.groups - tail),
    length_of
  )
  first, behind = first + more, behind + less
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

--- Whether two versions have the same lines.
---@param a caliban.Rope
---@param b caliban.Rope
---@return boolean
function M.same(a, b)
  if a.count ~= b.count then
    return false
  end
  local first, last = M.differing(a, b)
  return first == last
end

--- The lines joined by '\n'.
---@param rope caliban.Rope
---@return string
function M.text(rope)
  local out = {} ---@type string[]
  for _, group in ipairs(rope.groups) do
    for _, piece in ipairs(group) do
      piece.text = piece.text or table.concat(piece, '\n')
      out[#out + 1] = piece.text
    end
  end
  return table.concat(out, '\n')
end

return M
