--- Random scripts of real keys in several windows, of edits by plugins, of decisions and restarts, compared with a model
--- that knows nothing of what Neovim reports: the text of the base, the text of the buffer, and what each act does to
--- both. The environment variables `KEYS` and `KEYS_SEED` set the number of scripts and the seed of the first one.
local H = require('bench')
local B = require('caliban.review')
local K = require('keys.model')
local ACTS = require('keys.acts')
local T = {}
local api = vim.api

local SCRIPTS, SEED = tonumber(vim.env.KEYS) or 500, tonumber(vim.env.KEYS_SEED) or 1
local STEPS = 12

--- What a proposal makes of the lines: some are removed, others added.
---@param now string[]
---@param plain boolean whether its words are those of a small alphabet
---@return string[]
local function proposed(now, plain)
  local after = vim.list_slice(now)
  for _ = 1, math.random(3) do
    local at = math.random(0, #after)
    for _ = 1, math.min(#after - at, math.random(0, 2)) do
      table.remove(after, at + 1)
    end
    for k = 1, math.random(0, 3) do
      table.insert(after, at + k, plain and ({ 'a', 'b', '', '}' })[math.random(4)] or K.word('x'))
    end
  end
  return after
end

---@param auto boolean
---@param plain boolean
---@return boolean whether there was something to propose
local function propose(auto, plain)
  local before = K.look()
  local after = proposed(before.text, plain)
  if vim.deep_equal(after, before.text) then
    return false
  end
  K.story[#K.story + 1] = 'the agent: ' .. table.concat(after, ',')
  H.propose({ H.proposal(api.nvim_buf_get_name(0), before.text, after, { at_once = auto }) })
  local now = K.look()
  K.check(vim.deep_equal(after, now.text), 'a proposal gives its text', before, now)
  K.check(vim.deep_equal(before.base, now.base), 'and leaves the base', before, now)
  return true
end

---@return boolean whether anything was decided: no hunk may be in the rows
local function decide()
  local before, verdict = K.look(), math.random() < 0.5 and 'accept' or 'reject'
  local row = math.random(math.max(1, #before.text))
  api.nvim_win_set_cursor(0, { row, 0 })
  local scope = ({ 'hunk', 'range', 'hunk', 'range', 'file' })[math.random(5)]
  local range = scope == 'range' and { row, math.random(row, #before.text) } or nil
  K.story[#K.story + 1] = ('%s %s %d'):format(verdict, scope, row)
  B[verdict]({ scope = scope, range = range })
  local after = K.look()
  if verdict == 'accept' then
    K.check(vim.deep_equal(before.text, after.text), 'accepting leaves the buffer', before, after)
  else
    K.check(vim.deep_equal(before.base, after.base), 'rejecting leaves the base', before, after)
  end
  return not vim.deep_equal(before.hunks, after.hunks)
end

local BACK =
  { 'u', 'u', '2u', '<C-r>', 'g-', 'g+', ':earlier 2<CR>', ':later 1<CR>', ':undo N<CR>' }

--- Forgets the states before a decision from which commands that changed nothing have led to it: undoing such a command
--- takes no decision back.
---@param states table<integer, Look>
---@param now Look
local function forget_same(states, now)
  local seq = now.seq - 1
  while seq >= 0 and (not states[seq] or vim.deep_equal(states[seq].text, now.text)) do
    states[seq], seq = nil, seq - 1
  end
end

--- Undoes or redoes something: a known state has its text and its base again.
---@param states table<integer, Look>
local function undo(states)
  local before = K.look()
  local keys = BACK[math.random(#BACK)]
  if keys == ':undo N<CR>' then
    local seqs = vim.tbl_keys(states) ---@type integer[]
    table.sort(seqs)
    keys = (':undo %d<CR>'):format(seqs[math.random(#seqs)])
  end
  K.typed(keys)
  local after = K.look()
  local known = states[after.seq]
  local same = vim.deep_equal({ before.text, before.base }, { after.text, after.base })
  if known and not same then
    K.check(vim.deep_equal(known.text, after.text), 'undo gives the text back', known, after)
    K.check(vim.deep_equal(known.base, after.base), 'and the base', known, after)
  end
  return before
end

local runs = 0

--- The folder of the records is another one after each restart, because a Neovim reads a record only once.
require('caliban.program.project').folder_of = function()
  return vim.fn.getcwd() .. '/' .. runs
end
require('caliban.program.project').dir = require('caliban.program.project').folder_of

local function options()
  -- `gq` wraps lines; typing neither wraps nor indents them
  vim.bo.textwidth, vim.bo.formatoptions, vim.bo.autoindent = 12, 'q', false
end

--- Ends this Neovim and starts another one, as far as the review can tell: the record is written as at the end of
--- Neovim, the buffer is gone, and the record is taken up. Nothing is pending differently afterwards. Text that would be
--- lost without a review, too, is written before.
---@param states table<integer, Look>
local function restart(states)
  local before = K.look()
  local path = api.nvim_buf_get_name(0)
  local disk = vim.fn.readfile(path)
  local is_same = vim.deep_equal(disk, before.base) or vim.deep_equal(disk, before.text)
  if #before.hunks == 0 or #before.text == 0 or #before.base == 0 then
    return
  elseif not is_same or math.random() < 0.5 then
    K.typed(':w!<CR>')
  end
  K.story[#K.story + 1] = 'restart'
  vim.cmd('silent! only')
  api.nvim_exec_autocmds('VimLeavePre', { group = 'caliban.review.restore.record' })
  local from = vim.fn.glob(vim.fn.getcwd() .. '/' .. runs .. '/s.review-*', true, true)
  H.eq(1, #from, 'one record: ' .. table.concat(K.story, ' | '))
  local name = vim.fs.basename(from[1])
  vim.fn.mkdir(tostring(runs + 1))
  assert(vim.uv.fs_copyfile(from[1], ('%d/%s'):format(runs + 1, name)))
  vim.cmd('silent bwipeout!')
  H.settle()
  runs = runs + 1
  vim.cmd.edit(path)
  options()
  B.take_up({ session = 's', root = '', reviews = { name } })
  local after = K.look()
  K.check(vim.deep_equal(before.text, after.text), 'a restart keeps the text', before, after)
  K.check(vim.deep_equal(before.base, after.base), 'and the base', before, after)
  for seq in pairs(states) do
    states[seq] = nil
  end
  K.recent = {}
end

--- Splits the window, closes it, or goes to another one with the same buffer.
local function windows()
  local keys = { '<C-w>s', '<C-w>v', '<C-w>w', '<C-w>W', '<C-w>o' }
  K.typed(keys[math.random(#keys)])
end

---@param states table<integer, Look>
---@param plain boolean
---@param auto number the share of proposals in auto-edit mode
local function step(states, plain, auto)
  local before, dice = K.look(), math.random()
  states[before.seq] = before
  K.recent[#K.recent + 1] = before
  if dice < 0.1 then
    K.recent = propose(math.random() < auto, plain) and {} or K.recent
  elseif dice < 0.2 then
    if decide() then
      K.recent = {}
      forget_same(states, K.look())
    end
  elseif dice < 0.3 then
    undo(states)
  elseif dice < 0.33 then
    restart(states)
  elseif dice < 0.38 then
    windows()
  else
    local names = plain
        and {
          'change_nothing',
          'make_the_buffer_the_base',
          'delete_a_line',
          'put_the_base_back',
          'get_and_put_changes',
        }
      or vim.fn.sort(vim.tbl_keys(ACTS))
    local judge = #before.text > 0 and ACTS[names[math.random(#names)]](before)
    local after = K.look()
    if judge and not K.is_back(after) then
      judge(after)
    end
  end
  local now = K.look()
  states[now.seq] = now
end

--- Ends a script: accepts or rejects what is left.
local function finish()
  local before, accepts = K.look(), math.random() < 0.5
  B[accepts and 'accept' or 'reject']({ scope = 'file' })
  local after = K.look()
  K.check(
    vim.deep_equal(accepts and before.text or before.base, after.text),
    'the end',
    before,
    after
  )
  K.check(#after.hunks == 0, 'nothing is left', before, after)
  if not accepts and #before.hunks > 0 then
    K.typed('u')
    local undone = K.look()
    K.check(vim.deep_equal(before.text, undone.text), 'the decision is taken back', before, undone)
    K.check(vim.deep_equal(before.base, undone.base), 'and the base is the same', before, undone)
  end
end

---@param seed integer
local function script(seed)
  math.randomseed(seed)
  K.story, K.serial = {}, 0
  H.fresh()
  -- most scripts have one mode, some mix them
  local plain, auto, start = math.random() < 0.3, ({ 0, 0, 1, 0.5 })[math.random(4)], {}
  for i = 1, math.random(3, 9) do
    start[i] = plain and ({ 'a', 'b', '', '}' })[math.random(4)] or K.word('b')
    start[i] = (not plain and math.random() < 0.3) and start[i] .. ' ' .. K.word('b') or start[i]
  end
  runs = 0
  vim.fn.mkdir('0')
  vim.cmd('silent! only')
  vim.cmd.edit(H.write('f.txt', table.concat(start, '\n') .. '\n'))
  options()
  local states = {}
  K.recent = {}
  propose(math.random() < auto, plain)
  for _ = 1, STEPS do
    step(states, plain, auto)
  end
  finish()
end

--- The user joins a line of the agent's with one of the base, and later moves another line of the agent's below it.
function T.a_line_that_is_moved_takes_no_removed_line_past_the_base()
  K.story = {}
  H.fresh()
  vim.cmd('silent! only')
  vim.cmd.edit(H.write('f.txt', 'b1\nb2\nb3\n'))
  options()
  local after = { 'x1', 'b3', 'x2', 'x3', 'x4' }
  H.propose({ H.proposal(api.nvim_buf_get_name(0), { 'b1', 'b2', 'b3' }, after) })
  K.typed(':1s/\\n/ /<CR>')
  K.typed('1Gou1<Esc>')
  H.eq({ 'x1 b3', 'u1', 'x2', 'x3', 'x4' }, K.look().text)
  H.eq({ 'b1', 'b2', 'x1 b3', 'u1' }, K.look().base)
  K.typed('4GddkP')
  H.eq({ 'x1 b3', 'u1', 'x3', 'x2', 'x4' }, K.look().text)
  H.eq({ 'b1', 'b2', 'x1 b3', 'u1' }, K.look().base)
  B.reject({ scope = 'file' })
  H.eq({ 'b1', 'b2', 'x1 b3', 'u1' }, K.look().text)
end

function T.random_keys_keep_base_and_buffer_apart()
  vim.o.shellredir, vim.o.more = '>%s 2>&1', false
  for seed = SEED, SEED + SCRIPTS - 1 do
    local ok, err = pcall(script, seed)
    if not ok then
      error(('KEYS_SEED=%d KEYS=1: %s\nthe script: %s'):format(seed, err, vim.inspect(K.story)), 0)
    end
  end
end

return T
