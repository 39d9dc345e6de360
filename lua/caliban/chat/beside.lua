--- Words at the right end of a line of the transcript. Where the line leaves them no room they stand under it.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat')

--- Rows above and below what windows show whose words are fitted too.
local MARGIN = 50

---@class caliban.Narrowest the narrowest window that shows a transcript
---@field win integer
---@field room integer cells that a row of text has in it

--- The beginning of a text, at most so many cells of it but one character at least.
---@param text string
---@param width integer
---@return string
function M.first(text, width)
  if #text <= width then
    return text
  elseif not text:find('[\128-\255]') then
    return text:sub(1, math.max(1, width))
  end
  local some = text:sub(1, 8 * width)
  local count = math.max(1, width)
  while count > 1 and api.nvim_strwidth(vim.fn.strcharpart(some, 0, count)) > width do
    count = count - 1
  end
  return vim.fn.strcharpart(some, 0, count)
end

--- Breaks a text between words into rows of at most so many cells, and a word only where it is wider than a row. The rows
--- behind the first begin with `indent`.
---@param text string
---@param width integer
---@param indent string
---@return string[]
function M.rows(text, width, indent)
  local rows, row = {}, ''
  for word in text:gmatch('%S+') do
    if row ~= '' and api.nvim_strwidth(row .. ' ' .. word) > width then
      rows[#rows + 1], row = row, indent .. word
    else
      row = row == '' and word or row .. ' ' .. word
    end
    while api.nvim_strwidth(row) > width and #row > #indent do
      local first = M.first(row, math.max(width, #indent + 1))
      if first == row then
        break
      end
      rows[#rows + 1], row = first, indent .. row:sub(#first + 1)
    end
  end
  rows[#rows + 1] = row ~= '' and row or nil
  return rows
end

---@param buf integer
---@return caliban.Narrowest? # absent where no window shows the buffer
function M.narrowest(buf)
  local found ---@type caliban.Narrowest?
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local room = api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff
    if room > 0 and (not found or room < found.room) then
      found = { win = win, room = room }
    end
  end
  return found
end

--- The mark for words beside a line of the buffer that `narrowest` shows.
---@param words string
---@param narrowest? caliban.Narrowest
---@param row integer
---@param line string the text of that row
---@return vim.api.keyset.set_extmark
function M.mark(words, narrowest, row, line)
  local room = narrowest and narrowest.room
  local used = api.nvim_strwidth(line)
  if narrowest and room and used > room then
    -- the cells of its last row on the screen
    local last = vim.fn.virtcol({ row + 1, '$' }, false, narrowest.win) --[[@as integer]]
    used = (last - 2) % room + 1
  end
  if not room or used + 1 + api.nvim_strwidth(words) <= room then
    return { virt_text = { { words, 'CalibanDim' } }, virt_text_pos = 'eol_right_align' }
  end
  local under = vim.tbl_map(function(text)
    local pad = (' '):rep(room - api.nvim_strwidth(text))
    return { { pad .. text, 'CalibanDim' } }
  end, M.rows(words, room, ''))
  return { virt_lines = under }
end

--- Shows what stands at the right end of a block's first line.
---@param chat caliban.Chat
---@param block caliban.Block
---@param top integer row of that line
function M.show(chat, block, top)
  if not block.right or block.right == '' then
    return
  end
  local line = api.nvim_buf_get_lines(chat.transcript, top, top + 1, false)[1]
  local opts = M.mark(block.right, chat.narrowest, top, line)
  opts.id = block.marks.right
  block.marks.right = api.nvim_buf_set_extmark(chat.transcript, ns, top, 0, opts)
  block.need = api.nvim_strwidth(line) + 1 + api.nvim_strwidth(block.right)
  block.room = chat.narrowest and chat.narrowest.room
end

--- Fits the words of the blocks that a window shows, as far as they were fitted into rows of another width.
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

--- The windows that show a transcript, or what they show of it, have changed: words beside its lines may fit there no
--- more, or again.
---@param chat caliban.Chat
function M.refit(chat)
  local had, now = chat.narrowest, M.narrowest(chat.transcript)
  chat.narrowest = now
  if not now then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(chat.transcript)) do
    fit(chat, win, now.room)
  end
  if chat.listing and not (had and had.room == now.room) then
    require('caliban.chat.changes').refresh(chat, false)
  end
end

return M
