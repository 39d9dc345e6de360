--- The user's settings: `vim.g.caliban` or `setup{}`, checked key by key. A wrong value is reported with its path and
--- replaced by the default; the other settings stay.
local M = {}

---@class (exact) caliban.Config
---@field model? string
---@field subagent_model? string the model of subagents, if it is another one
---@field providers? table<string, caliban.ProviderConfig>
---@field models? table<string, caliban.ModelConfig>
---@field thinking? 'off'|'low'|'medium'|'high'|'max'
---@field temperature? number
---@field max_output? integer
---@field trim? number|false
---@field compact? number|false
---@field mode caliban.Mode
---@field resume boolean|'open'
---@field bin? string the program's executable, if it is not in the plugin's own `target/`
---@field debug boolean
---@field system? string
---@field system_file? string
---@field no_system boolean
---@field instructions boolean|'ask'|'always'|'never'
---@field titles boolean
---@field probe boolean
---@field limit? caliban.LimitConfig what a turn and a session may spend before the user is asked
---@field pass_env string[]
---@field fetch_private string[] private hosts that may be fetched
---@field search false|caliban.SearchConfig how the web is searched
---@field permissions caliban.WrittenRule[]
---@field safe_commands boolean
---@field sandbox boolean|caliban.SandboxSettings
---@field mcp table<string, table>
---@field lsp caliban.LspConfig
---@field completion 'auto'|'manual'
---@field notify? false|caliban.NotifySettings|fun(text: string, data: { kind: string, session: string })
---@field icons 'unicode'|'ascii'|'nerd' the signs in the chat and in reviews
---@field conceal boolean whether the chat shows Markdown without its marks
---@field layout 'auto'|'right'|'left'|'top'|'bottom'|'tab'|'float'|'current'

--- How long to wait for language servers, in milliseconds.
---@class (exact) caliban.LspConfig
---@field diagnostics_ms integer
---@field request_ms integer

--- How the user is notified.
---@class (exact) caliban.NotifySettings
---@field editor? boolean by `vim.notify`
---@field terminal? boolean by an escape sequence, in terminals that are known to have one
---@field command? string[] by this command, which gets the text as its last argument

---@type caliban.LspConfig
local waits = { diagnostics_ms = 1500, request_ms = 10000 }

---@type caliban.Config
local defaults = {
  mode = 'ask',
  resume = true,
  debug = false,
  no_system = false,
  instructions = 'ask',
  titles = true,
  probe = true,
  pass_env = {},
  fetch_private = {},
  search = false,
  permissions = {},
  safe_commands = true,
  sandbox = true,
  mcp = {},
  lsp = waits,
  completion = 'auto',
  conceal = true,
  icons = 'unicode',
  layout = 'auto',
}

---@alias caliban.Check fun(value: any): string? the expected value in words, if the value is wrong

---@param name string
---@return caliban.Check
local function is(name)
  return function(value)
    return type(value) ~= name and 'a ' .. name or nil
  end
end

---@param words any[]
---@return caliban.Check
local function one_of(words)
  return function(value)
    if vim.tbl_contains(words, value) then
      return nil
    end
    local names = vim.tbl_map(vim.inspect, words)
    local last = table.remove(names)
    local before = #names > 0 and table.concat(names, ', ') .. ' or ' or ''
    return (before .. last):gsub('"', "'")
  end
end

---@param value any
---@return string?
local function strings(value)
  local ok = type(value) == 'table' and vim.islist(value)
  for _, item in ipairs(ok and value or {}) do
    ok = ok and type(item) == 'string'
  end
  return not ok and 'a list of strings' or nil
end

--- Checks a list of names of environment variables. Returns the expected value in words if the given one is wrong.
---@param value any
---@return string?
local function variables(value)
  local ok = strings(value) == nil
  for _, name in ipairs(ok and value or {}) do
    ok = ok and name:find('^[%a_][%w_]*$') ~= nil
  end
  return not ok and 'a list of variable names' or nil
end

--- Checks a number of tokens. Returns the expected value in words if the given one is wrong.
---@param value any
---@return string?
local function tokens(value)
  local ok = type(value) == 'number' and value == math.floor(value) and value > 0 and value < 2 ^ 32
  return not ok and 'a number of tokens' or nil
end

--- Checks an amount of money. Returns the expected value in words if the given one is wrong.
---@param value any
---@return string?
local function dollars(value)
  local ok = type(value) == 'number' and value > 0 and value < math.huge
  return not ok and 'a number of US dollars above 0' or nil
end

--- Checks a time in milliseconds. Returns the expected value in words if the given one is wrong.
---@param value any
---@return string?
local function milliseconds(value)
  local ok = type(value) == 'number' and value == math.floor(value) and value >= 0
  return not ok and 'a number of milliseconds' or nil
end

--- Makes a check for a number from 0 to `most`.
---@param most? number
---@return caliban.Check
local function number(most)
  return function(value)
    local ok = type(value) == 'number' and value >= 0 and value <= (most or math.huge)
    local wanted = most and ('a number from 0 to %d'):format(most) or 'a number of at least 0'
    return not ok and wanted or nil
  end
