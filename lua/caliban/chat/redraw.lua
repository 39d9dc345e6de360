--- Highlights a transcript's lines as they are drawn, and notes which lines of a question have been drawn. No highlight
--- stays in the buffer, where it would have to be moved and searched with every change.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat')

--- What is being drawn: the chat, and of it the block that begins at row `top`.
local chat ---@type caliban.Chat?
local block ---@type caliban.Block?
local top = 0
--- Windows that draw a question, each with its chat.
local asking = {} ---@type table<integer, caliban.Chat>
local opts = { ephemeral = true, strict = false } ---@type vim.api.keyset.set_extmark

---@param win integer
---@param buf integer
---@return boolean # whether its lines are wanted
local function on_win(_, win, buf)
  chat, block = require('caliban.chat.chats').of(buf), nil
  if chat and chat.question and chat.transcript == buf then
    asking[win] = chat
  end
  return chat ~= nil and chat.transcript == buf
end

---@param buf integer
---@param row integer
local function on_line(_, _, buf, row)
  if chat and not (block and row >= top and row < top + block.n) then
    block, top = require('caliban.chat.paint').at(chat, row)
  end
  local spans = block and require('caliban.chat.markdown').spans(buf, block, top, row - top) or {}
  for i = 1, #spans, 3 do
    local from = spans[i] ---@as integer
    opts.end_col, opts.hl_group = spans[i + 1], spans[i + 2]
    api.nvim_buf_set_extmark(buf, ns, row, from, opts)
  end
end

local function on_end()
  for win, of in pairs(asking) do
    asking[win] = nil
    require('caliban.chat.consent').drawn(of, win)
  end
end

--- Has every window's redraw come by here.
function M.watch()
  api.nvim_set_decoration_provider(ns, { on_win = on_win, on_line = on_line, on_end = on_end })
end

return M
