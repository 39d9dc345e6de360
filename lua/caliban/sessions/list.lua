--- The conversations of this project: a picker, and commands that rename, copy, delete and export a conversation.
local M = {}

local names = require('caliban.editor.name')

---@param text string
---@param level? integer
local function say(text, level)
  require('caliban.editor.notify').say(text, level)
end

--- Asks the program for the list, which `offer` shows.
---@param text? string list only the conversations that contain this text
function M.ask(text)
  require('caliban.program.process').ask({ kind = 'list_sessions', text = text or '' })
end

--- Renames the current chat's conversation. A text that cannot be a name becomes its title.
---@param name string
function M.rename(name)
  require('caliban.chat').send({ kind = 'rename_session', name = name })
end

--- Counts the user's messages below the cursor's block in the transcript.
---@param chat caliban.Chat
---@return integer? after nil if the cursor is on no block
---@return boolean is_prompt whether the cursor is on a message of the user
local function below_cursor(chat)
  local paint = require('caliban.chat.paint')
  local under = paint.at(chat, vim.api.nvim_win_get_cursor(0)[1] - 1)
  if not under then
    return nil, false
  end
  return require('caliban.chat.order').messages_below(chat, under), under.shape == 'user'
end

--- Copies the conversation and opens the copy. If the cursor is in a transcript, the copy ends at
--- the cursor.
function M.fork()
  local chats = require('caliban.chat.chats')
  local chat = require('caliban.chat').get()
  if not chat then
    return
  end
  local message = { kind = 'fork_session', is_prompt = false }
  local buf = vim.api.nvim_get_current_buf()
  local here = chats.of(buf)
  if here and here.transcript == buf then
    chat = here
    message.after, message.is_prompt = below_cursor(here)
  end
  chats.send(chat, message)
end

--- Moves a conversation to the trash after the user has confirmed.
---@param name string
function M.delete(name)
  local chat = require('caliban.chat.chats').find(name)
  local status = chat and chat.status ---@type caliban.Status?
  local phase = status and status.phase or 'idle'
  -- when a plan or a question of the model waits for the user, the turn has already ended
  local is_over = status and (status.plan and status.plan.stage == 'waiting' or status.question)
  local runs = phase ~= 'idle' and phase ~= 'offline' and not (phase == 'asking' and is_over)
  local subagents = #require('caliban.program.project').subagents(name)
  local also = subagents == 1 and 'the conversation of its subagent'
    or ('the %d conversations of its subagents'):format(subagents)
  local what = ('the conversation %s'):format(name) .. (subagents > 0 and ' and ' .. also or '')
  local opts = {
    prompt = ('Delete %s?'):format(what)
      .. (runs and ' Its turn is running and will be stopped.' or ''),
  }
  vim.ui.select({ 'Keep it', 'Move it to the trash' }, opts, function(_, index)
    if index == 2 then
      require('caliban.program.process').ask({ kind = 'delete_session', session = name })
    end
  end)
end

--- Exports the current chat to a file.
---@param file string '' for a file named after the conversation
---@param force boolean overwrite an existing file
function M.export(file, force)
  local path = file == '' and '' or names.meant(file)
  require('caliban.chat').send({ kind = 'export_session', file = path, force = force })
end

--- Copies a text to the clipboard; without a clipboard, to the unnamed register.
---@param text string
function M.copy(text)
  local register = vim.fn.has('clipboard') == 1 and '+' or '"'
  vim.fn.setreg(register, text, 'c')
  local lines = #vim.split(text, '\n')
  say(
    ('%d line%s copied to "%s'):format(lines, lines == 1 and '' or 's', register),
    vim.log.levels.INFO
  )
end

--- Offers the messages that were sent in this project. The chosen message goes into the composer.
---@param message caliban.History
function M.history(message)
  local chat = require('caliban.chat.chats').find(message.session)
  local prompts = vim.fn.reverse(require('caliban.program.project').history())
  if not chat or #prompts == 0 then
    return say('No message has been sent in this project yet.', vim.log.levels.INFO)
  end
  local opts = {
    prompt = 'Message',
    kind = 'caliban_messages',
    cells = function(prompt)
      return (vim.trim(prompt:sub(1, 1000)):gsub('%s+', ' '))
    end,
    preview = function(prompt, show)
      show(vim.split(prompt, '\n', { plain = true }))
    end,
  }
  require('caliban.editor.pick').one(prompts, opts, function(prompt)
    require('caliban.chat.composer').give_back(chat, prompt, {})
  end)
