--- The keys on a plan's block in the transcript, which says that the plan waits. They decide as the
--- keys in the plan's own window do. That window must have shown the plan before.
local M = {}

local api = vim.api

---@param act string
---@return fun()
local function run(act)
  return function()
    vim.cmd.Caliban({ 'plan', act })
  end
end

--- The keys that are mapped while the cursor is on the block.
---@type caliban.Mapping[]
M.mappings = {
  { mode = 'n', lhs = '<localleader>a', rhs = run('accept'), desc = 'on a plan: accept it' },
  { mode = 'n', lhs = '<localleader>r', rhs = run('change'), desc = 'on a plan: send it back' },
  { mode = 'n', lhs = '<localleader>d', rhs = run('drop'), desc = 'on a plan: drop it' },
}

---@param chat caliban.Chat
---@return boolean
local function waits(chat)
  local plan = chat.status and chat.status.plan
  return plan ~= nil and plan.stage == 'waiting'
end

--- Whether the cursor is on the block.
---@param chat caliban.Chat
---@return boolean
local function is_under(chat)
  if not waits(chat) or api.nvim_get_current_buf() ~= chat.transcript then
    return false
  end
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local block, top = require('caliban.chat.paint').at(chat, row)
  return block ~= nil and block.shape == 'plan' and row >= top + (block.head or 0)
end

--- Maps the keys while the cursor is on the block, and unmaps them elsewhere.
---@param chat caliban.Chat
---@return boolean # whether this has changed
function M.map(chat)
  local had, on = chat.on_plan or false, is_under(chat)
  if (had or on) and require('caliban.chat.chats').usable(chat.transcript) then
    require('caliban.chat.cursor_keys').set(chat.transcript, 'plan', on and M.mappings or nil)
  end
  chat.on_plan = on
  return on ~= had
end

--- The first row of the block's text, if a plan waits.
---@param chat caliban.Chat
---@return integer? row from 0
function M.row(chat)
  local block, row = nil, 0 ---@type caliban.Block?, integer
  if waits(chat) then
    block, row = require('caliban.chat.order').last(chat, function(it)
      return it.shape == 'plan'
    end)
  end
  return block and row + (block.head or 0)
end

--- Goes to the plan's window, and opens it if there is none.
---@param chat caliban.Chat
---@return boolean # false if the cursor is not on the block
function M.enter(chat)
  local on = is_under(chat)
  if on then
    vim.schedule(run('show'))
  end
  return on
end

return M
