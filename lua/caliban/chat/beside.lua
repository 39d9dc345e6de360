--- Words at the right end of a line of the transcript. The arguments of a call are cut so that the words fit there. Words
--- that do not fit beside another line are shown below it.
local M = {}

local api = vim.api
local wrap = require('caliban.editor.wrap')
local ns = api.nvim_create_namespace('caliban_chat')

--- The cells between a line and the words beside it.
M.GAP = 2
local GAP = M.GAP

---@param chat caliban.Chat
---@return caliban.Narrowest?
local function narrowest(chat)
  chat.narrowest = chat.narrowest or wrap.narrowest(chat.transcript)
  return chat.narrowest
end

--- The cells of a row in the narrowest window; nil if no window shows the chat.
---@param chat caliban.Chat
---@return integer?
function M.room(chat)
  local window = narrowest(chat)
  return window and window.room
end

--- The extmark that shows words beside a line.
---@param chat caliban.Chat
---@param words string
---@param row integer
---@param line string the text of the row
---@param group? string the highlight group; default: `CalibanDim`
---@return vim.api.keyset.set_extmark
function M.mark(chat, words, row, line, group)
  group, words = group or 'CalibanDim', require('caliban.editor.icons').of(words)
  local window = narrowest(chat)
  local room = window and window.room
  local used = api.nvim_strwidth(line)
  if window and room and used > room then
    -- the line wraps: only the cells of its last row count
    local last = vim.fn.virtcol({ row + 1, '$' }, false, window.win) --[[@as integer]]
    used = (last - 2) % room + 1
  end
  if not room or used + GAP + api.nvim_strwidth(words) <= room then
    return { virt_text = { { words, group } }, virt_text_pos = 'eol_right_align' }
  end
  local under = vim.tbl_map(function(text)
    local pad = (' '):rep(room - api.nvim_strwidth(text))
    return { { pad .. text, group } }
  end, wrap.rows(words, room, ''))
  return { virt_lines = under }
end

--- Writes a call's line, cut to the width of the narrowest window.
---@param chat caliban.Chat
---@param block caliban.Block
---@param top integer
---@param line string
local function write(chat, block, top, line)
  local name = block.call_line and block.call_line.name or 0
  local wrote = require('caliban.chat.fit').write(chat.transcript, top, name, line)
  if wrote and block.n == (block.head or 0) + 1 then
    block.col = #line
  end
end

--- The words beside a title, without the last ones for which there is no room. The first ones say how the work has ended:
--- they stay. Those of running work go, because its own line below the title says more.
---@param words string
---@param room integer
---@param runs boolean
---@return string
local function briefer(words, room, runs)
  local parts = vim.split(words, ' · ', { plain = true })
  while #parts > (runs and 0 or 1) and api.nvim_strwidth(table.concat(parts, ' · ')) > room do
    table.remove(parts)
  end
  return table.concat(parts, ' · ')
end

--- Fits the line of a call into one row, together with the words beside it.
---@param chat caliban.Chat
---@param block caliban.Block
---@param call caliban.CallLine
---@param top integer
---@return string words
local function fit_call(chat, block, call, top)
  local long, short = require('caliban.chat.running').words(chat, call)
  local undecided = block.call
    and require('caliban.chat.undecided').words(chat, block.call, call.waits)
  local words = long or undecided or block.right or ''
  block.words = long
  local fit, whole = require('caliban.chat.fit'), block.whole or ''
  local window = narrowest(chat)
  local is_titled = vim.endswith(whole:sub(1, call.name), ' task')
  if window and is_titled then
    words = briefer(words, window.room - api.nvim_strwidth(whole) - GAP, long ~= nil)
  end
  local size = api.nvim_strwidth(words)
  if window and not call.is_whole then
    local room = window.room
    local rest = room - (size > 0 and size + GAP or 0)
    if short and rest < fit.least(whole, call) then
      words = short
      rest = room - api.nvim_strwidth(short) - GAP
    end
    local is_low = rest < (is_titled and api.nvim_strwidth(whole) or fit.least(whole, call))
    rest = is_low and room or rest
    write(chat, block, top, fit.line(whole, call, rest))
  end
  local below = require('caliban.chat.calls').fit(chat, block, top)
  block.need = math.max(api.nvim_strwidth(whole) + GAP + size, below)
  return words
end

--- Shows the words at the right end of a block's first line of text, and the chips below a message.
---@param chat caliban.Chat
---@param block caliban.Block
---@param top integer the row of the block's first line of text
function M.show(chat, block, top)
  local call, words = block.call_line, block.right or ''
  if call then
    words = fit_call(chat, block, call, top)
    block.room = chat.narrowest and chat.narrowest.room
  elseif block.below then
    local last = top - (block.head or 0) + block.n - 1
    narrowest(chat)
    require('caliban.chat.chips').show(chat, block, last)
  end
  if words == '' then
    return
  end
  local line = api.nvim_buf_get_lines(chat.transcript, top, top + 1, false)[1]
  local group = call and (call.failed and 'CalibanError' or call.waits and 'CalibanAsk') or nil
  local opts = M.mark(chat, words, top, line, group)
  opts.id = block.marks.right
  block.marks.right = api.nvim_buf_set_extmark(chat.transcript, ns, top, 0, opts)
  if not call then
    block.need = api.nvim_strwidth(line) + GAP + api.nvim_strwidth(words)
  end
  block.room = chat.narrowest and chat.narrowest.room
end

--- Replaces each cut line of a call or a worker in `lines` by the uncut line.
---@param buf integer
---@param first integer row of the first line
---@param lines string[] lines of a transcript
---@return boolean # whether a line was replaced
function M.uncut(buf, first, lines)
  local chat = require('caliban.chat.chats').of(buf)
  local blocks, row, any = chat and chat.blocks or {}, chat and chat.total or 0, false
  for i = #blocks, 1, -1 do
    local block = blocks[i] ---@as caliban.Block
    row = row - block.n
    local at = row + (block.head or 0) - first + 1
    any = require('caliban.chat.calls').uncut(block, lines, at) or any
    if block.whole and lines[at] and lines[at] ~= block.whole then
      lines[at], any = block.whole, true
    elseif row + block.n <= first then
      break
    end
  end
  return any
end

--- Shows the words beside all calls of a chat whose changes wait.
---@param chat caliban.Chat
function M.recount(chat)
  local row = chat.total
  for i = #chat.blocks, 1, -1 do
    local block = chat.blocks[i]
    row = row - block.n
    if block.call and block.call_line then
      M.show(chat, block, row + (block.head or 0))
    end
  end
end

return M
