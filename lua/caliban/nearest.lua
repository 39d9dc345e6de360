--- The known word a misspelt one was probably meant to be.
local M = {}

---@param a string
---@param b string
---@return integer # letters to change, add, drop or swap
local function distance(a, b)
  local rows = { [0] = {} }
  for j = 0, #b do
    rows[0][j] = j
  end
  for i = 1, #a do
    local row, above = { [0] = i }, rows[i - 1]
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      row[j] = math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], rows[i - 2][j - 2] + 1)
      end
    end
    rows[i] = row
  end
  return rows[#a][#b]
end

---@param word string
---@param known string[]
---@return string? # nil where nothing is near
function M.find(word, known)
  if #word > 64 then
    return nil
  end
  local best, least = nil, math.max(1, #word / 2) + 0.5
  for _, name in ipairs(known) do
    -- of two equally near the one of the same length
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
