--- A small window in which the user changes a command before it runs.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF

local HINT = '<C-s> run, in normal mode also <CR> · <C-c> cancel'

--- Closes the window of the command. Leaves insert mode if the user types there.
---@param win integer
local function close(win)
  if api.nvim_get_current_win() == win then
    vim.cmd.stopinsert()
  end
  if api.nvim_win_is_valid(win) then
    api.nvim_win_close(win, true)
  end
end

--- The place of the window: below the cursor, and above the bar below the window in which the cursor is.
---@param rows integer the rows of the text
---@param width integer
---@return vim.api.keyset.win_config
local function place(rows, width)
  local info = vim.fn.getwininfo(api.nvim_get_current_win())[1]
  local cursor = api.nvim_win_get_cursor(0)
  local at = vim.fn.screenpos(0, cursor[1], cursor[2] + 1)
  local border = 2
  local height = math.max(1, math.min(rows, vim.o.lines - 6))
  local last = info.winrow + info.winbar + info.height - 1 - height - border
  local config = {
    relative = 'editor',
    row = math.max(0, math.min(at.row, last)),
    col = math.max(0, math.min(at.col - 1, vim.o.columns - width - border)),
    width = width,
    height = height,
  }
  return config ---@as vim.api.keyset.win_config
end

--- Opens a command in a window over the chat.
---@param command string
---@param done fun(command: string) called with the command when the user runs it; not called for an empty command
function M.open(command, done)
  local lines = vim.split(command, '\n', { plain = true })
  local buf = require('caliban.editor.scratch').new()
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden = 'wipe'
  -- no filetype is set, because with one the user's plugins would treat the text as a file
  pcall(vim.treesitter.start, buf, 'bash')
  local width = math.max(20, math.min(100, vim.o.columns - 4))
  local rows = 0
  for _, line in ipairs(lines) do
    rows = rows + math.max(1, math.ceil(api.nvim_strwidth(line) / width))
  end
  local win = api.nvim_open_win(
    buf,
    true,
    vim.tbl_extend('error', place(rows, width), {
      style = 'minimal',
      border = require('caliban.editor.icons').border(),
      title = ' Your command ',
      footer = require('caliban.editor.icons').of((' %s '):format(HINT)),
    })
  )
  require('caliban.editor.bare').prose(win)
  local function run()
    local text = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
    close(win)
    if vim.trim(text) ~= '' then
      done(text)
    end
  end
  local function map(mode, lhs, call, desc)
    vim.keymap.set(mode, lhs, call, { [BUF] = buf, nowait = true, desc = 'Caliban: ' .. desc })
  end
  map('n', '<CR>', run, 'run the changed command')
  map({ 'n', 'i' }, '<C-s>', run, 'run the changed command')
  map({ 'n', 'i' }, '<C-c>', function()
    close(win)
  end, 'keep the command unchanged')
  api.nvim_create_autocmd('WinLeave', {
    [BUF] = buf,
    once = true,
    callback = vim.schedule_wrap(function()
      close(win)
    end),
  })
end

return M
