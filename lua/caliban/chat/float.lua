--- A small floating window over the chat with a text to read. It is closed by a key, or when the
--- user leaves it.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF

--- The window's width is measured on at most this many lines.
local MEASURED = 2000

--- The fewest rows that a window keeps above a composer.
local LEAST = 4

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

--- Says in the lower edge of a window how many lines are below it.
---@param win integer
function M.announce(win)
  if not api.nvim_win_is_valid(win) then
    return
  end
  local below = vim.fn.line('$', win) - vim.fn.line('w$', win)
  local text = below > 0 and (' ↓ %d more '):format(below) or ''
  local config = api.nvim_win_get_config(win)
  if config.border and config.border ~= 'none' then
    local foot = { footer = require('caliban.editor.icons').of(text), footer_pos = 'right' }
    api.nvim_win_set_config(win, text ~= '' and foot or { footer = '' })
  end
end

--- Moves a window above the composer of this tab, so that it does not cover what is written there.
---@param win integer
local function clear_composer(win)
  local composer = require('caliban.chat.layout').showing('composer')
  if not composer or api.nvim_win_get_config(composer).relative ~= '' then
    return
  end
  local at, place = api.nvim_win_get_position(composer), api.nvim_win_get_position(win)
  local height, border = api.nvim_win_get_height(win), 2
  -- the rule above the composer stays too
  local room = at[1] - 1
  local beside = place[2] + api.nvim_win_get_width(win) + border <= at[2]
  if beside or place[1] + height + border <= room or room < LEAST + border then
    return
  end
  height = math.min(height, room - border)
  local config = { relative = 'editor', row = room - height - border, col = place[2] }
  config.height = height
  api.nvim_win_set_config(win, config)
end

--- Fits a window to its text, as far as the screen is large enough and the composer stays free.
---@param win integer
function M.fit(win)
  local last = math.min(api.nvim_buf_line_count(api.nvim_win_get_buf(win)), vim.o.lines)
  local rows = api.nvim_win_text_height(win, { end_row = last - 1 }).all
  api.nvim_win_set_height(win, math.max(1, math.min(rows, vim.o.lines - 4)))
  clear_composer(win)
  M.announce(win)
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
  require('caliban.editor.bare').prose(win)
  M.fit(win)
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
  api.nvim_create_autocmd('WinScrolled', {
    [BUF] = buf,
    callback = function()
      M.announce(win)
    end,
  })
  api.nvim_create_autocmd('BufWipeout', { [BUF] = buf, once = true, callback = show_ruler })
  return win
end

return M
