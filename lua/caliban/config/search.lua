--- The setting `search`: `false`, or a table that names the service.
local M = {}

local providers = { searxng = true, brave = true, tavily = true, exa = true }
local fields = { provider = true, url = true, key = true }

--- Checks the setting. Returns the expected value in words if the given one is wrong.
---@param value any
---@return string?
function M.check(value)
  if value == false then
    return nil
  end
  local ok = type(value) == 'table' and providers[value.provider] == true
  for key, given in pairs(ok and value or {}) do
    ok = ok and fields[key] == true and type(given) == 'string'
  end
  local key = ok and value.key or nil
  ok = ok and (key == nil or key:find('^env:.') ~= nil or key:find('^cmd:.') ~= nil)
  if ok and value.provider == 'searxng' then
    ok = value.url ~= nil
  elseif ok then
    ok = key ~= nil
  end
  ok = ok and (value.url == nil or value.url:find('^https?://.') ~= nil)
  return not ok
      and "false, or a table with `provider` ('searxng', 'brave', 'tavily' or 'exa'), `url`, and" .. " `key` ('env:NAME' or 'cmd:COMMAND'); searxng needs the `url`, the others the `key`"
    or nil
end

return M
