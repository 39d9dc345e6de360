--- The modes: how much the agent does without asking the user.
local M = {}

--- What each mode means, for a list: few words, so that a row of 60 cells has room for them.
---@type table<caliban.ChosenMode, string>
M.means = {
  plan = 'reads only: no edits, no commands',
  ask = 'asks for edits, unusual commands',
  ['auto-edit'] = 'like ask, but writes edits at once',
  auto = 'writes edits, runs all in a sandbox',
  coordinator = 'its workers do the work',
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
