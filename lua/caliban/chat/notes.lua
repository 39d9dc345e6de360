--- Hides the backticks around the names in a notice or an error.
local M = {}

local api = vim.api
local NONE = {} ---@type caliban.Spans
--- The index of the empty sign among the `SIGNS` of `caliban.chat.markdown`.
local HIDDEN = 1

--- The names in backticks: for each its first byte and the byte after its last.
---@param line string
---@return integer[]
function M.codes(line)
  local codes = {} ---@type integer[]
  for from, to in line:gmatch('()`[^`]+`()') do
    vim.list_extend(codes, { from - 1, to - 1 })
  end
  return codes
end

--- The backticks of a line, as parts that are hidden.
---@param buf integer
---@param row integer
---@return caliban.Spans
function M.spans(buf, row)
  local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  if not line:find('`', 1, true) then
    return NONE
  end
  local spans, veils, codes = {}, {}, M.codes(line) ---@type caliban.Spans, integer[], integer[]
  for i = 1, #codes, 2 do
    local from, to = codes[i], codes[i + 1] ---@type integer, integer
    vim.list_extend(veils, { from, from + 1, HIDDEN, to - 1, to, HIDDEN })
  end
  spans.veils = veils
  return spans
end

return M
