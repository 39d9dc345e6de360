--- Draws the names in backticks of a notice or an error without their backticks.
local M = {}

local api = vim.api
local NONE = {} ---@type caliban.Spans
--- The index of the empty sign among the `SIGNS` of `caliban.chat.markdown`.
local HIDDEN = 1

--- The backticks of a line.
---@param buf integer
---@param row integer
---@return caliban.Spans
function M.spans(buf, row)
  local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  if not line:find('`', 1, true) then
    return NONE
  end
  local spans, veils = {}, {} ---@type caliban.Spans, integer[]
  for from, to in line:gmatch('()`[^`]+()`') do
    vim.list_extend(veils, { from - 1, from, HIDDEN, to - 1, to, HIDDEN })
  end
  spans.veils = veils
  return spans
end

return M
