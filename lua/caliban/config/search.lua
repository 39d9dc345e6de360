--- The setting `search`: `false`, or a table that says whether the model's provider searches, and names a service.
local M = {}

local providers = { searxng = true, brave = true, tavily = true, exa = true }
local fields = { provider = 'string', url = 'string', key = 'string', hosted = 'boolean' }

--- Whether the table names a service and has what the service needs, or names no service and has
--- only `hosted`.
---@param value table
---@return boolean
local function is_complete(value)
  if value.provider == nil then
    return value.hosted ~= nil and value.url == nil and value.key == nil
  elseif value.provider == 'searxng' then
    return value.url ~= nil
  end
  return providers[value.provider] == true and value.key ~= nil
end

--- Checks the setting. Returns the expected value in words if the given one is wrong.
---@param value any
---@return string?
function M.check(value)
  if value == false then
    return nil
  end
  local ok = type(value) == 'table'
  for key, given in pairs(ok and value or {}) do
    ok = ok and fields[key] == type(given)
  end
  ok = ok and is_complete(value)
  local key = ok and value.key or nil
  ok = ok and (key == nil or key:find('^env:.') ~= nil or key:find('^cmd:.') ~= nil)
  ok = ok and (value.url == nil or value.url:find('^https?://.') ~= nil)
  return not ok
      and "false, or a table with `hosted` (a boolean), or with `provider` ('searxng', 'brave', 'tavily' or 'exa'), `url`," .. " and `key` ('env:NAME' or 'cmd:COMMAND'); searxng needs the `url`, the others the `key`"
    or nil
end

return M
