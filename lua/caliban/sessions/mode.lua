--- The modes: how much the agent does before the user has decided.
local M = {}

---@type table<caliban.Mode, string>
local means = {
  plan = 'looks only: nothing is edited or run',
  ask = 'you decide on each edit and command',
  ['auto-edit'] = 'edits are written at once, and reviewed afterwards; commands ask',
}

---@param mode? caliban.Mode absent: the one after the present one
function M.set(mode)
  require('caliban.chat').send({ kind = 'set_mode', mode = mode })
end

--- Has the user choose.
function M.ask()
  local chat = require('caliban.chat.chats').current
  local now = chat and chat.status and chat.status.mode
  local opts = {
    prompt = 'Mode',
    format_item = function(name)
      return ('%s  %s%s'):format(name, means[name], name == now and '  (now)' or '')
    end,
  }
  vim.ui.select(require('caliban.config').modes, opts, function(name)
    if name then
      M.set(name)
    end
  end)
end

return M
