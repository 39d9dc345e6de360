--- Tests how the line of a call is cut to the width of a window.
local H = require('bench')
local fit = require('caliban.chat.fit')
local T = {}

---@param line string
---@param main string the argument that is cut first
---@param is_path boolean
---@return caliban.CallLine
local function call(line, main, is_path)
  local from = assert(line:find(main, 1, true)) - 1
  local name = #assert(line:match('^%S+ %S+'))
  return {
    name = name,
    main = { from, from + #main },
    is_path = is_path,
    own = { 0 },
    is_whole = false,
    failed = false,
  }
end

function T.cutting_a_call_keeps_its_name_and_the_end_of_a_path()
  local cases = {
    { '▸ read  path="src/語/main.rs" lines=1-9', 'src/語/main.rs', true },
    { '▸ shell  cargo test --workspace', 'cargo test --workspace', false },
    { '▸ grep  pattern="old_name" path="src"', 'old_name', false },
  }
  local cut = {}
  for _, case in ipairs(cases) do
    local line = case[1]
    local parts = call(line, case[2], case[3])
    for _, room in ipairs({ 60, 35, 24, 18, 4 }) do
      local short = fit.line(line, parts, room)
      assert(vim.startswith(short, line:sub(1, parts.name)), short)
      assert(vim.api.nvim_strwidth(short) <= math.max(room, fit.least(line, parts)), short)
      table.insert(cut, short)
    end
  end
  H.eq(cut, {
    '▸ read  path="src/語/main.rs" lines=1-9',
    '▸ read  path="…/main.rs" lines=1-9',
    '▸ read  src/語/main.rs',
    '▸ read  …/main.rs',
    '▸ read  …',
    '▸ shell  cargo test --workspace',
    '▸ shell  cargo test --workspace',
    '▸ shell  cargo test…',
    '▸ shell  cargo…',
    '▸ shell  …',
    '▸ grep  pattern="old_name" path="src"',
    '▸ grep  pattern="old_name" path="s…',
    '▸ grep  pattern="old_na…',
    '▸ grep  pattern="…',
    '▸ grep  …',
  })
end

function T.cutting_a_list_removes_whole_names_even_if_a_name_has_a_comma()
  local line, names = '▸ read  3 files  one, two.rs, b.rs, ccc.rs', 'one, two.rs, b.rs, ccc.rs'
  local parts = call(line, names, false)
  local from = parts.main[1]
  parts.names = { from + #'one, two.rs, ', from + #'one, two.rs, b.rs, ' }
  local function cut(room)
    return (fit.line(line, parts, room))
  end
  H.eq({ cut(42), cut(41), cut(36), cut(35), cut(30) }, {
    line,
    '▸ read  3 files  one, two.rs, b.rs, …',
    '▸ read  3 files  one, two.rs, …',
    '▸ read  3 files  one, two.rs, …',
    '▸ read  3 files  one, two.rs,…',
  })
end

function T.a_column_of_the_cut_line_maps_to_a_column_of_the_whole_line()
  local whole, cut = '▸ read  path="src/deep/main.rs"', '▸ read  path="…p/main.rs"'
  for _, word in ipairs({ 'read', 'path', 'main' }) do
    local at = assert(cut:find(word, 1, true)) - 1
    H.eq(fit.col(whole, cut, at), assert(whole:find(word, 1, true)) - 1)
  end
end

return T
