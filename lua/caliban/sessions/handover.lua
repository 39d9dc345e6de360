--- A conversation that two Neovims want: the second is asked what to do, and the first lets go of it if it is to.
local M = {}

local api = vim.api

--- How long the first may be in the middle of something, and how often it is looked at, in milliseconds. The program
--- of the second waits a second longer.
local PATIENCE, AGAIN = 4000, 50

---@param session string
---@param way 'read'|'fork'|'take'
local function claim(session, way)
  require('caliban.program.process').ask({ kind = 'claim', session = session, way = way })
end

--- Asks the Neovim that has it to let go; whether it does, the program finds out.
---@param message caliban.Held
local function take(message)
  pcall(function()
    local channel = vim.fn.sockconnect('pipe', message.server, { rpc = true })
    local root = require('caliban.program.project').root()
    local by = ('process %d'):format(vim.fn.getpid())
    local code = "require('caliban.sessions.handover').yield(...)"
    vim.rpcnotify(channel, 'nvim_exec_lua', code, { message.session, root, by })
    -- what it has not heard when it is closed is not heard any more: our program has given up by then
    vim.defer_fn(function()
      pcall(vim.fn.chanclose, channel)
    end, PATIENCE + 1000)
  end)
  claim(message.session, 'take')
end

--- Whether a question now would not take the keys that are meant for something else.
---@return boolean
local function may_ask()
  return #api.nvim_list_uis() > 0
    and api.nvim_get_mode().mode == 'n'
    and vim.fn.state('moSaw') == ''
    and vim.fn.getchar(1) == 0
end

--- The conversation that was asked for is another Neovim's.
---@param message caliban.Held
function M.offer(message)
  local chats = require('caliban.chat.chats')
  -- else a new one stands in for it already
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
      take(message)
    end
  end)
end

--- Another Neovim wants it: its reviews are given up, its turn is stopped, and it can be read here.
---@param session string
---@param root string of its project
---@param by string
function M.yield(session, root, by)
  local chat = require('caliban.chat.chats').find(session)
  local tries = PATIENCE / AGAIN
  local function try()
    if not chat or chat.root ~= root or chat.reading then
      return
    elseif require('caliban.review.restore.leave').give_up(session) then
      -- the draft goes along
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
