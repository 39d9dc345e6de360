--- Combines the edits of a proposal with the pending hunks. Pure functions.
local M = {}

local algebra = require('caliban.review.hunks.algebra')

---@param hunk caliban.Hunk
---@return integer the row after the hunk's last line
local function stop(hunk)
  return hunk.start + #hunk.new
end

--- The keys of a hunk. They are negative if one of these edits changes the hunk again.
---@param hunk caliban.Hunk
---@param edits caliban.Edit[]
---@return integer[]?
local function under(hunk, edits)
  for _, edit in ipairs(edits) do
    if edit.start < stop(hunk) and hunk.start < edit.start + #edit.old then
      return hunk.of and vim.tbl_map(function(key)
        return -math.abs(key)
      end, hunk.of)
    end
  end
  return hunk.of
end

--- The hunks after a proposal's edits were applied to a text with hunks. The base stays the same. Edits and hunks that
--- touch become one hunk.
---@param hunks caliban.Hunk[]
---@param edits caliban.Edit[] ascending
---@param get fun(first: integer, last: integer): string[] lines of the text before the edits
---@return caliban.Hunk[]
function M.stacked(hunks, edits, get)
  local out, delta, i, k = {}, 0, 1, 1 ---@type caliban.Hunk[], integer, integer, integer
  while hunks[i] or edits[k] do
    local edit, hunk = edits[k], hunks[i]
    if not edit or (hunk and stop(hunk) < edit.start) then
      out[#out + 1], i = algebra.moved(hunk, delta), i + 1
    else
      local from = hunk and math.min(hunk.start, edit.start) or edit.start
      local old, now, to = {}, {}, from ---@type string[], string[], integer
      local upto = { from, from } -- the rows up to which `old` and `now` are complete
      local first, head = k, i
      while true do
        hunk, edit = hunks[i], edits[k]
        if hunk and hunk.start <= to then
          vim.list_extend(vim.list_extend(old, get(upto[1], hunk.start)), hunk.old)
          upto[1], i = stop(hunk), i + 1
        elseif edit and edit.start <= to then
          vim.list_extend(vim.list_extend(now, get(upto[2], edit.start)), edit.new)
          upto[2], k = edit.start + #edit.old, k + 1
        else
          break
        end
        to = math.max(to, upto[1], upto[2])
      end
      vim.list_extend(old, get(upto[1], to))
      vim.list_extend(now, get(upto[2], to))
      local of, typed ---@type integer[]?, boolean?
      for n = first, k - 1 do
        of = algebra.both(of, edits[n].of)
      end
      for n = head, i - 1 do
        of, typed =
          algebra.both(of, under(hunks[n], vim.list_slice(edits, first, k - 1))),
          typed or hunks[n].typed
      end
      vim.list_extend(out, algebra.diff(old, now, from + delta, of, typed))
      for n = first, k - 1 do
        delta = delta + #edits[n].new - #edits[n].old
      end
    end
  end
  return out
end

return M
