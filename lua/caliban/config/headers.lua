--- The HTTP headers that the user sets for a provider.
local M = {}

--- The headers that the user cannot set, by lower-case name, with the reason.
---@type table<string, string?>
local taken = {}
for why, names in pairs({
  ['this header holds the key; set `key` instead'] = 'authorization x-api-key x-goog-api-key api-key',
  ['the HTTP connection sets this header'] = 'connection content-length expect host keep-alive proxy-authenticate'
    .. ' proxy-authorization proxy-connection te trailer transfer-encoding upgrade',
  ['Caliban sets this header'] = 'accept accept-encoding anthropic-version content-encoding content-type',
}) do
  for name in names:gmatch('%S+') do
    taken[name] = why
  end
end

--- The sentence that says what is wrong with a header; nil if the header is valid.
---@param name any
---@param value any
---@return string?
local function header(name, value)
  if type(name) ~= 'string' or not name:find("^[%w!#$%%&'*+.^_`|~-]+$") then
    return 'this is not a valid header name'
  elseif taken[name:lower()] then
    return taken[name:lower()]
  elseif type(value) ~= 'string' then
    return 'expected a string, got ' .. (type(value) == 'table' and 'a table' or tostring(value))
  elseif value:find('%c') then
    return 'its value contains control characters'
  elseif value:find('^env:%s*$') then
    return 'the name of a variable is missing after `env:`'
  end
end

--- Checks the headers of a provider and adds the problems to `problems`. Returns the headers if there are no problems.
---@param path string
---@param given table<any, any>
---@param problems string[]
---@param keys fun(t: table): any[] the keys of a table in order
---@return table<string, string>?
function M.sift(path, given, problems, keys)
  local before = #problems
  local seen = {} ---@type table<string, boolean?>
  for _, name in ipairs(keys(given)) do
    local lower = tostring(name):lower()
    local wrong = seen[lower] and 'it is given twice' or header(name, given[name])
    seen[lower] = true
    if wrong then
      local where = vim.fn.strtrans(('%s.headers.%s'):format(path, name))
      table.insert(problems, ('caliban: %s: %s'):format(where, wrong))
    end
  end
  -- msgpack would encode an empty table as a list
  return #problems == before and next(given) and given or nil
end

return M
