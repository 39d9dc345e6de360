--- Highlights the lines of a transcript while Neovim draws them. The highlights are not stored in
--- the buffer, where every change would have to move them. Also notes which lines of a question
--- were drawn, and draws the words in an empty composer.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat')

--- The chat that is being drawn, and its block that begins at row `top`.
local chat ---@type caliban.Chat?
local block ---@type caliban.Block?
local top = 0
--- The windows that are drawing a question, each with its chat.
local asking = {} ---@type table<integer, caliban.Chat>
--- The windows that are drawing a transcript, each with its chat.
local drawing = {} ---@type table<integer, caliban.Chat>
--- Whether an empty composer is being drawn.
local is_empty = false
--- Whether the window draws Markdown without its marks.
local rendered = false
local opts = { ephemeral = true, strict = false } ---@type vim.api.keyset.set_extmark

---@param win integer
---@param buf integer
---@param first integer row of the first line
---@return boolean # whether to call `on_line`
local function on_win(_, win, buf, first)
  chat, block = require('caliban.chat.chats').of(buf), nil
  is_empty = chat ~= nil
    and chat.composer == buf
    and require('caliban.chat.placeholder').stands(buf)
  if is_empty then
    return true
  end
  if not (chat and chat.transcript == buf) then
    return false
  end
  drawing[win] = chat
  if next(chat.running or {}) then
    require('caliban.chat.spinner').wake()
  end
  if chat.question then
    asking[win] = chat
  end
  if chat.unfitted then
    require('caliban.chat.near').drawn(chat, win, first)
  end
  rendered = require('caliban.chat.rendering').begin(win)
  return chat.total > 0
end

---@param win integer
---@param buf integer
---@param row integer
local function on_line(_, win, buf, row)
  if chat and is_empty then
    return require('caliban.chat.placeholder').draw(chat, win)
  end
  if chat and not (block and row >= top and row < top + block.n) then
    block, top = require('caliban.chat.paint').at(chat, row)
  end
  local spans = {} ---@type integer[]
  if block and block.shape == 'ask' then
    spans = require('caliban.chat.subject').spans(chat --[[@as caliban.Chat]], block, row - top)
  elseif block and (block.shape == 'notice' or block.shape == 'error') then
    spans = require('caliban.chat.notes').spans(buf, row)
  elseif block then
    spans = require('caliban.chat.markdown').spans(buf, block, top, row - top)
  end
  for i = 1, #spans, 3 do
    local from = spans[i] ---@as integer
    opts.end_col, opts.hl_group = spans[i + 1], spans[i + 2]
    api.nvim_buf_set_extmark(buf, ns, row, from, opts)
  end
  if block and block.diffs then
    require('caliban.chat.diff').draw(buf, block, row, row - top)
  end
  if rendered and block and (block.shape == 'text' or spans.veils) then
    require('caliban.chat.rendering').draw(buf, block, row, row - top, spans)
  end
end

--- Shows how many lines are below a chat's windows.
---@param of caliban.Chat
local function announce(of)
  vim.schedule(function()
    local _ = require('caliban.chat.chats').usable(of.transcript)
      and require('caliban.chat.windows').show_state(of)
  end)
end

local function on_end()
  for win, of in pairs(drawing) do
    drawing[win] = nil
    local _ = require('caliban.chat.below').count(win) and announce(of)
  end
  for win, of in pairs(asking) do
    asking[win] = nil
    require('caliban.chat.consent').drawn(of, win)
  end
end

--- Registers `on_win`, `on_line` and `on_end` with Neovim.
function M.watch()
  local on = { on_win = on_win, on_line = on_line, on_end = on_end }
  require('caliban.editor.since').draw(ns, on)
end

return M
