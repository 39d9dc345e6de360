--- The keys for the next step, in words, for the composer's winbar.
local M = {}

local api = vim.api

--- The keys in the composer by phase, the most important first. In all other phases a turn runs.
---@type table<string, string[]?>
local phases = {
  idle = { '<CR> send', '<Tab> to the chat' },
  offline = { ':Caliban restart', '<Tab> to the chat' },
  reviewing = { '<CR> send, review later', '<C-c> stop', '<Tab> to the changes' },
}

--- The keys in Insert mode by phase.
---@type table<string, string[]?>
local inserting = {
  idle = { '<C-s> send' },
  offline = { ':Caliban restart' },
  reviewing = { '<C-s> send, review later' },
}

--- The keys while the cursor is in the transcript.
local READING = { 'i write', '<CR> open or close', ']] [[ messages' }

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
---@return string[]
local function in_insert(chat)
  local phase, waits = chat.status and chat.status.phase or 'idle', due(chat)
  if waits == 'question' then
    return { '<C-s> answer in your own words' }
  elseif waits == 'plan' then
    return { '<C-s> send' }
  end
  local key = require('caliban.chat.steer').key()
  local steer = (key == '<M-CR>' and key or '<Esc>' .. key) .. ' steer'
  return inserting[phase] or { '<C-s> queue', steer }
end

---@param chat caliban.Chat
---@return string[]
local function in_normal(chat)
  local phase, waits = chat.status and chat.status.phase or 'idle', due(chat)
  local steer = require('caliban.chat.steer').key() .. ' steer'
  if waits == 'question' then
    return { '<CR> answer in your own words', '<Tab> to the question' }
  elseif waits == 'plan' then
    -- no turn runs while a plan waits
    return { '<CR> send', ':Caliban plan', '<Tab> to the chat' }
  elseif waits then
    return { '<Tab> to the question', '<C-c> stop', '<CR> queue', steer }
  end
  return phases[phase] or { '<CR> queue', '<C-c> stop', steer, '<Tab> to the chat' }
end

--- The keys for the window and the mode that the user is in.
---@param chat caliban.Chat
---@return string[]
local function keys(chat)
  local buf = api.nvim_get_current_buf()
  local types = buf == chat.composer and api.nvim_get_mode().mode:find('^i')
  local shown = types and in_insert(chat) or buf == chat.transcript and READING or in_normal(chat)
  return vim.list_extend({ unpack(shown) }, { types and '<Esc> more keys' or 'g? keys' })
end

--- As many of the keys as fit into `width` cells, the most important ones.
---@param chat caliban.Chat
---@param width integer
---@return string
function M.of(chat, width)
  local shown = ''
  for _, key in ipairs(keys(chat)) do
    local more = shown == '' and key or shown .. ' · ' .. key
    if api.nvim_strwidth(more) > width then
      break
    end
    shown = more
  end
  return shown
end

return M
