local surroundings = require('caliban.chat.surroundings')
local T = {}

local NEW = { 'function f()', '  return 2', 'end', '' }
local OLD = { 'function f()', '  return 1', 'end', '' }
local SIDES = { ['-'] = { '  return 1' }, ['+'] = { '  return 2' } }

local function check(lines, it, above, below)
  local path = vim.fn.tempname()
  vim.fn.writefile(lines, path)
  local read = assert(surroundings.file(path))
  local got = { surroundings.of(read, it, SIDES) }
  assert(vim.deep_equal(got, { above, below }), vim.inspect(got))
end

function T.the_lines_around_a_change_are_found_in_the_old_and_the_new_text()
  local around = { { 'function f()' }, { 'end', '', '' } }
  check(NEW, { old = 2, new = 2 }, unpack(around))
  check(OLD, { old = 2, new = 2 }, unpack(around))
  -- lines were added or removed above the change, so only one line number is right
  check(NEW, { old = 9, new = 2 }, unpack(around))
  check(OLD, { old = 2, new = 9 }, unpack(around))
end

function T.a_changed_large_or_missing_file_gives_no_lines()
  check({ 'x', 'y' }, { old = 2, new = 2 }, {}, {})
  check({ ('x'):rep(9000), '  return 2' }, { old = 2, new = 2 }, {}, {})
  assert(surroundings.file('/dev/zero') == nil)
  assert(surroundings.file('/no such file') == nil)
end

return T
