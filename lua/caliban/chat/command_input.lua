--- A small window in which the user changes a command before it runs.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF

local HINT = '<CR> or <C-s> run · <C-c> cancel'

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
  local win = api.nvim_open_win(buf, true, {
    relative = 'cursor',
    row = 1,
    col = 0,
    width = width,
    height = math.max(1, math.min(#lines, vim.o.lines - 6)),
    style = 'minimal',
    border = require('caliban.editor.icons').border(),
    title = ' The command ',
    footer = require('caliban.editor.icons').of((' %s '):format(HINT)),
  })
  vim.wo[win][0].wrap = true
  local rows = api.nvim_win_text_height(win, {}).all
  api.nvim_win_set_height(win, math.max(1, math.min(rows, vim.o.lines - 6)))
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
