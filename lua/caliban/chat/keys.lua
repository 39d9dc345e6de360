--- The keys of the transcript and the composer, in one table, which `g?` shows.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF

---@class caliban.Key
---@field mode string|string[]
---@field lhs string
---@field desc string
---@field run fun(chat: caliban.Chat): boolean|string? with `own`, returns false to leave the key to Vim, or the keys to type instead
---@field own? boolean do what the key does in Vim if `run` returns false
---@field remap? boolean apply mappings to the keys that `run` returns

local key_rows = require('caliban.chat.key_rows')
local on_line = require('caliban.chat.on_line')
local under = on_line.under

---@param chat caliban.Chat
---@param message table
local function send(chat, message)
  vim.schedule(function()
    require('caliban.chat.chats').send(chat, message)
  end)
end

---@param fn fun()
---@return string
local function at_once(fn)
  return require('caliban.chat.at_once').keys(fn)
end

local on_worker, on_list = key_rows.on_worker, key_rows.on_list

--- A key on a question.
---@param name caliban.QuestionKey
---@param key string
---@param with? any
---@return fun(chat: caliban.Chat): string|false
local function on_question(name, key, with)
  return function(chat)
    local block = under(chat, { 'ask' })
    return require('caliban.chat.question_keys')[name](chat, block, key, with)
  end
end

---@param chat caliban.Chat
---@return string|false
local function refuse(chat)
  return on_question('because', 'e')(chat)
    or on_question('words', 'e')(chat)
    or on_list(chat, 'because')
    or false
end

---@param chat caliban.Chat
---@return caliban.QueuedMessage?
local function queued(chat)
  local block, index = under(chat, { 'queue' })
  return block and chat.status and require('caliban.chat.queue').at(chat.status.queue, index)
end

---@param all boolean
---@return fun(chat: caliban.Chat): boolean
local function send_held(all)
  return function(chat)
    local message = queued(chat)
    -- a macro must not send messages
    if not (message and message.held) or vim.fn.reg_executing() ~= '' then
      return false
    end
    send(chat, { kind = 'send_held', id = not all and message.id or nil })
    return true
  end
end

---@param chat caliban.Chat
---@return boolean|string
local function allow_or_send(chat)
  return on_question('rule', 's', 'session')(chat) or send_held(false)(chat)
end

---@param chat caliban.Chat
---@param edit boolean whether the message goes back into the composer
---@return boolean
local function unqueue(chat, edit)
  local message = queued(chat)
  if message then
    send(chat, { kind = 'unqueue', id = message.id, edit = edit })
  end
  return message ~= nil
end

---@param chat caliban.Chat
---@return boolean|string
local function remove(chat)
  local skipped = on_question('skip', 'x')(chat) or on_worker('stop')(chat)
  if skipped then
    return skipped
  end
  local block, index = under(chat, { 'notice' })
  local number = block and block.items and index - (block.n - block.items) + 1 or 0
  if number < 1 then
    return unqueue(chat, false)
  end
  send(chat, {
    kind = 'send',
    text = '/context drop ' .. number,
    context = {},
    steer = false,
  })
  return true
end

---@param chat caliban.Chat
---@return boolean|string
local function toggle(chat)
  local block, line = on_line.fold(chat)
  if not block then
    return on_list(chat, 'toggle') or false
  end
  chat.toggled = block.id
  local at = block.shape == 'ask' and line or nil
  send(chat, { kind = 'toggle', block = block.id, line = at })
  return true
end

---@param chat caliban.Chat
---@return boolean|string
local function enter(chat)
  local done = on_question('done', '<CR>')(chat)
  if done then
    return done
  end
  if not unqueue(chat, true) then
    return on_worker('open')(chat)
      or on_list(chat, 'enter')
      or require('caliban.chat.plan_keys').enter(chat)
      or toggle(chat)
  end
  vim.schedule(function()
    require('caliban.chat.windows').open(chat, true)
  end)
  return true
end

--- Sends the failed request again now. On a notice or an error without a pending retry the key does
--- nothing, because Vim's `r` would wait for a second key.
---@param chat caliban.Chat
---@return boolean
local function retry(chat)
  local block = under(chat, { 'notice', 'error' })
  if block and chat.status and chat.status.phase == 'retrying' then
    send(chat, { kind = 'retry' })
  end
  return block ~= nil
end

---@param chat caliban.Chat
---@return boolean
local function undo(chat)
  local block = under(chat, { 'user' })
  if block then
    local after = require('caliban.chat.order').messages_below(chat, block)
    send(chat, { kind = 'undo', after = after })
    -- what happens then is told at the end
    local win = api.nvim_get_current_win()
    vim.schedule(function()
      if api.nvim_win_is_valid(win) then
        local last = api.nvim_buf_line_count(api.nvim_win_get_buf(win))
        api.nvim_win_set_cursor(win, { last, 0 })
      end
    end)
  end
  return block ~= nil
