--- The public API. Every function may be called before the program runs, and returns at once.
local M = {}

--- Sets the configuration; `vim.g.caliban` does the same.
---@param opts? table
function M.setup(opts)
  require('caliban.config').set(opts)
end

--- Opens the chat and makes its window the current one.
function M.open()
  require('caliban.chat').show(true)
end

---@class caliban.NewOpts
---@field agent? string the named agent that works in the conversation
---@field name? string default: the program makes a name
---@field ephemeral? boolean never save the conversation

--- Begins a new conversation and shows it.
---@param opts? caliban.NewOpts
function M.new(opts)
  opts = opts or {}
  vim.validate('agent', opts.agent, 'string', true)
  vim.validate('name', opts.name, 'string', true)
  require('caliban.chat').switch({
    kind = 'new',
    name = opts.name,
    ephemeral = opts.ephemeral or false,
    agent = opts.agent,
  })
end

--- Closes the chat's windows in this tab.
function M.close()
  require('caliban.chat.windows').close()
end

--- Opens the chat, or closes it if this tab shows one.
function M.toggle()
  if require('caliban.chat.layout').visible() then
    M.close()
  else
    M.open()
  end
end

--- Sends a message and shows the chat. The current window stays the same.
---@param text string
---@param opts? caliban.AskOpts
function M.ask(text, opts)
  require('caliban.context.ask').ask(text, opts)
end

--- Prompts for a message with `vim.ui.input` and sends it. In visual mode the selection goes with it.
function M.prompt()
  require('caliban.context.ask').prompt()
end

--- Adds context to the composer: the range or buffer in `opts`, otherwise the selection, otherwise
--- the current buffer.
---@param opts? caliban.AddOpts
function M.add(opts)
  require('caliban.context.ask').add(require('caliban.context.excerpt').of(opts), false)
end

---@param kind 'line'|'char'|'block'
function M._operator(kind)
  require('caliban.context.ask').add(require('caliban.context.excerpt').motion(kind), false)
end

--- Sends the composer's text.
function M.send()
  local chat = require('caliban.chat').get()
  if chat then
    require('caliban.chat.composer').send(chat, false)
  end
end

--- Sends a message into the running turn.
---@param text? string default: the composer's text
function M.steer(text)
  if text then
    return M.ask(text, { steer = true, context = {} })
  end
  local chat = require('caliban.chat').get()
  if chat then
    require('caliban.chat.composer').send(chat, true)
  end
end

--- Stops the running turn.
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
---@field visual? boolean use the selection as the range

--- A value of a script: `vim.NIL`, which stands for nil in what was decoded from JSON, becomes nil.
---@generic T
---@param value T
---@return T?
local function given(value)
  return value ~= vim.NIL and value or nil
end

---@param value any
---@return boolean
local function is_row(value)
  return type(value) == 'number' and value % 1 == 0
end

--- The options of a script, checked: what a script gets wrong must not reach the verdict.
---@param opts? caliban.ReviewOpts
---@return caliban.ReviewOpts
local function checked(opts)
  vim.validate('opts', opts, 'table', true)
  local out = {} ---@type caliban.ReviewOpts
  for name, value in pairs(given(opts) or {}) do
    out[name] = given(value)
  end
  vim.validate('scope', out.scope, function(it)
    return it == nil or vim.list_contains({ 'hunk', 'file', 'all', 'range' }, it)
  end, "'hunk', 'file', 'all' or 'range'")
  vim.validate('range', out.range, function(it)
    return it == nil or type(it) == 'table' and #it == 2 and is_row(it[1]) and is_row(it[2])
  end, 'two line numbers')
  vim.validate('buf', out.buf, function(it)
    return it == nil or is_row(it)
  end, 'a buffer number')
  vim.validate('reason', out.reason, 'string', true)
  return out
end

---@param opts? caliban.ReviewOpts
---@return caliban.Choice? # nil if there is nothing to decide on, after telling the user
local function chosen(opts)
  opts = vim.deepcopy(checked(opts))
  if opts.visual then
    local a, b = vim.fn.line('v'), vim.fn.line('.')
    opts.range, opts.visual = { math.min(a, b), math.max(a, b) }, nil
  end
  return require('caliban.chat.changes.keys').resolve(opts)
end

--- Accepts proposed changes.
---@param opts? caliban.ReviewOpts default: the hunk under the cursor
function M.accept(opts)
  local choice = chosen(opts)
  if choice then
    require('caliban.review').accept(choice)
  end
end

--- Rejects proposed changes.
---@param opts? caliban.ReviewOpts default: the hunk under the cursor
function M.reject(opts)
  local choice = chosen(opts)
  if choice then
    require('caliban.review').reject(choice)
  end
