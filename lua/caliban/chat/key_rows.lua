--- Rows of the table of keys whose actions are in modules of their own. The modules are loaded when a key is pressed,
--- because the user waits while the first chat opens.
local M = {}

---@type caliban.Key
local to_chat = {
  mode = 'n',
  lhs = '<Tab>',
  desc = 'go to the question, the plan or the first change that waits in the chat',
  run = function(chat)
    require('caliban.chat.consent').read(chat)
  end,
}

---@type caliban.Key
local link = {
  mode = 'n',
  lhs = 'K',
  desc = 'show where the link under the cursor leads',
  run = function()
    return require('caliban.chat.visit').show_target()
  end,
  own = true,
}

---@type caliban.Key
local follow = {
  mode = 'n',
  lhs = 'gF',
  desc = 'follow the agent in the last code window, or stop following',
  run = function()
    require('caliban.chat.follow').toggle()
  end,
}

---@type caliban.Key
local list = {
  mode = 'n',
  lhs = 'gl',
  desc = 'show or hide the to-do list',
  run = function()
    require('caliban.chat.todo').toggle()
  end,
}

---@type caliban.Key
local conversations = {
  mode = 'n',
  lhs = 'gs',
  desc = 'choose another conversation',
  run = function()
    vim.cmd('Caliban sessions')
  end,
}

---@type caliban.Key
local other = {
  mode = 'n',
  lhs = '<C-^>',
  desc = 'go to the next open conversation; from a worker back to its coordinator',
  run = function(chat)
    require('caliban.chat.cycle').go(chat)
  end,
}

---@param step -1|1
---@return fun()
local function entry(step)
  return function()
    require('caliban.chat.visit').entry(step)
  end
end

--- The rows that transcript and composer share.
---@type caliban.Key[]
local both = {
  list,
  conversations,
  other,
  { mode = 'n', lhs = ']q', desc = 'go to the next comment of a review', run = entry(1) },
  { mode = 'n', lhs = '[q', desc = 'go to the previous comment of a review', run = entry(-1) },
}

--- A key on the row of a worker. Elsewhere the key keeps its meaning.
---@param act 'open'|'stop'|'message'
---@return fun(chat: caliban.Chat): boolean # false if the cursor is on no such row
function M.on_worker(act)
  return function(chat)
    return require('caliban.chat.workers').press(chat, act)
  end
end

--- Returns keys that run an action on the list of changes.
---@param chat caliban.Chat
---@param name 'because'|'back'|'enter'|'toggle' a function of `caliban.chat.changes.keys`
---@return string? keys nil if the cursor is not on the list of changes
function M.on_list(chat, name)
  local on = chat.listing and require('caliban.chat.changes').under(chat)
  return on
      and require('caliban.chat.at_once').keys(function()
        require('caliban.chat.changes.keys')[name](chat)
      end)
    or nil
end

--- The keys that only the model's questions have, and `u`, which the list of changes has too.
---@param on fun(name: caliban.QuestionKey, key: string, with?: any): fun(chat: caliban.Chat): string|false
---@return caliban.Key[]
local function choices(on)
  local rows = {} ---@type caliban.Key[]
  local function add(key, desc, run)
    table.insert(rows, { mode = 'n', lhs = key, desc = desc, run = run, own = true })
  end
  for n = 1, 4 do
    local key = tostring(n)
    add(key, 'on a question with options: choose option ' .. key, on('choose', key, n))
  end
  local desc =
    'on a question with options: the previous question; on a change: take a decision back'
  add('u', desc, function(chat)
    return on('back', 'u')(chat) or M.on_list(chat, 'back') or false
  end)
  return rows
end

---@param on fun(name: caliban.QuestionKey, key: string, with?: any): fun(chat: caliban.Chat): string|false
---@return caliban.Key[]
function M.transcript(on)
  local desc = 'on a worker: send it a message'
  local message = { mode = 'n', lhs = 'm', desc = desc, run = M.on_worker('message'), own = true }
  local own = vim.list_extend(choices(on), { message, link, follow })
  return vim.list_extend(own, both)
end

--- The keys that are mapped only while the cursor is on a change or on a plan.
---@return caliban.Mapping[]
function M.mapped()
  local changes = require('caliban.chat.changes.mappings').all
  return vim.list_extend(vim.list_slice(changes), require('caliban.chat.plan_keys').mappings)
end

---@return caliban.Key[]
function M.composer()
  return vim.list_extend({ to_chat }, both)
end

return M