end

---@param step -1|1
---@return fun(chat: caliban.Chat)
local function jump(step)
  return function(chat)
    require('caliban.chat.visit').message(chat, step)
  end
end

---@param chat caliban.Chat
local function go_to(chat)
  local goes = chat.listing and require('caliban.chat.changes.keys').go(chat)
  if not goes and not on_worker('open')(chat) then
    require('caliban.chat.visit').go(chat)
  end
end

---@param chat caliban.Chat
local function open_link(chat)
  require('caliban.chat.visit').open(chat)
end

---@param chat caliban.Chat
local function yank_code(chat)
  require('caliban.chat.yank').code(chat)
end

---@param chat caliban.Chat
local function write(chat)
  require('caliban.chat.windows').open(chat, true)
  vim.cmd.startinsert({ bang = true })
end

--- A key that acts on a question, and elsewhere begins a message.
---@param on fun(chat: caliban.Chat): string|false
---@return fun(chat: caliban.Chat): string
local function or_write(on)
  return function(chat)
    return on(chat) or at_once(function()
      write(chat)
    end)
  end
end

---@param steer boolean
---@return fun(chat: caliban.Chat)
local function submit(steer)
  return function(chat)
    require('caliban.chat.composer').send(chat, steer)
  end
end

--- For `<M-CR>`: sends the message into the running turn. If the user may have typed the two keys
--- `<Esc>` and `<CR>` instead, runs these.
---@param chat caliban.Chat
---@return string keys
local function meta_enter(chat)
  return require('caliban.chat.steer').key() == '<M-CR>'
      and at_once(function()
        submit(true)(chat)
      end)
    or '<Esc><CR>'
end

---@param step -1|1
---@return fun(chat: caliban.Chat): boolean
local function walk(step)
  return function(chat)
    return require('caliban.chat.composer').walk(chat, step)
  end
end

---@param chat caliban.Chat
local function paste(chat)
  vim.schedule(function()
    require('caliban.chat.image').paste(chat)
  end)
end

local function stop()
  require('caliban.chat.chats').stop()
end

