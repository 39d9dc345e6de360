--- The two winbars of a chat: its state above the transcript, and the keys for the next step above the composer.
local M = {}

local api = vim.api

--- Sets the winbar of a transcript's window.
---@param chat caliban.Chat
---@param win integer
---@return boolean # whether the winbar is shown
function M.state(chat, win)
  local left, right = require('caliban.chat.status').line(chat, api.nvim_win_get_width(win) - 2)
  local texts = {} ---@type string[]
  ---@param chunk caliban.Chunk
  local function format(chunk)
    table.insert(texts, chunk[1])
    return chunk[2] and '%%#' .. chunk[2] .. '#%s%%*' or '%s'
  end
  local items = '%%< ' .. table.concat(vim.tbl_map(format, left))
  if #right > 0 then
    items = items .. '%%=  ' .. table.concat(vim.tbl_map(format, right)) .. ' '
  end
  return require('caliban.editor.name').winbar(win, items, unpack(texts) --[[@as string]])
end

--- Sets the winbar of a composer's window.
---@param chat caliban.Chat
---@param win integer
function M.keys(chat, win)
  local shown = require('caliban.chat.hint').of(chat, api.nvim_win_get_width(win) - 2)
  require('caliban.editor.name').winbar(win, '%%<%%=%%#CalibanDim# %s ', shown)
end

return M
