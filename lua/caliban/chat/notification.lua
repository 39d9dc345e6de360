--- Notifications for a user who does not look at the chat: in the editor, by the terminal, and by the
--- user's own command or function.
local M = {}

local api = vim.api

--- The user is notified of the end of a turn that took at least this many milliseconds, unless the
--- cursor is in the chat.
local LONG = 10000

local focused = true

--- Begins to watch whether Neovim has the focus.
function M.watch()
  api.nvim_create_autocmd({ 'FocusLost', 'FocusGained' }, {
    group = api.nvim_create_augroup('caliban_focus', {}),
    callback = function(args)
      focused = args.event == 'FocusGained'
    end,
  })
end

--- A turn of this chat has begun.
---@param chat caliban.Chat
function M.began(chat)
  chat.began = vim.uv.hrtime() / 1e6
end

--- Terminals that show a notification on an escape sequence: the beginning of $TERM_PROGRAM or $TERM,
--- and the number of the sequence. A terminal that is not listed might print the sequence.
---@type [string, 9|777][]
local terminals = {
  { 'iTerm', 9 },
  { 'WezTerm', 9 },
  { 'ghostty', 9 },
  { 'xterm-ghostty', 9 },
  { 'xterm-kitty', 9 },
  { 'foot', 777 },
  { 'rxvt', 777 },
}

--- The escape sequence for a notification; nil if the terminal is not known to have one.
---@param text string
---@return string?
function M.sequence(text)
  -- a control character, of one byte or two, could end the sequence
  local plain = require('caliban.editor.name').shown(text)
  for _, name in ipairs({ vim.env.TERM_PROGRAM or '', vim.env.TERM or '' }) do
    for _, terminal in ipairs(terminals) do
      if vim.startswith(name, terminal[1]) then
        local body = terminal[2] == 9 and '9;' .. plain or '777;notify;Caliban;' .. plain
        return ('\27]%s\27\\'):format(body)
      end
    end
  end
end

---@return boolean
local function has_terminal()
  for _, ui in ipairs(api.nvim_list_uis()) do
    if ui.stdout_tty then
      return true
    end
  end
  return false
end

--- Has the terminal show a notification.
---@param text string
local function by_terminal(text)
  local sequence = has_terminal() and M.sequence(text) or nil
  if sequence and api.nvim_ui_send then
    api.nvim_ui_send(sequence)
  elseif sequence then
    -- what Neovim 0.11 writes to its standard error reaches the terminal
    pcall(api.nvim_chan_send, vim.v.stderr, sequence)
  end
end

--- Runs the user's command, without a shell. The text is its last argument.
---@param command string[]
---@param text string
local function by_command(command, text)
  local line = vim.list_extend(vim.list_slice(command), { text })
  local function failed(why)
    local words = ('notify.command failed: %s'):format(why)
    require('caliban.editor.notify').show(words, vim.log.levels.WARN)
  end
  local ok, why = pcall(
    vim.system,
    line,
    { stdout = false, stderr = false },
    vim.schedule_wrap(function(done)
      if done.code ~= 0 then
        failed(('it ended with exit code %d'):format(done.code))
      end
    end)
  )
  if not ok then
    failed(tostring(why))
  end
end

--- Whether the user does not look at the chat.
---@param chat caliban.Chat
---@param kind 'waiting'|'finished'|'mode'
---@return boolean
local function is_elsewhere(chat, kind)
  if not (focused and require('caliban.chat.layout').visible(chat)) then
    return true
  end
  local in_chat = require('caliban.chat.chats').of(api.nvim_get_current_buf()) == chat
  local took = vim.uv.hrtime() / 1e6 - (chat.began or math.huge)
  return kind == 'finished' and not in_chat and took >= LONG
end

--- Notifies the user, unless the user looks at the chat.
---@param chat caliban.Chat
---@param kind 'waiting'|'finished'|'mode'
---@param text string
function M.send(chat, kind, text)
  local how = require('caliban.config').get().notify
  if how == false or not is_elsewhere(chat, kind) then
    return
  elseif type(how) == 'function' then
    local session = chat.session or ''
    local ok, why = pcall(how, text, { kind = kind, session = session })
    if not ok then
      require('caliban.editor.notify').show('notify: ' .. tostring(why), vim.log.levels.ERROR)
    end
    return
  end
  local ways = type(how) == 'table' and how or {} ---@type caliban.NotifySettings
  if ways.editor ~= false then
    require('caliban.editor.notify').show(text)
  end
  -- a new mode is reported only in the editor, where the user has just changed it
  if kind == 'mode' then
    return
  end
  if ways.terminal ~= false then
    by_terminal(text)
  end
  if ways.command then
    by_command(ways.command, text)
  end
end

return M
