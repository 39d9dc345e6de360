--- Numbers of things in words.
local M = {}

--- A number with its noun: `1 line`, `2 lines`.
---@param n integer
---@param one string the noun for one of them
---@return string
function M.of(n, one)
  return ('%d %s%s'):format(n, one, n == 1 and '' or 's')
end

return M
