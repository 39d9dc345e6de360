--- Shows the messages of the queue. A queued message is shown in one line. A held message, which
--- waits until the user sends it, is shown completely.
local M = {}

local api = vim.api

--- The most characters of a queued message to show.
local MOST = 120
--- The first message is cut to leave room for the keys only if it keeps at least this many cells.
local LEAST = 20

--- The words before a held message.
local HELD = '◷ not sent: '

---@param message caliban.QueuedMessage
---@param room? integer the cells for the line of a queued message
---@param unsent? boolean whether nothing is sent here, because the conversation is only read
---@return string[]
local function shown(message, room, unsent)
  if not message.held then
    local text = message.text:gsub('%s*\n%s*', ' ')
    local how = unsent and 'not sent' or message.steer and 'joins this turn' or 'queued'
    local line = ('◷ %s: %s'):format(how, vim.fn.strcharpart(text, 0, MOST))
    return { room and require('caliban.chat.fit').cut(line, room) or line }
  end
  local lines = vim.split(message.shown, '\n', { plain = true })
  for i, line in ipairs(lines) do
    lines[i] = (i == 1 and HELD or (' '):rep(api.nvim_strwidth(HELD))) .. line
  end
  for _, it in ipairs(message.context) do
    lines[#lines + 1] = (' '):rep(api.nvim_strwidth(HELD))
      .. '▏'
      .. require('caliban.editor.name').shown(it.path)
  end
  return lines
end

--- The lines of the block, the first of them empty. A queued message is cut to one row. If it is
--- the first message, it leaves room for the keys beside it.
---@param queue caliban.QueuedMessage[]
---@param room? integer the cells of a row
---@param reading? boolean whether the chat has no keys for the queue
---@param unsent? boolean
---@return string[]
local function lines(queue, room, reading, unsent)
  local all = { '' }
  for i, message in ipairs(queue) do
    local keys = i == 1
      and not reading
      and api.nvim_strwidth(M.keys(queue)) + require('caliban.chat.beside').GAP
    local rest = room and keys and room - keys >= LEAST and room - keys or room
    vim.list_extend(all, shown(message, rest, unsent))
  end
  return all
end

--- The message on a line of the block.
---@param queue caliban.QueuedMessage[]
---@param index integer of the line, from 0
---@return caliban.QueuedMessage?
function M.at(queue, index)
  local last = 0
  for _, message in ipairs(queue) do
    last = last + #shown(message)
    if index > 0 and index <= last then
      return message
    end
  end
end

---@param queue caliban.QueuedMessage[]
---@param held boolean
---@return boolean # whether a message has this value of `held`
local function some(queue, held)
  for _, message in ipairs(queue) do
    if message.held == held then
      return true
    end
  end
  return false
end

--- The words beside the first message, which name the keys that act on messages of the queue.
---@param queue caliban.QueuedMessage[]
---@return string
function M.keys(queue)
  return (some(queue, true) and 's sends · S all · ' or '') .. 'x removes · <CR> edits'
end

--- Whether the queue has a message that is not held back.
---@param queue caliban.QueuedMessage[]
---@return boolean
function M.ready(queue)
  return some(queue, false)
end

--- Whether a message of a chat's queue waits until the user sends it.
---@param chat caliban.Chat
---@return boolean
function M.holds(chat)
  return some(chat.status and chat.status.queue or {}, true)
end

--- The update that shows the queue as a block, or removes the block if the queue is empty.
---@param chat caliban.Chat
---@return caliban.BlockUpdate
function M.block(chat)
  local queue = chat.status and chat.status.queue or {}
  local update = {
    id = require('caliban.chat.order').QUEUE,
    shape = 'queue',
    at = 0,
    final = true,
    remove = #queue == 0,
  }
  -- a worker's chat is only read, but its messages are sent
  local unsent = chat.reading and not require('caliban.chat.chats').parent(chat)
  update.lines = lines(queue, require('caliban.chat.beside').room(chat), chat.reading, unsent)
  update.right = not chat.reading and M.keys(queue) or ''
  return update ---@as caliban.BlockUpdate
end

return M
