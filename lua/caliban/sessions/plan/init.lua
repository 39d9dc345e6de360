--- The plan that a model submits in plan mode: a buffer that the user reads, edits and comments on, and the decision on
--- it.
local M = {}

local api, fn = vim.api, vim.fn
local buffers = require('caliban.sessions.plan.buffer')
local keys = require('caliban.sessions.plan.keys')
local remarks = require('caliban.sessions.plan.remarks')
local windows = require('caliban.sessions.plan.window')

--- A plan takes keys and commands only after it has been on the screen for this many milliseconds without a key press,
--- so that no key that was typed before counts as a decision.
local REST = 400
--- The delay in ms between a change of the text and the message that sends it to the program.
local SOON = 400

---@type table<string, caliban.OpenPlan?> by session
local plans = {}
local group = api.nvim_create_augroup('caliban.plan', {})

---@param text string
local function say(text)
  require('caliban.editor.notify').show(text, vim.log.levels.WARN)
end

--- Sends a message about a plan, with the plan's current text and comments.
---@param plan caliban.OpenPlan
---@param message table
local function send(plan, message)
  local now = buffers.reading(plan)
  plan.kept = now
  message.kind, message.session, message.call = 'plan', plan.session, plan.call
  message.text, message.remarks = now.text, now.remarks
  require('caliban.program.process').ask(message)
end

--- Sends the user's edits and comments to the program, which keeps them.
---@param plan caliban.OpenPlan
local function keep(plan)
  if api.nvim_buf_is_loaded(plan.buf) and not vim.deep_equal(buffers.reading(plan), plan.kept) then
    send(plan, { act = 'keep' })
  end
end

---@param plan caliban.OpenPlan
local function keep_soon(plan)
  if plan.due then
    return
  end
  plan.due = true
  vim.defer_fn(function()
    plan.due = nil
    keep(plan)
  end, SOON)
end

---@param plan caliban.OpenPlan
local function decorate(plan)
  if not api.nvim_buf_is_valid(plan.buf) then
    return
  elseif plan.stage ~= 'waiting' then
    local state = plan.stage == 'approved' and 'approved' or 'sent back'
    return windows.decorate(plan.buf, state, {})
  end
  windows.decorate(
    plan.buf,
    'waits',
    plan.armed and keys.lists(plan) or { require('caliban.editor.icons').of('…') }
  )
end

--- Lets keys and commands decide on the plan once it has been on the screen for `REST` without a
--- key press.
---@param plan caliban.OpenPlan
local function arm(plan)
  if plan.shown or plan.stage ~= 'waiting' or #fn.win_findbuf(plan.buf) == 0 then
    return
  end
  plan.shown = true
  local last = vim.uv.hrtime() / 1e6
  local call = plan.call
  local pressed = api.nvim_create_namespace('')
  vim.on_key(function()
    last = vim.uv.hrtime() / 1e6
  end, pressed)
  local function look()
    if plan.call ~= call then
      vim.on_key(nil, pressed)
      return
    end
    local left = REST - (vim.uv.hrtime() / 1e6 - last)
    if left > 0 then
      return vim.defer_fn(look, math.ceil(left))
    end
    vim.on_key(nil, pressed)
    plan.armed = true
    decorate(plan)
  end
  vim.defer_fn(look, REST)
end

--------------------------------------------------------------------------------------------- decisions

--- The chat that the user is in, else the current one.
---@return caliban.Chat?
local function here()
  local chats = require('caliban.chat.chats')
  return chats.of(api.nvim_get_current_buf()) or chats.current
end

--- The plan of the current buffer or of the user's chat. If no window of this tab shows the plan,
--- opens a window and returns nil, because the user has not read the plan.
---@return caliban.OpenPlan? # nil if nothing can be decided; the user sees the plan or is told why
local function deciding()
  local chat, buf = here(), api.nvim_get_current_buf()
  local plan = plans[chat and chat.session or '']
  for _, it in pairs(plans) do
    plan = it.buf == buf and it or plan
  end
  if not plan or not windows.visible(plan.buf) then
    M.show()
    return nil
  elseif plan.stage ~= 'waiting' then
    say('You have already decided on this plan.')
  elseif not plan.armed then
    say('The plan has only just appeared. Read it, then decide.')
  else
    return plan
  end
end

--- The modes in which the work can begin. The mode that was set before plan mode is the first.
---@param plan caliban.OpenPlan
---@return caliban.Mode[]
local function modes(plan)
  local chat = require('caliban.chat.chats').find(plan.session)
  local status = chat and chat.status ---@type table?
  local before = status and status.plan and status.plan.before or 'ask'
  local all = { before ~= 'plan' and before or 'ask' }
  for _, mode in ipairs(require('caliban.config').modes) do
    if mode ~= 'plan' and mode ~= all[1] then
      table.insert(all, mode)
    end
  end
  return all
