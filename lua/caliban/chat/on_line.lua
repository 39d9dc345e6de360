--- What the transcript's line under the cursor is, and what `<CR>` does on it.
local M = {}

local api = vim.api

--- The shapes of blocks that open and close.
M.FOLDS = { 'tool', 'thinking', 'boundary', 'ask' }

--- The block under the cursor, if it has one of the shapes.
---@param chat caliban.Chat
---@param shapes string[]
---@return caliban.Block?
---@return integer the index of the cursor's line in the block
function M.under(chat, shapes)
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local block, top = require('caliban.chat.paint').at(chat, row)
  if block and vim.tbl_contains(shapes, block.shape) and row >= top + (block.head or 0) then
    return block, row - top
  end
  return nil, 0
end

--- The block under the cursor, if `<CR>` opens or closes it.
---@param chat caliban.Chat
---@return caliban.Block?
---@return integer the index of the cursor's line in the block
function M.fold(chat)
  local block, line = M.under(chat, M.FOLDS)
  local is_part = block and block.shape == 'ask'
  if not block or is_part and not (chat.question and chat.question.folds[line + 1]) then
    return nil, 0
  end
  return block, line
end

--- Whether the cursor is on the call of a subagent, whose chat `gf` opens.
---@param chat caliban.Chat
---@return boolean
function M.subagent(chat)
  local block = require('caliban.chat.paint').at(chat, api.nvim_win_get_cursor(0)[1] - 1)
  return block ~= nil and block.session ~= nil
end

--- What `<CR>` does on the transcript's line under the cursor, in words.
---@param chat caliban.Chat
---@return string? # nil if it does nothing there
function M.enters(chat)
  local change = chat.listing and require('caliban.chat.changes').under(chat)
  local r = change and change.r
  if change and r and api.nvim_buf_is_loaded(r.buf) then
    return change.hunk and '<CR> go to the change' or '<CR> go to the file'
  elseif M.under(chat, { 'queue' }) then
    return '<CR> edit'
  elseif require('caliban.chat.workers').under(chat) then
    return '<CR> open its chat'
  elseif M.fold(chat) or change then
    return '<CR> open or close'
  end
end

return M
