--- Of a long chat the end is painted first. What goes to what stands above it waits until that is there.
local M = {}

local api = vim.api

--- In ms: longer than the longest chat takes. After that a key goes to what there is.
local LIMIT = 10000

--- Waits for what is on its way; the editor goes on drawing.
---@param chat caliban.Chat
function M.wait(chat)
  if chat.above then
    vim.wait(LIMIT, function()
      return not chat.above
    end, 5)
  end
end

--- The first line, and what a search or an Ex command names, are those of the whole chat.
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
