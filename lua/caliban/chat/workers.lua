--- The workers of a coordinator: the keys on their lines in the transcript, and how the user opens,
--- stops or messages a worker.
local M = {}

local api = vim.api

---@param text string
---@param level? integer
local function say(text, level)
  require('caliban.editor.notify').say(text, level or vim.log.levels.WARN)
end

--- The workers of a chat, newest first.
---@param chat caliban.Chat
---@return caliban.WorkerRow[]
function M.all(chat)
  local all = {} ---@type caliban.WorkerRow[]
  for _, block in ipairs(chat.blocks) do
    vim.list_extend(all, block.workers or {})
  end
  table.sort(all, function(a, b)
    return a.worker > b.worker
  end)
  return all
end

---@param chat caliban.Chat
---@param id integer|string `3` or `w3`
---@return caliban.WorkerRow?
function M.find(chat, id)
  for _, it in ipairs(M.all(chat)) do
    if it.worker == id or 'w' .. it.worker == id then
      return it
    end
  end
  say(('There is no worker %s here.'):format(require('caliban.editor.name').shown(tostring(id))))
end

--- The worker on the cursor's line of the transcript.
---@param chat caliban.Chat
---@return caliban.WorkerRow?
function M.under(chat)
  if api.nvim_get_current_buf() ~= chat.transcript then
    return nil
  end
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local block, top = require('caliban.chat.paint').at(chat, row)
  return block and block.workers and block.workers[row - top - (block.head or 0)]
end

--- Opens the chat of a worker.
---@param worker caliban.WorkerRow
function M.open(worker)
  if not worker.session then
    return say(('The worker w%d has not begun yet.'):format(worker.worker))
  end
  local open = { kind = 'open', session = worker.session }
  require('caliban.chat.chats').wanted = require('caliban.program.process').ask(open)
end

---@param chat caliban.Chat
---@param worker caliban.WorkerRow
function M.stop(chat, worker)
  require('caliban.chat.chats').send(chat, { kind = 'worker', worker = worker.worker })
end

--- Sends a worker a message.
---@param chat caliban.Chat
---@param worker caliban.WorkerRow
---@param text? string default: prompts for it
function M.message(chat, worker, text)
  local function send(given)
    if given and vim.trim(given) ~= '' then
      local message = { kind = 'worker', worker = worker.worker, text = given }
      require('caliban.chat.chats').send(chat, message)
    end
  end
  if text then
    return send(text)
  end
  require('caliban.editor.prompt').ask(
    { prompt = ('Message to w%d: '):format(worker.worker) },
    send
  )
end

---@param chat caliban.Chat
---@param worker caliban.WorkerRow
---@param act 'open'|'stop'|'message'
---@param text? string
function M.act(chat, worker, act, text)
  if act == 'open' then
    M.open(worker)
  elseif act == 'stop' then
    M.stop(chat, worker)
  else
    M.message(chat, worker, text)
  end
end

--- Acts on the worker of the cursor's line.
---@param chat caliban.Chat
---@param act 'open'|'stop'|'message'
---@return boolean # false if the cursor is on no such line
function M.press(chat, act)
  local worker = M.under(chat)
  if worker then
    vim.schedule(function()
      M.act(chat, worker, act)
    end)
  end
  return worker ~= nil
end

--- Offers the workers of the current chat, then what can be done with the chosen one.
function M.offer()
  local chat = require('caliban.chat.chats').current
  local all = chat and M.all(chat) or {}
  if not chat or #all == 0 then
    return say(
      'No workers yet. `:Caliban mode coordinator` lets the model start some. `gf` on a task opens its chat.'
    )
  end
  local opts = {
    prompt = 'Worker',
    kind = 'caliban_workers',
    give = 3,
    ---@param it caliban.WorkerRow
    cells = function(it)
      local said = it.notice ~= '' and '› ' .. it.notice or ''
      return { ('w%d'):format(it.worker), it.role, it.title, it.state, said }
    end,
    ---@param it caliban.WorkerRow
    preview = function(it, show)
      if not it.session then
        return show({ 'This worker has not begun yet.' })
      end
      require('caliban.program.peek').ask({ name = it.session, bytes = 0 }, show)
    end,
  }
  require('caliban.editor.pick').one(all, opts, function(worker)
    local acts = { 'open' } ---@type ('open'|'stop'|'message')[]
    if not worker.over then
      vim.list_extend(acts, { 'message', 'stop' })
    end
    local words = { open = 'Open its chat', message = 'Send it a message', stop = 'Stop it' }
    vim.ui.select(acts, {
      prompt = ('Worker w%d'):format(worker.worker),
      format_item = function(act)
        return words[act]
      end,
    }, function(act)
      if act then
        M.act(chat, worker, act)
      end
    end)
  end)
end

--- How many workers a conversation has, in words; nil if none is at work and all results are read.
---@param status caliban.Status
---@return string?
function M.brief(status)
  local it = status.workers
  if not it then
    return nil
  elseif it.asking > 0 then
    local who = it.asking == 1 and 'worker waits' or 'workers wait'
    return ('%d %s for you'):format(it.asking, who)
  elseif it.active > 0 then
    return require('caliban.editor.count').of(it.active, 'worker') .. ' at work'
  end
  return require('caliban.editor.count').of(it.unread, 'result') .. ' unread'
end

return M
