--- After the start of Neovim: has the program end interrupted turns in the background, and opens pending reviews again.
--- Each conversation then says what it found.
local M = {}

--- Asks the program to look at each conversation in which something waits.
function M.look()
  for _, session in ipairs(require('caliban.program.project').waiting()) do
    require('caliban.chat.chats').looked[session] = true
    require('caliban.program.process').ask({ kind = 'look', session = session })
  end
end

return M
