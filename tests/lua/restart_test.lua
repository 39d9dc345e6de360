--- Hunks that wait for the user's decision, and another program that changes the file while Neovim is closed. The
--- environment variables `RESTARTS` and `RESTARTS_SEED` set the number of reviews and the first seed.
local H = require('bench')
local A = require('alike')
local B = require('caliban.review')
local K = require('keys.model')
local algebra = require('caliban.review.hunks.algebra')
local project = require('caliban.program.project')
local T = {}
local api = vim.api
local eq = H.eq

local REVIEWS = tonumber(vim.env.RESTARTS) or 150
local SEED = tonumber(vim.env.RESTARTS_SEED) or 1

local folder = '0'
project.folder_of = function()
  return vim.fn.getcwd() .. '/' .. folder
end
project.dir = project.folder_of

--- An empty project with one file that is open.
---@param lines string[]
---@return string path
local function begin(lines)
  H.fresh()
  folder = '0'
  vim.fn.mkdir('0')
  vim.fn.mkdir('1')
  local path = H.write('f.txt', A.text(lines))
  vim.cmd.edit(path)
  return path
end

--- Ends the review's Neovim and begins another one, as far as the review sees. `change` is called in between.
---@param path string
---@param change fun()
local function restart(path, change)
  local from = vim.fn.glob(vim.fn.getcwd() .. '/0/s.review-*', true, true)
  local names = vim.tbl_map(vim.fs.basename, from)
  eq(1, #names)
  for _, name in ipairs(names) do
    assert(vim.uv.fs_copyfile('0/' .. name, '1/' .. name))
  end
  vim.cmd('silent bwipeout!')
  H.settle()
  change()
  folder = '1'
  vim.cmd.edit(path)
  B.take_up({ session = 's', root = '', reviews = names })
  H.settle()
end

---@param hunk { removed: string[], added: string[] }
---@return string
local function key(hunk)
  return table.concat(hunk.removed, '\n') .. '\0' .. table.concat(hunk.added, '\n')
end

---@return string[]
local function base()
  local hunks = vim.tbl_map(function(h)
    return { start = h.start, new = h.added, old = h.removed }
  end, B.pending(0))
  return algebra.base(require('caliban.editor.file').lines(0), hunks)
end

local shown = 0

--- The hunks that wait stand on what the other program has written, and each is one that the model has proposed.
local function alike()
  local origin = A.made()
  local models = A.remade(origin, math.random() < 0.5 and 'model' or nil)
  local disk = A.remade(origin, math.random() < 0.5 and 'theirs' or nil)
  if #models == 0 or vim.deep_equal(origin, models) or A.text(disk):gsub('\n', '') == '' then
    return
  end
  local accepts = math.random() < 0.3
  local story = vim.inspect({ origin, models = models, disk = disk, accepts = accepts })
  local path = begin(origin)
  H.propose({ H.proposal(path, origin, models, { at_once = false }) })
  local known = {} ---@type table<string, true>
  local all = B.pending(0)
  for i = 1, #all do
    -- hunks that touch, because the other program has removed what was between them, become one
    local one = { removed = {}, added = {} } ---@type { removed: string[], added: string[] }
    for k = i, #all do
      vim.list_extend(one.removed, all[k].removed)
      vim.list_extend(one.added, all[k].added)
      known[key(one)] = true
    end
  end
  if accepts and #all > 1 then
    api.nvim_win_set_cursor(0, { all[1].start + 1, 0 })
    B.accept()
    H.settle()
  end
  restart(path, function()
    H.write('f.txt', A.text(disk))
  end)
  local list = B.pending(0)
  for _, h in ipairs(list) do
    assert(known[key(h)], 'a hunk that nobody has proposed: ' .. story .. vim.inspect(list))
  end
  local is_made = vim.iter(algebra.runs(origin, disk)):any(function(d)
    local old = vim.list_slice(origin, d[1] + 1, d[1] + d[2])
    local new = vim.list_slice(disk, d[3] + 1, d[3] + d[4])
    return vim.iter(all):any(function(h)
      return vim.deep_equal(h.removed, old) and vim.deep_equal(h.added, new)
    end)
  end)
  if is_made then
    -- rejecting takes back what the other program has written too
    return
  end
  shown = shown + #list
  eq(disk, base(), 'the base: ' .. story .. vim.inspect({ K.lines(), list }))
  B.reject({ scope = 'file' })
  H.settle()
  eq(disk, K.lines(), 'the end: ' .. story)
  eq(A.text(disk), H.disk('f.txt'), 'on disk: ' .. story)
end

function T.code_that_nobody_wrote_does_not_appear_after_a_restart()
  for n = 1, REVIEWS do
    math.randomseed(SEED + n)
    local ok, err = pcall(alike)
    if not ok then
      error(('RESTARTS_SEED=%d RESTARTS=1\n%s'):format(SEED + n - 1, err), 0)
    end
  end
  assert(REVIEWS < 9 or shown > REVIEWS / 9, 'hunks are under review again')
end

--- Another program adds a function beside the hunk.
function T.a_rejected_piece_of_a_hunk_gives_the_lines_of_the_file_after_a_restart()
  local f0 = { 'int f0(int x)', '{', '  return 0;', '}', '' }
  local f1 = { 'int f1(int x)', '{', '  x++;', '  return 1;', '}' }
  local other = { 'int new(int x)', '{', '  return x;', '}', '' }
  local function joined(...)
    return vim.iter({ ... }):flatten():totable()
  end
  local path = begin(joined(f0, f1))
  local models = joined(f0, '  model();', '  return 1;', '}')
  H.propose({ H.proposal(path, joined(f0, f1), models, { at_once = false }) })
  local disk = joined(f0, other, f1)
  restart(path, function()
    H.write('f.txt', A.text(disk))
  end)
  eq(joined(f0, other, '  model();', '  return 1;', '}'), K.lines())
  api.nvim_win_set_cursor(0, { B.pending(0)[1].start + 1, 0 })
  B.reject()
  H.settle()
  eq(disk, K.lines())
end

return T
