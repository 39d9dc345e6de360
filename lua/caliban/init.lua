--- The public API. Everything here may be called before the program runs, and returns at once.
local M = {}

--- Takes the settings (`vim.g.caliban` is the other way to give them).
---@param opts? table
function M.setup(opts)
  require('caliban.config').set(opts)
end

--- Opens the chat, or focuses it.
function M.open()
  require('caliban.chat').show(true)
end

function M.close()
  require('caliban.chat.windows').close()
end

function M.toggle()
  if require('caliban.chat.layout').visible() then
    M.close()
  else
    M.open()
  end
end

--- Sends a message at once; shows the chat and leaves the focus where it is.
---@param text string
---@param opts? caliban.AskOpts
function M.ask(text, opts)
  require('caliban.context.ask').ask(text, opts)
end

--- Asks for a message with `vim.ui.input` and sends it, with the selection in visual mode.
function M.prompt()
  require('caliban.context.ask').prompt()
end

--- Adds context to the composer: a range or a buffer, else the selection, else the current buffer.
---@param opts? caliban.AddOpts
function M.add(opts)
  require('caliban.context.ask').add(require('caliban.context.excerpt').of(opts), false)
end

---@param kind 'line'|'char'|'block'
function M._operator(kind)
  require('caliban.context.ask').add(require('caliban.context.excerpt').motion(kind), false)
end

--- Sends what stands in the composer.
function M.send()
  local chat = require('caliban.chat').get()
  if chat then
    require('caliban.chat.composer').send(chat, false)
  end
end

--- Sends into the running turn: a text, else what stands in the composer.
---@param text? string
function M.steer(text)
  if text then
    return M.ask(text, { steer = true, context = {} })
  end
  local chat = require('caliban.chat').get()
  if chat then
    require('caliban.chat.composer').send(chat, true)
  end
end

function M.stop()
  require('caliban.chat.chats').stop()
end

--- Removes the last piece of context from the composer.
function M.unchip()
  local chat = require('caliban.chat.chats').current
  if chat then
    require('caliban.chat.composer').unchip(chat)
  end
end

---@class caliban.ReviewOpts: caliban.Choice
---@field visual? boolean the range is the selection

---@param opts? caliban.ReviewOpts
---@return caliban.Choice? absent: it means nothing, and the user was told
local function chosen(opts)
  opts = vim.deepcopy(opts or {})
  if opts.visual then
    local a, b = vim.fn.line('v'), vim.fn.line('.')
    opts.range, opts.visual = { math.min(a, b), math.max(a, b) }, nil
  end
  return require('caliban.chat.changes.keys').resolve(opts)
end

---@param opts? caliban.ReviewOpts
function M.accept(opts)
  local choice = chosen(opts)
  if choice then
    require('caliban.review').accept(choice)
  end
end

---@param opts? caliban.ReviewOpts
function M.reject(opts)
  local choice = chosen(opts)
  if choice then
    require('caliban.review').reject(choice)
  end
end

--- Tells the model something about a hunk, which stays pending. Without a text it is asked for.
---@param text? string
---@param opts? caliban.ReviewOpts
function M.comment(text, opts)
  local choice = chosen(opts)
  if choice then
    require('caliban.context.comment').comment(text, choice)
  end
end

function M.next()
  require('caliban.review').next()
end

function M.prev()
  require('caliban.review').prev()
end

--- The pending hunks of a buffer, or of all.
---@param buf? integer
---@return table[]
function M.pending(buf)
  return require('caliban.review').pending(buf)
end

--- Approves what is asked.
---@param scope? 'once'|'session'
function M.approve(scope)
  require('caliban.chat.consent').rule(scope or 'once')
end

--- Declines what is asked.
---@param reason? string told to the model
function M.deny(reason)
  require('caliban.chat.consent').rule('deny', reason)
end

--- How much is done before you have decided: the mode of this name, else the one after the present one.
---@param name? caliban.Mode
function M.mode(name)
  require('caliban.sessions.mode').set(name)
end

---@return caliban.State
function M.state()
  return require('caliban.status').state()
end

--- A few words for a statusline; empty before the first chat. With a width, the figures too.
---@param width? integer
---@return string
function M.status(width)
  return require('caliban.status').status(width)
end

--- Calls `fn` with the data of an event (`CalibanTurnEnd`, or `TurnEnd`).
---@param event string
---@param fn fun(data: table)
---@return integer autocmd
function M.on(event, fn)
  return require('caliban.status').on(event, fn)
end

return M
