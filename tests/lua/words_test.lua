local words = require('caliban.review.hunks.words')
local T = {}

--- The lines with their changed words in brackets.
local function marked(lines, ranges)
  local out = {}
  for i, line in ipairs(lines) do
    local list, text, at = ranges[i] or {}, '', 0
    for n = 1, #list, 2 do
      text = text .. line:sub(at + 1, list[n]) .. '[' .. line:sub(list[n] + 1, list[n + 1]) .. ']'
      at = list[n + 1]
    end
    out[i] = text .. line:sub(at + 1)
  end
  return table.concat(out, '\n')
end

local function check(old, new, want_old, want_new)
  old, new = vim.split(old, '\n'), vim.split(new, '\n')
  local found = words.changed(old, new)
  local got = marked(old, found.old) .. '\n→\n' .. marked(new, found.new)
  local want = want_old .. '\n→\n' .. want_new
  assert(got == want, ('\nwant\n%s\ngot\n%s'):format(want, got))
end

function T.words_that_differ_are_marked_on_both_sides()
  check(
    'fn old_name(a: i32) {',
    'fn new_name(a: i32) {',
    'fn [old_name](a: i32) {',
    'fn [new_name](a: i32) {'
  )
  check('f(a)', 'f(a, b)', 'f(a)', 'f(a[, b])')
  check('f(größe, x)', 'f(länge, x)', 'f([größe], x)', 'f([länge], x)')
  check('return one two three', 'while true do', 'return one two three', 'while true do')
  check('  x = 1', '    x = 1', '[  ]x = 1', '[    ]x = 1')
end

function T.a_line_is_compared_with_the_most_similar_line()
  check(
    'local x = load(1)',
    '-- a note\nlocal x = load(10)',
    'local x = load([1])',
    '-- a note\nlocal x = load([10])'
  )
  check(
    'local a = first(x)\nlocal b = second(y)',
    'local b = second(z)',
    'local a = first(x)\nlocal b = second([y])',
    'local b = second([z])'
  )
end

function T.a_line_that_was_split_is_compared_with_all_its_parts()
  check(
    'local a, b = load(x), save(y)',
    'local a = load(x)\nlocal b = save(y)',
    'local a[, b] = load(x)[,] save(y)',
    'local a = load(x)\n[local b =] save(y)'
  )
  check(
    'call(first, second, third)',
    'call(\n  first,\n  other,\n  third\n)',
    'call(first, [second], third)',
    'call(\n  first,\n  [other],\n  third\n)'
  )
  check(
    'call(\n  first,\n  second\n)',
    'call(first, other)',
    'call(\n  first,\n  [second]\n)',
    'call(first, [other])'
  )
end

function T.large_hunks_and_long_lines_have_no_marked_words()
  local many = {}
  for i = 1, 100 do
    many[i] = 'line ' .. i
  end
  local found = words.changed(many, vim.list_slice(many, 1, 60))
  assert(vim.tbl_isempty(found.old) and vim.tbl_isempty(found.new))
  local long = ('x '):rep(50000)
  found = words.changed({ long }, { long .. 'y' })
  assert(vim.tbl_isempty(found.old) and vim.tbl_isempty(found.new))
end

return T
