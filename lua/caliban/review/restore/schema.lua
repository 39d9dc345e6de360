--- Checks the record of a review, because anybody may have written this file. The program has
--- already checked the paths in it (`Project::under_review`).
local M = {}

--- Every number in a record has to be less than this.
local MOST = 2 ^ 31

---@param value any
---@return boolean
local function is_count(value)
  return type(value) == 'number' and value >= 0 and value < MOST and value % 1 == 0
end

---@param kind string
---@return fun(value: any): boolean
local function is(kind)
  return function(value)
    return type(value) == kind
  end
end

---@param of fun(value: any): boolean
---@return fun(value: any): boolean
local function list(of)
  return function(value)
    -- an empty list is written as an object
    if type(value) ~= 'table' or next(value) ~= nil and not vim.islist(value) then
      return false
    end
    for _, it in ipairs(value) do
      if not of(it) then
        return false
      end
    end
    return true
  end
end

---@param of fun(value: any): boolean
---@return fun(value: any): boolean
local function maybe(of)
  return function(value)
    return value == nil or of(value)
  end
end

---@param fields table<string, fun(value: any): boolean>
---@return fun(value: any): boolean
local function has(fields)
  return function(value)
    if type(value) ~= 'table' then
      return false
    end
    for name, of in pairs(fields) do
      if not of(value[name]) then
        return false
      end
    end
    return true
  end
end

---@param value any
---@return boolean
local function is_kind(value)
  return value == 'delete' or value == 'rename' or value == 'create'
end

---@param value any
---@return boolean
local function is_key(value)
  return type(value) == 'number' and is_count(math.abs(value))
end

---@param value any
---@return boolean
local function is_fate(value)
  local fates = { 'accepted', 'reworked', 'rejected', 'reverted', 'thrown', 'left' }
  return vim.list_contains(fates, value)
end

---@param of fun(value: any): boolean
---@return fun(value: any): boolean
local function pair(of)
  local all = list(of)
  return function(value)
    return all(value) and #value == 2
  end
end

local lines = list(is('string'))
local edit = has({
  start = is_count,
  old = lines,
  new = lines,
  of = maybe(list(is_key)),
  typed = maybe(is('boolean')),
})
local decision = has({ fate = is_fate, of = list(is_key) })
local reason = has({
  of = maybe(list(is_key)),
  whole = maybe(is('boolean')),
  reason = is('string'),
})
local whole = has({
  kind = is_kind,
  from = is('string'),
  to = maybe(is('string')),
  done = is('boolean'),
  lines = maybe(lines),
  mode = maybe(is_count),
  form = maybe(has({ encoding = is('string'), format = is('string'), bom = is('boolean') })),
})
local proposal = has({
  id = is_count,
  calls = maybe(list(is('string'))),
  eol = pair(is('boolean')),
  key = maybe(is_count),
  count = maybe(is_count),
  edits = list(edit),
  text = is_count,
  whole = maybe(is_kind),
  to = maybe(is('string')),
})

--- Whether a value has the fields of a record, each of the right type.
M.is_one = has({
  version = function(value)
    return value == 1
  end,
  path = is('string'),
  create = is('boolean'),
  auto = is('boolean'),
  binary = is('boolean'),
  own = is('boolean'),
  eol = is('boolean'),
  decided = maybe(list(decision)),
  reasons = list(reason),
  was = maybe(is('string')),
  returned = maybe(is('boolean')),
  away = maybe(is('boolean')),
  whole = maybe(whole),
  folders = maybe(list(is('string'))),
  hunks = list(edit),
  agreed = maybe(list(edit)),
  base = is_count,
  origin = maybe(is_count),
  proposals = list(proposal),
  texts = list(pair(is_count)),
})

--- Whether a record contains the texts that it refers to, and its hunks are in order and within the base text.
---@param it table the record's first line
---@param texts string[][] the lines of each text after the first line
---@return boolean
function M.fits(it, texts)
  local base = texts[it.base]
  local is_there = base and (not it.origin or texts[it.origin] ~= nil)
  for _, proposal_of in ipairs(it.proposals) do
    local count = proposal_of.count ---@type integer?
    -- each change has at least one edit, so there are no more changes than edits
    local is_keyed = (count or 0) <= #proposal_of.edits
      and (count == nil) == (proposal_of.key == nil)
    is_there = is_there and is_keyed and texts[proposal_of.text] ~= nil
  end
  if not is_there or it.whole and it.whole.kind == 'rename' and not it.whole.to then
    return false
  end
  local hunks = it.hunks ---@type caliban.Hunk[]
  local row, delta = 0, 0 ---@type integer, integer
  for _, h in ipairs(hunks) do
    local at = h.start - delta
    if at < row or at + #h.old > #base then
      return false
    end
    row, delta = at + #h.old, delta + #h.new - #h.old
  end
  return true
end

return M