end

--- Checks a share of a model's context window; `false` means never. Returns the expected value in words if the given
--- one is wrong.
---@param value any
---@return string?
local function share(value)
  local ok = value == false or type(value) == 'number' and value > 0 and value <= 1
  return not ok and 'a number up to 1, such as 0.5, or false' or nil
end

--- The modes, in the order in which the user goes through them.
---@type caliban.Mode[]
M.modes = { 'plan', 'ask', 'auto-edit', 'auto' }
M.efforts = { 'off', 'low', 'medium', 'high', 'max' }

---@type table<string, caliban.Check>
local price = {
  input = number(),
  output = number(),
  cache_read = number(),
  cache_write = number(),
}

---@type table<string, caliban.Check>
local model = {
  window = tokens,
  max_output = tokens,
  thinking = one_of(M.efforts),
  temperature = number(2),
  price = is('table'),
  num_ctx = tokens,
  vision = is('boolean'),
  calls = one_of({ 'native', 'text' }),
  edits = one_of({ 'replace', 'patch', 'whole' }),
  trim = share,
  compact = share,
}

---@type table<string, caliban.Check>
local provider = {
  dialect = one_of({ 'anthropic', 'openai-chat', 'openai-responses', 'gemini', 'ollama' }),
  base_url = is('string'),
  key = is('string'),
  models = strings,
  quirks = strings,
  headers = is('table'),
}

---@type table<string, caliban.Check>
local limit = {
  usd = dollars,
  tokens = tokens,
  turn_usd = dollars,
  turn_tokens = tokens,
}

--- Checks how the user is notified. Returns the expected value in words if the given one is wrong.
---@param value any
---@return string?
local function notify(value)
  local ok = value == false or type(value) == 'function'
  if type(value) == 'table' then
    local checks = { editor = is('boolean'), terminal = is('boolean'), command = strings }
    ok = not value.command or #value.command > 0
    for key, given in pairs(value) do
      ok = ok and checks[key] ~= nil and checks[key](given) == nil
    end
  end
  return not ok and 'false, a function or a table with `editor`, `terminal` and `command`' or nil
end

---@type table<string, caliban.Check>
local known = {
  model = is('string'),
  subagent_model = is('string'),
  providers = is('table'),
  models = is('table'),
  thinking = one_of(M.efforts),
  temperature = number(2),
  max_output = tokens,
  trim = share,
  compact = share,
  mode = one_of(M.modes),
  resume = one_of({ true, false, 'open' }),
  bin = is('string'),
  debug = is('boolean'),
  system = is('string'),
  system_file = is('string'),
  no_system = is('boolean'),
  instructions = one_of({ 'ask', 'always', 'never', true, false }),
  titles = is('boolean'),
  probe = is('boolean'),
  limit = is('table'),
  pass_env = variables,
  fetch_private = strings,
  search = function(value)
    return require('caliban.config.search').check(value)
  end,
  -- checked rule by rule
  permissions = function() end,
  safe_commands = is('boolean'),
  sandbox = function(value)
    return require('caliban.config.sandbox').check(value)
  end,
  mcp = is('table'),
  lsp = is('table'),
  notify = notify,
  completion = one_of({ 'auto', 'manual' }),
  conceal = is('boolean'),
  icons = one_of({ 'unicode', 'ascii', 'nerd' }),
  layout = one_of({ 'auto', 'right', 'left', 'top', 'bottom', 'tab', 'float', 'current' }),
}

---@param value any
---@return string
local function got(value)
  if type(value) == 'string' then
    return ("'%s'"):format(value)
  end
  return type(value) == 'table' and 'a table' or tostring(value)
end

---@param t table
---@return any[] # keys, in the order of their names
local function keys(t)
  local list = vim.tbl_keys(t)
  table.sort(list, function(a, b)
    return tostring(a) < tostring(b)
  end)
  return list
end

--- Checks a table of settings and adds the problems to `problems`.
---@param path string
---@param given table
---@param checks table<string, caliban.Check>
---@param problems string[]
---@return table # the settings that passed
local function sift(path, given, checks, problems)
  local good, names = {}, keys(checks)
  for _, key in ipairs(keys(given)) do
    local value = given[key]
    local where = ('caliban: %s.%s: '):format(path, key)
    local check = checks[key]
    local expected = check and check(value)
    if not check then
      local hint = require('caliban.editor.nearest').hint(tostring(key), names)
      table.insert(problems, where .. 'there is no such setting.' .. hint)
    elseif expected then
      table.insert(problems, ('%sexpected %s, got %s'):format(where, expected, got(value)))
    else
      good[key] = value
    end
  end
  return good
end

--- Checks a table. The table is used only if every value passes and every key of `needed` is present.
---@param path string
---@param given any
---@param checks table<string, caliban.Check>
---@param needed string[]
---@param problems string[]
---@return table?
local function whole(path, given, checks, needed, problems)
  local before = #problems
  if type(given) ~= 'table' then
    table.insert(problems, ('caliban: %s: expected a table, got %s'):format(path, got(given)))
    return nil
  end
  local good = sift(path, given, checks, problems)
  for _, key in ipairs(needed) do
    if given[key] == nil then
      table.insert(problems, ('caliban: %s.%s: this setting is missing'):format(path, key))
    end
  end
  -- msgpack would encode an empty table as a list
  return #problems == before and (next(good) and good or vim.empty_dict()) or nil
