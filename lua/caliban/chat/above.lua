--- The end of a long chat is painted first. Keys and commands that go above it wait until the rest is painted.
local M = {}

local api = vim.api

--- The longest wait in ms: longer than the longest chat takes. After it a key goes to the first line that is painted.
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

--- Has `gg`, searches and Ex commands wait for the whole chat.
---@param chat caliban.Chat
---@param buf integer the transcript
function M.attach(chat, buf)
  local opts = { buffer = buf, desc = 'Caliban: the first line' }
  for _, lhs in ipairs({ 'gg', '<C-Home>' }) do
    vim.keymap.set({ 'n', 'x' }, lhs, function()
      local count = vim.v.count > 0 and vim.v.count or ''
      M.wait(chat)
      vim.cmd.normal({ count .. 'gg', bang = true })
    end, opts)
  end
  api.nvim_create_autocmd('CmdlineLeave', {
    buffer = buf,
    callback = function()
      if not vim.v.event.abort then
        M.wait(chat)
      end
    end,
  })
end

return M