---@type table<'transcript'|'composer', caliban.Key[]>
local keys = {
  transcript = {
    {
      mode = 'n',
      lhs = 'y',
      desc = 'on a question: yes, once',
      run = on_question('rule', 'y', 'once'),
      own = true,
    },
    {
      mode = 'n',
      lhs = 's',
      desc = 'on a question: yes, this session; on a message not sent yet: send it',
      run = allow_or_send,
      own = true,
    },
    {
      mode = 'n',
      lhs = 'S',
      desc = 'on a message not sent yet: send all of these',
      run = send_held(true),
      own = true,
    },
    {
      mode = 'n',
      lhs = 'n',
      desc = 'on a question: no',
      run = on_question('rule', 'n', 'deny'),
      own = true,
    },
    {
      mode = 'n',
      lhs = 'c',
      desc = 'on a question: change the command',
      run = on_question('change', 'c'),
      own = true,
    },
    {
      mode = 'n',
      lhs = 'e',
      desc = 'on a question: no, because …, or your own words; on a change: reject it, because …',
      run = refuse,
      own = true,
    },
    {
      mode = 'n',
      lhs = '<CR>',
      desc = 'open or close; on a change, worker or plan: go there; on a queued message: edit; on marked options: send',
      run = enter,
      own = true,
    },
    {
      mode = 'n',
      lhs = 'za',
      desc = 'open or close the item under the cursor',
      run = toggle,
      own = true,
    },
    {
      mode = 'n',
      lhs = 'x',
      desc = 'on a queued message or an item of /context: remove it; on options: skip; on a worker: stop',
      run = remove,
      own = true,
    },
    { mode = 'n', lhs = 'r', desc = 'on a retry: try now', run = retry, own = true },
    {
      mode = 'n',
      lhs = 'U',
      desc = 'on your message: go back to the point before it',
      run = undo,
      own = true,
    },
    { mode = 'n', lhs = ']]', desc = 'your next message', run = jump(1) },
    { mode = 'n', lhs = '[[', desc = 'your previous message', run = jump(-1) },
    {
      mode = 'n',
      lhs = 'gf',
      desc = 'go to the file under the cursor, or to the chat of a task',
      run = go_to,
    },
    { mode = 'n', lhs = 'gx', desc = 'open the link under the cursor', run = open_link },
    { mode = 'n', lhs = 'gy', desc = 'yank the code block', run = yank_code },
    {
      mode = 'n',
      lhs = 'i',
      desc = 'on a question: explain why it is asked; else: write a message',
      run = or_write(on_question('explain', 'i')),
      own = true,
    },
    {
      mode = 'n',
      lhs = 'a',
      desc = 'on a question that proposes a rule: yes, always; else: write a message',
      run = or_write(on_question('rule', 'a', 'always')),
      own = true,
    },
    { mode = 'n', lhs = '<C-c>', desc = 'stop the turn', run = stop },
  },
  composer = {
    {
      mode = 'n',
      lhs = '<CR>',
      desc = 'send (during a turn: queue; during a review: send and review later)',
      run = submit(false),
    },
    { mode = { 'n', 'i' }, lhs = '<C-s>', desc = 'send', run = submit(false) },
    { mode = 'n', lhs = 'g<CR>', desc = 'send into the running turn', run = submit(true) },
    {
      mode = { 'n', 'i' },
      lhs = '<M-CR>',
      desc = 'send into the running turn, unless the terminal sends <Esc><CR> for this key',
      run = meta_enter,
      own = true,
      remap = true,
    },
    { mode = 'n', lhs = '<C-c>', desc = 'stop the turn', run = stop },
    {
      mode = { 'n', 'i' },
      lhs = '<M-v>',
      desc = 'mention the image in the clipboard',
      run = paste,
    },
    {
      mode = 'n',
      lhs = '<C-x>',
      desc = 'remove the last piece of context, or the last mention',
      own = true,
      run = function(chat)
        local has = require('caliban.chat.composer').has_chips(chat)
        vim.schedule(function()
          require('caliban.chat.composer').unchip(chat)
        end)
        return has
      end,
    },
    {
      mode = 'n',
      lhs = 'K',
      desc = 'preview the mention under the cursor, or all that is sent with the message',
      own = true,
      run = function(chat)
        return require('caliban.chat.mentions').preview(chat)
      end,
    },
    {
      mode = { 'n', 'i' },
      lhs = '<Up>',
      desc = 'on the first line: earlier messages',
      run = walk(-1),
      own = true,
    },
    {
      mode = { 'n', 'i' },
      lhs = '<Down>',
      desc = 'on the last line: later messages',
      run = walk(1),
      own = true,
    },
  },
}

vim.list_extend(keys.transcript, key_rows.transcript(on_question))
vim.list_extend(keys.composer, key_rows.composer())

--- Shows the keys of the buffer in a small window.
---@param part 'transcript'|'composer'
local function help(part)
  require('caliban.chat.key_help').show(
    keys[part],
    part == 'transcript' and key_rows.mapped() or {}
  )
end

---@param chat caliban.Chat
---@param buf integer
---@param key caliban.Key
local function map(chat, buf, key)
  -- an <expr> mapping, so that count, register and operator still apply if the key keeps its
  -- meaning in Vim
  local opts = {
    desc = 'Caliban: ' .. key.desc,
    nowait = true,
    noremap = not key.remap,
    expr = key.own,
    replace_keycodes = key.own,
    callback = function()
      local done = key.run(chat)
      return key.own and (type(done) == 'string' and done or done and '' or key.lhs)
    end,
  }
  local modes = type(key.mode) == 'table' and key.mode or { key.mode } ---@type string[]
  for _, mode in ipairs(modes) do
    -- faster than vim.keymap.set(), because the user waits while the first chat opens
    api.nvim_buf_set_keymap(buf, mode, key.lhs, '', opts)
  end
end

--- Stops the turn if `<C-c>` arrives while Neovim draws, when Neovim treats the key as an interrupt
--- and applies no mapping. If `state()` contains `S`, the interrupt only cancels a command that
--- waits for its next key, as in `f<C-c>`.
---@param key string
local function interrupted(key)
  if key ~= '\3' or api.nvim_get_mode().mode ~= 'n' or vim.fn.state('S') ~= '' then
    return
  end
  if require('caliban.chat.chats').of(api.nvim_get_current_buf()) then
    vim.schedule(stop)
  end
end

--- Maps the keys in a buffer.
---@param chat caliban.Chat
---@param buf integer
---@param part 'transcript'|'composer'
function M.attach(chat, buf, part)
  for _, key in ipairs(keys[part]) do
    map(chat, buf, key)
  end
  vim.keymap.set('n', 'g?', function()
    help(part)
  end, { [BUF] = buf, desc = 'Caliban: keys', nowait = true })
  vim.on_key(interrupted, api.nvim_create_namespace('caliban.interrupted'))
end

return M
