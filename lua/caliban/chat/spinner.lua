--- Shows the times of running calls, and a sign that turns at each. One timer serves all chats. It runs while a
--- window of this tab shows a chat with a running call.
local M = {}

local api = vim.api
local running = require('caliban.chat.running')

--- The time between two turns of the sign, in ms.
local TURN = 250
local SIGNS = { '⠋', '⠙', '⠸', '⠴', '⠦', '⠇' }
for i, sign in ipairs(SIGNS) do
  SIGNS[i] = require('caliban.editor.icons').of(sign)
end

local timer = assert(vim.uv.new_timer())
local turn, ticks = 0, false

--- Whether a window of this tab shows a running call of the chat.
---@param chat caliban.Chat
---@return boolean
local function runs(chat)
  if not next(chat.running or {}) then
    return false
  end
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == chat.transcript then
      return true
    end
  end
  return false
end

---@param chat caliban.Chat
local function draw(chat)
  if not require('caliban.chat.order').is_intact(chat) then
    return
  end
  for id in pairs(chat.running or {}) do
    local block, _, row = require('caliban.chat.order').find(chat, id)
    if block and block.call_line then
      local top = row + (block.head or 0)
      if block.words ~= running.words(chat, block.call_line) then
        require('caliban.chat.beside').show(chat, block, top)
      end
      local signs = chat.spinners
      signs[id] = api.nvim_buf_set_extmark(chat.transcript, running.ns, top, 0, {
        id = signs[id],
        virt_text = { { SIGNS[turn % #SIGNS + 1], 'CalibanTool' } },
        virt_text_pos = 'overlay',
      })
    end
  end
end

local function step()
  local any = false
  turn = turn + 1
  for _, chat in ipairs(require('caliban.chat.chats').all) do
    if runs(chat) then
      any = true
      draw(chat)
    end
  end
  if not any then
    ticks = false
    timer:stop()
  end
end

--- The words beside a call that waits for the user's consent.
local ASKED = 'waiting for you'

--- Called when the program has ended: marks the calls of a chat that run or wait for consent as
--- interrupted.
---@param chat caliban.Chat
function M.interrupt(chat)
  running.forget(chat)
  if not require('caliban.chat.order').is_intact(chat) then
    return
  end
  for _, block in ipairs(chat.blocks) do
    local call = block.call_line
    if call and (call.began or block.right == ASKED) then
      local _, _, row = require('caliban.chat.order').find(chat, block.id)
      call.began, call.failed, call.waits = nil, true, false
      block.right = 'interrupted'
      require('caliban.chat.beside').show(chat, block, row + (block.head or 0))
    end
  end
end

--- Called while a window of a chat with a running call is drawn: starts the timer.
function M.wake()
  if not ticks then
    ticks = true
    timer:start(TURN, TURN, vim.schedule_wrap(step))
  end
end

--- Whether the timer runs.
---@return boolean
function M.is_active()
  return ticks
end

return M
