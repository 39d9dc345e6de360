--- Draws the Markdown of a reply, while Neovim draws the line, without its marks, and with bullets,
--- rules and a background for code. The buffer keeps the source, which the cursor's line shows.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat')

--- The window that is being drawn.
local win = 0
--- The row of the cursor, if the window is the current one.
local cursor = -1
--- The columns of the window's text, once they are needed.
local columns ---@type integer?

local hide = { ephemeral = true, strict = false } ---@type vim.api.keyset.set_extmark
local ground = { ephemeral = true, strict = false, end_col = 0, hl_eol = true, priority = 90 } ---@type vim.api.keyset.set_extmark
ground.hl_group = 'CalibanCode'

--- Called before a window is drawn. Returns false if the window shows the source.
---@param drawn integer
---@return boolean
function M.begin(drawn)
  win, columns = drawn, nil
  cursor = win == api.nvim_get_current_win() and api.nvim_win_get_cursor(win)[1] - 1 or -1
  return vim.wo[win].conceallevel > 0
end

---@return integer
local function width()
  if not columns then
    local info = vim.fn.getwininfo(win)[1]
    columns = info and info.width - info.textoff or 0
  end
  return columns
end

---@param buf integer
---@param row integer
---@param chunks [string, (integer|string)?][]
---@param at 'overlay'|'right_align'
local function put(buf, row, chunks, at)
  api.nvim_buf_set_extmark(buf, ns, row, 0, {
    ephemeral = true,
    virt_text = chunks,
    virt_text_pos = at,
    hl_mode = 'combine',
  })
end

--- Draws a row of a table. Returns false if the line is shown as it is.
---@param buf integer
---@param block caliban.Block
---@param row integer
---@param i integer the line's index in the block
---@param spans caliban.Spans
---@return boolean
local function draw_row(buf, block, row, i, spans)
  if not spans.length or row == cursor then
    return false
  end
  local chunks = require('caliban.chat.tables').row(buf, block, row - i, i, width())
  if not chunks then
    return false
  end
  hide.end_col, hide.conceal, hide.hl_group = spans.length, '', nil
  api.nvim_buf_set_extmark(buf, ns, row, 0, hide)
  put(buf, row, chunks, 'overlay')
  return true
end

--- Draws a line of a reply.
---@param buf integer
---@param block caliban.Block
---@param row integer
---@param i integer the line's index in the block
---@param spans caliban.Spans
function M.draw(buf, block, row, i, spans)
  if block.fences[1] and require('caliban.chat.markdown').has_ground(block, i) then
    ground.end_row = row + 1
    api.nvim_buf_set_extmark(buf, ns, row, 0, ground)
  end
  local veils = not draw_row(buf, block, row, i, spans) and spans.veils
  if veils then
    local signs = require('caliban.chat.markdown').SIGNS
    hide.hl_group = spans.group
    for n = 1, #veils, 3 do
      local from = veils[n] ---@as integer
      hide.end_col, hide.conceal = veils[n + 1], signs[veils[n + 2]]
      api.nvim_buf_set_extmark(buf, ns, row, from, hide)
    end
  end
  if row == cursor then
    return
  end
  if spans.rule then
    local line = require('caliban.editor.icons').of('─')
    put(buf, row, { { line:rep(width()), 'CalibanDim' } }, 'overlay')
  elseif spans.label and spans.label ~= '' then
    put(buf, row, { { spans.label .. ' ', 'CalibanDim' } }, 'right_align')
  end
end

return M
