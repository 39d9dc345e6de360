--- The modes: how much the agent does without asking the user.
local M = {}

--- What each mode means, for a list: few words, so that a row of 60 cells has room for them.
---@type table<caliban.ChosenMode, string>
M.means = {
  plan = 'only reads: nothing is edited or run',
  ask = 'you decide on each edit and command',
  ['auto-edit'] = 'writes edits at once, asks for commands',
  auto = 'writes edits, runs commands in a sandbox',
  coordinator = 'other agents, its workers, do the work',
}

--- The modes that can be chosen for a chat, in the order of a list.
---@return caliban.ChosenMode[]
function M.names()
  return vim.list_extend(vim.list_slice(require('caliban.config').modes), { 'coordinator' })
end

--- Sets the mode of the current chat.
---@param mode? caliban.ChosenMode default: the mode after the current one
function M.set(mode)
  require('caliban.chat').send({ kind = 'set_mode', mode = mode })
end

--- Lets the user choose a mode.
function M.ask()
  local chat = require('caliban.chat.chats').current
  local status = chat and chat.status
  local now = status and (status.coordinates and 'coordinator' or status.mode)
  local opts = {
    prompt = 'Mode',
    kind = 'caliban_modes',
    give = 3,
    cells = function(name)
      return { name, name == now and '(now)' or '', M.means[name] }
    end,
  }
  require('caliban.editor.pick').one(M.names(), opts, M.set)
end

return M
