--- The chats of this editor: which there are, which one is in use, and what the program says of each.
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

---@return caliban.Chat
local function new()
  local chat = {
    transcript = -1,
    composer = -1,
    blocks = {},
    total = 0,
    views = {},
    context = {},
    text = { '' },
    sent_here = {},
    outbox = {},
  }
  table.insert(M.all, chat)
  if #M.all == 1 then
    require('caliban.status').watch()
    require('caliban.chat.layout').watch()
    require('caliban.chat.windows').watch()
  end
  return chat
end

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

--- The chat in use, begun where there is none. Nil (and the reason told) where the program cannot run.
---@return caliban.Chat?
function M.get()
  if not M.current then
    local fresh = require('caliban.config').get().resume == false
    local message = fresh and { kind = 'new', ephemeral = false } or { kind = 'open' }
    if not require('caliban.rpc').ask(message) then
      return nil
    end
    M.current = new()
  end
  require('caliban.chat.buffers').ensure(M.current)
  return M.current
end

--- Sends for a chat, as soon as its session has a name.
---@param chat caliban.Chat
---@param message table without `session`
---@return boolean taken
function M.send(chat, message)
  if message.kind == 'send' then
    -- a verdict that waits goes first
    require('caliban.rest').over()
  end
  if not chat.session then
    table.insert(chat.outbox, message)
    return true
  end
  message.session = chat.session
  return require('caliban.rpc').ask(message)
end

---@param focus boolean
---@return caliban.Chat?
function M.show(focus)
  local chat = M.get()
  if chat then
    require('caliban.chat.windows').open(chat, focus)
  end
  return chat
end

--- Asks for another session; it is shown when it comes.
---@param message caliban.Open|caliban.New
function M.switch(message)
  local known = message.kind == 'open' and message.session and M.find(message.session)
  if known and not known.reading and known.total > 0 and M.usable(known.transcript) then
    M.current = known
    M.show(true)
    return
  end
  local current = M.current ---@as caliban.Chat?
  if not require('caliban.rpc').ask(message) then
    return
  elseif current then
    M.wanted = true
    return
  end
  -- the first chat of all: what is typed before it comes must have its composer already
  M.current = new()
  M.current.asked = message.session or message.name or ''
  M.show(true)
end

--- The chat of a conversation that is on disk, made the one in use. Its text comes once the program has opened it.
---@param session string
---@return caliban.Chat? # nil where the program cannot run, which the user is told
function M.revive(session)
  local chat = M.find(session) or M.waiting(session)
  if not chat then
    if not require('caliban.rpc').ask({ kind = 'open', session = session }) then
      return nil
    end
    chat = new()
    chat.asked = session
  end
  M.current = chat
  require('caliban.chat.buffers').ensure(chat)
  return chat
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

--- The chat that a session is opened for.
---@param session string
---@return caliban.Chat
local function chat_for(session)
  local waiting = M.waiting(session) or M.find(nil)
  local is_other = M.looked[session] and waiting and (waiting.asked or session) ~= session
  M.looked[session] = nil
  return M.find(session) or not is_other and waiting or new()
end

--- Puts a chat where another was, with what was typed there and what was said of it.
---@param chat caliban.Chat
---@param barred caliban.Chat
local function inherit(chat, barred)
  barred.heir = chat
  local composer = require('caliban.chat.composer')
  local text = table.concat(barred.text, '\n')
  if text ~= '' or #barred.context > 0 then
    composer.give_back(chat, text, barred.context)
  end
  local windows = require('caliban.chat.windows')
  if M.current == barred then
    M.current = chat
    if windows.visible(barred) then
      windows.open(chat, false)
    end
  end
  if barred.warning then
    composer.warn(chat, barred.warning.text)
  end
end

---@param message caliban.SessionOpened
function M.opened(message)
  local chat = chat_for(message.session)
  local composer = require('caliban.chat.composer')
  local was_read = chat.reading and not message.reading
  chat.session, chat.root, chat.ephemeral = message.session, message.root, message.ephemeral
  chat.reading = message.reading
  chat.sent, chat.yielded = chat.yielded or chat.sent, nil
  require('caliban.chat.buffers').ensure(chat)
  local take_up = was_read and composer.rejoin or composer.restore
  take_up(chat, message.draft, message.draft_context)
  if M.wanted or message.show then
    M.wanted, M.current = false, chat
    require('caliban.chat.windows').open(chat, true)
  end
  M.current = M.current or chat
  local barred = message.instead and M.find(message.instead)
  if barred and barred.reading then
    composer.move(barred, chat)
  elseif barred then
    inherit(chat, barred)
  end
  if not message.ephemeral and not message.reading then
    require('caliban.project').reopen(message)
  end
  local outbox = chat.outbox
  chat.outbox = {}
  for _, held in ipairs(outbox) do
    M.send(chat, held)
  end
end

---@param message caliban.Renamed
function M.renamed(message)
  local chat = M.find(message.session)
  if chat then
    chat.session = message.to
    require('caliban.buffers').renamed(message.session, message.to)
    require('caliban.chat.buffers').rename(chat)
    if chat.status then
      M.status(vim.tbl_extend('force', chat.status, { session = message.to }))
    end
  end
