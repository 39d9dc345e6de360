--- The modes: how much the agent does without asking the user.
local M = {}

--- What each mode means, for a list.
---@type table<caliban.Mode, string>
M.means = {
  plan = 'looks only: nothing is edited or run',
  ask = 'you decide on each edit and command',
  ['auto-edit'] = 'edits are written at once and reviewed afterwards; you decide on each command',
  auto = 'as auto-edit, and commands run in the sandbox without a question',
}

--- Sets the mode of the current chat.
---@param mode? caliban.Mode default: the mode after the current one
function M.set(mode)
  require('caliban.chat').send({ kind = 'set_mode', mode = mode })
end

--- Lets the user choose a mode.
function M.ask()
  local chat = require('caliban.chat.chats').current
  local now = chat and chat.status and chat.status.mode
  local opts = {
    prompt = 'Mode',
    format_item = function(name)
      return ('%s  %s%s'):format(name, M.means[name], name == now and '  (now)' or '')
    end,
  }
  vim.ui.select(require('caliban.config').modes, opts, function(name)
    if name then
      M.set(name)
    end
  end)
end

return M
