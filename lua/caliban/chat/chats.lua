--- Which chats there are in this editor, and which one is in use.
local M = {}

local api = vim.api

---@class caliban.Chat
---@field session? string nil until the program has said which
---@field asked? string what was asked for, until it comes; '' for a new one of any name, nil for whichever is in use
---@field root? string
---@field ephemeral? boolean
---@field reading? boolean it can only be read here
---@field transcript integer buffer, -1 before it is made
---@field composer integer buffer, -1 before it is made
---@field blocks caliban.Block[]
---@field total integer lines of all blocks
---@field above? boolean what stands above the first of them is on its way
---@field narrowest? caliban.Narrowest the window that words beside a line were last fitted into
---@field views table<string, vim.fn.winsaveview.ret> where a window that shows another chat now stood
---@field toggled? integer the block the user has just opened or closed
---@field status? caliban.Status
---@field question? caliban.Question its open question
---@field repainted? caliban.Question its open question before it was painted anew
---@field listing? caliban.Listing what of it is under review
---@field context caliban.Excerpt[] chips of the composer
---@field state? string the line about its state that is shown over the composer's text
---@field warning? { text: string, tick: integer } shown over the composer's text until that changes
---@field text string[] the composer's text as last seen
---@field sent_here string[] messages of a chat that is never saved, newest last
---@field sent? { text: string, context: caliban.Excerpt[] } the draft as the program has it
---@field yielded? { text: string, context: caliban.Excerpt[] } the draft as another Neovim has it
---@field retry_at? number when a failed request is tried again, in milliseconds of vim.uv.hrtime()
---@field silent_since? number when the last of a running request came, once that is long ago; as `retry_at`
---@field counting? boolean a second of either is running
---@field outbox table[] messages that wait for the session's name
---@field heir? caliban.Chat takes its place: its own session cannot be opened any more

---@type caliban.Chat[]
M.all = {}
---@type caliban.Chat?
M.current = nil
--- The next session to open is to be shown: the user asked for it.
---@type boolean
M.wanted = false
--- Sessions that were opened without being asked for, until they come.
---@type table<string, boolean>
M.looked = {}

require('caliban.program.project').listen({
  root = function()
    return M.current and M.current.root
  end,
  kept_in = function(session)
    local chat = M.find(session)
    return chat and not chat.ephemeral and not chat.reading and chat.root or nil
  end,
})

---@param session? string
---@return caliban.Chat?
function M.find(session)
  for _, chat in ipairs(M.all) do
    if chat.session == session then
      return chat
    end
  end
end

--- The chat a buffer belongs to.
---@param buf integer
---@return caliban.Chat?
function M.of(buf)
  for _, chat in ipairs(M.all) do
    if chat.transcript == buf or chat.composer == buf then
      return chat
    end
  end
end

--- Sends for a chat, as soon as its session has a name.
---@param chat caliban.Chat
---@param message table without `session`
---@return boolean taken
function M.send(chat, message)
  if message.kind == 'send' then
    -- a verdict that waits goes first
    require('caliban.review.undone').tell_all()
  end
  if not chat.session then
    table.insert(chat.outbox, message)
    return true
  end
  message.session = chat.session
  return require('caliban.program.process').ask(message)
end

--- The chat that waits for a session it has asked for.
---@param session string
---@return caliban.Chat?
function M.waiting(session)
  for _, chat in ipairs(M.all) do
    if not chat.session and chat.asked == session then
      return chat
    end
  end
end

--- Stops the running turn. What of its proposals has not entered a buffer must not any more.
function M.stop()
  local chat = M.current
  if not (chat and chat.session) then
    return
  end
  local turn = chat.status and chat.status.turn
  if turn then
    require('caliban.review').stopped(chat.session, turn)
  end
  M.send(chat, { kind = 'stop' })
end

--- A buffer is valid and holds its text (`:bdelete` empties it).
---@param buf integer
---@return boolean
function M.usable(buf)
  return api.nvim_buf_is_valid(buf) and api.nvim_buf_is_loaded(buf)
end

return M
