--- The rows of a message that is wider than the command line.
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

--- The row of the screen, from 0, with the cursor.
---@return integer
local function cursor_row()
  local at = api.nvim_win_get_cursor(0)
  local row = vim.fn.screenpos(0, at[1], at[2] + 1).row ---@as integer
  return row - 1
end

--- The place for the rows of a message that would cover the lowest bar of Caliban's, which names the keys, if its last
--- row were in the command line: directly above that bar. If the cursor is there, above the other bars there and the
--- cursor.
---@param count integer the number of rows
---@return integer? # the row of the screen below the place, from 0; nil if no bar would be covered
local function place(count)
  local bars = require('caliban.editor.name').bars()
  local keys = -1
  for _, it in ipairs(bars) do
    keys = it > keys and it or keys
  end
  if keys < vim.o.lines - vim.o.cmdheight - (count - 1) then
    return nil
  end
  local cursor, row = cursor_row(), keys
  ---@param at integer
  ---@return boolean
  local function is_covered(at)
    return at >= row - count and at < row
  end
  if is_covered(cursor) then
    repeat
      local before = row
      for _, it in ipairs(vim.list_extend({ cursor }, bars)) do
        row = is_covered(it) and it or row
      end
    until row == before
  end
  return row >= count and row or keys >= count and keys or nil
end

--- Shows the rows of a message directly above the command line, whose row is the message's last one, until the next key.
--- If they would cover a winbar or a line of keys of Caliban's, shows all of them above it.
---@param rows string[] all rows of the message
---@param group? string the highlight
---@param gone fun() called at the next key
---@return string last what the command line has to show: the last row, or nothing
---@return boolean shown false if no window can be opened now
function M.show(rows, group, gone)
  M.close()
  local apart = place(#rows)
  local above = apart and rows or vim.list_slice(rows, 1, #rows - 1)
  local last_row = not apart and rows[#rows] or ''
  if #above == 0 then
    return last_row, true
  end
  local buf = require('caliban.editor.scratch').new()
  vim.bo[buf].bufhidden = 'wipe'
  api.nvim_buf_set_lines(buf, 0, -1, false, above)
  local ok, win = pcall(api.nvim_open_win, buf, false, {
    relative = 'editor',
    anchor = 'SW',
    row = apart or vim.o.lines - vim.o.cmdheight,
    col = 0,
    width = vim.o.columns,
    height = #above,
    style = 'minimal',
    border = 'none',
    focusable = false,
    zindex = 190,
    noautocmd = true,
  })
  if not ok then
    pcall(api.nvim_buf_delete, buf, { force = true })
    return last_row, false
  end
  require('caliban.editor.bare').prose(win)
  local ground = group or (apart and 'NormalFloat' or 'MsgArea')
  vim.wo[win][0].winhighlight = 'NormalFloat:' .. ground
  shown, last = win, rows
  vim.on_key(function()
    vim.on_key(nil, ns)
    gone()
    vim.schedule(function()
      local _ = shown == win and M.close()
    end)
  end, ns)
  return last_row, true
end

return M
