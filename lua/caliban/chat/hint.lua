--- The key hints at the composer: the keys for the next step, in words.
local M = {}

local api = vim.api

--- A key and what it does, in words. The second words of a pair are for less room.
---@alias caliban.KeyWords string|[string, string]

--- The keys in the composer by phase, the most important first. In all other phases but `idle` a turn runs.
---@type table<string, caliban.KeyWords[]?>
local phases = {
  offline = { ':Caliban restart', '<Tab> to the chat' },
  reviewing = {
    { '<CR> send, review later', '<CR> send' },
    '<Tab> to the changes',
    '<C-c> stop',
  },
}

--- The keys in the composer of a read-only chat.
---@type caliban.KeyWords[]
local READING = { { ':Caliban fork goes on in a copy', ':Caliban fork' }, '<Tab> to the chat' }

--- The key that leads from the chat of a worker or subagent back to the conversation that has begun it.
---@param chat caliban.Chat
---@return caliban.KeyWords[] # empty in other chats
local function back(chat)
  local parent = require('caliban.chat.chats').parent(chat)
  local name = parent and parent.session
  return name and { { ('<C-^> back to %s'):format(name), '<C-^> back' } } or {}
end

--- The phases in which nothing runs that the user may want to stop.
local CALM = { idle = true, offline = true, reviewing = true }

--- The words for the key that sends into the running turn.
local NOW = ' join turn'

--- The keys in Insert mode by phase.
---@type table<string, caliban.KeyWords[]?>
local inserting = {
  idle = { '<C-s> send' },
  offline = { ':Caliban restart' },
  reviewing = { { '<C-s> send, review later', '<C-s> send' } },
}

--- Whether the text of the composer is a command for the user's shell.
---@param chat caliban.Chat
---@return boolean
local function is_command(chat)
  local first = api.nvim_buf_get_lines(chat.composer, 0, 1, false)[1] or ''
  return vim.startswith(first, '!') and require('caliban.chat.shell').is_command(first)
end

--- What the chat waits for, if an answer is due.
---@param chat caliban.Chat
---@return 'question'|'plan'|'consent'|nil
local function due(chat)
  local status = chat.status
  if not (status and status.phase == 'asking') then
    return nil
  end
  local plans = status.plan and status.plan.stage == 'waiting'
  return status.question and 'question' or plans and 'plan' or 'consent'
end

--- The key that answers the model's question, and those after it, with the text of the composer.
---@param chat caliban.Chat
---@param key string
---@return caliban.KeyWords
local function in_words(chat, key)
  local open = chat.status and chat.status.question
  local answer = open and require('caliban.chat.placeholder').answer(open) or 'answer'
  return { key .. answer .. ' in your own words', key .. answer }
end

---@param chat caliban.Chat
---@return boolean # whether a turn runs, in which a message is queued
local function runs(chat)
  return chat.status ~= nil and chat.status.runs
end

---@param chat caliban.Chat
---@return caliban.KeyWords[]
local function in_insert(chat)
  if chat.reading then
    return READING
  end
  local phase, waits = chat.status and chat.status.phase or 'idle', due(chat)
  if is_command(chat) then
    return { { '<C-s> run in your shell', '<C-s> run' } }
  elseif waits == 'question' then
    return { in_words(chat, '<C-s> ') }
  elseif waits == 'plan' then
    return { '<C-s> send' }
  end
  local key = require('caliban.chat.steer').key()
  local steer = (key == '<M-CR>' and key or '<Esc>' .. key) .. NOW
  if waits and not runs(chat) then
    return { '<Esc><Tab> to the question', '<C-s> send' }
  elseif waits then
    return { '<Esc><Tab> to the question', '<C-s> queue', steer }
  end
  return inserting[phase] or { '<C-s> queue', steer }
end

--- The key that leads to the question, with the question's own keys if they are not on the screen.
---@param chat caliban.Chat
---@return caliban.KeyWords
local function to_question(chat)
  local keys = require('caliban.chat.reading').hidden_keys(chat)
  local key = '<Tab> to the question'
  return keys and { key .. ': ' .. keys, '<Tab>: ' .. keys } or key