end

--- Sends the model a comment on a hunk. The hunk stays pending. In the buffer of a plan the comment
--- is kept until the plan is sent back.
---@param text? string default: prompts for it
---@param opts? caliban.ReviewOpts
function M.comment(text, opts)
  local plan = package.loaded['caliban.sessions.plan'] ---@type table?
  if plan and plan.commented(text, opts) then
    return
  end
  local choice = chosen(opts)
  if choice then
    require('caliban.context.comment').comment(text, choice)
  end
end

--- Goes to the next pending hunk.
function M.next()
  require('caliban.review').next(require('caliban.chat.changes.keys').place())
end

--- Goes to the previous pending hunk.
function M.prev()
  require('caliban.review').prev(require('caliban.chat.changes.keys').place())
end

--- The pending hunks of a buffer, or of all buffers.
---@param buf? integer
---@return table[]
function M.pending(buf)
  return require('caliban.review').pending(buf)
end

--- For how long a permission applies.
---@alias caliban.Scope 'once'|'session'|'always'

--- Answers yes to the open question.
---@param scope? caliban.Scope|{ command: string } with a command, this command runs in place of the model's
function M.approve(scope)
  local consent = require('caliban.chat.consent')
  if type(scope) == 'table' then
    vim.validate('command', scope.command, 'string')
    return consent.rule('once', nil, scope.command)
  end
  consent.rule(scope or 'once')
end

--- Answers no to the open question.
---@param reason? string goes to the model
function M.deny(reason)
  reason = given(reason)
  vim.validate('reason', reason, 'string', true)
  require('caliban.chat.consent').rule('deny', reason)
end

--- Opens or closes the small window with the model's to-do list. The current window stays the same.
function M.todo()
  require('caliban.chat.todo').toggle()
end

--- Turns following on or off. While it is on, the last code window shows where the agent reads and
--- edits, until the turn ends.
function M.follow()
  require('caliban.chat.follow').toggle()
end

--- Answers the model's open question. Opens a picker if no answer is given.
---@param answer? integer|integer[]|string|false numbers of options from 1, your own words, or false to skip the question
function M.answer(answer)
  require('caliban.chat.answer').answer(answer)
end

--- Sets the mode: how much the agent does without asking.
---@param name? caliban.ChosenMode default: the mode after the current one
function M.mode(name)
  require('caliban.sessions.mode').set(name)
end

---@class caliban.PlanOpts
---@field mode? caliban.Mode for `accept`: the mode in which the work begins; default: the user chooses
---@field text? string for `change`: what to change; default: prompts for it
---@field path? string for `save`: the file; default: `plan.md` in the project
---@field force? boolean for `save`: overwrite a file that exists

--- Shows the plan of the current chat, or decides on it. Without a plan, plan mode begins.
---@param act? 'show'|'accept'|'change'|'drop'|'save' default: `show`
---@param opts? caliban.PlanOpts
function M.plan(act, opts)
  require('caliban.sessions.plan').act(act or 'show', opts or {})
end

--- The workers of the current chat, the last one first.
---@return caliban.WorkerRow[]
function M.workers()
  local chats = package.loaded['caliban.chat.chats'] ---@type table?
  local chat = chats and chats.current
  return chat and vim.deepcopy(require('caliban.chat.workers').all(chat)) or {}
end

--- Opens the chat of a worker of the current chat, stops the worker, or sends it a message.
---@param id integer|string `3` or `w3`
---@param act 'open'|'stop'|'message'
---@param text? string for `message`; default: prompts for it
function M.worker(id, act, text)
  local chat = require('caliban.chat').get()
  local worker = chat and require('caliban.chat.workers').find(chat, id)
  if chat and worker then
    require('caliban.chat.workers').act(chat, worker, act, text)
  end
end

--- The state of the current chat.
---@return caliban.State
function M.state()
  return require('caliban.status').state()
end

--- The state of the current chat in a few words, for a statusline; empty before the first chat. If
--- a width is given, the text has as many figures as fit.
---@param width? integer
---@return string
function M.status(width)
  return require('caliban.status').status(width)
end

--- Like `status`, for `%{%…%}` in a 'statusline'. The part that says what waits for the user is
--- highlighted.
---@param width? integer
---@return string
function M.statusline(width)
  return require('caliban.status').statusline(width)
end

--- Calls `fn` with the data of each event of this name (`CalibanTurnEnd`, or in short `TurnEnd`).
---@param event string
---@param fn fun(data: table)
---@return integer autocmd
function M.on(event, fn)
  return require('caliban.status').on(event, fn)
end

return M
