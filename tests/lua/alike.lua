--- Texts with few distinct lines: a diff can take other equal lines (`{`, `}`, empty ones) for the same.
local M = {}

local ALIKE = { '{', '}', '', 'a', 'b' }

---@return string[]
function M.made()
  local lines = {} ---@type string[]
  for n = 1, math.random(1, 9) do
    lines[n] = ALIKE[math.random(#ALIKE)]
  end
  return lines
end

--- A text that somebody has made of another one.
---@param lines string[]
---@param own? string a line that is in no other text
---@return string[]
function M.remade(lines, own)
  local out = vim.list_slice(lines)
  for _ = 1, math.random(1, 2) do
    local at, kind = math.random(1, #out + 1), math.random(1, 3)
    for _ = 1, kind ~= 1 and math.random(1, 2) or 0 do
      table.remove(out, at)
    end
    for _ = 1, kind ~= 3 and math.random(1, 4) or 0 do
      table.insert(out, math.min(at, #out + 1), ALIKE[math.random(#ALIKE)])
    end
  end
  if own then
    table.insert(out, math.random(1, #out + 1), own)
  end
  return out
end

---@param lines string[]
---@return string
function M.text(lines)
  return #lines == 0 and '' or table.concat(lines, '\n') .. '\n'
end

return M
