--- A small floating window over the chat with a text to read. It is closed by a key, or when the
--- user leaves it.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF

--- The window's width is measured on at most this many lines.
local MEASURED = 2000

--- The number of open windows, and the user's value of 'ruler', which is off meanwhile: it would say nothing about such a
--- window.
local open, ruler = 0, nil ---@type integer, boolean?

local function hide_ruler()
  if open == 0 then
    ruler = vim.o.ruler
    vim.cmd('noautocmd set noruler')
  end
  open = open + 1
end

local function show_ruler()
  open = math.max(0, open - 1)
  if open == 0 and ruler then
    vim.cmd('noautocmd set ruler')
  end
end

--- Shows lines in a floating window that fits them, as far as the screen is large enough.
---@param lines string[]
---@param title string
---@param place vim.api.keyset.win_config where the window is
---@param key string closes the window, as `q` and `<Esc>` do
---@return integer win
function M.show(lines, title, place, key)
  local buf = require('caliban.editor.scratch').new()
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden, vim.bo[buf].modifiable = 'wipe', false
  local width = 20
  for i = 1, math.min(#lines, MEASURED) do
    width = math.max(width, api.nvim_strwidth(lines[i]:sub(1, 1000)))
  end
  local win = api.nvim_open_win(
    buf,
    true,
    vim.tbl_extend('error', place, {
      width = math.min(width, vim.o.columns - 2),
      height = math.max(1, math.min(#lines, vim.o.lines - 4)),
      style = 'minimal',
      border = require('caliban.editor.icons').border(),
      title = require('caliban.editor.icons').of((' %s · q closes '):format(title)),
    })
  )
  hide_ruler()
  vim.wo[win][0].wrap, vim.wo[win][0].linebreak = true, true
  local rows = api.nvim_win_text_height(win, { end_row = math.min(#lines, vim.o.lines) - 1 }).all
  api.nvim_win_set_height(win, math.max(1, math.min(rows, vim.o.lines - 4)))
  local function close()
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
  end
  for _, lhs in ipairs({ 'q', '<Esc>', key }) do
    vim.keymap.set('n', lhs, close, { [BUF] = buf, nowait = true, desc = 'Close' })
  end
  api.nvim_create_autocmd(
    'WinLeave',
    { [BUF] = buf, once = true, callback = vim.schedule_wrap(close) }
  )
  api.nvim_create_autocmd('BufWipeout', { [BUF] = buf, once = true, callback = show_ruler })
  return win
end

return M
