--- The modes: how much the agent does before the user has decided.
local M = {}

---@alias caliban.Mode 'plan'|'ask'|'auto-edit'

--- As the user goes through them.
---@type caliban.Mode[]
M.names = { 'plan', 'ask', 'auto-edit' }

---@type table<caliban.Mode, string>
local means = {
  plan = 'looks only: nothing is edited or run',
  ask = 'you decide on each edit and command',
  ['auto-edit'] = 'edits are written at once, and reviewed afterwards; commands ask',
}

---@param mode? caliban.Mode absent: the one after the present one
function M.set(mode)
  local chats = require('caliban.chat')
  local chat = chats.get()
  if chat then
    chats.send(chat, { kind = 'mode', mode = mode })
  end
end

--- Has the user choose.
function M.ask()
  local now = require('caliban').state().mode
  local opts = {
    prompt = 'Mode',
    format_item = function(name)
      return ('%s  %s%s'):format(name, means[name], name == now and '  (now)' or '')
    end,
  }
  vim.ui.select(M.names, opts, function(name)
    if name then
      M.set(name)
    end
  end)
end

return M
