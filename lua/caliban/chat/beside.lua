--- Words at the right end of a line of the transcript. Words that do not fit there are shown below the line.
local M = {}

local api = vim.api
local wrap = require('caliban.editor.wrap')
local ns = api.nvim_create_namespace('caliban_chat')

--- Words are also placed for this many rows above and below the visible rows.
local MARGIN = 50

--- The extmark that shows words beside a line.
---@param chat caliban.Chat
---@param words string
---@param row integer
---@param line string the text of the row
---@param group? string the highlight group; default: `CalibanDim`
---@return vim.api.keyset.set_extmark
function M.mark(chat, words, row, line, group)
  group = group or 'CalibanDim'
  local narrowest = chat.narrowest or wrap.narrowest(chat.transcript)
  chat.narrowest = narrowest
  local room = narrowest and narrowest.room
  local used = api.nvim_strwidth(line)
  if narrowest and room and used > room then
    -- the line wraps: only the cells of its last row count
    local last = vim.fn.virtcol({ row + 1, '$' }, false, narrowest.win) --[[@as integer]]
    used = (last - 2) % room + 1
  end
  if not room or used + 1 + api.nvim_strwidth(words) <= room then
    return { virt_text = { { words, group } }, virt_text_pos = 'eol_right_align' }
  end
  local under = vim.tbl_map(function(text)
    local pad = (' '):rep(room - api.nvim_strwidth(text))
    return { { pad .. text, group } }
  end, wrap.rows(words, room, ''))
  return { virt_lines = under }
end

--- Shows the words at the right end of a block's first line of text.
---@param chat caliban.Chat
---@param block caliban.Block
---@param top integer the row of the block's first line of text
function M.show(chat, block, top)
  if not block.right or block.right == '' then
    return
  end
  local line = api.nvim_buf_get_lines(chat.transcript, top, top + 1, false)[1]
  local opts = M.mark(chat, block.right, top, line)
  opts.id = block.marks.right
  block.marks.right = api.nvim_buf_set_extmark(chat.transcript, ns, top, 0, opts)
  block.need = api.nvim_strwidth(line) + 1 + api.nvim_strwidth(block.right)
  block.room = chat.narrowest and chat.narrowest.room
end

--- Places the words beside the blocks that a window shows, unless this was done already for rows of
--- this width.
---@param chat caliban.Chat
---@param win integer
---@param room integer
local function fit(chat, win, room)
  local first, last = vim.fn.line('w0', win) - 1 - MARGIN, vim.fn.line('w$', win) - 1 + MARGIN
  local row = chat.total
  for i = #chat.blocks, 1, -1 do
    local block = chat.blocks[i]
    row = row - block.n
    if row + block.n <= first then
      return
    elseif row <= last and block.need and block.need > math.min(block.room or 0, room) then
      local _ = block.room ~= room and M.show(chat, block, row + (block.head or 0))
    end
  end
end

--- Places the words again after the windows of a transcript were opened, resized or scrolled.
---@param chat caliban.Chat
---@return boolean # whether the width of the rows has changed
function M.refit(chat)
  local had, now = chat.narrowest, wrap.narrowest(chat.transcript)
  chat.narrowest = now
  if not now then
    return false
  end
  for _, win in ipairs(vim.fn.win_findbuf(chat.transcript)) do
    fit(chat, win, now.room)
  end
  return not (had and had.room == now.room)
end

return M
