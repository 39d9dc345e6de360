--- Changes on disk beside, in and away from the hunks under review, compared with a plain model: a list of changes of
--- the base, by the agent, by the user and by another program. The environment variables `MERGES` and `MERGES_SEED`
--- set the number of reviews and the seed.
local H = require('bench')
local A = require('alike')
local B = require('caliban.review')
local merge = require('caliban.review.hunks.merge').merge
local algebra = require('caliban.review.hunks.algebra')
local T = {}
local eq, l = H.eq, H.l
local api = vim.api

local REVIEWS, SEED = tonumber(vim.env.MERGES) or 400, tonumber(vim.env.MERGES_SEED) or 3

---@param origin string
---@param disk string
---@param mine string
---@return string the merged words, and the number of conflicts
local function merged(origin, disk, mine)
  local edits, clashes = merge(l(origin), l(disk), l(mine))
  local out = l(mine)
  for i = #edits, 1, -1 do
    local e = edits[i]
    for _ = 1, e.count do
      table.remove(out, e.start + 1)
    end
    for n, line in ipairs(e.lines) do
      table.insert(out, e.start + n, line)
    end
  end
  return table.concat(out, ' ') .. ' ' .. clashes
end

function T.a_merge_takes_changes_on_disk_of_other_lines_than_those_that_the_buffer_has_changed()
  local rows = {
    -- origin, disk, mine, merged
    { 'a b c d', 'A b c d', 'a b X d', 'A b X d 0' },
    { 'a b c d', 'a b c d D', 'n n a b X d', 'n n a b X d D 0' },
    { 'a b c d', 'a b Y d', 'a b X d', 'a b X d 1' },
    { 'a b c d', 'a b X d', 'a b X d', 'a b X d 0' },
    -- adjacent changes do not conflict
    { 'a b c d', 'a B c d', 'a b X d', 'a B X d 0' },
    { 'a b c d', 'a b c D', 'a b X d', 'a b X D 0' },
    { 'a b c d', 'a b n c d', 'a b X d', 'a b n X d 0' },
    { 'a b c d', 'a b c n d', 'a b X d', 'a b X n d 0' },
    { 'a b c d', 'a b n c d', 'a b d', 'a b n d 0' },
    { 'a b c d', 'a b c n d', 'a b d', 'a b n d 0' },
    { 'a b c d', 'a c d', 'a b d', 'a d 0' },
    { 'a b c d', 'a X c d', 'a n b c d', 'a n X c d 0' },
    { 'a b c d', 'X b c d', 'a n b c d', 'X n b c d 0' },
    { 'a b c d', 'A B c D', 'a b X d', 'A B X D 0' },
    -- nobody can say which of two insertions at one place comes first
    { 'a b', 'a n b', 'a m b', 'a m b 1' },
    { 'a b', 'a n b', 'a n b', 'a n b 0' },
    { 'a b c d', 'a b n c d', 'a X Y d', 'a X Y d 1' },
    { 'a b c d', 'a X d', 'a b n c d', 'a b n c d 1' },
    { '', 'a', 'b', 'b 1' },
    { 'a', '', 'a b', 'b 0' },
  }
  for _, row in ipairs(rows) do
    eq(row[4], merged(row[1], row[2], row[3]), table.concat(row, ' | '))
  end
end

------------------------------------------------------------------------------------------------- the model

---@class Op the lines [first, last) of the base become `new`
---@field first integer
---@field last integer
---@field new string[]
---@field by 'agent'|'user'|'disk'

local serial = 0

---@param by string
---@param count integer
---@return string[]
local function words(by, count)
  local out = {}
  for i = 1, count do
    serial = serial + 1
    out[i] = by .. serial
  end
  return out
end

