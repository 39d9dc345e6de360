--- Handles a conversation that is open in one Neovim when a second one wants to open it: the second asks its user what
--- to do, and the first releases the conversation if the second takes it over.
local M = {}

local api = vim.api

--- How long the first Neovim tries to release the conversation while its user is busy, and the pause between two tries,
--- in milliseconds. The program of the second Neovim waits a second longer.
local PATIENCE, AGAIN = 4000, 50

---@param session string
---@param way 'read'|'fork'|'take'
local function claim(session, way)
  require('caliban.program.process').ask({ kind = 'claim', session = session, way = way })
end

--- Asks the other Neovim to release the conversation. The program notices whether the other Neovim
--- has released it.
---@param message caliban.Held
local function take_over(message)
  pcall(function()
    local channel = vim.fn.sockconnect('pipe', message.server, { rpc = true })
    local root = require('caliban.program.project').root()
    local by = ('process %d'):format(vim.fn.getpid())
    local code = "require('caliban.sessions.handover').yield(...)"
    vim.rpcnotify(channel, 'nvim_exec_lua', code, { message.session, root, by })
    -- closing the channel drops an unread request, so the channel is closed only after the program
    -- of this Neovim has stopped waiting
    vim.defer_fn(function()
      pcall(vim.fn.chanclose, channel)
    end, PATIENCE + 1000)
  end)
  claim(message.session, 'take')
end

--- Whether a prompt that opens now gets no keys that the user has typed for something else.
---@return boolean
local function may_ask()
  return #api.nvim_list_uis() > 0
    and api.nvim_get_mode().mode == 'n'
    and vim.fn.state('moSaw') == ''
    and vim.fn.getchar(1) == 0
end

--- Called when the requested conversation is open in another Neovim. Lets the user choose: read the
--- conversation, copy it, or take it over.
---@param message caliban.Held
function M.offer(message)
  local chats = require('caliban.chat.chats')
  -- false if the user did not ask for this conversation; a new conversation is then open in its place
  local wanted = chats.wanted
  chats.wanted = false
  if not may_ask() then
    return wanted and claim(message.session, 'read')
  elseif not wanted and not require('caliban.chat.layout').visible() then
    return
  end
  local by = message.by ~= '' and (' (%s)'):format(message.by) or ''
  local opts = { prompt = ('%s is open in another Neovim%s'):format(message.session, by) }
  local choices = { 'Read it here', 'Continue in a copy', 'Take it over' }
  vim.ui.select(choices, opts, function(_, index)
    if index == 1 then
      claim(message.session, 'read')
    elseif index == 2 then
      claim(message.session, 'fork')
    elseif index == 3 then
      take_over(message)
    end
  end)
end

--- Called when another Neovim takes the conversation over: closes its reviews, stops its turn, and
--- keeps the chat open read-only.
---@param session string
---@param root string the root of the session's project
---@param by string the other Neovim, for messages
function M.yield(session, root, by)
  local chat = require('caliban.chat.chats').find(session)
  local tries = PATIENCE / AGAIN
  local function try()
    if not chat or chat.root ~= root or chat.reading then
      return
    elseif require('caliban.review.restore.leave').give_up(session) then
      -- the draft is saved because the other Neovim reads it from disk
      require('caliban.chat.composer').save(chat)
      chat.yielded = chat.sent
      require('caliban.program.process').notify({ kind = 'yield', session = session, by = by })
    elseif tries > 0 then
      tries = tries - 1
      vim.defer_fn(try, AGAIN)
    end
  end
  try()
end

return M