end

---@param good table
---@param problems string[]
local function sift_providers(good, problems)
  local providers = {}
  for _, name in ipairs(keys(good.providers or {})) do
    local path = 'config.providers.' .. tostring(name)
    local before = #problems
    local row = whole(path, good.providers[name], provider, {}, problems)
    if row and row.headers then
      row.headers = require('caliban.config.headers').sift(path, row.headers, problems, keys)
      row = next(row) and row or vim.empty_dict()
    end
    providers[name] = #problems == before and row or nil
  end
  good.providers = providers
end

---@param good table
---@param problems string[]
local function sift_models(good, problems)
  local models = {}
  for _, name in ipairs(keys(good.models or {})) do
    local path = ("config.models['%s']"):format(name)
    if not tostring(name):find('^[^/]+/.') then
      table.insert(problems, ("caliban: %s: the name must be 'provider/model'"):format(path))
    else
      local row = whole(path, good.models[name], model, {}, problems)
      if row and row.price then
        local needed = { 'input', 'output' }
        row.price = whole(path .. '.price', row.price, price, needed, problems)
      end
      models[name] = row
    end
  end
  good.models = models
end

---@param good table
---@param problems string[]
local function one_system(good, problems)
  local given = {}
  for _, key in ipairs({ 'system', 'system_file', 'no_system' }) do
    if good[key] then
      table.insert(given, key)
    end
  end
  if #given > 1 then
    local names = table.concat(given, ' and ')
    local say = 'caliban: config: %s exclude each other, so none is used. Keep one of them'
    table.insert(problems, say:format(names))
    good.system, good.system_file, good.no_system = nil, nil, nil
  end
end

--- Checks the user's settings and fills in the defaults.
---@param given any
---@return caliban.Config, string[] problems
function M.check(given)
  local problems = {}
  if type(given) ~= 'table' then
    table.insert(problems, ('caliban: config: expected a table, got %s'):format(got(given)))
    given = {}
  end
  local good = sift('config', given, known, problems)
  one_system(good, problems)
  sift_providers(good, problems)
  sift_models(good, problems)
  good.mcp = require('caliban.config.mcp').sift(good.mcp or {}, problems, keys)
  if type(good.lsp) == 'table' then
    local times = { diagnostics_ms = milliseconds, request_ms = milliseconds }
    good.lsp = vim.tbl_extend('force', waits, sift('config.lsp', good.lsp, times, problems))
  end
  if good.permissions ~= nil then
    good.permissions = require('caliban.config.permissions').check(good.permissions, sift, problems)
  end
  if type(good.limit) == 'table' then
    local amounts = sift('config.limit', good.limit, limit, problems)
    good.limit = next(amounts) and amounts or nil
  end
  local config = vim.tbl_extend('force', defaults, good) ---@as caliban.Config
  return config, problems
end

---@type caliban.Config?
local current
local from_setup = false
local problems = {} ---@type string[]

--- Checks and sets the settings; shows the problems.
---@param given? table
function M.set(given)
  from_setup = true
  current, problems = M.check(given or {})
  require('caliban.editor.icons').use(current.icons)
  if #problems > 0 then
    require('caliban.editor.notify').show(table.concat(problems, '\n'), vim.log.levels.ERROR)
  end
end

---@return caliban.Config
function M.get()
  if not current then
    M.set(vim.g.caliban)
    from_setup = false
  end
  return current ---@as caliban.Config
end

--- The problems in the user's settings.
---@return string[]
function M.problems()
  M.get()
  return problems
end

--- Forgets settings that came from `vim.g.caliban`, which is then read again.
function M.forget()
  current = from_setup and current or nil
end

--- The settings that the program gets.
---@return caliban.WireConfig
function M.wire()
  local c = M.get()
  local instructions = c.instructions
  if type(instructions) == 'boolean' then
    instructions = instructions and 'ask' or 'never'
  end
  return {
    model = c.model,
    subagent_model = c.subagent_model,
    providers = c.providers,
    models = c.models,
    thinking = c.thinking,
    temperature = c.temperature,
    max_output = c.max_output,
    trim = c.trim,
    compact = c.compact,
    mode = c.mode,
    resume = c.resume,
    debug = c.debug or vim.env.CALIBAN_DEBUG == '1',
    system = c.system,
    system_file = c.system_file and vim.fs.normalize(c.system_file),
    no_system = c.no_system,
    instructions = instructions,
    titles = c.titles,
    probe = c.probe,
    limit = c.limit,
    pass_env = c.pass_env,
    fetch_private = c.fetch_private,
    search = c.search or nil,
    permissions = c.permissions,
    safe_commands = c.safe_commands,
    sandbox = require('caliban.config.sandbox').wire(c.sandbox),
    mcp = require('caliban.config.mcp').wire(c.mcp),
  }
end

return M
