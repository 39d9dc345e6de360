--- The highlights and the words at the right of a chat's list of changes: paths and code are normal text, the rest is
--- dim.
local M = {}

local api = vim.api
local beside = require('caliban.chat.beside')
local ns = api.nvim_create_namespace('caliban_chat_review')

---@param buf integer
---@param row integer
---@param from integer
---@param to integer
local function dim(buf, row, from, to)
  if from < to then
    local opts = { end_col = to, hl_group = 'CalibanDim', priority = 110 }
    api.nvim_buf_set_extmark(buf, ns, row, from, opts)
  end
end

---@param chat caliban.Chat
---@param top integer row of the first line
---@param lines string[]
---@param items caliban.Item[]
function M.draw(chat, top, lines, items)
  local buf = chat.transcript
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  for i, item in ipairs(items) do
    local row, line = top + i - 1, lines[i]
    local from = item.text or #line
    dim(buf, row, item.session and item.text or 0, from)
    dim(buf, row, item.stop or #line, #line)
    local right = item.right or ''
    if right ~= '' then
      local group = item.hunk and 'CalibanSyntax' or nil
      local opts = beside.mark(chat, right, row, line, group)
      api.nvim_buf_set_extmark(buf, ns, row, 0, opts)
    end
  end
end

return M
