--- Opens chats, switches between them, and handles the program's messages about them.
local M = {}

local api = vim.api
local chats = require('caliban.chat.chats')

---@return caliban.Chat
local function new()
  local chat = {
    transcript = -1,
    composer = -1,
    blocks = {},
    wrapping = 0,
    spinners = {},
    total = 0,
    views = {},
    context = {},
    text = { '' },
    sent_here = {},
    outbox = {},
  }
  table.insert(chats.all, chat)
  if #chats.all == 1 then
    require('caliban.chat.notification').watch()
    require('caliban.chat.windows').watch()
    require('caliban.chat.renewal').watch()
    require('caliban.chat.outside').watch()
  end
  return chat
end

--- The current chat; starts a chat if there is none.
---@return caliban.Chat? # nil if the program cannot run, after telling the user
function M.get()
  if not chats.current then
    require('caliban.chat.home').follow()
    local fresh = require('caliban.config').get().resume == false
    local message = fresh and { kind = 'new', ephemeral = false } or { kind = 'open' }
    if not require('caliban.program.process').ask(message) then
      return nil
    end
    chats.current = new()
  end
  require('caliban.chat.buffers').ensure(chats.current)
  return chats.current
end

--- Sends a message for the current chat; starts a chat if there is none.
---@param message table without `session`
---@return boolean accepted
function M.send(message)
  local chat = M.get()
  return chat ~= nil and chats.send(chat, message)
end

--- Mentions the clipboard's image in the current chat.
function M.paste()
  local chat = M.show(true)
  if chat then
    require('caliban.chat.image').paste(chat)
  end
end

--- Shows the current chat; starts a chat if there is none.
---@param focus boolean
---@return caliban.Chat?
function M.show(focus)
  local chat = M.get()
  if chat then
    require('caliban.chat.home').tell()
    require('caliban.chat.windows').open(chat, focus)
  end
  return chat
end

--- Opens the chat of the current folder's project.
function M.go_over()
  require('caliban.chat.home').go(M.show)
end

--- Opens another session, which is shown as soon as it is open.
---@param message caliban.Open|caliban.New
function M.switch(message)
  local known = message.kind == 'open' and message.session and chats.find(message.session)
  if known and not known.reading and known.total > 0 and chats.usable(known.transcript) then
    chats.current = known
    M.show(true)
    return
  end
  local current = chats.current ---@as caliban.Chat?
  require('caliban.chat.home').tell()
  if not require('caliban.program.process').ask(message) then
    return
  elseif current then
    chats.wanted = true
    return
  end
  -- this is the first chat: its composer is shown at once, for text that is typed before the
  -- session is open
  chats.current = new()
  chats.current.asked = message.session or message.name or ''
  M.show(true)
end

--- Opens a conversation from disk as the current chat. Its transcript is painted once the program
--- has opened it.
---@param session string
---@return caliban.Chat? # nil if the program cannot run, after telling the user
function M.revive(session)
  local chat = chats.find(session) or chats.waiting(session)
  if not chat then
    if not require('caliban.program.process').ask({ kind = 'open', session = session }) then
      return nil
    end
    chat = new()
    chat.asked = session
  end
  chats.current = chat
  require('caliban.chat.buffers').ensure(chat)
  return chat
end

--- The chat for a session that was opened: the session's own chat, a chat that waits for the session, or a new chat.
---@param session string
---@return caliban.Chat
local function chat_for(session)
  local waiting = chats.waiting(session) or chats.find(nil)
  local is_other = chats.looked[session] and waiting and (waiting.asked or session) ~= session
  chats.looked[session] = nil
  return chats.find(session) or not is_other and waiting or new()
end

--- Moves the windows, the draft and the warning from `barred`, whose session cannot be opened, to
--- `chat`, which replaces `barred`.
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
  if chats.current == barred then
    chats.current = chat
    if require('caliban.chat.layout').visible(barred) then
      windows.open(chat, false)
    end
  end
  if barred.warning then
    composer.warn(chat, barred.warning.text)
  end
end

