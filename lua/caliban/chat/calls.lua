--- The lines below a call in the transcript: the diff of an opened edit, and the workers that the call has ordered.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat')

--- The cells before a worker's line.
local INDENT = 4

---@param chat caliban.Chat
---@param row integer
---@param from integer
---@param to integer
---@param group string
local function color(chat, row, from, to, group)
  local opts = { end_col = to, hl_group = group, priority = 110, strict = false }
  api.nvim_buf_set_extmark(chat.transcript, ns, row, from, opts)
end

--- Highlights the lines below a call.
---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer the first row of the block
---@param diffs? caliban.DiffRows[]
function M.mark(chat, block, row, diffs)
  local head = block.head or 0
  require('caliban.chat.diff').take(chat, block, row, diffs)
  for i, worker in ipairs(block.workers or {}) do
    local group ---@type string?
    if worker.waits then
      group = 'CalibanAsk'
    elseif worker.failed then
      group = 'CalibanError'
    end
    if group then
      local from, to = worker.span[1] + INDENT, worker.span[2] + INDENT
      color(chat, row + head + i, from, to, group)
    end
  end
end

return M
