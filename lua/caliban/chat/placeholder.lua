--- The words in an empty composer that say what can be written now. They are drawn, and are no part of the text.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat')

--- The words by phase, the longest first. In all other phases a turn runs.
---@type table<string, string[]?>
local phases = {
  idle = { 'Ask, or /command, @file', 'Ask' },
  offline = { 'The program has ended. :Caliban restart', 'Offline' },
  reviewing = { 'Send a message and review later', 'Review later' },
}

--- The verb for a message that answers a question of the model. It answers the call's later questions too.
---@param question caliban.OpenQuestion
---@return string
function M.answer(question)
  local left = question.of - question.question
  if left == 1 then
    return 'answer'
  elseif question.question > 0 then
    return left == 2 and 'answer the last two' or ('answer the last %d'):format(left)
  end
  return left == 2 and 'answer both' or ('answer all %d'):format(left)
end

--- The words for a chat, the longest first.
---@param chat caliban.Chat
---@return string[]
local function all(chat)
  local status = chat.status
  local phase = status and status.phase or 'idle'
  if chat.reading then
    return { 'Read only. /fork continues in a copy', 'Read only' }
  elseif status and phase == 'asking' and status.question then
    local answer = M.answer(status.question):gsub('^a', 'A')
    return { answer .. ' in your own words', answer }
  elseif status and phase == 'asking' and status.plan and status.plan.stage == 'waiting' then
    return { 'Write about the plan', 'Write' }
  end
  return phases[phase]
    or status and not status.runs and phases.idle
    or { 'Queue a message', 'Queue' }
end

--- The longest of the words that fit into `width` cells; nil if none do.
---@param chat caliban.Chat
---@param width integer
---@return string?
function M.of(chat, width)
  for _, words in ipairs(all(chat)) do
    if api.nvim_strwidth(words) <= width then
      return words
    end
  end
end

--- Whether a composer is empty, so that it shows the words.
---@param buf integer
---@return boolean
function M.stands(buf)
  return api.nvim_buf_line_count(buf) == 1 and api.nvim_buf_get_offset(buf, 1) <= 1
end

--- Draws the words, while Neovim draws the composer's only line.
---@param chat caliban.Chat
---@param win integer
function M.draw(chat, win)
  local words = M.of(chat, api.nvim_win_get_width(win) - 1)
  if words then
    api.nvim_buf_set_extmark(chat.composer, ns, 0, 0, {
      ephemeral = true,
      virt_text = { { words, 'CalibanDim' } },
      virt_text_pos = 'overlay',
      hl_mode = 'combine',
    })
  end
end

--- Draws the words of a chat's composer again if they have changed.
---@param chat caliban.Chat
function M.refresh(chat)
  local words = all(chat)[1]
  if chat.placeholder ~= words and require('caliban.chat.chats').usable(chat.composer) then
    chat.placeholder = words
    api.nvim__redraw({ buf = chat.composer, valid = false, flush = false })
  end
end

return M
