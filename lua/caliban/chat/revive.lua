--- Buffers named `caliban://…` that a session file (`:mksession`) or `:edit` has created. Once the session file is
--- loaded, each of their windows shows the conversation of that name, or closes if there is no such conversation.
local M = {}

local api = vim.api

--- The buffers that wait for their conversation, each with its name.
---@type table<integer, string?>
local found = {}

--- Whether `run` is scheduled to be called at the end of the session file.
local is_waiting = false

--- The most characters of a name to show.
local MOST = 60

local suffixes = { [''] = 'transcript', ['/prompt'] = 'composer' } ---@type table<string, 'transcript'|'composer'?>

---@param name string of a buffer
---@return string? session
---@return 'transcript'|'composer'|nil part
local function parse(name)
  local session, suffix = name:match('^caliban://([%w_-]+)(.*)$')
  if session and #session <= 64 and suffixes[suffix] then
    return session, suffixes[suffix]
  end
end

--- The chat of a buffer's name, and which of the chat's buffers the name means.
---@param name string
---@return caliban.Chat?
---@return 'transcript'|'composer'|nil part
---@return string? why there is no chat; also nil if the user was told already
local function chat_of(name)
  local session, part = parse(name)
  if name:find('^caliban://[%w_-]+/plan$') then
    -- the chat says that a plan waits, and `:Caliban plan` shows it
    return nil, nil, nil
  elseif not session then
    local shown = vim.fn.strcharpart(require('caliban.editor.name').shown(name), 0, MOST)
    return nil, nil, ('`%s` cannot be opened again; its window was closed.'):format(shown)
  end
  local chats = require('caliban.chat.chats')
  if not chats.find(session) and not require('caliban.program.project').has(session) then
    local say = 'There is no conversation `%s` in this project any more; its windows were closed.'
    return nil, nil, say:format(session)
  end
  return require('caliban.chat').revive(session), part
end

--- The windows that show these buffers. Windows of this tab come last, so that their conversation becomes the current
--- one.
---@return integer[]
local function windows()
  local here = api.nvim_get_current_tabpage()
  local all, last = {}, {} ---@type integer[], integer[]
  for _, win in ipairs(api.nvim_list_wins()) do
    if found[api.nvim_win_get_buf(win)] then
      table.insert(api.nvim_win_get_tabpage(win) == here and last or all, win)
    end
  end
  return vim.list_extend(all, last)
end

local function run()
  local notified, shown = {}, {} ---@type table<string, true>, table<integer, true>
  for _, win in ipairs(windows()) do
    local buf = api.nvim_win_get_buf(win)
    shown[buf] = true
    local chat, part, why = chat_of(found[buf] or '')
    if chat and part then
      require('caliban.chat.windows').adopt(win, chat, part)
    else
      require('caliban.chat.windows').shut(win)
    end
    if why and not notified[why] then
      notified[why] = true
      require('caliban.editor.notify').say(why)
    end
  end
  for buf in pairs(shown) do
    if api.nvim_buf_is_valid(buf) then
      api.nvim_buf_delete(buf, { force = true })
    end
  end
  found, is_waiting = {}, false
  -- `naming` may have removed the names of the chats' buffers
  for _, chat in ipairs(require('caliban.chat.chats').all) do
    local _ = chat.session and require('caliban.chat.buffers').rename(chat)
  end
end

--- Calls `run` at the end of the session file. A session file refers to windows by their numbers,
--- so no window may be opened or closed before its end.
local function at_rest()
  vim.schedule(function()
    if vim.g.SessionLoad == 1 then
      api.nvim_create_autocmd('SessionLoadPost', { once = true, callback = at_rest })
    else
      run()
    end
  end)
end

local function run_soon()
  if not is_waiting then
    is_waiting = true
    at_rest()
  end
end

--- Removes a buffer's name.
---@param buf integer
local function unname(buf)
  local name = api.nvim_buf_get_name(buf)
  api.nvim_buf_set_name(buf, '')
  -- Neovim has created a buffer with the old name
  local other = require('caliban.editor.name').buffer(name)
  if other and name ~= '' then
    api.nvim_buf_delete(other, { force = true })
  end
end

--- Called when a session file is about to name a buffer. An open chat's buffer may have this name
--- already, so the names of the chats' buffers are removed until the end of the session file.
function M.naming()
  if is_waiting then
    return
  end
  run_soon()
  for _, chat in ipairs(require('caliban.chat.chats').all) do
    for _, buf in ipairs({ chat.transcript, chat.composer }) do
      local _ = api.nvim_buf_is_valid(buf) and unname(buf)
    end
  end
end

--- Called for a buffer that `:edit` opens under a `caliban://` name, and for a buffer that gets such a name. Removes a
--- name that a session file has set by `:file`, because the file may give the same name to the buffer of its next
--- window.
---@param buf integer
---@param was_read boolean
function M.found(buf, was_read)
  local chat = require('caliban.chat.chats').of(buf)
  if chat and was_read then
    return require('caliban.chat.buffers').refill(chat, buf)
  elseif vim.bo[buf].buftype ~= '' or found[buf] or not (was_read or vim.g.SessionLoad == 1) then
    return
  end
  run_soon()
  local name = api.nvim_buf_get_name(buf)
  found[buf] = name
  if not was_read then
    -- otherwise `:file` would show a message for each buffer and wait for <Enter>; the session file
    -- restores this option
    vim.opt.shortmess:append('F')
    unname(buf)
  end
end

return M
