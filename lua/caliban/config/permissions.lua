--- Checks the types of the permission rules in the settings. The program checks their meaning.
local M = {}

---@param value any
---@return string?
local function text(value)
  return type(value) ~= 'string' and 'a string' or nil
end

---@param value any
---@return string?
local function texts(value)
  local ok = type(value) == 'table' and vim.islist(value)
  for _, item in ipairs(ok and value or {}) do
    ok = ok and type(item) == 'string'
  end
  return not ok and 'a list of strings' or nil
end

---@type table<string, fun(value: any): string?>
local fields = {
  allow = text,
  ask = text,
  deny = text,
  command = text,
  path = text,
  host = text,
  group = text,
  reason = text,
  matches = texts,
  spares = texts,
}

--- The rules that are added if a rule of the user is not valid. With them every call needs consent,
--- because the invalid rule may have been one that denies.
---@type caliban.WrittenRule[]
local caution = { { ask = 'shell' }, { ask = 'edit' }, { ask = 'fetch' }, { deny = 'network' } }

--- Checks the rules and adds the problems to `problems`. Returns the rules that can be sent to the program.
---@param given any
---@param sift fun(path: string, given: table, checks: table, problems: string[]): table
---@param problems string[]
---@return caliban.WrittenRule[]
function M.check(given, sift, problems)
  local rules, before = {}, #problems
  local is_list = type(given) == 'table' and vim.islist(given)
  if not is_list then
    table.insert(problems, 'caliban: config.permissions: expected a list of rules')
  end
  for i, rule in ipairs(is_list and given or {}) do
    local path = ('config.permissions[%d]'):format(i)
    if type(rule) == 'table' then
      local count = #problems
      local good = sift(path, rule, fields, problems)
      if #problems == count then
        table.insert(rules, next(good) and good or vim.empty_dict())
      end
    else
      table.insert(problems, ('caliban: %s: expected a table'):format(path))
    end
  end
  if #problems > before then
    table.insert(
      problems,
      'caliban: config.permissions: until you correct the rules, '
        .. 'every command, edit and web page needs your consent'
    )
    vim.list_extend(rules, caution)
  end
  return rules
end

return M
