--- The countdown until a failed request is sent again: a block of the transcript that is shown
--- while the program waits.
local M = {}

--- The seconds that are left, rounded up.
---@param chat caliban.Chat
---@return integer
function M.left(chat)
  local left = math.max(0, (chat.retry_at or 0) - vim.uv.hrtime() / 1e6)
  return math.ceil(left / 1000)
end

--- The text of the block: why the request failed, and the seconds until the retry. In a narrow window the reason does
--- not name the provider, so that the keys are in the same row.
---@param chat caliban.Chat
---@return string[]
function M.lines(chat)
  local why = chat.status and chat.status.retry_why or 'The request failed'
  local text = '! %s. Trying again in %d s (r now, <C-c> stop).'
  local room = require('caliban.chat.beside').room(chat)
  -- measured with three digits, the most that the seconds have, so that the words stay the same
  -- while the seconds count down
  if room and vim.api.nvim_strwidth(text:format(why, 100)) > room then
    why = why:gsub(' by the provider$', '')
  end
  return { '', text:format(why, M.left(chat)) }
end

--- The update that shows the countdown's block, or removes the block if no retry is due.
---@param chat caliban.Chat
---@return caliban.BlockUpdate
function M.block(chat)
  local update =
    { id = require('caliban.chat.order').RETRY, shape = 'notice', at = 0, final = true }
  update.remove, update.lines = not chat.retry_at, M.lines(chat)
  return update ---@as caliban.BlockUpdate
end

return M
