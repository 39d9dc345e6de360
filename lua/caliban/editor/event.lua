--- `User` autocommands, by which others hear of what happens.
local M = {}

--- Fires one.
---@param name string
---@param data table
---@return string? what went wrong in somebody's
function M.fire(name, data)
  local opts = { pattern = name, modeline = false, data = data }
  local ok, err = pcall(vim.api.nvim_exec_autocmds, 'User', opts)
  return not ok and tostring(err) or nil
end

return M
