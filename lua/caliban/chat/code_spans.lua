--- The parts of a line that stay in one row: the code spans that could be broken, each with the characters that touch it.
local M = {}

--- The parts of a line, as pairs of their first and last byte, from 1.
---@param line string
---@param codes integer[] for each code span its first byte, from 0, and the byte after its last
---@param breaks string the characters at which Neovim wraps, as a character class for a Lua pattern
---@return integer[]
function M.parts(line, codes, breaks)
  local parts, last = {}, 0 ---@type integer[], integer
  for i = 1, #codes, 2 do
    local from, to = codes[i] + 1, codes[i + 1] ---@type integer, integer
    local at = line:find(breaks, from)
    if at and at <= to then
      while from > last + 1 and not line:find('^' .. breaks, from - 1) do
        from = from - 1
      end
      -- a span that begins within the part before it continues that part
      local n = from <= last and #parts - 1 or #parts + 1
      -- for Neovim, the characters at which it wraps belong to the word before them
      last = select(2, line:find(breaks .. '+', to + 1)) or #line
      parts[n], parts[n + 1] = parts[n] or from, last
    end
  end
  return parts
end

return M
