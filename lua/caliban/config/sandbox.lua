--- The setting `sandbox`: `true`, `false` or a table.
local M = {}

---@class caliban.SandboxSettings
---@field network? boolean whether commands may use the network
---@field writable? string[] further folders that commands may write

--- Checks the setting. Returns the expected value in words if the given one is wrong.
---@param value any
---@return string?
function M.check(value)
  if type(value) == 'boolean' then
    return nil
  end
  local expected =
    'true, false or a table with `network` (a boolean) and `writable` (a list of folders)'
  if type(value) ~= 'table' then
    return expected
  end
  local ok = value.network == nil or type(value.network) == 'boolean'
  ok = ok and (value.writable == nil or vim.islist(value.writable))
  for _, folder in ipairs(ok and value.writable or {}) do
    ok = ok and type(folder) == 'string'
  end
  for key in pairs(value) do
    ok = ok and (key == 'network' or key == 'writable')
  end
  return not ok and expected or nil
end

--- The setting as the program gets it.
---@param value boolean|caliban.SandboxSettings
---@return caliban.SandboxConfig
function M.wire(value)
  local given = type(value) == 'table' and value or {} ---@type caliban.SandboxSettings
  return {
    enabled = value ~= false,
    network = given.network == true,
    writable = given.writable or {},
  }
end

return M
