--- The first and the last messages of a conversation on disk, for the preview of a picker.
local M = {}

--- The most bytes of a conversation that is read for a preview.
local LARGE = 20e6

--- The functions that show the program's answers, by the `id` of the request.
---@type table<integer, fun(lines: string[])>
local waiting = {}
local asked = 0

--- Shows the messages of a conversation, once the program has read them.
---@param row { name: string, bytes: integer, root?: string }
---@param show fun(lines: string[])
function M.ask(row, show)
  if row.bytes > LARGE then
    return show({ 'This conversation is too large for a preview.' })
  end
  asked = asked + 1
  waiting[asked] = show
  local ask = { kind = 'peek_session', id = asked, session = row.name, root = row.root }
  require('caliban.program.process').ask(ask)
end

---@param message caliban.Peeked
function M.answer(message)
  local show = waiting[message.id]
  waiting[message.id] = nil
  local _ = show and show(message.lines)
end

return M
