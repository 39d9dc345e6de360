--- Finds the owners of lines that a command (`:sort`, `:move`, `J`, `gq`, a filter) has moved. A
--- line in a hunk belongs to the agent, any other line to the user. Neovim reports moved lines as
--- removed and added, so a line that is removed and added again keeps its owner.
local M = {}

local index = require('caliban.review.hunks.index')
local algebra = require('caliban.review.hunks.algebra')

---@class caliban.Moved
---@field users table<string, integer> the user's lines that were removed, and how often
---@field agents table<string, integer> lines of hunks that were removed, and how often
---@field of table<string, integer[]> for each line: the keys of the hunks that contained the line
---@field fresh { row: integer, line: string }[] lines that were added and not removed again, unordered

---@return caliban.Moved
function M.new()
  return { users = {}, agents = {}, of = {}, fresh = {} }
end

---@param list caliban.Hunk[]
---@param rows integer[] ascending
---@return table<integer, caliban.Hunk> the hunk of each row, without rows outside of hunks
local function within(list, rows)
  local out = {} ---@type table<integer, caliban.Hunk>
  local k = 1
  for _, row in ipairs(rows) do
    while list[k] and list[k].start + #list[k].new <= row do
      k = k + 1
    end
    out[row] = list[k] and list[k].start <= row and list[k] or nil
  end
  return out
end

--- Notes that the lines `old` at row `first` were replaced by `new`.
---@param moved caliban.Moved
---@param near caliban.Hunk[] the hunks before the change, at least those in these rows
---@param first integer
---@param old string[]
---@param new string[]
function M.note(moved, near, first, old, new)
  local last, fresh = first + #old, {}
  local came = {} ---@type table<integer, boolean>
  for _, it in ipairs(moved.fresh) do
    if it.row >= first and it.row < last then
      came[it.row] = true
    else
      it.row = it.row + (it.row < first and 0 or #new - #old)
      fresh[#fresh + 1] = it
    end
  end
  local rows = {} ---@type integer[]
  for n = 1, #old do
    rows[n] = first + n - 1
  end
  local theirs = within(near, rows)
  for n, line in ipairs(old) do
    if not came[rows[n]] then
      local went = theirs[rows[n]] and moved.agents or moved.users
      went[line] = (went[line] or 0) + 1
      local hunk = theirs[rows[n]]
      moved.of[line] = hunk and algebra.both(moved.of[line], hunk.of) or moved.of[line]
    end
  end
  for n, line in ipairs(new) do
    fresh[#fresh + 1] = { row = first + n - 1, line = line }
  end
  moved.fresh = fresh
end

---@class caliban.Came
---@field mine integer[] rows outside of hunks
---@field theirs integer[] rows in hunks

--- The rows of the added lines.
---@param moved caliban.Moved
---@param all caliban.Hunks the hunks after the command
---@return table<string, caliban.Came> by line
local function came(moved, all)
  table.sort(moved.fresh, function(a, b)
    return a.row < b.row
  end)
  local rows = vim.tbl_map(function(it)
    return it.row
  end, moved.fresh) ---@type integer[]
  local theirs = within(index.near(all, rows[1], rows[#rows]), rows)
  local out = {} ---@type table<string, caliban.Came>
  for _, it in ipairs(moved.fresh) do
    local at = out[it.line] or { mine = {}, theirs = {} }
    out[it.line] = at
    table.insert(theirs[it.row] and at.theirs or at.mine, it.row)
  end
  return out
end

--- Adds the word counts of lines to `out`, or subtracts them.
---@param lines table<string, integer> the lines, and how often each occurs
---@param sign 1|-1
---@param out table<string, integer> for each word: how often it occurs
---@return table<string, integer> out
local function words(lines, sign, out)
  for line, n in pairs(lines) do
    for word in line:gmatch('%S+') do
      out[word] = (out[word] or 0) + sign * n
    end
  end
  return out
end

--- The rows in hunks that now have a word from the user's lines, because a command such as `gq` has
--- moved the word there.
---@param moved caliban.Moved
---@param lines table<string, caliban.Came>
---@return integer[]
local function flowed(moved, lines)
  local mine, taken = {}, false
  for line, rows in pairs(lines) do
    mine[line], taken = #rows.mine, taken or #rows.theirs > 0
  end
  -- counting the words of long lines takes time
  if not taken or next(moved.users) == nil then
    return {}
  end
  local lost = words(mine, -1, words(moved.users, 1, {}))
  local had = table.concat(vim.tbl_keys(moved.agents), '\n')
  local out = {}
  for word, n in pairs(lost) do
    for line, rows in pairs((n > 0 and not had:find(word, 1, true)) and lines or {}) do
      if #rows.theirs > 0 and line:find(word, 1, true) then
        vim.list_extend(out, rows.theirs)
      end
    end
  end
  return out
end

--- Removes the rows `to_user` from their hunks, and makes each row in `to_agent` a hunk.
---@param list caliban.Hunk[]
---@param to_user table<integer, boolean>
---@param to_agent { row: integer, line: string }[]
---@param of table<string, integer[]> for each line: the keys of the hunk that the line becomes
---@return caliban.Hunk[]
local function given(list, to_user, to_agent, of)
  local out = {} ---@type caliban.Hunk[]
  for _, hunk in ipairs(list) do
    ---@param start integer
    ---@param old string[]
    ---@return caliban.Hunk
    local function empty(start, old)
      return { start = start, new = {}, old = old, of = hunk.of, typed = hunk.typed }
    end
    local part = empty(hunk.start, hunk.old)
    part.loose = hunk.loose
    for n, line in ipairs(hunk.new) do
      local row = hunk.start + n - 1
      if to_user[row] then
        out[#out + 1] = part
        part = empty(row + 1, {})
      else
        table.insert(part.new, line)
      end
    end
    out[#out + 1] = part
  end
  for _, it in ipairs(to_agent) do
    out[#out + 1] = { start = it.row, new = { it.line }, old = {}, of = of[it.line] }
  end
  table.sort(out, function(a, b)
    return a.start < b.start or (a.start == b.start and #a.new < #b.new)
  end)
  return algebra.fused(out)
end

--- The hunks after the command. Each line that the command has removed and added again is given
--- back to its owner: first the user's lines, and the agent's lines only if the command added no
--- other lines.
---@param moved caliban.Moved
---@param all caliban.Hunks
---@return caliban.Hunks
function M.settled(moved, all)
  if #moved.fresh == 0 or next(moved.users) == nil and next(moved.agents) == nil then
    return all
  end
  local lines, pure = came(moved, all), true
  for line, rows in pairs(lines) do
    local had = (moved.users[line] or 0) + (moved.agents[line] or 0)
    pure = pure and #rows.mine + #rows.theirs <= had
  end
  local to_user, to_agent = {}, {}
  for line, rows in pairs(lines) do
    local users = moved.users[line] or 0
    for k = 1, math.min(users - #rows.mine, #rows.theirs) do
      to_user[rows.theirs[k]] = true
    end
    for k = users + 1, pure and #rows.mine or 0 do
      table.insert(to_agent, { row = rows.mine[k], line = line })
    end
  end
  for _, row in ipairs(not pure and flowed(moved, lines) or {}) do
    to_user[row] = true
  end
  if next(to_user) == nil and #to_agent == 0 then
    return all
  end
  return index.of(given(index.list(all), to_user, to_agent, moved.of))
end

return M
