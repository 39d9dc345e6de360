--- Goes from one open conversation to the next.
local M = {}

---@param chat caliban.Chat
local function show(chat)
  require('caliban.chat.chats').current = chat
  require('caliban.chat.windows').open(chat, true)
end

--- Shows the conversation that has begun this worker or subagent. From other conversations, shows the open one after this
--- one, and after the last the first.
---@param chat caliban.Chat
function M.go(chat)
  local chats = require('caliban.chat.chats')
  local parent = require('caliban.chat.chats').parent(chat)
  if parent then
    return show(parent)
  end
  local open = vim.tbl_filter(function(other)
    local usable = chats.usable(other.transcript) and chats.usable(other.composer)
    return other == chat or usable and other.session ~= nil
  end, chats.all)
  for i, it in ipairs(open) do
    local after = it == chat and open[i % #open + 1]
    if after and after ~= chat then
      return show(after)
    end
  end
  require('caliban.editor.notify').show('No other conversation is open. `gs` lists all.')
end

return M
