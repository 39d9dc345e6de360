--- Shows the messages of the queue. A queued message is shown in one line. A held message, which
--- waits until the user sends it, is shown completely.
local M = {}

--- The most characters of a queued message to show.
local MOST = 120

---@param message caliban.QueuedMessage
---@return string[]
local function shown(message)
  if not message.held then
    local text = message.text:gsub('%s*\n%s*', ' ')
    local how = message.steer and 'joins this turn' or 'queued'
    return { (' ◷ %s: %s'):format(how, vim.fn.strcharpart(text, 0, MOST)) }
  end
  local lines = vim.split(message.shown, '\n', { plain = true })
  for i, line in ipairs(lines) do
    lines[i] = i == 1 and ' ◷ held: ' .. line or '         ' .. line
  end
  for _, it in ipairs(message.context) do
    lines[#lines + 1] = '         ▏' .. require('caliban.editor.name').shown(it.path)
  end
  return lines
end

--- The lines of the block, the first of them empty.
---@param queue caliban.QueuedMessage[]
---@return string[]
function M.lines(queue)
  local lines = { '' }
  for _, message in ipairs(queue) do
    vim.list_extend(lines, shown(message))
  end
  return lines
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

--- The line above the queue, which names the keys that act on its messages.
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

--- The update that shows the queue as a block, or removes the block if the queue is empty.
---@param queue caliban.QueuedMessage[]
---@return caliban.BlockUpdate
function M.block(queue)
  local lines = M.lines(queue)
  local update = {
    id = require('caliban.chat.order').QUEUE,
    shape = 'queue',
    at = 0,
    final = true,
    remove = #queue == 0,
  }
  update.lines, update.right = lines, M.keys(queue)
  return update ---@as caliban.BlockUpdate
end

return M
