--- The messages that were sent, for `<Up>` and `<Down>` in the composer.
local M = {}

--- The messages that were sent in this Neovim, newest last.
---@type string[]
local history = {}

--- Adds a message. Those of a chat that is never saved are not added to the history of other chats.
---@param chat caliban.Chat
---@param message string
function M.add(chat, message)
  table.insert(chat.ephemeral and chat.sent_here or history, message)
end

--- The messages that were sent from this chat, this Neovim and this project, newest last, without repetitions.
---@param chat caliban.Chat
---@return string[]
function M.all(chat)
  local all, seen = {}, {} ---@type string[], table<string, boolean>
  for _, list in ipairs({ chat.sent_here, history, require('caliban.program.project').history() }) do
    for i = #list, 1, -1 do
      if not seen[list[i]] then
        seen[list[i]] = true
        table.insert(all, 1, list[i])
      end
    end
  end
  return all
end

return M
