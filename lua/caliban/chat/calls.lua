--- The lines below a call in the transcript: the diff of an opened edit, and the workers that the call has ordered. The
--- line of a worker takes one row: in a narrow window it loses the words beside it, then its title and its end are cut.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat')
local icon = require('caliban.editor.icons').of
local cells = api.nvim_strwidth

--- The cells between a worker's line and the words beside it.
local GAP = 2
--- The words about what a worker does keep at least this many cells, and those about what the worker waits for.
local LEAST, WAITS = 16, 20
--- A worker's title that would keep fewer cells than this is left out.
local TITLE = 4

---@param text string
---@param width integer
---@return string
local function cut(text, width)
  if cells(text) <= width then
    return text
  end
  local more = icon('…')
  return require('caliban.editor.wrap').first(text, width - cells(more)) .. more
end

--- The part of a worker's line before the words about what the worker does. The title is cut or
--- left out, so that the part fits into `room` cells.
---@param worker caliban.WorkerRow
---@param room integer
---@return string
local function head(worker, room)
  local from, to = worker.parts[1], worker.parts[2]
  local name = worker.line:sub(1, from)
  local left = room - cells(name) - GAP
  if left < TITLE then
    return name
  end
  local title = cut((worker.line:sub(from + 1, to):gsub(' +$', '')), left)
  return name .. title .. (' '):rep(left + GAP - cells(title))
end

--- A worker's line in at most `room` cells.
---@param worker caliban.WorkerRow
---@param room integer
---@param least integer the cells that the words about what the worker does keep
---@return string line
---@return integer from where these words begin in the line, in bytes
local function fitted(worker, room, least)
  local before = worker.line:sub(1, worker.parts[2])
  local words = worker.line:sub(worker.parts[2] + 1) ---@type string
  local name = worker.line:sub(1, worker.parts[1])
  if cells(name) + cells(words) > room then
    words = words:sub(worker.spare + 1)
  end
  if room - cells(before) < least then
    before = head(worker, room - least)
  end
  return before .. cut(words, room - cells(before)), #before
end

--- The workers whose lines are shown.
---@param block caliban.Block
---@return caliban.WorkerRow[]
local function shown(block)
  local workers = block.workers or {}
  return block.n > (block.head or 0) + #workers and workers or {}
end

---@param chat caliban.Chat
---@param block caliban.Block
---@param name string
---@param row integer
---@param col integer
---@param opts? vim.api.keyset.set_extmark absent if the mark is removed
local function mark(chat, block, name, row, col, opts)
  local id = block.marks[name] ---@type integer?
  if opts then
    opts.id = id
    block.marks[name] = api.nvim_buf_set_extmark(chat.transcript, ns, row, col, opts)
  elseif id then
    api.nvim_buf_del_extmark(chat.transcript, ns, id)
  end
end

--- Fits the line of each worker of a call into one row, and shows the words beside the line if they
--- fit too.
---@param chat caliban.Chat
---@param block caliban.Block
---@param top integer the row of the call's own line
---@return integer need the cells that the longest line and the words beside it need
function M.fit(chat, block, top)
  local workers = shown(block)
  local room = chat.narrowest and chat.narrowest.room or vim.v.maxcol
  local least, need = 0, 0
  for _, worker in ipairs(workers) do
    local words = cells(worker.line:sub(worker.parts[2] + 1))
    least = math.max(least, math.min(words, worker.spare > 0 and WAITS or LEAST))
  end
  for i, worker in ipairs(workers) do
    local row, beside = top + i, cells(worker.right) + GAP
    local line, from = fitted(worker, room, least)
    require('caliban.chat.fit').write(chat.transcript, row, worker.parts[1], line)
    if row == top - (block.head or 0) + block.n - 1 then
      block.col = #line
    end
    local group = worker.waits and 'CalibanAsk' or worker.failed and 'CalibanError' or nil
    local words = { end_col = #line, hl_group = group, priority = 110, strict = false }
    mark(chat, block, 'worker' .. i, row, from, group and words or nil)
    local fits = cells(line) + beside <= room
    local right = { virt_text = { { worker.right, 'CalibanDim' } } }
    right.virt_text_pos = 'eol_right_align'
    mark(chat, block, 'turns' .. i, row, 0, fits and right or nil)
    need = math.max(need, cells(worker.line) + beside)
  end
  return need
end

--- Replaces each cut line of a worker in `lines` by the uncut line.
---@param block caliban.Block
---@param lines string[] lines of the transcript
---@param at integer the index of the call's own line; may be outside of `lines`
---@return boolean # whether a line was replaced
function M.uncut(block, lines, at)
  local any = false
  for i, worker in ipairs(shown(block)) do
    if lines[at + i] and lines[at + i] ~= worker.line then
      lines[at + i], any = worker.line, true
    end
  end
  return any
end

return M
