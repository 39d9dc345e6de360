--- Sentences for the user.
local M = {}

---@param text string
---@param level? integer of vim.log.levels; a warning unless given
function M.say(text, level)
  local buf = vim.api.nvim_get_current_buf()
  local chat = vim.fn.mode() == 'i' and require('caliban.chat').of(buf)
  if chat and chat.composer == buf then
    -- Neovim would write `-- INSERT --` over it, or ask for Enter where it is long
    return require('caliban.chat.composer').warn(chat, text)
  end
  vim.notify(text, level or vim.log.levels.WARN, { title = 'Caliban' })
end

return M
