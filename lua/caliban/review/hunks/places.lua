--- Finds the rows of two texts that are equal.
local M = {}

--- Returns a function that maps a row to a place. An unchanged row has the same place in both
--- texts: its row in the new text. All rows of a change have the same place in both texts, such as
--- `hunk 2`.
---@param runs integer[][] start and count in the old text, start and count in the new one
---@param side 1|3 the text of the rows: 1 the old one, 3 the new one
---@return fun(row: integer): string|integer, boolean
function M.of(runs, side)
  ---@param row integer
  ---@return string|integer place
  ---@return boolean changed
  return function(row)
    local shift = 0
    for i, run in ipairs(runs) do
      if row < run[side] then
        break
      elseif row < run[side] + run[side + 1] then
        return 'hunk ' .. i, true
      end
      shift = shift + run[4] - run[2]
    end
    return side == 1 and row + shift or row, false
  end
end

return M
