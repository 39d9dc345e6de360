--- The highlights, signs and virtual text of whole blocks of a transcript.
local M = {}

local api = vim.api
local icon = require('caliban.editor.icons').of
local ns = api.nvim_create_namespace('caliban_chat')

--- The highlight groups of blocks that have only one, by shape. The other blocks are highlighted as
--- Markdown, except calls (`tool`) and questions (`ask`).
local spans = {
  thinking = 'CalibanDim',
  boundary = 'CalibanDim',
  notice = 'CalibanDim',
  error = 'CalibanError',
  intro = 'CalibanDim',
  plan = 'CalibanDim',
  queue = 'CalibanDim',
}
--- The colours of the signs that begin blocks.
local heads = { notice = 'CalibanNotice', review = 'CalibanAsk', plan = 'CalibanAsk' }

--- Whether a block is highlighted as Markdown.
---@param block caliban.Block
---@return boolean
function M.is_markdown(block)
  return not spans[block.shape] and block.shape ~= 'tool' and block.shape ~= 'ask'
end

---@param chat caliban.Chat
---@param block caliban.Block
---@param name string
---@param row integer
---@param col integer
---@param opts vim.api.keyset.set_extmark
local function mark(chat, block, name, row, col, opts)
  opts.id = block.marks[name]
  block.marks[name] = api.nvim_buf_set_extmark(chat.transcript, ns, row, col, opts)
end

--- Highlights a block's rows from `first` to `last`.
---@param chat caliban.Chat
---@param block caliban.Block
---@param first integer
---@param last integer
---@param group string
local function span(chat, block, first, last, group)
  mark(chat, block, 'span', first, 0, {
    end_row = last,
    end_col = block.col,
    hl_group = group,
    end_right_gravity = true,
    priority = 100,
  })
end

--- Highlights the name of a call's tool, and dims the lines below the call.
---@param chat caliban.Chat
---@param block caliban.Block
---@param top integer the row of the call's own line
---@param last integer
local function call(chat, block, top, last)
  local line = block.call_line
  if line then
    local opts = { end_col = line.name, hl_group = 'CalibanTool', priority = 110, strict = false }
    mark(chat, block, 'head', top, 0, opts)
  end
  if last > top then
    span(chat, block, top + 1, last, 'CalibanDim')
  end
end

--- Dims the labels of the lines of an empty chat.
---@param chat caliban.Chat
---@param first integer
---@param last integer
local function labels(chat, first, last)
  for i, line in ipairs(api.nvim_buf_get_lines(chat.transcript, first, last + 1, false)) do
    local opts = { end_col = #line:match('^%S*'), hl_group = 'CalibanDim', priority = 100 }
    api.nvim_buf_set_extmark(chat.transcript, ns, first + i - 1, 0, opts)
  end
end

--- Colours the part of an error that tells why; the rest is advice.
---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer
---@param last integer
local function reasons(chat, block, row, last)
  local parts = block.subject
  if not parts then
    return span(chat, block, row, last, 'CalibanError')
  end
  for i, part in ipairs(parts) do
    local opts = { end_col = part[3], hl_group = 'CalibanError', priority = 100, strict = false }
    mark(chat, block, 'part' .. i, row + part[1], part[2], opts)
  end
  local why = parts[#parts]
  local opts = { end_row = last, end_col = block.col, hl_group = 'CalibanDim', priority = 100 }
  mark(chat, block, 'span', row + why[1], why[3], opts)
end

--- Sets the extmarks that belong to a block as a whole, such as its virtual text.
---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer
function M.set(chat, block, row)
  if block.n == 0 then
    return
  end
  local group, head = spans[block.shape], heads[block.shape]
  local last, top = row + block.n - 1, row + (block.head or 0)
  if block.shape == 'tool' then
    call(chat, block, top, last)
  elseif block.shape == 'intro' then
    labels(chat, row, last)
  elseif block.shape == 'error' then
    reasons(chat, block, row, last)
  elseif block.shape == 'plan' then
    -- the lines below the first name the keys
    span(chat, block, math.min(top + 1, last), last, 'CalibanDim')
  elseif group then
    span(chat, block, row, last, group)
  end
  if head then
    -- only the sign has a colour
    mark(chat, block, 'head', top, 0, { end_col = 1, hl_group = head, priority = 110 })
  end
  require('caliban.chat.beside').show(chat, block, top)
end

--- Sets the signs of the lines of a user's message, which all rows of a wrapped line have.
---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer
function M.lines(chat, block, row)
  for r = row + math.max(block.head or 0, block.done), row + block.n - 1 do
    api.nvim_buf_set_extmark(chat.transcript, ns, r, 0, {
      sign_text = icon('┃'),
      sign_hl_group = 'CalibanUser',
      virt_text = { { icon('┃'), 'CalibanUser' } },
      virt_text_win_col = -2, -- in the column of signs
      virt_text_repeat_linebreak = true,
    })
  end
end

return M
