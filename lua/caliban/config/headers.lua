--- The HTTP headers that the user sets for a provider or a server of tools.
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

--- The same for a server of tools: a key is a header like others, and the protocol has headers of its own.
---@type table<string, string?>
local taken_by_protocol = {}
for name, why in pairs(taken) do
  local is_key = why:find('`key`', 1, true) or name == 'anthropic-version'
  taken_by_protocol[name] = not is_key and why or nil
end
for name in ('last-event-id mcp-session-id mcp-protocol-version mcp-method mcp-name'):gmatch('%S+') do
  taken_by_protocol[name] = 'Caliban sets this header'
end

--- The sentence that says what is wrong with a header; nil if the header is valid.
---@param name any
---@param value any
---@param taken_names table<string, string?>
---@return string?
local function header(name, value, taken_names)
  if type(name) ~= 'string' or not name:find("^[%w!#$%%&'*+.^_`|~-]+$") then
    return 'this is not a valid header name'
  elseif taken_names[name:lower()] then
    return taken_names[name:lower()]
  elseif type(value) ~= 'string' then
    return 'expected a string, got ' .. (type(value) == 'table' and 'a table' or tostring(value))
  elseif value:find('%c') then
    return 'its value contains control characters'
  elseif value:find('^env:%s*$') then
    return 'the name of a variable is missing after `env:`'
  end
end

--- Checks the headers of a provider, or of a server of tools, and adds the problems to `problems`. Returns the headers if there are no problems.
---@param path string
---@param given table<any, any>
---@param problems string[]
---@param keys fun(t: table): any[] the keys of a table in order
---@param of_server? boolean
---@return table<string, string>?
function M.sift(path, given, problems, keys, of_server)
  local before = #problems
  local seen = {} ---@type table<string, boolean?>
  for _, name in ipairs(keys(given)) do
    local lower = tostring(name):lower()
    local wrong = seen[lower] and 'it is given twice'
      or header(name, given[name], of_server and taken_by_protocol or taken)
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
