--- Creates the buffers for Caliban's own texts: chats, messages, plans, requests. Plugins that complete text take such a
--- buffer for code and send its text to their services by themselves. Each buffer gets the variables by which these
--- plugins, and those that resize windows, leave a buffer alone.
local M = {}

local api = vim.api

--- The variables by their plugins. Other plugins leave a buffer alone that has a 'buftype' (augment.vim, avante.nvim) or
--- know only filetypes (supermaven-nvim, tabnine-nvim, windsurf.nvim): for those the user sets the filetypes.
---@type [string, string, boolean][] plugin, variable, value
M.variables = {
  -- completes in each buffer that has a filetype, except in help, prompts, quickfix lists and terminals
  { 'copilot.vim', 'copilot_enabled', false },
  -- by default only in listed files, but `should_attach` may say otherwise
  { 'copilot.lua', 'copilot_suggestion_auto_trigger', false },
  -- completes in each buffer that has a filetype other than help
  { 'windsurf.vim', 'codeium_enabled', false },
  -- by default not where 'buftype' is set, unless `disable_in_special_buftypes` is off
  { 'neocodeium', 'neocodeium_enabled', false },
  -- completes by itself in the filetypes of the user, which may be `*`
  { 'minuet-ai.nvim', 'minuet_virtual_text_auto_trigger', false },
  { 'minuet-ai.nvim', 'minuet_lsp_completion_auto_trigger', false },
  { 'minuet-ai.nvim', 'minuet_lsp_inline_completion_auto_trigger', false },
  -- by default not where 'buftype' is set, but its `enabled` may say otherwise
  { 'sidekick.nvim', 'sidekick_nes', false },
  -- completes nothing, but enlarges each window that the user enters
  { 'focus.nvim', 'focus_disable', true },
}

--- Keeps other plugins from sending a buffer's text away. Called before the buffer gets a filetype, at which these
--- plugins look at the buffer. An autocommand of the user for the filetype can change a variable.
---@param buf integer
function M.guard(buf)
  for _, it in ipairs(M.variables) do
    api.nvim_buf_set_var(buf, it[2], it[3])
  end
end

local made = {} ---@type table<integer, true?>

--- Creates a buffer that is not listed and has no file ('buftype' is `nofile`).
---@return integer
function M.new()
  local buf = api.nvim_create_buf(false, true)
  made[buf] = true
  M.guard(buf)
  return buf
end

--- Whether `new` has created a buffer.
---@param buf integer
---@return boolean
function M.made(buf)
  return made[buf] == true
end

return M
