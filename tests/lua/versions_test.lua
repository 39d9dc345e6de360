--- Versions of a file on disk, as `git checkout` makes them, while the model's written hunks are under review. Whatever
--- other programs have written is never a hunk, and the model's own text brings back all hunks. `VERSIONS` and
--- `VERSIONS_SEED` set the number of stories and the seed.
local H = require('bench')
local B = require('caliban.review')
local T = {}
local eq = H.eq

local STORIES = tonumber(vim.env.VERSIONS) or 150
local SEED = tonumber(vim.env.VERSIONS_SEED) or 20

--- Few lines, so that texts by different hands have lines in common.
local WORDS = { 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', '}', '' }

local ticks = 0

---@param lines string[]
---@return string
local function text(lines)
  return #lines == 0 and '' or table.concat(lines, '\n') .. '\n'
end

--- A text that somebody has made of another one.
---@param lines string[]
---@param words string[]
---@return string[]
local function changed(lines, words)
  local out = vim.list_slice(lines)
  for _ = 1, math.random(1, 3) do
    local at, kind = math.random(1, #out + 1), math.random(1, 3)
    if kind ~= 1 and out[at] then
      table.remove(out, at)
    end
    for _ = 1, kind == 3 and 0 or math.random(1, 2) do
      table.insert(out, math.min(at, #out + 1), words[math.random(#words)])
    end
  end
  return #out == 0 and { 'a' } or out
end

--- Another program writes a version, and Neovim looks at the file.
---@param path string
---@param lines string[]
local function put(path, lines)
  H.write('f.txt', text(lines))
  ticks = ticks + 9
  -- Neovim compares times, which the file system may round
  vim.uv.fs_utime(path, os.time() + ticks, os.time() + ticks)
  vim.cmd('silent! checktime')
  H.settle()
end

---@param h { start: integer, removed: string[], added: string[] }
---@return string
local function key(h)
  return table.concat(h.removed, '\n') .. '\0' .. table.concat(h.added, '\n')
end

---@param version string[]
---@param of_model table<string, true>
---@param story string
---@return string[] base the text without the hunks
local function check(version, of_model, story)
  local base, row = {}, 0
  eq(version, require('caliban.editor.file').lines(0), 'the buffer: ' .. story)
  for _, h in ipairs(B.pending(0)) do
    assert(of_model[key(h)], "not the model's: " .. vim.inspect(h) .. story)
    eq(h.added, vim.list_slice(version, h.start + 1, h.start + #h.added), story)
    vim.list_extend(vim.list_extend(base, version, row + 1, h.start), h.removed)
    row = h.start + #h.added
  end
  return vim.list_extend(base, version, row + 1)
end

--- A story: the model's hunks are written, versions come and go, and the user decides.
local function tell()
  local base = {}
  for n = 1, math.random(3, 12) do
    base[n] = WORDS[math.random(#WORDS)]
  end
  local models = changed(base, { 'M1', 'M2', 'M3', 'a', '}' })
  if vim.deep_equal(base, models) then
    return
  end
  H.fresh()
  local path = H.write('f.txt', text(base))
  vim.cmd.edit(path)
  H.propose({ H.proposal(path, base, models, { at_once = true }) })
  local pending, of_model = H.pending(), {}
  for _, h in ipairs(B.pending(0)) do
    of_model[key(h)] = true
  end
  local versions, story = {}, { base = base, models = models }
  for n = 1, math.random(1, 4) do
    local make = {
      function()
        return base
      end,
      function()
        return models
      end,
      function()
        return changed(base, WORDS)
      end,
      function()
        return changed(models, WORDS)
      end,
      function()
        return versions[#versions] and changed(versions[#versions], WORDS) or base
      end,
    }
    local now = make[math.random(#make)]()
    versions[n], story[n] = now, now
    put(path, now)
    local said = vim.inspect(story)
    local without = check(now, of_model, said)
    if vim.deep_equal(now, models) then
      eq(pending, H.pending(), "the model's text: " .. said)
      eq(base, without, said)
    elseif vim.deep_equal(now, base) then
      eq('', H.pending(), 'the base: ' .. said)
    end
  end
  local now, said = versions[#versions], vim.inspect(story)
  local without = check(now, of_model, said)
  local accepts = math.random() < 0.3
  B[accepts and 'accept' or 'reject']({ scope = 'file' })
  H.settle()
  eq(text(accepts and now or without), H.disk('f.txt'), 'the end: ' .. said)
end

--- A version that has all lines of the base, and lines of its own elsewhere: the model's hunks are not in it.
local function other()
  local base = {}
  for n = 1, math.random(3, 10) do
    base[n] = WORDS[math.random(7, #WORDS)]
  end
  local models = changed(base, { 'M1', '}', '' })
  local now, own, runs = {}, 0, require('caliban.review.hunks.algebra').runs(base, models)
  -- the program's diff may cut a removal in another way than Neovim's
  local up = {} ---@type integer[]
  for n, d in ipairs(runs) do
    up[n] = d[1]
    local floor = n > 1 and runs[n - 1][1] + runs[n - 1][2] + 1 or 0
    while d[4] == 0 and up[n] > floor and base[up[n]] == base[up[n] + d[2]] do
      up[n] = up[n] - 1
    end
  end
  for row = 0, #base do
    local is_free = vim.iter(ipairs(runs)):all(function(n, d)
      return row < up[n] or d[1] + d[2] < row
    end)
    if is_free and math.random() < 0.3 then
      own = own + 1
      now[#now + 1] = 'other ' .. own
    end
    now[#now + 1] = base[row + 1]
  end
  if #runs == 0 or own == 0 then
    return
  end
  local story = vim.inspect({ base = base, models = models, now = now })
  H.fresh()
  local path = H.write('f.txt', text(base))
  vim.cmd.edit(path)
  local proposal = H.proposal(path, base, models, { at_once = true })
  for n, h in ipairs(proposal.hunks) do
    h.start = up[n]
  end
  H.propose({ proposal })
  eq(text(models), H.disk('f.txt'), 'written: ' .. story)
  put(path, now)
  eq('', H.pending(), 'pending: ' .. story)
  B.reject({ scope = 'file' })
  H.settle()
  eq(text(now), H.disk('f.txt'), 'on disk: ' .. story)
end

---@param tell_one fun()
local function check_all(tell_one)
  for n = 1, STORIES do
    math.randomseed(SEED + n)
    local ok, err = pcall(tell_one)
    if not ok then
      error(('VERSIONS_SEED=%d VERSIONS=1\n%s'):format(SEED + n - 1, err), 0)
    end
  end
end

function T.of_a_version_that_has_all_lines_of_the_base_no_hunk_is_under_review()
  check_all(other)
end

function T.what_another_program_writes_is_no_hunk_and_the_model_s_text_brings_all_hunks_back()
  check_all(tell)
end

return T