end

--- A chat whose session is gone makes room for another, or a new one.
---@param message caliban.Deleted
function M.deleted(message)
  local chat = M.find(message.session)
  if not chat then
    return
  end
  local shown = require('caliban.chat.windows').visible(chat)
  if M.current == chat then
    M.current = nil
    for _, other in ipairs(M.all) do
      M.current = other ~= chat and other or M.current
    end
  end
  if shown then
    M.show(false)
  end
  -- till here its windows were a chat's
  M.all = vim.tbl_filter(function(other)
    return other ~= chat
  end, M.all)
  for _, buf in ipairs({ chat.transcript, chat.composer }) do
    pcall(api.nvim_buf_delete, buf, { force = true })
  end
end

---@param message caliban.Paint
function M.paint(message)
  local chat = M.find(message.session)
  if chat then
    require('caliban.chat.paint').paint(chat, message.updates, message.reset)
    chat.above = message.above
  end
end

--- Counts, once a second, while a request waits to be tried again or nothing comes of it.
---@param chat caliban.Chat
local function count(chat)
  if chat.counting then
    return
  end
  chat.counting = true
  vim.defer_fn(function()
    chat.counting = nil
    if chat.retry_at or chat.silent_since then
      require('caliban.chat.countdown').tick(chat)
      require('caliban.chat.windows').decorate(chat)
      count(chat)
    end
  end, 1000)
end

---@param message caliban.Status
function M.status(message)
  local chat = M.find(message.session)
  if not chat then
    return
  end
  local before = chat.status
  chat.status = message
  if message.phase == 'idle' then
    local arrive = package.loaded['caliban.arrive'] ---@type table?
    local _ = arrive and arrive.rest(message.session)
  end
  local now = vim.uv.hrtime() / 1e6
  local retries = message.phase == 'retrying'
  chat.retry_at = retries and (chat.retry_at or now + (message.retry_ms or 0)) or nil
  chat.silent_since = message.silent_ms and (chat.silent_since or now - message.silent_ms)
  if chat.retry_at or chat.silent_since then
    count(chat)
  end
  if retries or (before and before.phase == 'retrying') then
    require('caliban.chat.countdown').show(chat)
  end
  if not vim.deep_equal(before and before.queue or {}, message.queue) then
    local paint = require('caliban.chat.paint')
    paint.paint(chat, { require('caliban.chat.queue').block(message.queue) })
  end
  if chat.listing and (not before or before.phase ~= message.phase) then
    require('caliban.chat.review').refresh(chat)
  end
  require('caliban.chat.windows').decorate(chat)
  require('caliban.status').changed(chat, before)
end

---@param message caliban.Bounce
function M.bounce(message)
  local chat = M.find(message.session)
  chat = chat and chat.heir or chat
  if chat then
    local composer = require('caliban.chat.composer')
    composer.give_back(chat, message.text, message.context)
    if message.why == '' then
      return
    elseif require('caliban.chat.windows').visible(chat) then
      composer.warn(chat, message.why)
      composer.to_top(chat)
    else
      require('caliban.notify').say(message.why)
    end
  end
end

--- The program has ended: says so, and gives back what had not reached it.
---@param why string
---@param unsent table[]
function M.ended(why, unsent)
  for _, chat in ipairs(M.all) do
    for _, message in ipairs(chat.outbox) do
      message.chat = chat
      table.insert(unsent, message)
    end
    chat.outbox, chat.above = {}, nil
    require('caliban.chat.consent').gone(chat)
    if chat.status then
      chat.status.phase, chat.status.waiting_for, chat.status.tool = 'offline', nil, nil
      chat.retry_at, chat.silent_since = nil, nil
      require('caliban.chat.countdown').show(chat)
    end
    require('caliban.chat.paint').ended(chat, why)
    require('caliban.chat.windows').decorate(chat)
  end
  for _, message in ipairs(unsent) do
    local chat = message.chat or M.find(message.session)
    if message.kind == 'send' and chat then
      require('caliban.chat.composer').give_back(chat, message.text, message.context)
    end
  end
  if not require('caliban.chat.windows').visible() then
    require('caliban.notify').show(why, vim.log.levels.ERROR)
  end
end

--- A new program: every chat is opened in it again, the one in use last.
function M.reopen()
  local chats = vim.tbl_filter(function(chat)
    return chat ~= M.current
  end, M.all)
  table.insert(chats, M.current)
  for _, chat in ipairs(chats) do
    local message = { kind = 'open', session = chat.session }
    if chat.ephemeral then
      message = { kind = 'new', name = chat.session, ephemeral = true }
    elseif chat.reading then
      message = { kind = 'claim', session = chat.session, way = 'read' }
    end
    require('caliban.rpc').notify(message)
    chat.sent = nil
    require('caliban.chat.composer').unwarn(chat)
    require('caliban.chat.composer').save(chat)
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
    require('caliban.buffers').stopped(chat.session, turn)
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