end

--- Approves the plan. The work begins in the given mode; without one, the user chooses.
---@param mode? caliban.Mode
function M.accept(mode)
  local plan = deciding()
  if not plan then
    return
  elseif mode then
    return send(plan, { act = 'accept', mode = mode })
  end
  local call = plan.call
  local means = require('caliban.sessions.mode').means
  require('caliban.editor.pick').one(modes(plan), {
    prompt = 'Carry out the plan in mode',
    kind = 'caliban_modes',
    give = 2,
    cells = function(it)
      return { it, means[it] }
    end,
  }, function(choice)
    if plan.call ~= call then
      return say('A newer plan has come. Read it, then decide.')
    end
    send(plan, { act = 'accept', mode = choice })
  end)
end

--- Sends the plan back to the model, with the comments and these words.
---@param words? string
function M.change(words)
  local plan = deciding()
  if not plan then
    return
  elseif words and words ~= '' then
    return send(plan, { act = 'change', words = words })
  end
  local call = plan.call
  require('caliban.editor.prompt').ask({ prompt = 'Send back, because: ' }, function(given)
    if given and plan.call == call then
      send(plan, { act = 'change', words = given })
    end
  end)
end

--- Drops the plan. Plan mode goes on.
function M.drop()
  local plan = deciding()
  if plan then
    send(plan, { act = 'drop' })
  end
end

--- Writes the plan to a file of the project.
---@param path? string
---@param force? boolean
function M.save(path, force)
  local chat = require('caliban.chat').get()
  local plan = chat and plans[chat.session or '']
  local message = { act = 'save', words = path or '', force = force or false }
  if plan and api.nvim_buf_is_loaded(plan.buf) then
    send(plan, message)
  elseif chat then
    message.kind = 'plan'
    require('caliban.chat.chats').send(chat, message)
  end
end

--- Shows the plan of the chat that the user is in, else of the current chat. If there is none, plan mode begins.
function M.show()
  local chat = here() or require('caliban.chat').get()
  local plan = chat and plans[chat.session or '']
  if plan and api.nvim_buf_is_loaded(plan.buf) then
    send(plan, { act = 'show' })
  elseif chat then
    require('caliban.chat.chats').send(chat, { kind = 'plan', act = 'show' })
  end
end

--- Comments on lines of the plan in the current buffer. The comments go to the model when the plan is sent back.
---@param text? string default: prompts for it
---@param range? [integer, integer] default: the line of the cursor
---@return boolean # whether the current buffer is a plan
function M.comment(text, range)
  local buf = api.nvim_get_current_buf()
  for _, plan in pairs(plans) do
    if plan.buf == buf then
      local line = api.nvim_win_get_cursor(0)[1]
      local first, last = line, line
      if range then
        first, last = range[1], range[2]
      end
      local function put(given)
        if given and api.nvim_buf_is_valid(buf) then
          remarks.comment(buf, first, last, given)
          keep(plan)
        end
      end
      if text then
        put(text)
      else
        require('caliban.editor.prompt').ask(
          { prompt = 'Comment: ', default = remarks.on(buf, first, last) },
          put
        )
      end
      return true
    end
  end
  return false
end

--- Like `comment`, with the options of the public API.
---@param text? string
---@param opts? caliban.ReviewOpts
---@return boolean # whether the current buffer is a plan
function M.commented(text, opts)
  local range = opts and opts.range
  if opts and opts.visual then
    local a, b = fn.line('v'), fn.line('.')
    range = { math.min(a, b), math.max(a, b) }
    vim.cmd('normal! \27')
  end
  return M.comment(text, range)
end

---@param name 'show'|'accept'|'change'|'drop'|'save'
---@param opts caliban.PlanOpts
function M.act(name, opts)
  if name == 'accept' then
    M.accept(opts.mode)
  elseif name == 'change' then
    M.change(opts.text)
  elseif name == 'drop' then
    M.drop()
  elseif name == 'save' then
    M.save(opts.path, opts.force)
  else
    M.show()
  end
end

--------------------------------------------------------------------------------------------- arrival

---@type caliban.PlanEvents
local events = {
  accept = function()
    M.accept()
  end,
  change = function()
    M.change()
  end,
  drop = function()
    M.drop()
  end,
  edited = keep_soon,
  written = keep,
  shown = function(plan)
    arm(plan)
    decorate(plan)
  end,
}