--- Random changes of a base with so many lines, at least `apart` lines from each other.
---@param by 'agent'|'user'|'disk'
---@param size integer
---@param most integer
---@param apart integer
---@return Op[]
local function ops(by, size, most, apart)
  local out, row = {}, math.random(0, 4)
  while row <= size and #out < most do
    local last = math.min(size, row + math.random(0, 2))
    local count = math.random(0, 2)
    if last > row or count > 0 then
      out[#out + 1] = { first = row, last = last, new = words(by, count), by = by }
      row = last
    end
    row = row + math.random(apart, 4)
  end
  return out
end

---@param one Op
---@param other Op
---@return boolean
local function clash(one, other)
  if one.first == one.last and other.first == other.last then
    return one.first == other.first
  end
  return one.first < other.last and other.first < one.last
end

--- The base with these changes, of which none clash. At one row, an insertion comes before a change of the line there,
--- and after a change of the line above.
---@param size integer
---@param ... Op[]
---@return string[]
local function applied(size, ...)
  local all = {} ---@type Op[]
  for _, list in ipairs({ ... }) do
    vim.list_extend(all, list)
  end
  table.sort(all, function(one, other)
    return one.first < other.first or one.first == other.first and one.last < other.last
  end)
  local out, row = {}, 0
  for _, it in ipairs(all) do
    for n = row + 1, it.first do
      out[#out + 1] = 'l' .. n
    end
    vim.list_extend(out, it.new)
    row = it.last
  end
  for n = row + 1, size do
    out[#out + 1] = 'l' .. n
  end
  return out
end

---@param list Op[]
---@param others Op[]
---@return Op[] those that clash with none of the others
---@return boolean whether some clash
local function free(list, others)
  local out = vim.tbl_filter(function(it)
    return not vim.iter(others):any(function(other)
      return clash(it, other)
    end)
  end, list)
  return out, #out < #list
end

--- The lines that rejecting all pending hunks would leave.
---@return string[]
local function base()
  local hunks = vim.tbl_map(function(h)
    return { start = h.start, new = h.added, old = h.removed }
  end, B.pending(0))
  return algebra.base(require('caliban.editor.file').lines(0), hunks)
end

local text = A.text

--- A review in mode ask: the agent's hunks and changes typed by the user are in the buffer when another program changes
--- the file on disk.
local function asked()
  local size = math.random(1, 9)
  local agent = ops('agent', size, 3, 1)
  local user = free(ops('user', size, math.random(0, 1), 1), agent)
  -- lines of the user beside a hunk would be part of the same change of the buffer
  user = vim.tbl_filter(function(it)
    return not vim.iter(agent):any(function(other)
      return it.first <= other.last and other.first <= it.last
    end)
  end, user)
  local mine = vim.list_extend(vim.list_slice(agent), user)
  local disk, clashes = free(ops('disk', size, 3, 1), mine)
  if clashes or #agent == 0 then
    return
  end
  local story = vim.inspect({ size = size, agent = agent, user = user, disk = disk })
  H.fresh()
  local path = H.write('f.txt', text(applied(size)))
  vim.cmd.edit(path)
  local before = applied(size)
  H.propose({ H.proposal(path, before, applied(size, agent)) })
  local typed = applied(size, agent, user)
  local runs = algebra.runs(applied(size, agent), typed)
  for k = #runs, 1, -1 do
    local d = runs[k]
    require('caliban.editor.file').put(0, d[1], d[2], vim.list_slice(typed, d[3] + 1, d[3] + d[4]))
  end
  H.settle()
  H.write('f.txt', text(applied(size, disk)))
  -- Neovim compares times, which the file system may round
  vim.uv.fs_utime(path, os.time() + 9, os.time() + 9)
  vim.cmd('silent doautocmd FocusGained')
  H.settle()
  local file = require('caliban.editor.file')
  eq(applied(size, agent, user, disk), file.lines(0), story)
  if #B.pending(0) > 0 then
    eq(applied(size, user, disk), base(), 'the base: ' .. story)
  end
  local accepts = math.random() < 0.5
  B[accepts and 'accept' or 'reject']({ scope = 'file' })
  H.settle()
  local want = accepts and applied(size, agent, user, disk) or applied(size, user, disk)
  eq(want, file.lines(0), 'the end: ' .. story)
  if #user == 0 then
    eq(text(want), H.disk('f.txt'), 'on disk: ' .. story)
  end
end

--- A review in mode auto-edit: the hunks are on disk when another program changes the file there and restores the lines
--- of the base for some of the hunks.
local function written()
  local size = math.random(1, 9)
  local agent = ops('agent', size, 3, 1)
  local disk, clashes = free(ops('disk', size, 2, 1), agent)
  local left = vim.tbl_filter(function()
    return math.random() < 0.5
  end, agent)
  -- where lines were removed on disk, nobody can say which of the new lines there are above their place; and of other
  -- lines where the agent's new lines were, nobody can say whether they replace them
  local unclear = vim.iter(disk):any(function(it)
    return vim.iter(agent):any(function(other)
      local is_thrown = other.first == other.last and not vim.list_contains(left, other)
      local touches = it.first <= other.last and other.first <= it.last
      return (#other.new == 0 or is_thrown) and touches
    end)
  end)
  -- a hunk leaves the review if the lines on both sides of it are others
  unclear = unclear
    or vim.iter(agent):any(function(other)
      local above, below = false, false
      for _, it in ipairs(disk) do
        above, below = above or it.last == other.first, below or it.first == other.last
      end
      return above and below
    end)
  if clashes or unclear or #agent == 0 then
    return
  end
  local story = vim.inspect({ size = size, agent = agent, left = left, disk = disk })
  H.fresh()
  local path = H.write('f.txt', text(applied(size)))
  vim.cmd.edit(path)
  H.propose({ H.proposal(path, applied(size), applied(size, agent), { at_once = true }) })
  eq(text(applied(size, agent)), H.disk('f.txt'), 'written: ' .. story)
  local now = applied(size, left, disk)
  H.write('f.txt', text(now))
  vim.uv.fs_utime(path, os.time() + 9, os.time() + 9)
  vim.cmd('silent! checktime')
  H.settle()
  local file = require('caliban.editor.file')
  eq(now, file.lines(0), story)
  if #B.pending(0) > 0 then
    eq(applied(size, disk), base(), 'the base: ' .. story)
  else
    eq(0, #left, 'pending: ' .. story)
  end
  local accepts = math.random() < 0.5
  B[accepts and 'accept' or 'reject']({ scope = 'file' })
  H.settle()
  local want = accepts and now or applied(size, disk)
  eq(want, file.lines(0), 'the end: ' .. story)
  eq(text(want), H.disk('f.txt'), 'on disk: ' .. story)
end

--- A review in mode ask of texts with few distinct lines: if everything is rejected, the bytes that another program has
--- written beside, in or away from the hunks stay, and so do the lines that the user has typed.
local function alike()
  local origin = A.made()
  local models = A.remade(origin, math.random() < 0.5 and 'model' or nil)
  local disk = A.remade(origin, math.random() < 0.5 and 'theirs' or nil)
  if vim.deep_equal(origin, models) or text(disk):gsub('\n', '') == '' then
    return
  end
  local story = vim.inspect({ base = origin, models = models, disk = disk })
  H.fresh()
  local path = H.write('f.txt', text(origin))
  vim.cmd.edit(path)
  H.propose({ H.proposal(path, origin, models) })
  local file = require('caliban.editor.file')
  local typed = {} ---@type string[]
  for _ = 1, math.random(0, 1) do
    local row = math.random(0, #models)
    local is_inside = vim.iter(B.pending(0)):any(function(h)
      return h.start < row and row < h.start + #h.added
    end)
    if not is_inside then
      file.put(0, row, 0, { 'user' })
      typed[1] = 'user'
    end
  end
  H.settle()
  local list = B.pending(0)
  H.write('f.txt', text(disk))
  vim.uv.fs_utime(path, os.time() + 9, os.time() + 9)
  vim.cmd('silent doautocmd FocusGained')
  H.settle()
  ---@param lines string[]
  local function theirs(lines)
    return vim.tbl_filter(function(line)
      return line ~= 'user'
    end, lines)
  end
  local is_same = vim.iter(algebra.runs(origin, disk)):any(function(d)
    local old = vim.list_slice(origin, d[1] + 1, d[1] + d[2])
    local new = vim.list_slice(disk, d[3] + 1, d[3] + d[4])
    return vim.iter(list):any(function(h)
      return vim.deep_equal(h.removed, old) and vim.deep_equal(h.added, new)
    end)
  end)
  local r = assert(B.of(api.nvim_get_current_buf()), story)
  if is_same then
    return
  elseif not r.clash then
    eq(disk, theirs(base()), 'the base: ' .. story .. vim.inspect({ file.lines(0), B.pending(0) }))
  end
  eq(#typed, #vim.tbl_filter(function(line)
    return line == 'user'
  end, file.lines(0)), 'typed: ' .. story)
  local clash = r.clash
  if not clash and math.random() < 0.3 then
    H.sent()
    B.accept({ scope = 'file' })
    for _, message in ipairs(H.sent()) do
      -- nobody has changed a line of the hunks
      local said = vim.inspect(message.decisions)
      assert(not said:find('reworked'), said .. story)
    end
    return
  end
  B.reject({ scope = 'file' })
  H.settle()
  eq(text(disk), H.disk('f.txt'), 'on disk: ' .. story)
  if not clash then
    eq(disk, theirs(file.lines(0)), 'the end: ' .. story)
  end
end

---@param review fun()
local function check(review)
  for n = 1, REVIEWS do
    math.randomseed(SEED + n)
    local ok, err = pcall(review)
    if not ok then
      error(('MERGES_SEED=%d MERGES=1\n%s'):format(SEED + n - 1, err), 0)
    end
  end
end

function T.changes_on_disk_beside_hunks_are_merged_and_none_is_lost_or_doubled()
  check(asked)
end

function T.bytes_that_another_program_has_written_stay_if_everything_is_rejected()
  check(alike)
end

function T.hunks_that_another_program_has_thrown_away_on_disk_are_not_pending_any_more()
  check(written)
end

return T
