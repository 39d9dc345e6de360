--- The source of a line of the transcript, for keys that act on names in it.
local M = {}

local api = vim.api

--- The line under the cursor and the cursor's column in it. On a call, this is the uncut line, and
--- the column is not before the main argument.
---@param chat caliban.Chat
---@return string line
---@return integer col
function M.line(chat)
  local line, at = api.nvim_get_current_line(), api.nvim_win_get_cursor(0)
  local block, top = require('caliban.chat.paint').at(chat, at[1] - 1)
  local call = block and block.call_line
  if not (block and call and block.whole) or at[1] - 1 ~= top + (block.head or 0) then
    return line, at[2]
  end
  local col, main = at[2], call.main
  if line ~= block.whole then
    col = require('caliban.chat.fit').col(block.whole, line, col)
    col = main[2] > main[1] and math.min(col, main[2] - 1) or col ---@as integer
  end
  return block.whole, math.max(col, main[1]) --[[@as integer]]
end

return M
