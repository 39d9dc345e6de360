--- Goes from one open conversation to the next.
local M = {}

--- Shows the open conversation after this one, and after the last the first.
---@param chat caliban.Chat
function M.go(chat)
  local chats = require('caliban.chat.chats')
  local open = vim.tbl_filter(function(other)
    local usable = chats.usable(other.transcript) and chats.usable(other.composer)
    return other == chat or usable and other.session ~= nil
  end, chats.all)
  for i, it in ipairs(open) do
    local after = it == chat and open[i % #open + 1]
    if after and after ~= chat then
      chats.current = after
      return require('caliban.chat.windows').open(after, true)
    end
  end
  require('caliban.editor.notify').show('No other conversation is open. `gs` lists all.')
end

return M
