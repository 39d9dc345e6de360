--- The setting `mcp`: servers of tools, by name.
local M = {}

---@param value any
---@return boolean
local function is_text(value)
  return type(value) == 'string' and value ~= ''
end

---@param value any
---@return boolean
local function is_seconds(value)
  return type(value) == 'number' and value >= 1 and value < 2 ^ 31 and value % 1 == 0
end

---@param value any
---@return boolean
local function is_texts(value)
  local ok = vim.islist(value)
  for _, it in ipairs(ok and value or {}) do
    ok = ok and type(it) == 'string'
  end
  return ok
end

---@param value any
---@return boolean
local function is_variables(value)
  local ok = type(value) == 'table'
  for name, text in pairs(ok and value or {}) do
    ok = ok
      and type(name) == 'string'
      and name:find('^[%a_][%w_]*$') ~= nil
      and type(text) == 'string'
  end
  return ok
end

--- An address may begin with a variable, whose value the program looks at.
---@param value any
---@return boolean
local function is_address(value)
  return is_text(value) and (value:find('^https?://.') or value:find('^%${')) ~= nil
end

---@param value any
---@return boolean
local function is_table(value)
  return type(value) == 'table'
end

---@type table<string, [fun(value: any): (boolean), string]>
local fields = {
  command = { is_text, 'a program' },
  args = { is_texts, 'a list of strings' },
  env = { is_variables, 'a table from names of variables to strings' },
  cwd = { is_text, 'a folder' },
  type = {
    function(value)
      return value == 'stdio' or value == 'http' or value == 'streamable-http'
    end,
    "'stdio' or 'http'",
  },
  url = { is_address, 'an address that begins with https:// or http://' },
  headers = { is_table, 'a table from names of headers to strings' },
  timeout = { is_seconds, 'a number of seconds' },
  startup_timeout = { is_seconds, 'a number of seconds' },
  disabled = {
    function(value)
      return type(value) == 'boolean'
    end,
    'a boolean',
  },
}

--- Checks that a server has only what its kind has: a program or an address.
---@param given table
---@param wrong fun(key: string, say: string, ...: string)
local function kind(given, wrong)
  local of = given.url and 'url' or 'command'
  for _, key in ipairs(given.url and { 'args', 'env', 'cwd' } or { 'headers' }) do
    if given[key] ~= nil then
      wrong(key, 'a server with `%s` has no `%s`', of, key)
    end
  end
  if given.type ~= nil and (given.type == 'stdio') == (given.url ~= nil) then
    wrong('type', 'expected %s', given.url and "'http'" or "'stdio'")
  end
end

--- Checks a server and adds the problems to `problems`. Returns the server if there are none.
---@param path string
---@param given any
---@param problems string[]
---@param keys fun(t: table): any[] the keys of a table in order
---@return table?
local function server(path, given, problems, keys)
  local before = #problems
  local function wrong(where, say, ...)
    table.insert(problems, ('caliban: %s: '):format(vim.fn.strtrans(where)) .. say:format(...))
  end
  if type(given) ~= 'table' or vim.islist(given) and next(given) ~= nil then
    wrong(path, 'expected a table')
    return
  end
  for _, key in ipairs(keys(given)) do
    local field, where = fields[key], path .. '.' .. tostring(key)
    if not field then
      local hint = require('caliban.editor.nearest').hint(tostring(key), vim.tbl_keys(fields))
      wrong(where, 'there is no such setting.%s', hint)
    elseif not field[1](given[key]) then
      wrong(where, 'expected %s', field[2])
    end
  end
  if given.command == nil and given.url == nil then
    wrong(path, 'the `command` or the `url` is missing')
  elseif given.command ~= nil and given.url ~= nil then
    wrong(path, '`command` and `url` exclude each other')
  else
    kind(given, function(key, say, ...)
      wrong(path .. '.' .. key, say, ...)
    end)
  end
  if is_table(given.headers) then
    require('caliban.config.headers').sift(path, given.headers, problems, keys, true)
  end
  return #problems == before and given or nil
end

--- Checks the servers and adds the problems to `problems`. A server with a problem is left out.
---@param given any
---@param problems string[]
---@param keys fun(t: table): any[] the keys of a table in order
---@return table<string, table>
function M.sift(given, problems, keys)
  local good, names = {}, {} ---@type table<string, table>, table<string, string?>
  if type(given) ~= 'table' then
    table.insert(problems, 'caliban: config.mcp: expected a table of servers')
    return good
  end
  for _, name in ipairs(keys(given)) do
    local path = 'config.mcp.' .. tostring(name)
    -- in the names of tools, these two would be the same
    local plain = tostring(name):gsub('[^%w_-]', '_')
    if
      type(name) ~= 'string'
      or not name:find('^%w[%w _.-]*$')
      or #name > 32
      or name:find('__')
    then
      local say =
        'caliban: %s: a name has at most 32 letters, digits, blanks, `-`, `.` and `_`, no two `_` in a row'
      table.insert(problems, say:format(vim.fn.strtrans(path)))
    elseif names[plain] then
      table.insert(
        problems,
        ('caliban: %s: its tools would have the names of those of `%s`'):format(path, names[plain])
      )
    else
      names[plain] = name
      good[name] = server(path, given[name], problems, keys) --[[@as table]]
    end
  end
  return good
end

--- The servers as the program gets them. msgpack would encode an empty table as a list.
---@param servers table<string, table>
---@return table<string, table>
function M.wire(servers)
  return vim.tbl_map(function(it)
    it = vim.tbl_extend('force', it, {})
    for _, key in ipairs({ 'env', 'headers' }) do
      it[key] = it[key] and next(it[key]) and it[key] or nil
    end
    it.type = nil
    return it
  end, servers)
end

return M