--- The program has opened a session: prepares the session's chat, and shows the chat if the user has asked for it.
---@param message caliban.Session
function M.opened(message)
  local chat = chat_for(message.session)
  local composer = require('caliban.chat.composer')
  local was_read = chat.reading and not message.reading
  -- the session begins anew, and the text here is newer than the draft that the program has
  local is_newer = chat.session == message.session and chat.sent ~= nil and not chat.yielded
  chat.session, chat.root, chat.ephemeral = message.session, message.root, message.ephemeral
  chat.reading = message.reading
  chat.sent, chat.yielded = chat.yielded or chat.sent, nil
  require('caliban.chat.buffers').ensure(chat)
  local take_up = was_read and composer.rejoin or not is_newer and composer.restore
  local _ = take_up and take_up(chat, message.draft, message.draft_context)
  -- the program could not be asked about what was typed before the session was open
  require('caliban.chat.mentions').touch(chat, true)
  if chats.wanted or message.show then
    chats.wanted, chats.current = false, chat
    -- a chat that is only read has nothing to write
    local buf = api.nvim_get_current_buf()
    local here = chats.of(buf)
    local reads = message.reading and here ~= nil and here.transcript == buf
    require('caliban.chat.windows').open(chat, not reads)
  end
  chats.current = chats.current or chat
  local barred = message.instead and chats.find(message.instead)
  if barred and barred.reading then
    composer.move(barred, chat)
  elseif barred then
    inherit(chat, barred)
  end
  if not message.ephemeral and not message.reading and #message.reviews > 0 then
    require('caliban.review').take_up(message)
  end
  local outbox = chat.outbox
  chat.outbox = {}
  for _, waiting in ipairs(outbox) do
    chats.send(chat, waiting)
  end
end

--- The program has renamed a session: renames its chat, reviews and buffers.
---@param message caliban.Renamed
function M.renamed(message)
  local chat = chats.find(message.session)
  if chat then
    chat.session = message.to
    require('caliban.review').renamed(message.session, message.to)
    require('caliban.chat.buffers').rename(chat)
    if chat.status then
      local status = vim.tbl_extend('force', chat.status, { session = message.to })
      M.status(status --[[@as caliban.Status]])
    end
  end
end

--- The program has deleted a session: the windows of the session's chat show another chat or a new one.
---@param message caliban.Deleted
function M.deleted(message)
  local chat = chats.find(message.session)
  if not chat then
    return
  end
  local shown = require('caliban.chat.layout').visible(chat)
  if chats.current == chat then
    chats.current = nil
    for _, other in ipairs(chats.all) do
      chats.current = other ~= chat and other or chats.current
    end
  end
  if shown then
    M.show(false)
  end
  -- the chat is removed only after `show`, which uses the chat's windows
  chats.all = vim.tbl_filter(function(other)
    return other ~= chat
  end, chats.all)
  for _, buf in ipairs({ chat.transcript, chat.composer }) do
    pcall(api.nvim_buf_delete, buf, { force = true })
  end
  vim.tbl_map(require('caliban.chat.windows').decorate, chats.all)
end

--- The user has sent `/exit`: closes the chat's windows in this tab.
function M.exit()
  if chats.of(api.nvim_get_current_buf()) then
    vim.cmd.stopinsert()
  end
  require('caliban.chat.windows').close()
end

--- Paints blocks of a session's transcript.
---@param message caliban.Paint
function M.paint(message)
  local chat = chats.find(message.session)
  if chat then
    require('caliban.chat.running').set_clock(chat, message.now)
    local painted = require('caliban.chat.paint').paint(chat, message.updates, message.reset)
    if painted and message.reset then
      require('caliban.chat.changes').restore(chat)
    end
    chat.above = message.above
  end
end

--- Shows or removes the countdown to a retry.
---@param chat caliban.Chat
local function show_countdown(chat)
  require('caliban.chat.paint').paint(chat, { require('caliban.chat.countdown').block(chat) })
end

--- Shows or removes the messages of the queue.
---@param chat caliban.Chat
local function show_queue(chat)
  require('caliban.chat.paint').paint(chat, { require('caliban.chat.queue').block(chat) })
end

--- Updates the countdown and the status once a second while a retry is pending or a request
--- receives no bytes.
---@param chat caliban.Chat
local function count(chat)
  if chat.counting then
    return
  end
  chat.counting = true
  local paint, countdown = require('caliban.chat.paint'), require('caliban.chat.countdown')
  vim.defer_fn(function()
    chat.counting = nil
    if chat.retry_at or chat.silent_since then
      local _ = chat.retry_at and paint.recount(chat, countdown.lines(chat))
      require('caliban.chat.windows').decorate(chat)
      count(chat)
    end
  end, 1000)
end

--- The phases in which a turn waits for a decision of the user's.
local decides = { asking = true, reviewing = true } ---@type table<string, boolean?>

