--- Yanks parts of the transcript, as source.
local M = {}

local api = vim.api

--- Yanks the code block under the cursor into the register of the command.
---@param chat caliban.Chat
function M.code(chat)
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local block, top = require('caliban.chat.paint').at(chat, row)
  local lines = block and api.nvim_buf_get_lines(0, top, top + block.n, false)
  local code ---@type string[]?
  if lines then
    local whole, index = require('caliban.chat.long').join(0, top, lines)
    code = require('caliban.chat.markdown').code_at(whole, index[row - top + 1])
  end
  if not code then
    require('caliban.editor.notify').show('No code block here.')
    return
  end
  vim.fn.setreg(vim.v.register, code, 'l')
  require('caliban.editor.notify').show(
    ('%d %s yanked'):format(#code, #code == 1 and 'line' or 'lines')
  )
end

return M
