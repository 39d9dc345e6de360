--- Fires `User` autocommands, for the user's configuration and other plugins.
local M = {}

--- Fires one autocommand event.
---@param name string
---@param data table
---@return string? # the error that a handler raised
function M.fire(name, data)
  local opts = { pattern = name, modeline = false, data = data }
  local ok, err = pcall(vim.api.nvim_exec_autocmds, 'User', opts)
  return not ok and tostring(err) or nil
end

return M