end

--- An age in words, as in `3 h ago`.
---@param seconds integer
---@return string
function M.ago(seconds)
  for _, unit in ipairs({ { 86400, 'd' }, { 3600, 'h' }, { 60, 'min' } }) do
    if seconds >= unit[1] then
      return ('%d %s ago'):format(seconds / unit[1], unit[2])
    end
  end
  return 'now'
end

---@param bytes integer
---@return string
local function size(bytes)
  return bytes < 1e6 and ('%d kB'):format(math.ceil(bytes / 1e3)) or ('%.1f MB'):format(bytes / 1e6)
end

local open = { here = 'open here', elsewhere = 'open elsewhere' }

--- The columns of a conversation in the picker.
---@param item caliban.SessionRow
---@return string[]|string
local function columns(item)
  if item.problem then
    return '! ' .. item.problem
  end
  local turns = item.turns > 0 and require('caliban.editor.count').of(item.turns, 'turn')
  local state = { open[item.open] }
  state[#state + 1] = item.parent and 'subagent of ' .. item.parent
  state[#state + 1] = item.root and 'copy from ' .. names.tilde(item.root)
  local cells = { (item.parent and '↳ ' or '') .. item.name, item.title, M.ago(item.age) }
  if item.line then
    return vim.list_extend(cells, { '› ' .. item.line })
  end
  return vim.list_extend(cells, { turns or '', size(item.bytes), table.concat(state, ' · ') })
end

---@class caliban.SessionChoice
---@field name string
---@field cells string[]|string
---@field row? caliban.SessionRow for a conversation on disk
---@field problem? string why the conversation cannot be read
---@field root? string the root of the project to copy the conversation from, if it is another project

--- The chats of this Neovim that are not on disk: ephemeral ones, and those without a message yet.
---@param sessions caliban.SessionRow[]
---@return caliban.SessionChoice[]
local function unsaved(sessions)
  local listed = {} ---@type table<string, boolean>
  for _, item in ipairs(sessions) do
    listed[item.name] = listed[item.name] or not item.root
  end
  local choices = {} ---@type caliban.SessionChoice[]
  for _, chat in ipairs(require('caliban.chat.chats').all) do
    local name = chat.session
    if name and not listed[name] then
      local what = chat.ephemeral and 'never saved' or 'new'
      table.insert(choices, { name = name, cells = { name, '', what, '', '', open.here } })
    end
  end
  return choices
end

--- Offers the list; opens the chosen conversation.
---@param message caliban.Sessions
function M.offer(message)
  local items = {} ---@type caliban.SessionChoice[]
  for _, item in ipairs(message.sessions) do
    table.insert(items, {
      name = item.name,
      cells = columns(item),
      row = item,
      problem = item.problem,
      root = item.root,
    })
  end
  if message.text == '' then
    vim.list_extend(items, unsaved(message.sessions))
  end
  if #items == 0 then
    local what = message.text == '' and 'This project has no conversations yet.'
      or ('No conversation of this project contains "%s".'):format(message.text)
    return say(what, vim.log.levels.INFO)
  end
  local with = message.text == '' and '' or (' with "%s"'):format(message.text)
  local opts = {
    prompt = 'Conversation' .. with,
    kind = 'caliban_sessions',
    give = 2,
    cells = function(item)
      return item.cells
    end,
    preview = function(item, show)
      if not item.row then
        return show({ 'This conversation is not on disk.' })
      end
      require('caliban.program.peek').ask(item.row, show)
    end,
  }
  require('caliban.editor.pick').one(items, opts, function(item)
    if item.problem then
      say(item.problem)
    elseif item.root then
      local claim = { kind = 'claim', session = item.name, way = 'fork', root = item.root }
      require('caliban.program.process').ask(claim)
    else
      require('caliban.chat').switch({ kind = 'open', session = item.name })
    end
  end)
end

return M
