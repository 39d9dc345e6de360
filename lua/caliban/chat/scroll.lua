--- Scrolls the windows of a transcript. Where a window has no room for all of a line, it shows the line's last rows at its
--- top, after the sign of 'listchars' for text that comes before.
local M = {}

local api, fn = vim.api, vim.fn

--- The options of a window that shows a transcript.
---@return table<string, any>
function M.options()
  local sign = require('caliban.editor.icons').of('…')
  -- with 'ambiwidth' the sign may be too wide for 'listchars'
  sign = api.nvim_strwidth(sign) == 1 and sign or '<'
  -- without a value for tabs, they would be shown as `^I`
  return { smoothscroll = true, list = true, listchars = 'tab:  ,precedes:' .. sign }
end

--- Shows a line from its beginning at the top of a window.
---@param win integer
---@param line integer
function M.top(win, line)
  api.nvim_win_call(win, function()
    fn.winrestview({ topline = line, skipcol = 0 })
  end)
end

--- Shows the end of a line in the last row of a window, below all that the window has room for.
---@param win integer
---@param line integer
---@param top? integer a line above it from which the window can show all lines; default: `line`
function M.bottom(win, line, top)
  local info = fn.getwininfo(win)[1]
  ---@param first integer
  ---@param last integer
  ---@return table<string, any>
  local function height(first, last)
    return api.nvim_win_text_height(win, { start_row = first - 1, end_row = last - 1 })
  end
  local first = top or line
  local upper = height(first, first)
  local rows = first == line and upper.all or height(first, line).all
  while first > 1 and rows < info.height do
    first = first - 1
    upper = height(first, first)
    rows = rows + upper.all
  end
  -- virtual lines below the text of the top line stay
  local above = math.min(math.max(0, rows - info.height), upper.all - upper.fill - 1) --[[@as integer]]
  api.nvim_win_call(win, function()
    fn.winrestview({ topline = first, skipcol = above * (info.width - info.textoff) })
  end)
end

return M
