--- Tests of long texts and many hunks: ropes and blocks of hunks are compared with plain lists;
--- work is done in slices of time; marks are redrawn.
local H = require('bench')
local index = require('caliban.review.hunks.index')
local algebra = require('caliban.review.hunks.algebra')
local rope = require('caliban.review.hunks.rope')
local tracking = require('caliban.review.hunks.tracking')
local T = {}
local eq = H.eq

---@param n integer
---@return string[]
local function words(n)
  local out = {}
  for i = 1, n do
    out[i] = 'w' .. math.random(9)
  end
  return out
end

---@param list string[]
---@param first integer
---@param last integer
---@param new string[]
---@return string[]
local function splice(list, first, last, new)
  local out = vim.list_slice(list, 1, first)
  vim.list_extend(out, new)
  return vim.list_extend(out, list, last + 1, #list)
end

--- A random change of a text, mostly a small one.
---@param count integer
---@return integer first, integer last, string[] new
local function edit(count)
  local first = math.random(0, count)
  local most = math.random() < 0.1 and 900 or 3
  return first, math.min(count, first + math.random(0, most)), words(math.random(0, most))
end

function T.a_rope_has_the_same_lines_as_a_plain_list_after_any_changes()
  math.randomseed(3)
  for _ = 1, 60 do
    local plain = words(math.random(0, math.random() < 0.1 and 20000 or 2000))
    local it = rope.of(plain)
    for _ = 1, 25 do
      local first, last, new = edit(#plain)
      local was, before = it, plain
      it, plain = rope.splice(it, first, last, new), splice(plain, first, last, new)
      eq({ #plain, plain }, { it.count, rope.lines(it, 0, it.count) })
      eq(before, rope.lines(was, 0, was.count), 'the version before the change stays')
      eq(table.concat(plain, '\n'), rope.text(it))
      eq(vim.list_slice(plain, first + 1, last), rope.lines(it, first, math.min(last, #plain)))
      local from, upto, now = rope.differing(was, it)
      eq(plain, splice(before, from, upto, vim.list_slice(plain, from + 1, now)), 'differing')
    end
  end
end

function T.versions_of_a_rope_share_unchanged_pieces()
  local plain = words(100000)
  local it = rope.of(plain)
  local after = rope.splice(it, 50000, 50001, { 'x', 'y' })
  local known, fresh = {}, { groups = 0, pieces = 0 }
  for _, group in ipairs(it.groups) do
    known[group] = true
    for _, piece in ipairs(group) do
      known[piece] = true
    end
  end
  for _, group in ipairs(after.groups) do
    fresh.groups = fresh.groups + (known[group] and 0 or 1)
    for _, piece in ipairs(group) do
      fresh.pieces = fresh.pieces + (known[piece] and 0 or 1)
    end
  end
  eq({ groups = 1, pieces = 1 }, fresh)
  eq({ 50000, 50001, 50002 }, { rope.differing(it, after) })
end

--- A random list of hunks in a text of about `rows` rows.
---@param rows integer
---@return caliban.Hunk[]
local function random_hunks(rows)
  local out, row = {}, 0
  while row < rows do
    local hunk = { start = row, new = words(math.random(0, 3)), old = words(math.random(0, 2)) }
    if #hunk.new + #hunk.old > 0 and math.random() < 0.7 then
      out[#out + 1] = hunk
      row = row + #hunk.new
    end
    row = row + math.random(1, 5)
  end
  return out
end

---@param list caliban.Hunk[]
---@param row integer
---@param step 1|-1
---@return caliban.Hunk?
local function beyond(list, row, step)
  for k = step == 1 and 1 or #list, step == 1 and #list or 1, step do
    if (list[k].start - row) * step > 0 then
      return list[k]
    end
  end
end

function T.hunks_in_blocks_change_like_hunks_in_a_plain_list()
  math.randomseed(4)
  for _ = 1, 40 do
    local rows = math.random(1, 1500)
    local plain = random_hunks(rows)
    local it = index.of(plain)
    for _ = 1, 40 do
      local first, last, new = edit(rows)
      local own, was = {}, index.list(it)
      local before = vim.deepcopy(was)
      plain, own[1] = algebra.change(plain, first, last, new)
      it, own[2] = index.change(it, first, last, new)
      eq(own[1], own[2])
      eq(before, was, 'the version before the change stays')
      rows = rows + #new - (last - first)
      if math.random() < 0.5 then
        plain, it = algebra.tighten(plain), index.tighten(it)
      end
      eq({ #plain, plain }, { it.count, index.list(it) })
      local row = math.random(0, rows)
      local k = algebra.at(plain, row)
      eq({ k, plain[k or 0] }, { index.at(it, row) })
      eq(beyond(plain, row, 1), index.beyond(it, row, 1))
      eq(beyond(plain, row, -1), index.beyond(it, row, -1))
      local upto = row + math.random(0, 60)
      local back = math.random() < 0.5
      local taken, rest = index.take(it, row, upto, back)
      local took, left = algebra.take(plain, row, upto, back)
      eq({ took, left, #left }, { taken, index.list(rest), rest.count })
      local near = vim.tbl_filter(function(h)
        return h.start <= upto and h.start + #h.new >= row
      end, plain)
      eq(near, index.near(it, row, upto))
      if math.random() < 0.3 then
        plain, it = left, rest
        for _, hunk in ipairs(back and took or {}) do
          rows = rows + #hunk.old - #hunk.new
        end
      end
    end
  end
end

function T.a_typed_line_does_not_copy_distant_blocks_of_hunks()
  local list = {}
  for n = 1, 2000 do
    list[n] = { start = 50 * n, new = { 'new' }, old = { 'old' } }
  end
  local it = index.of(list)
  local after = index.change(it, 50010, 50010, { 'typed' })
  eq({ 50000, 50051 }, { index.list(after)[1000].start, index.list(after)[1001].start })
  local shared, known = 0, {}
  for _, block in ipairs(it.blocks) do
    known[block.list] = true
  end
  for _, block in ipairs(after.blocks) do
    shared = shared + (known[block.list] and 1 or 0)
  end
  assert(shared >= #it.blocks - 2, 'all blocks but those beside it are the same')
end

function T.scheduled_functions_run_between_slices_of_long_work()
  local order = {}
  local slices = require('caliban.editor.slices')
  slices.run(function()
    for n = 1, 3 do
      local began = vim.uv.hrtime()
      while vim.uv.hrtime() - began < 1e7 do
      end
      order[#order + 1] = n
      H.rest()
    end
  end)
  vim.schedule(function()
    order[#order + 1] = 'scheduled'
  end)
  vim.wait(60000, function()
    return #order == 4
  end, 1)
  eq({ 1, 'scheduled', 2, 3 }, order)
  slices.run(function()
    order = {}
  end)
  eq({}, order, 'work without a rest is done at once')
end

--- A Rust test of the program uses the same text and hash.
local LONG = ('a line of text\n'):rep(10000)
local HASH = '5161a798306eecf8e9e1dc5792592a8c9206f35275756651bdf854952490aa1f'

---@param path string
---@return table proposal to add a line at the end
local function proposal(path)
  local p = H.proposal(path, {}, {})
  p.sha, p.hunks = HASH, { { start = 10000, count = 0, text = 'more', n = 1 } }
  return p
end

--- Shows a long file and applies a proposal to it. Calls `meanwhile` at the first pause of that work.
---@param meanwhile fun(buf: integer)
---@param turn? integer
---@return table[] sent
local function rested(meanwhile, turn)
  H.fresh()
  local path = H.write('long.txt', LONG)
  vim.cmd.edit(path)
  local buf = vim.api.nvim_get_current_buf()
  local slices = require('caliban.editor.slices')
  local rest, rests = slices.rest, 0
  slices.rest = function()
    rests = rests + 1
    if rests == 1 then
      meanwhile(buf)
    end
  end
  H.propose({ proposal(path) }, 's', turn)
  slices.rest = rest
  assert(rests > 0, 'work on a long text rests')
  return H.sent()
end

function T.a_long_text_is_hashed_in_parts()
  local sent = rested(function() end)
  eq('entered', sent[1].state)
  eq('10000:-+more', H.pending())
end

function T.lines_typed_while_a_long_text_is_read_are_not_overwritten()
  local sent = rested(function(buf)
    vim.api.nvim_buf_set_lines(buf, 0, 1, false, { 'typed' })
  end)
  eq({ 1, 'moved' }, { #sent, sent[1].state })
  eq('typed', sent[1].text:match('^[^\n]*'))
  eq('', H.pending())
end

function T.a_turn_stopped_while_a_long_text_is_read_changes_nothing()
  local sent = rested(function()
    require('caliban.review').stopped('s', 2)
  end, 2)
  eq({ 1, 'stopped' }, { #sent, sent[1].state })
  eq({ 10000, '' }, { vim.api.nvim_buf_line_count(0), H.pending() })
end

function T.a_proposal_waits_if_the_editor_gets_busy_while_a_long_text_is_read()
  local sent = rested(function()
    H.calm = false
  end)
  eq({ 0, 'calm' }, { #sent, require('caliban.review').waiting()[1].waits })
  H.calm = true
  require('caliban.review.registry').retry()
  eq('entered', H.sent()[1].state)
end

function T.a_buffer_closed_while_a_long_text_is_read_is_loaded_again()
  local sent = rested(function(buf)
    vim.cmd('enew')
    vim.api.nvim_buf_delete(buf, { force = true })
  end)
  eq('entered', sent[1].state)
  eq('10000:-+more', H.pending())
end

--- The marks in a buffer under review.
---@param buf integer
---@return string[]
local function shown(buf)
  local out = {}
  for _, name in ipairs({ 'caliban.review', 'caliban.review.hint' }) do
    local space = vim.api.nvim_create_namespace(name)
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, space, 0, -1, { details = true })) do
      mark[4].ns_id = nil
      local details = vim.inspect(mark[4], { newline = '', indent = '' })
      out[#out + 1] = ('%s %d,%d %s'):format(name, mark[2], mark[3], details)
    end
  end
  table.sort(out)
  return out
end

local KEYS = {
  'ihere <Esc>',
  'ox<Esc>',
  'Ox<Esc>',
  'dd',
  '3dd',
  'yyP',
  'ddp',
  'J',
  '>>',
  'u',
  '<C-r>',
  'G',
  'gg',
  ':sort<CR>',
  ':2,5m$<CR>',
  ':%s/a/b/<CR>',
  ':%d|undo<CR>',
}

--- Many small redraws leave the same marks as one drawing of everything.
function T.redrawing_after_changes_gives_the_same_marks_as_drawing_everything()
  math.randomseed(6)
  local overlay, review = require('caliban.review.ui.overlay'), require('caliban.review')
  for round = 1, 150 do
    local words_ = words(math.random(1, 14))
    local after = vim.list_slice(words_)
    for _ = 1, math.random(3) do
      local at = math.random(0, #after)
      after = splice(after, at, math.min(#after, at + math.random(0, 2)), words(math.random(0, 2)))
    end
    local buf = H.review(table.concat(words_, ' '), table.concat(after, ' '))
    local done = {}
    for n = 1, math.random(8) do
      done[n] = KEYS[math.random(#KEYS)]
      vim.api.nvim_win_set_cursor(0, { math.random(vim.api.nvim_buf_line_count(0)), 0 })
      if math.random() < 0.15 then
        done[n] = 'accept'
        review.accept({ scope = 'hunk' })
      elseif math.random() < 0.15 then
        done[n] = 'reject'
        review.reject({ scope = 'hunk' })
      else
        H.keys(done[n])
      end
      H.settle()
    end
    local r = review.of(buf)
    if r and tracking.count(r) > 0 then
      vim.api.nvim_exec_autocmds('CursorMoved', { buffer = buf })
      local redrawn = shown(buf)
      overlay.clear(buf)
      overlay.draw(r)
      local want = shown(buf)
      local function less(a, b)
        return vim.tbl_filter(function(it)
          return not vim.list_contains(b, it)
        end, a)
      end
      eq(
        { less(want, redrawn), #want },
        { less(redrawn, want), #redrawn },
        round .. ': ' .. table.concat(done, ' ')
      )
    end
  end
end

return T
