--- The modes: how much the agent does without asking the user.
local M = {}

--- What each mode means, for a list.
---@type table<caliban.ChosenMode, string>
M.means = {
  plan = 'only reads: nothing is edited or run',
  ask = 'you decide on each edit and command',
  ['auto-edit'] = 'edits are written at once, then reviewed; you decide on each command',
  auto = 'like auto-edit, and commands run in the sandbox without a question',
  coordinator = 'hands the work to workers; the current mode applies to them',
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
