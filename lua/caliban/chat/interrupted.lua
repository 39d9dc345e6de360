--- After Neovim has started, asks the program to end interrupted turns in the background and to
--- reopen pending reviews.
local M = {}

--- Asks the program to look at each conversation with a pending review or an unfinished turn.
function M.look()
  for _, session in ipairs(require('caliban.program.project').waiting()) do
    require('caliban.chat.chats').looked[session] = true
    require('caliban.program.process').ask({ kind = 'look', session = session })
  end
end

return M
