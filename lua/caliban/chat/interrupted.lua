--- The conversations that something waits in from before. After the first screen a turn that was cut off is brought to
--- rest in the background, and reviews are opened again. What there was is said then.
local M = {}

function M.look()
  for _, session in ipairs(require('caliban.program.project').waiting()) do
    require('caliban.chat.chats').looked[session] = true
    require('caliban.program.process').ask({ kind = 'look', session = session })
  end
end

return M
