--- The end of a long chat is painted first. Keys and commands that go further up wait until the rest is painted.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF

--- How long a key such as `gg` waits at most until the whole chat is painted, in ms. Even the longest
--- chat is painted in less time. After a wait of this length the cursor goes to the first painted line.
local LIMIT = 10000

--- Waits until the whole chat is painted. Neovim goes on drawing.
---@param chat caliban.Chat
function M.wait(chat)
  if chat.above then
    vim.wait(LIMIT, function()
      return not chat.above
    end, 5)
  end
end

--- Makes `gg`, searches and Ex commands wait until the whole chat is painted.
---@param chat caliban.Chat
---@param buf integer the transcript
function M.attach(chat, buf)
  local opts = { noremap = true, desc = 'Caliban: the first line' }
  function opts.callback()
    local count = vim.v.count > 0 and vim.v.count or ''
    M.wait(chat)
    vim.cmd.normal({ count .. 'gg', bang = true })
  end
  for _, lhs in ipairs({ 'gg', '<C-Home>' }) do
    api.nvim_buf_set_keymap(buf, 'n', lhs, '', opts)
    api.nvim_buf_set_keymap(buf, 'x', lhs, '', opts)
  end
  api.nvim_create_autocmd('CmdlineLeave', {
    [BUF] = buf,
    callback = function()
      if not vim.v.event.abort then
        M.wait(chat)
      end
    end,
  })
end

return M
