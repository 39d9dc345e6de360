--- Suggests a known word for a misspelt setting or command. It is in Lua because settings are
--- checked before the program runs. `src/nearest.rs` does the same for a model's misspellings, but
--- makes fewer suggestions, because a model acts on them.
local M = {}

--- The Damerau-Levenshtein distance (optimal string alignment).
---@param a string
---@param b string
---@return integer # bytes to change, add, drop or swap
local function distance(a, b)
  ---@type integer[], integer[], integer[]
  local two_above, above, row = {}, {}, {}
  for j = 1, #b + 1 do
    row[j] = j - 1
  end
  for i = 1, #a do
    two_above, above, row = above, row, {}
    local left = i
    row[1] = left
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      local best = math.min(above[j + 1] + 1, left + 1, above[j] + cost)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        best = math.min(best, two_above[j - 1] + 1)
      end
      left = best
      row[j + 1] = best
    end
  end
  return row[#b + 1]
end

---@param word string
---@param known string[]
---@return string? # nil if no known word is near
function M.find(word, known)
  if #word > 64 then
    return nil
  end
  local best, least = nil, math.max(1, #word / 2) + 0.5
  for _, name in ipairs(known) do
    -- if two words have the same distance, one with the same length is preferred
    local d = distance(word:lower(), name) + (#name == #word and 0 or 0.25)
    if d < least then
      best, least = name, d
    end
  end
  return best
end

--- ` Did you mean 'x'?`, or nothing.
---@param word string
---@param known string[]
---@return string
function M.hint(word, known)
  local near = M.find(word, known)
  return near and (" Did you mean '%s'?"):format(near) or ''
end

return M