end

---@param chat caliban.Chat
---@return caliban.KeyWords[]
local function in_normal(chat)
  if chat.reading then
    return vim.list_extend(back(chat), READING)
  end
  local phase, waits = chat.status and chat.status.phase or 'idle', due(chat)
  local steer = require('caliban.chat.steer').key() .. NOW
  if is_command(chat) then
    return { { '<CR> run in your shell', '<CR> run' }, '<Tab> to the chat' }
  elseif waits == 'question' then
    return { in_words(chat, '<CR> '), to_question(chat) }
  elseif waits == 'plan' then
    -- no turn runs while a plan waits
    return { '<CR> send', '<Tab> to the plan' }
  elseif waits and not runs(chat) then
    return { '<CR> send', to_question(chat) }
  elseif waits then
    return { to_question(chat), '<C-c> stop', '<CR> queue', steer }
  end
  local to = chat.listing and chat.listing.waits and '<Tab> to the changes' or '<Tab> to the chat'
  if phase == 'idle' then
    return { '<CR> send', to }
  end
  return phases[phase] or { '<CR> queue', '<C-c> stop', to, steer }
end

--- The keys while the cursor is in the transcript. The keys of an open question are those that its
--- last line names.
---@param chat caliban.Chat
---@return caliban.KeyWords[]
local function in_transcript(chat)
  local question, on_line = chat.question, require('caliban.chat.on_line')
  local lines = question and question.armed and question.lines
  if lines and on_line.under(chat, { 'ask' }) then
    return require('caliban.chat.reading').keys(lines[#lines] or '')
  elseif chat.on_plan then
    return require('caliban.chat.plan_block').keys()
  end
  -- a question about a job may have text below it
  local last = chat.blocks[#chat.blocks]
  local ends = last and last.shape == 'ask' and 'G to the question' or nil
  local enter = lines and ends or not lines and on_line.enters(chat) or nil
  local listing = chat.listing
  local change = enter and listing and listing.waits and require('caliban.chat.changes').under(chat)
  if enter and change then
    local k = require('caliban.editor.maps').leader()
    -- on the row of a file the keys decide the file, on the rows above all
    local what = change.hunk and '' or change.r and ' file' or ' all'
    return { k .. 'a accept' .. what, k .. 'r reject' .. what, enter, 'i write', ']] [[ messages' }
  end
  local first = back(chat)
  local held = enter
    and on_line.under(chat, { 'queue' })
    and require('caliban.chat.queue').holds(chat)
  table.insert(first, held and 's send' or nil)
  table.insert(first, on_line.subagent(chat) and 'gf its chat' or nil)
  vim.list_extend(first, chat.reading and {} or { 'i write' })
  local phase = chat.status and chat.status.phase or 'idle'
  local stops = not (chat.reading or due(chat) or CALM[phase])
  table.insert(first, stops and '<C-c> stop' or nil)
  table.insert(first, enter)
  return vim.list_extend(first, { ']] [[ messages' })
end

--- The commands that answer a question: from outside of the chat its keys do not work.
---@type table<'question'|'consent', caliban.KeyWords[]>
local answering = {
  question = { { ':Caliban answer offers the answers', ':Caliban answer' } },
  consent = { ':Caliban approve', ':Caliban deny' },
}

--- The commands that lead to what the user has to decide on, if it is not on the screen: those that answer a question
--- whose end no window shows, or the one that shows the plan.
---@param chat caliban.Chat
---@param waits 'question'|'plan'|'consent'
---@return caliban.KeyWords[]
local function commands(chat, waits)
  if waits ~= 'plan' then
    return require('caliban.chat.reading').hidden_keys(chat) and answering[waits] or {}
  end
  local plan = require('caliban.editor.name').buffer(('caliban://%s/plan'):format(chat.session))
  local is_shown = plan and vim.fn.bufwinid(plan) > 0
  return is_shown and {} or { { ':Caliban plan shows the plan', ':Caliban plan' } }
end

--- The keys and commands while the cursor is outside of the chat. A buffer of Caliban's with keys of its own has them in
--- `vim.b.caliban_keys`.
---@param chat caliban.Chat
---@return caliban.KeyWords[]
local function outside(chat)
  local own = vim.b.caliban_keys ---@type caliban.KeyWords[]?
  if own then
    return vim.list_extend({ unpack(own) }, { { ':Caliban to the chat', ':Caliban' } })
  end
  local phase = chat.status and chat.status.phase or 'idle' --[[@as string]]
  local overlay = package.loaded['caliban.review.ui.overlay']
  local all = overlay and overlay.keys() or {} ---@type caliban.KeyWords[]
  if phase == 'offline' then
    return { ':Caliban restart' }
  end
  local listing = chat.listing
  local changes = listing and require('caliban.chat.changes.list').count(listing) > 0
  if (changes or phase == 'reviewing') and #all == 0 then
    all = { { ':Caliban next goes to the changes', ':Caliban next' } }
  end
  local waits = not chat.reading and due(chat) or nil
  vim.list_extend(all, waits and commands(chat, waits) or {})
  table.insert(all, { ':Caliban to the chat', ':Caliban' })
  table.insert(all, runs(chat) and ':Caliban stop' or nil)
  return all
end

--- The keys for the window and the mode that the user is in.
---@param chat caliban.Chat
---@return caliban.KeyWords[]
---@return string? more the key that shows the others; nil if no key does
local function keys(chat)
  local buf = api.nvim_get_current_buf()
  if buf == chat.transcript then
    return in_transcript(chat), 'g? keys'
  elseif buf ~= chat.composer then
    return outside(chat), nil
  elseif api.nvim_get_mode().mode:find('^i') then
    return in_insert(chat), '<Esc> more keys'
  end
  return in_normal(chat), 'g? keys'
end

--- Keys in words, then the key that shows the others.
---@param of caliban.KeyWords[]
---@param more string?
---@param long? table<integer, boolean?> the keys that have their longer words; default: none
---@return string
local function joined(of, more, long)
  local shown = {} ---@type string[]
  for i, key in ipairs(of) do
    if type(key) == 'table' then
      key = long and long[i] and key[1] or key[2]
    end
    shown[i] = key
  end
  shown[#shown + 1] = more
  return table.concat(shown, ' · ')
end

--- The keys for which there is room: the answers to a question before all others, else the first ones.
---@param all caliban.KeyWords[] the most important first
---@param fits fun(shown: caliban.KeyWords[]): boolean
---@return caliban.KeyWords[] # in the same order
local function chosen(all, fits)
  local is_shown, shown = {}, {} ---@type table<integer, boolean?>, caliban.KeyWords[]
  local function choose(i)
    is_shown[i] = true
    local now = {} ---@type caliban.KeyWords[]
    for at, key in ipairs(all) do
      now[#now + 1] = is_shown[at] and key or nil
    end
    is_shown[i] = fits(now) or nil
    shown = is_shown[i] and now or shown
  end
  for _, answers in ipairs({ true, false }) do
    for i, key in ipairs(all) do
      local _ = require('caliban.chat.reading').is_answer(key) == answers and choose(i)
    end
  end
  return shown
end

--- The keys that fit into `width` cells, and then the key that shows all others, unless only one key has room.
---@param chat caliban.Chat
---@param width integer
---@return string
function M.of(chat, width)
  local all, more = keys(chat)
  ---@param text string
  ---@return boolean
  local function fits(text)
    return api.nvim_strwidth(text) <= width
  end
  local first = joined({ all[1] }, nil)
  if fits(first) and not fits(joined({ all[1] }, more)) then
    return first
  end
  local shown = chosen(all, function(some)
    return fits(joined(some, more))
  end)
  local long = {} ---@type table<integer, boolean?>
  for i in ipairs(shown) do
    long[i] = true
    long[i] = fits(joined(shown, more, long)) or nil
  end
  if #shown > 0 then
    return joined(shown, more, long)
  end
  return more and fits(more) and more or ''
end

return M
