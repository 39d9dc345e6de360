--- The first rows of a message that is wider than the command line. They are shown directly above the command line, which
--- has the last row, until the next key.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_rows')

local shown ---@type integer? the window
local last ---@type string[]? the rows in it

--- Removes the rows.
function M.close()
  local win = shown
  shown, last = nil, nil
  vim.on_key(nil, ns)
  if win and api.nvim_win_is_valid(win) then
    pcall(api.nvim_win_close, win, true)
  end
end

--- Whether these rows are still shown.
---@param rows string[]
---@return boolean
function M.are_shown(rows)
  return last == rows
end

--- Shows rows above the command line.
---@param rows string[]
---@param group string the highlight
---@param gone fun() called at the next key
---@return boolean # false if no window can be opened now
function M.show(rows, group, gone)
  M.close()
  local buf = require('caliban.editor.scratch').new()
  vim.bo[buf].bufhidden = 'wipe'
  api.nvim_buf_set_lines(buf, 0, -1, false, rows)
  local ok, win = pcall(api.nvim_open_win, buf, false, {
    relative = 'editor',
    anchor = 'SW',
    row = vim.o.lines - vim.o.cmdheight,
    col = 0,
    width = vim.o.columns,
    height = #rows,
    style = 'minimal',
    border = 'none',
    focusable = false,
    zindex = 190,
    noautocmd = true,
  })
  if not ok then
    pcall(api.nvim_buf_delete, buf, { force = true })
    return false
  end
  vim.wo[win][0].winhighlight = 'NormalFloat:' .. group
  shown, last = win, rows
  vim.on_key(function()
    vim.on_key(nil, ns)
    gone()
    vim.schedule(function()
      local _ = shown == win and M.close()
    end)
  end, ns)
  return true
end

return M