--- Called when a session has a new status: updates the countdown, the queue, the list of changes
--- and the winbars, and notifies the user if the chat is not visible.
---@param message caliban.Status
function M.status(message)
  local chat = chats.find(message.session)
  if not chat then
    return
  end
  local before = chat.status
  chat.status = message
  if before and decides[before.phase] and not decides[message.phase] then
    -- the user has decided: what follows is shown
    require('caliban.chat.below').go(chat)
  end
  if message.phase == 'idle' then
    local arrive = package.loaded['caliban.review.arrival'] ---@type table?
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
    show_countdown(chat)
  end
  if not vim.deep_equal(before and before.queue or {}, message.queue) then
    show_queue(chat)
  end
  if chat.listing and (not before or before.phase ~= message.phase) then
    require('caliban.chat.changes').refresh(chat)
  end
  local decorate = require('caliban.chat.windows').decorate
  if before and before.waiting_for == message.waiting_for then
    decorate(chat)
  else
    -- the winbar of each chat names the number of other chats that wait
    vim.tbl_map(decorate, chats.all)
  end
  if not chat.question then
    require('caliban.chat.room').fit(chat)
  end
  require('caliban.chat.status').changed(chat, before)
end

--- Shows the new to-do list of a chat.
---@param message caliban.Todo
function M.todo(message)
  local chat = chats.find(message.session)
  if not chat then
    return
  end
  require('caliban.chat.todo').take(chat, message.items)
  require('caliban.chat.windows').decorate(chat)
  if vim.o.laststatus > 0 then
    vim.cmd.redrawstatus({ bang = true, mods = { emsg_silent = true } })
  end
end

--- Handles a message that the program could not use and has sent back.
---@param message caliban.Bounce
function M.bounce(message)
  local chat = chats.find(message.session)
  chat = chat and chat.heir or chat
  if chat then
    local composer = require('caliban.chat.composer')
    composer.give_back(chat, message.text, message.context)
    require('caliban.chat.completion').hold(chat.composer)
    if message.why == '' then
      return
    elseif require('caliban.chat.layout').visible(chat) then
      composer.warn(chat, require('caliban.editor.notify').words(message.why))
      composer.to_top(chat)
    else
      require('caliban.editor.notify').say(message.why)
    end
  end
end

--- Called when the program has ended: says so in each chat, and puts unsent messages back into the
--- composers.
---@param why string
---@param unsent table[]
---@return boolean # whether a chat is on the screen
local function ended(why, unsent)
  for _, chat in ipairs(chats.all) do
    for _, message in ipairs(chat.outbox) do
      message.chat = chat
      table.insert(unsent, message)
    end
    chat.outbox, chat.above = {}, nil
    local question = chat.question
    if question then
      local line = '  Not answered: the program has ended.'
      require('caliban.chat.paint').last_line(chat, question.call, line)
    end
    require('caliban.chat.question').gone(chat)
    if chat.status then
      -- the phase is set here because no program runs that could send it
      local status = chat.status --[[@as table]]
      status.phase, status.waiting_for, status.tool = 'offline', nil, nil
      status.question, status.workers, status.jobs = nil, nil, 0
      chat.retry_at, chat.silent_since = nil, nil
      show_countdown(chat)
    end
    require('caliban.chat.spinner').interrupt(chat)
    require('caliban.chat.paint').ended(chat, why)
  end
  vim.tbl_map(require('caliban.chat.windows').decorate, chats.all)
  for _, message in ipairs(unsent) do
    local chat = message.chat or chats.find(message.session)
    if message.kind == 'send' and chat then
      require('caliban.chat.composer').give_back(chat, message.text, message.context)
    end
  end
  return require('caliban.chat.layout').visible()
end

--- Called after the program was restarted: opens every chat again, the current chat last.
local function reopen()
  local all = vim.tbl_filter(function(chat)
    return chat ~= chats.current
  end, chats.all)
  table.insert(all, chats.current)
  for _, chat in ipairs(all) do
    local message = { kind = 'open', session = chat.session }
    if chat.ephemeral then
      message = { kind = 'new', name = chat.session, ephemeral = true }
    elseif chat.reading then
      message = { kind = 'claim', session = chat.session, way = 'read' }
    end
    require('caliban.program.process').notify(message)
    chat.sent = nil
    require('caliban.chat.composer').unwarn(chat)
    require('caliban.chat.composer').save(chat)
  end
end

require('caliban.program.process').listen({ ended = ended, restarted = reopen })

require('caliban.editor.notify').divert(function(buf, text)
  local chat = chats.of(buf)
  if chat and chat.composer == buf then
    require('caliban.chat.composer').warn(chat, text)
  end
  return chat ~= nil and chat.composer == buf
end)

local function renew_keys()
  require('caliban.chat.renewal').renew()
end

require('caliban.review.listeners').add({
  looked = function(r, decided)
    require('caliban.chat.changes').touch(r, decided)
    renew_keys()
  end,
  pending = renew_keys,
  cleared = renew_keys,
  closed = renew_keys,
  parsed = function(r)
    require('caliban.chat.changes').touch(r)
  end,
  reported = function(r)
    require('caliban.chat.changes').settled(r)
  end,
  waiting = function()
    vim.tbl_map(require('caliban.chat.windows').decorate, chats.all)
  end,
})

return M
