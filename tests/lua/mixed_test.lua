--- A review in mode ask with one hunk that is on disk (the user has written the file) and others that wait, and another
--- program that changes the file. The environment variables `MIXED` and `MIXED_SEED` set the number of reviews and the first
--- seed.
local H = require('bench')
local A = require('alike')
local B = require('caliban.review')
local K = require('keys.model')
local algebra = require('caliban.review.hunks.algebra')
local T = {}
local api = vim.api
local eq = H.eq

local REVIEWS = tonumber(vim.env.MIXED) or 150
local SEED = tonumber(vim.env.MIXED_SEED) or 1

---@return string[]
local function base()
  local hunks = vim.tbl_map(function(h)
    return { start = h.start, new = h.added, old = h.removed }
  end, B.pending(0))
  return algebra.base(K.lines(), hunks)
end

--- A text in which lines are in place of one line.
---@param lines string[]
---@param line string
---@param by string[]
---@return string[]
local function replaced(lines, line, by)
  local out = {} ---@type string[]
  for _, it in ipairs(lines) do
    vim.list_extend(out, it == line and by or { it })
  end
  return out
end

---@param lines string[]
---@param line string
---@return boolean
local function has(lines, line)
  return vim.list_contains(lines, line)
end

local tried, clashed = 0, 0

local function mixed()
  local origin = A.made()
  local at = math.random(#origin)
  local old = vim.list_slice(origin, at, at + math.random(0, 2) - 1)
  local first = vim.list_extend(vim.list_slice(origin, 1, at - 1), { 'first' })
  vim.list_extend(first, origin, at + #old)
  local second = A.remade(first, 'second')
  local disk = A.remade(first, math.random() < 0.5 and 'theirs' or nil)
  if not has(second, 'first') or not has(disk, 'first') then
    return
  end
  local story = vim.inspect({ origin = origin, first = first, second = second, disk = disk })
  H.fresh()
  K.story = {}
  local path = H.write('f.txt', A.text(origin))
  vim.cmd.edit(path)
  H.propose({ H.proposal(path, origin, first, { at_once = false }) })
  K.typed(':w!<CR>')
  H.settle()
  eq(A.text(first), H.disk('f.txt'))
  local written = B.pending(0)
  if #written ~= 1 or not vim.deep_equal(written[1].added, { 'first' }) then
    return
  end
  H.propose({ H.proposal(path, first, second, { at_once = false }) })
  local is_apart = vim.iter(B.pending(0)):any(function(h)
    return vim.deep_equal({ h.added, h.removed }, { { 'first' }, written[1].removed })
  end)
  if not is_apart then
    return
  end
  local list = B.pending(0)
  local is_made = vim.iter(algebra.runs(first, disk)):any(function(d)
    local was = vim.list_slice(first, d[1] + 1, d[1] + d[2])
    local new = vim.list_slice(disk, d[3] + 1, d[3] + d[4])
    return vim.iter(list):any(function(h)
      return vim.deep_equal({ h.removed, h.added }, { was, new })
    end)
  end)
  if is_made then
    -- rejecting takes back what the other program has written too
    return
  end
  H.write('f.txt', A.text(disk))
  vim.uv.fs_utime(path, os.time() + 9, os.time() + 9)
  vim.cmd('silent doautocmd FocusGained')
  H.settle()
  local r = B.of(api.nvim_get_current_buf())
  tried = tried + 1
  if not r or r.clash then
    clashed = clashed + 1
    return
  end
  local want = replaced(disk, 'first', written[1].removed)
  eq(want, base(), 'the base: ' .. story .. vim.inspect({ K.lines(), B.pending(0) }))
  B.reject({ scope = 'file' })
  H.settle()
  eq(want, K.lines(), 'the end: ' .. story)
  eq(A.text(want), H.disk('f.txt'), 'on disk: ' .. story)
end

function T.a_hunk_on_disk_and_hunks_that_wait_stand_on_what_another_program_writes()
  for n = 1, REVIEWS do
    math.randomseed(SEED + n)
    local ok, err = pcall(mixed)
    if not ok then
      error(('MIXED_SEED=%d MIXED=1\n%s'):format(SEED + n - 1, err), 0)
    end
  end
  assert(REVIEWS < 9 or tried > clashed, 'changes on disk are merged')
end

return T
