--- Finds the owners of lines that a command (`:sort`, `:move`, `J`, `gq`, a filter) has moved, or that one command has
--- cut and another has put. A line in a hunk belongs to the agent, any other line to the user. A line that is removed
--- and added again keeps its owner.
local M = {}

local index = require('caliban.review.hunks.index')
local algebra = require('caliban.review.hunks.algebra')

---@class caliban.Moved
---@field users table<string, integer> the user's lines that were removed, and how often
---@field agents table<string, integer> lines of hunks that were removed, and how often
---@field of table<string, integer[]> for each line: the keys of the hunks that contained the line
---@field fresh { row: integer, line: string }[] lines that were added, ascending

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

--- Notes the lines that an edit has removed and added.
---@param moved caliban.Moved
---@param edit caliban.NetEdit
---@param hunks caliban.Hunks the hunks before the edit
---@param back table<integer, boolean> rows of lines of the base that are there again
local function note(moved, edit, hunks, back)
  local rows = {} ---@type integer[]
  for n = 1, #edit.old do
    rows[n] = edit.first + n - 1
  end
  local theirs = #rows > 0 and within(index.near(hunks, edit.first, edit.last), rows) or {}
  for n, line in ipairs(edit.old) do
    local hunk = theirs[rows[n]]
    local went = hunk and moved.agents or moved.users
    went[line] = (went[line] or 0) + 1
    moved.of[line] = hunk and algebra.both(moved.of[line], hunk.of) or moved.of[line]
  end
  -- lines of the base that are there again are not those that the command has removed elsewhere
  for n, line in ipairs(edit.restores and {} or edit.new) do
    local row = edit.at + n - 1
    moved.fresh[#moved.fresh + 1] = not back[row] and { row = row, line = line } or nil
  end
end

---@class caliban.Came
---@field mine integer[] rows outside of hunks
---@field theirs integer[] rows in hunks

--- The rows of the added lines.
---@param moved caliban.Moved
---@param all caliban.Hunks the hunks after the command
---@return table<string, caliban.Came> by line
local function came(moved, all)
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

--- The parts of a hunk after it has lost rows.
---@param hunk caliban.Hunk
---@param lost table<integer, boolean>
---@param out caliban.Hunk[] gets the parts
local function parted(hunk, lost, out)
  ---@param start integer
  ---@param old string[]
  ---@return caliban.Hunk
  local function empty(start, old)
    return {
      start = start,
      new = {},
      old = old,
      of = hunk.of,
      typed = hunk.typed,
      mixed = hunk.mixed,
    }
  end
  local part, whole = empty(hunk.start, hunk.old), true
  part.loose = hunk.loose
  for n, line in ipairs(hunk.new) do
    local row = hunk.start + n - 1
    if lost[row] then
      out[#out + 1] = part
      part, whole = empty(row + 1, {}), false
    else
      table.insert(part.new, line)
    end
  end
  out[#out + 1] = whole and hunk or part
end

--- Moves a hunk without lines to a row that becomes a hunk, if only the user's own lines are between them: the lines
--- that it has removed were in that place. Lines that may have text of the base are not only the user's own: the removed
--- lines stay above or below that text.
---@param list caliban.Hunk[]
---@param row integer
local function move_to(list, row)
  for k, hunk in ipairs(list) do
    local from, upto = hunk.start - (hunk.above or 0), hunk.start + (hunk.below or 0)
    if #hunk.new == 0 and not hunk.mixed and from <= row and row < upto then
      list[k] = vim.tbl_extend('force', {}, hunk, { start = row, above = 0, below = 0 })
    end
  end
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
    parted(hunk, to_user, out)
  end
  for _, it in ipairs(to_agent) do
    move_to(out, it.row)
    out[#out + 1] = { start = it.row, new = { it.line }, old = {}, of = of[it.line] }
  end
  table.sort(out, function(a, b)
    return a.start < b.start or (a.start == b.start and #a.new < #b.new)
  end)
  return algebra.fused(out)
end

--- The rows of added lines that change their owner, and of those that the command has moved and that keep it.
---@param moved caliban.Moved
---@param all caliban.Hunks
---@return table<integer, boolean> to_user
---@return { row: integer, line: string }[] to_agent
---@return table<integer, boolean> kept
local function owners(moved, all)
  local to_user, to_agent, kept = {}, {}, {}
  if next(moved.users) == nil and next(moved.agents) == nil then
    return to_user, to_agent, kept
  end
  local lines, pure = came(moved, all), true
  for line, rows in pairs(lines) do
    local had = (moved.users[line] or 0) + (moved.agents[line] or 0)
    pure = pure and #rows.mine + #rows.theirs <= had
  end
  for line, rows in pairs(lines) do
    local users, agents = moved.users[line] or 0, moved.agents[line] or 0
    for k, row in ipairs(rows.mine) do
      kept[row] = k <= users or nil
    end
    for k, row in ipairs(rows.theirs) do
      kept[row] = k > #rows.theirs - agents or nil
    end
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
  return to_user, to_agent, kept
end

---@class caliban.Gone lines that the user has removed with nothing in their place, and how often
---@field agents table<string, integer> lines of hunks
---@field users table<string, integer> other lines
---@field of table<string, integer[]> for each line of hunks: the keys of its hunks

--- The lines that are gone after the command: those that were before it, and those that it has removed.
---@param gone caliban.Gone
---@param edits caliban.NetEdit[]
---@param before caliban.Hunks
---@return caliban.Gone
function M.removed(gone, edits, before)
  local out ---@type caliban.Gone?
  for _, edit in ipairs(edits) do
    if #edit.new == 0 then
      out = out or vim.deepcopy(gone)
      local rows = {} ---@type integer[]
      for n = 1, #edit.old do
        rows[n] = edit.first + n - 1
      end
      local theirs = within(index.near(before, edit.first, edit.last), rows)
      for n, line in ipairs(edit.old) do
        local hunk = theirs[rows[n]]
        local whose = hunk and out.agents or out.users
        whose[line] = (whose[line] or 0) + 1
        out.of[line] = hunk and algebra.both(out.of[line], hunk.of) or out.of[line]
      end
    end
  end
  return out or gone
end

--- Finds added lines that were gone. A line without a letter, such as `}`, is one only next to another.
---@param edits caliban.NetEdit[]
---@param counts table<string, integer> the lines that are gone; those found are taken away
---@param may fun(row: integer): boolean
---@return { row: integer, line: string }[]
local function put_back(edits, counts, may)
  local out = {}
  for _, edit in ipairs(next(counts) and edits or {}) do
    local took, has_letter = {}, false
    for n = 1, edit.restores and 0 or #edit.new + 1 do
      local line, row = edit.new[n], edit.at + n - 1
      if line and (counts[line] or 0) > 0 and may(row) then
        counts[line] = counts[line] - 1
        took[#took + 1] = { row = row, line = line }
        has_letter = has_letter or line:find('[%w\128-\255]') ~= nil
      else
        for _, it in ipairs(took) do
          if has_letter then
            out[#out + 1] = it
          else
            counts[it.line] = counts[it.line] + 1
          end
        end
        took, has_letter = {}, false
      end
    end
  end
  return out
end

--- The hunks after a command. Each line that the command has removed and added again is given
--- back to its owner: first the user's lines, and the agent's lines only if the command added no
--- other lines.
---@param edits caliban.NetEdit[] what the command has changed
---@param before caliban.Hunks the hunks before the command
---@param after { raw: caliban.Hunks, tight: caliban.Hunks } the hunks after it, before and after `index.tighten`
---@param gone caliban.Gone the lines that were gone before the command
---@param back table<integer, boolean> rows of lines of the base that the command has put back
---@return caliban.Hunks
---@return caliban.Gone
function M.settled(edits, before, after, gone, back)
  local moved = { users = {}, agents = {}, of = {}, fresh = {} } ---@type caliban.Moved
  for _, edit in ipairs(edits) do
    note(moved, edit, before, back)
  end
  if #moved.fresh == 0 then
    return after.tight, M.removed(gone, edits, before)
  end
  local to_user, to_agent, kept = owners(moved, after.raw)
  local left = vim.deepcopy(gone)
  ---@param row integer
  ---@return boolean
  local function is_agents(row)
    return within(index.near(after.raw, row, row + 1), { row })[row] ~= nil
  end
  -- of equal lines of both, the user's come back first
  local users = put_back(edits, left.users, function(row)
    return not kept[row] and not back[row]
  end)
  for _, it in ipairs(users) do
    kept[it.row] = true
    to_user[it.row] = is_agents(it.row) or nil
  end
  local given_back = {} ---@type table<integer, boolean>
  for _, it in ipairs(to_agent) do
    given_back[it.row] = true
  end
  local again = put_back(edits, left.agents, function(row)
    return not (back[row] or given_back[row] or kept[row] or is_agents(row))
  end)
  vim.list_extend(to_agent, again)
  local all = after.tight
  if next(to_user) ~= nil or #to_agent > 0 then
    local of = vim.tbl_extend('keep', moved.of, left.of)
    all = index.of(given(index.list(all), to_user, to_agent, of))
  end
  return all, M.removed(left, edits, before)
end

return M