--- Takes a plan that the program has sent.
---@param message caliban.PlanOpened
local function take(message)
  local plan = plans[message.session]
  if not plan then
    plan = {
      session = message.session,
      call = '',
      stage = message.stage,
      buf = -1,
      keys = {},
      kept = { text = '', remarks = {} },
    }
    plans[message.session] = plan
  end
  if plan.call ~= message.call then
    plan.call, plan.shown, plan.armed = message.call, nil, nil
  end
  plan.stage = message.stage
  buffers.fill(plan, message, events)
  windows.open(plan.buf, message.asked)
  arm(plan)
  decorate(plan)
end

local EVENTS =
  { 'SafeState', 'ModeChanged', 'CmdwinLeave', 'RecordingLeave', 'BufEnter', 'WinEnter' }

--- Whether a plan that the user has not asked for may be shown now.
---@param message caliban.PlanOpened
---@return boolean
local function may_take(message)
  local chat = require('caliban.chat.chats').find(message.session)
  local plan = plans[message.session]
  return chat ~= nil and windows.may_open(chat, plan and plan.buf)
end

---@param session string
---@return caliban.Status?
local function status_of(session)
  local chat = require('caliban.chat.chats').find(session)
  return chat and chat.status
end

--- Whether a plan need not be shown any more: it has been shown, or no longer waits for a decision.
---@param message caliban.PlanOpened
---@param before? caliban.Status the status when the plan arrived, which may not have the plan yet
---@return boolean
local function is_over(message, before)
  local known, status = plans[message.session], status_of(message.session)
  if known and known.call == message.call then
    return true
  end
  local now = status and status.plan
  return status ~= before and not (now and now.call == message.call and now.stage == 'waiting')
end

--- Shows a plan: at once if the user has asked for it, else as soon as the user is not in the middle of a command.
---@param message caliban.PlanOpened
function M.received(message)
  if message.asked or may_take(message) and windows.is_safe() then
    return take(message)
  end
  local before = status_of(message.session)
  api.nvim_create_autocmd(EVENTS, {
    group = group,
    callback = function()
      if is_over(message, before) then
        return true
      elseif may_take(message) then
        -- in an autocommand `state()` does not tell whether the user is in the middle of a command
        vim.schedule(function()
          local _ = not is_over(message, before) and windows.is_safe() and take(message)
        end)
      end
    end,
  })
end

--- The phases in which the model works on a plan that was sent back.
local works = { sending = true, streaming = true, running = true, retrying = true } ---@type table<string, boolean?>

--- Closes the windows of a plan that was sent back, once the model has worked on it and has submitted no other.
---@param plan caliban.OpenPlan
---@param status caliban.Status
local function leave(plan, status)
  local is_last = status.plan and status.plan.call == plan.call
  if plan.stage ~= 'sent_back' or not is_last then
    plan.reworked = nil
  elseif works[status.phase] then
    plan.reworked = true
  elseif plan.reworked then
    plan.reworked = nil
    vim.schedule(function()
      windows.close(plan.buf)
    end)
  end
end

--- Called when a session has a new status, for example because the user has decided on the plan.
---@param status caliban.Status
function M.status(status)
  local plan = plans[status.session]
  if not plan then
    return
  end
  local now = status.plan
  local is_gone = not now or now.call == plan.call and now.stage ~= plan.stage
  if not is_gone then
    return leave(plan, status)
  end
  plan.stage = now and now.stage or 'approved'
  vim.schedule(function()
    if not now then
      plans[status.session] = nil
      windows.close(plan.buf)
      pcall(api.nvim_buf_delete, plan.buf, { force = true })
    elseif now.stage == 'approved' then
      windows.close(plan.buf)
    end
    decorate(plan)
  end)
end

--- Called when a session was renamed.
---@param message caliban.Renamed
function M.renamed(message)
  local plan = plans[message.session]
  plans[message.session] = nil
  if plan then
    plan.session, plans[message.to] = message.to, plan
    local _ = api.nvim_buf_is_valid(plan.buf) and buffers.name(plan)
  end
end

--- Called when a session was deleted.
---@param session string
function M.deleted(session)
  local plan = plans[session]
  plans[session] = nil
  if plan and api.nvim_buf_is_valid(plan.buf) then
    windows.close(plan.buf)
    pcall(api.nvim_buf_delete, plan.buf, { force = true })
  end
end

api.nvim_create_autocmd('VimLeavePre', {
  group = group,
  callback = function()
    for _, plan in pairs(plans) do
      keep(plan)
    end
  end,
})

return M
