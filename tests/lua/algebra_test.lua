local R = require('caliban.review.hunks.algebra')
local index = require('caliban.review.hunks.index')
local regions = require('caliban.review.hunks.regions')
local rope = require('caliban.review.hunks.rope')
local T = {}

local function l(s)
  return vim.split(s, ' ', { trimempty = true })
end
--- Hunks as text: `row:-old+new`.
local function show(hunks)
  return table.concat(
    vim.tbl_map(function(h)
      return ('%d:-%s+%s'):format(h.start, table.concat(h.old, ','), table.concat(h.new, ','))
    end, hunks),
    ' '
  )
end
local function eq(want, got, what)
  if not vim.deep_equal(want, got) then
    error(('%s\nwant %s\ngot  %s'):format(what or '', vim.inspect(want), vim.inspect(got)), 2)
  end
end
local function splice(list, first, last, new)
  local out = vim.list_slice(list, 1, first)
  vim.list_extend(out, new)
  return vim.list_extend(out, list, last + 1, #list)
end

function T.a_diff_gives_one_hunk_for_each_run_of_changed_lines()
  local rows = {
    { 'a b c', 'a b c', '' },
    { 'a b c', 'a X c', '1:-b+X' },
    { 'a b c', 'X a b c', '0:-+X' },
    { 'a b c', 'a b c X', '3:-+X' },
    { 'a b c', 'b c', '0:-a+' },
    { 'a b c', '', '0:-a,b,c+' },
    { '', 'a b', '0:-+a,b' },
  }
  for _, row in ipairs(rows) do
    eq(row[3], show(R.diff(l(row[1]), l(row[2]), 0)), row[1] .. ' → ' .. row[2])
  end
end

--- Checks that each hunk's lines are in the buffer at the hunk's rows, and that no two hunks touch.
local function stands(buffer, hunks)
  local row = -1
  for _, h in ipairs(hunks) do
    assert(h.start > row, 'ascending and apart: ' .. show(hunks))
    row = h.start + #h.new
    eq(h.new, vim.list_slice(buffer, h.start + 1, row), 'the lines of a hunk stand in the buffer')
  end
end

--- The hunks after rows [first, last) of the buffer were replaced by `new`.
local function changed(hunks, buffer, first, last, new)
  local region = { first = first, last = last, from = first, upto = first + #new }
  local before, now = rope.of(buffer), rope.of(splice(buffer, first, last, new))
  local edits = regions.edits({ region }, before, now, index.of(hunks))
  for k = #edits, 1, -1 do
    hunks = R.change(hunks, edits[k].first, edits[k].last, edits[k].new)
  end
  return R.tighten(hunks)
end

function T.typing_changes_the_hunk_it_touches_and_moves_the_hunks_below()
  -- each row of this table: base, buffer, the user's change (first row, row after the last, new
  -- lines), the hunks and the base after the change, the name of the case
  local rows = {
    { 'a b c d', 'a X c d', 0, 1, 'A', '1:-b+X', 'A b c d', 'above' },
    { 'a b c d', 'a X c d', 0, 0, 'n m', '3:-b+X', 'n m a b c d', 'opened above' },
    { 'a b c d', 'a X c d', 1, 1, 'n', '2:-b+X', 'a n b c d', 'opened at the upper edge' },
    { 'a b c d', 'a X c d', 2, 2, 'n', '1:-b+X', 'a b n c d', 'opened at the lower edge' },
    {
      'a b c d',
      'a X c d',
      1,
      2,
      'X n',
      '1:-b+X',
      'a b n c d',
      '<CR> at the end of its last line',
    },
    { 'a b c d', 'a X c d', 1, 2, 'Y', '1:-b+Y', 'a b c d', 'inside' },
    { 'a b c d', 'a X c d', 1, 2, 'b', '', 'a b c d', 'typed back' },
    { 'a b c d', 'a X Y c d', 2, 2, 'n', '1:-b+X,n,Y', 'a b c d', 'opened within' },
    { 'a b c d', 'a X c d', 1, 2, '', '1:-b+', 'a b c d', 'the hunk deleted' },
    { 'a b c d', 'a X c d', 0, 4, '', '0:-b+', 'b', 'everything deleted' },
    { 'a b c d', 'a X c d', 0, 4, 'A B C D', '1:-b+B', 'A b C D', 'all written, line by line' },
    {
      'a b c d',
      'a X c d',
      0,
      4,
      'A n X c d',
      '2:-b+X',
      'A n b c d',
      'formatted: the hunk is found',
    },
    { 'a b c d', 'a X c d', 0, 3, 'n', '1:-b+ ', 'n b d', 'changed across' },
    {
      'a b c d',
      'a X Y c d',
      2,
      4,
      'n',
      '1:-b+X',
      'a b n d',
      'changed across the lower edge: lines, J',
    },
    { 'a b c d', 'a X c Y d', 2, 3, '', '1:-b+X,Y', 'a b d', 'the line between two deleted' },
    { 'a b c d', 'a d', 1, 1, 'n', '1:-b,c+', 'a b c n d', 'opened at a pure deletion' },
    { 'a b c d', 'a d', 0, 2, 'n', '1:-b,c+', 'n b c', 'joined over a pure deletion' },
  }
  for _, r in ipairs(rows) do
    local base, buffer, new = l(r[1]), l(r[2]), l(r[5])
    local hunks = changed(R.diff(base, buffer, 0), buffer, r[3], r[4], new)
    eq(vim.trim(r[6]), show(hunks), r[8])
    eq(l(r[7]), R.base(splice(buffer, r[3], r[4], new), hunks), r[8])
  end
end

function T.a_range_takes_only_its_own_lines_of_a_hunk()
  local function take(base, buffer, first, last)
    local hunks = R.diff(l(base), l(buffer), 0)
    local taken, rest = R.take(hunks, first, last)
    local _, after = R.take(hunks, first, last, true)
    return { show(taken), show(rest), show(after) }
  end
  eq({ '1:-b+X', '2:-c+Y', '2:-c+Y' }, take('a b c d', 'a X Y d', 0, 2))
  eq({ '2:-c+Y', '1:-b+X', '1:-b+X' }, take('a b c d', 'a X Y d', 2, 3))
  eq({ '2:-+Y', '1:-b+X 3:-+Z', '1:-b+X,Z' }, take('a b c', 'a X Y Z c', 2, 3))
  eq({ '1:-b,c+X', '', '' }, take('a b c d', 'a X d', 1, 2))
  eq({ '1:-b,c+', '', '' }, take('a b c d', 'a d', 0, 1))
  eq({ '1:-b,c+', '', '' }, take('a b c d', 'a d', 1, 2))
  eq({ '', '2:-c+X', '2:-c+X' }, take('a b c d', 'a b X d', 0, 1))
end

--- Makes random proposals, typed lines and decisions. Only the user's changes change the base, and
--- no decision removes a typed line.
function T.random_proposals_and_decisions_change_the_base_only_as_the_user_did()
  math.randomseed(11)
  local function rnd(n, char)
    local out = {}
    for i = 1, math.random(0, n) do
      out[i] = string.rep(char or string.char(97 + math.random(0, 4)), math.random(1, 2))
    end
    return out
  end
  for _ = 1, 4000 do
    local base = rnd(12)
    local buffer, hunks = base, {}
    local typed = {}
    for step = 1, math.random(1, 6) do
      local first = math.random(0, #buffer)
      local last = math.min(#buffer, first + math.random(0, 3))
      if math.random() < 0.4 then
        local new = rnd(3)
        local now = buffer
        local edits = { { start = first, old = vim.list_slice(now, first + 1, last), new = new } }
        local next_ = last + math.random(0, 4)
        if next_ <= #now then
          local gone = vim.list_slice(now, next_ + 1, next_ + math.random(0, 2))
          edits[2] = { start = next_, old = gone, new = rnd(2) }
        end
        hunks = require('caliban.review.hunks.stack').stacked(hunks, edits, function(a, b)
          return vim.list_slice(now, a + 1, b)
        end)
        for k = #edits, 1, -1 do
          local e = edits[k]
          buffer = splice(buffer, e.start, e.start + #e.old, e.new)
        end
        stands(buffer, hunks)
        eq(base, R.base(buffer, hunks), 'a proposal moves the base')
        for word in pairs(typed) do
          typed[word] = vim.list_contains(buffer, word) or nil
        end
      elseif math.random() < 0.7 then
        local word = ('typed%d'):format(step)
        local own
        hunks, own = R.change(hunks, first, first, { word })
        buffer = splice(buffer, first, first, { word })
        base = R.base(buffer, hunks)
        if own then
          typed[word] = true
          eq(true, vim.list_contains(base, word), 'a typed line outside is in the base')
        end
      else
        local new = rnd(2, 'z')
        hunks = R.change(hunks, first, last, new)
        buffer = splice(buffer, first, last, new)
        base = R.base(buffer, hunks)
        for word in pairs(typed) do
          typed[word] = vim.list_contains(buffer, word) or nil
        end
      end
      hunks = R.tighten(hunks)
      eq(base, R.base(buffer, hunks), 'tightening moves the base')
      for i, h in ipairs(hunks) do
        eq(
          h.new,
          vim.list_slice(buffer, h.start + 1, h.start + #h.new),
          'the lines of a hunk stand in the buffer'
        )
        if i > 1 then
          assert(hunks[i - 1].start + #hunks[i - 1].new < h.start, 'hunks touch: ' .. show(hunks))
        end
      end
      if math.random() < 0.3 then
        local a = math.random(0, #buffer)
        local b = math.random(a, #buffer)
        local taken, rest = R.take(hunks, a, b)
        local _, after = R.take(hunks, a, b, true)
        if math.random() < 0.5 then
          hunks, base = rest, R.base(buffer, rest)
        else
          for i = #taken, 1, -1 do
            local t = taken[i]
            buffer = splice(buffer, t.start, t.start + #t.new, t.old)
          end
          hunks = after
          eq(base, R.base(buffer, hunks), 'a rejection moves the base')
        end
        for word in pairs(typed) do
          eq(true, vim.list_contains(buffer, word), 'a decision lost a typed line')
        end
      end
    end
  end
end

return T
