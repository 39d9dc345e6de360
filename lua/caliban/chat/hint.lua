--- The keys for the next step, in words, for the composer's winbar.
local M = {}

local api = vim.api

--- The keys by phase, the most important first. In all other phases a turn runs.
---@type table<string, string[]?>
local hints = {
  idle = { '<CR> send' },
  offline = { ':Caliban restart' },
  reviewing = { '<CR> send, review later', '<C-c> stop' },
}

---@param chat caliban.Chat
---@return string[]
local function keys(chat)
  local status = chat.status
  local phase = status and status.phase or 'idle'
  if status and phase == 'asking' and status.question then
    return { '<CR> answer in your own words' }
  elseif status and phase == 'asking' and status.plan and status.plan.stage == 'waiting' then
    -- no turn runs while a plan waits
    return { '<CR> send', ':Caliban plan' }
  end
  local steer = require('caliban.chat.steer').key() .. ' steer'
  return hints[phase] or { '<CR> queue', '<C-c> stop', steer }
end

--- As many of the keys as fit into `width` cells, the most important ones.
---@param chat caliban.Chat
---@param width integer
---@return string
function M.of(chat, width)
  local shown = ''
  for _, key in ipairs(vim.list_extend(vim.deepcopy(keys(chat)), { 'g? keys' })) do
    local more = shown == '' and key or shown .. ' · ' .. key
    if api.nvim_strwidth(more) > width then
      break
    end
    shown = more
  end
  return shown
end

return M
