--- The chats of this Neovim, and which one is current.
local M = {}

local api = vim.api

---@class caliban.Chat
---@field session? string nil until the program has opened the session
---@field asked? string the requested session, until it is open: '' for a new session, nil if the program chooses
---@field root? string the root of the chat's project
---@field followed? boolean whether a window follows the chat's agent
---@field ephemeral? boolean whether the chat is never saved
---@field reading? boolean whether the chat is open for reading only
---@field transcript integer the transcript's buffer; -1 before it is made
---@field composer integer the composer's buffer; -1 before it is made
---@field blocks caliban.Block[]
---@field total integer lines of all blocks
---@field above? boolean whether the program has yet to send the blocks above the first painted block
---@field narrowest? caliban.Narrowest the window to which words beside lines and code spans are fitted
---@field wrapping integer how many times the transcript has begun to wrap in another way
---@field unfitted? table<integer, integer> present while rows outside of the windows may not be fitted to the present width: for each window, the first row that it has drawn since then
---@field running? table<integer, caliban.Block> the running calls, by the ids of their blocks
---@field clock? number when the program's clock showed 0, on the same clock as `retry_at`
---@field spinners table<integer, integer> the extmarks of the signs on running calls, by the ids of their blocks
---@field views table<string, vim.fn.winsaveview.ret> by part: the view to restore when a window shows this chat again
---@field toggled? integer the id of the block that the user has just opened or closed
---@field status? caliban.Status
---@field question? caliban.Question the chat's open question
---@field repainted? caliban.Question the chat's open question before the transcript was reset
---@field todo? caliban.TodoItem[] the chat's to-do list
---@field listing? caliban.Listing the list of the chat's changes under review
---@field on_plan? boolean whether the cursor is on the block of a plan that waits
---@field context caliban.Excerpt[] the excerpts that go with the next message
---@field state? [string, string][] the status line, as virtual text that is shown above the composer's text
---@field over? integer the number of rows above the composer's text for which there is room, if there is none for all
---@field scrolling? integer the autocommand that keeps the virtual lines above the composer's text visible
---@field shells? boolean whether the composer's text begins with `!`
---@field placeholder? string the words that an empty composer shows
---@field warning? { text: string, tick: integer } shown above the composer's text until the text changes
---@field text string[] the composer's text as last read
---@field sent_here string[] the messages that were sent from a chat that is never saved, newest last
---@field sent? { text: string, context: caliban.Excerpt[] } the draft that the program received last
---@field yielded? { text: string, context: caliban.Excerpt[] } the draft that was handed to another Neovim
---@field retry_at? number when a failed request is tried again, in milliseconds of vim.uv.hrtime()
---@field silent_since? number when a slow request last received bytes, on the same clock as `retry_at`
---@field began? number when the running or last turn began, on the same clock as `retry_at`
---@field counting? boolean whether the timer of the countdown runs
---@field outbox table[] messages that wait until the session is open
---@field heir? caliban.Chat if this chat's session cannot be opened any more: the chat that replaces this chat

---@type caliban.Chat[]
M.all = {}
---@type caliban.Chat?
M.current = nil
--- Whether the user has asked for a session that is not open yet: the next session that opens is then shown.
---@type boolean
M.wanted = false
--- The sessions that are being opened without a request of the user.
---@type table<string, boolean>
M.looked = {}

require('caliban.program.roots').listen({
  current = function()
    return M.current and M.current.root
  end,
  of = function(session)
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

--- The chat of a buffer.
---@param buf integer
---@return caliban.Chat?
function M.of(buf)
  for _, chat in ipairs(M.all) do
    if chat.transcript == buf or chat.composer == buf then
      return chat
    end
  end
end

--- Sends a message for a chat, now or as soon as its session is open.
---@param chat caliban.Chat
---@param message table without `session`
---@return boolean accepted
function M.send(chat, message)
  if message.kind == 'send' then
    -- send delayed verdicts first
    require('caliban.review.undone').tell_all()
    require('caliban.chat.below').go(chat)
  end
  if not chat.session then
    table.insert(chat.outbox, message)
    return true
  end
  if message.kind == 'send' then
    require('caliban.review.pending').tell(chat.session)
  end
  message.session = chat.session
  return require('caliban.program.process').ask(message)
end

--- The chat that is waiting until this session is open.
---@param session string
---@return caliban.Chat?
function M.waiting(session)
  for _, chat in ipairs(M.all) do
    if not chat.session and chat.asked == session then
      return chat
    end
  end
end

--- Stops the running turn, and drops those of its proposals that are not in a buffer yet.
function M.stop()
  local chat = M.current
  local has_run = package.loaded['caliban.chat.shell'] ~= nil
  local _ = chat and has_run and require('caliban.chat.shell').stop(chat)
  if not (chat and chat.session) then
    return
  end
  local session, turn = chat.session, chat.status and chat.status.turn
  local function withhold()
    local _ = turn and require('caliban.review').stopped(session, turn)
  end
  -- drop waiting proposals before the stop; if the module of the reviews is not loaded, no proposal
  -- waits, and loading it would only delay the stop
  local is_loaded = package.loaded['caliban.review.registry'] ~= nil
  _ = is_loaded and withhold()
  M.send(chat, { kind = 'stop' })
  _ = is_loaded or withhold()
end

--- The sessions of the open chats, and the sessions of the subagents that work for these.
---@return string[]
function M.sessions()
  local names = {} ---@type string[]
  for _, chat in ipairs(M.all) do
    names[#names + 1] = chat.session
    for _, block in ipairs(chat.blocks) do
      names[#names + 1] = not block.final and block.session or nil
    end
  end
  return names
end

--- The open chat of the conversation that has begun a worker or a subagent.
---@param chat caliban.Chat the chat of the worker or subagent
---@return caliban.Chat?
function M.parent(chat)
  if not chat.reading then
    return nil
  end
  for _, other in ipairs(M.all) do
    for _, block in ipairs(other ~= chat and other.blocks or {}) do
      local sessions = { block.session }
      for _, worker in ipairs(block.workers or {}) do
        table.insert(sessions, worker.session)
      end
      if vim.list_contains(sessions, chat.session) then
        return other
      end
    end
  end
end

--- Whether a buffer is valid and loaded (`:bdelete` unloads it).
---@param buf integer
---@return boolean
function M.usable(buf)
  return api.nvim_buf_is_valid(buf) and api.nvim_buf_is_loaded(buf)
end

return M
