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

--- The keys in Insert mode by phase.
---@type table<string, caliban.KeyWords[]?>
local inserting = {
  idle = { '<C-s> send' },
  offline = { ':Caliban restart' },
  reviewing = { { '<C-s> send, review later', '<C-s> send' } },
}

--- The keys while the cursor is in the transcript, and while it is on a change in the list there.
local READING = { 'i write', '<CR> open or close', ']] [[ messages' }
local ON_CHANGE = { 'i write', '<CR> go to the change', ']] [[ messages' }

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

---@param chat caliban.Chat
---@return caliban.KeyWords[]
local function in_insert(chat)
  local phase, waits = chat.status and chat.status.phase or 'idle', due(chat)
  if waits == 'question' then
    return { { '<C-s> answer in your own words', '<C-s> answer' } }
  elseif waits == 'plan' then
    return { '<C-s> send' }
  end
  local key = require('caliban.chat.steer').key()
  local steer = (key == '<M-CR>' and key or '<Esc>' .. key) .. ' steer'
  return inserting[phase] or { '<C-s> queue', steer }
end

---@param chat caliban.Chat
---@return caliban.KeyWords[]
local function in_normal(chat)
  local phase, waits = chat.status and chat.status.phase or 'idle', due(chat)
  local steer = require('caliban.chat.steer').key() .. ' steer'
  if waits == 'question' then
    return { { '<CR> answer in your own words', '<CR> answer' }, '<Tab> to the question' }
  elseif waits == 'plan' then
    -- no turn runs while a plan waits
    return { '<CR> send', '<Tab> to the chat' }
  elseif waits then
    return { '<Tab> to the question', '<C-c> stop', '<CR> queue', steer }
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
  local question = chat.question
  local lines = question and question.armed and question.lines
  if lines then
    return require('caliban.chat.reading').keys(lines[#lines] or '')
  end
  if chat.on_plan then
    return require('caliban.chat.plan_block').keys()
  end
  return chat.listing and chat.listing.on_hunk and ON_CHANGE or READING
end

--- The keys for the window and the mode that the user is in.
---@param chat caliban.Chat
---@return caliban.KeyWords[]
---@return string more the key that shows the others
local function keys(chat)
  local buf = api.nvim_get_current_buf()
  if buf == chat.composer and api.nvim_get_mode().mode:find('^i') then
    return in_insert(chat), '<Esc> more keys'
  end
  return buf == chat.transcript and in_transcript(chat) or in_normal(chat), 'g? keys'
end

--- The first `n` keys, then the key that shows the others.
---@param of caliban.KeyWords[]
---@param n integer
---@param more string?
---@param brief boolean whether to use the shorter words
---@return string
local function joined(of, n, more, brief)
  local shown = {} ---@type string[]
  for i = 1, n do
    local key = of[i]
    if type(key) == 'table' then
      key = brief and key[2] or key[1]
    end
    shown[i] = key
  end
  shown[n + 1] = more
  return table.concat(shown, ' · ')
end

--- The most important keys that fit into `width` cells, and then the key that shows all others,
--- unless only one key has room.
---@param chat caliban.Chat
---@param width integer
---@return string
function M.of(chat, width)
  local all, more = keys(chat)
  local texts = { joined(all, #all, more, false) }
  for n = #all, 1, -1 do
    table.insert(texts, joined(all, n, more, true))
  end
  for _, text in ipairs(vim.list_extend(texts, { joined(all, 1, nil, true), more })) do
    if api.nvim_strwidth(text) <= width then
      return text
    end
  end
  return ''
end

return M
