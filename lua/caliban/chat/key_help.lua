--- The small window that shows the keys of a buffer.
local M = {}

--- The keys in the order of their use; further keys follow in the order of their table.
local USE = vim.split(
  '<CR> <C-s> i <Tab> <C-c> g<CR> <M-CR> y s n e a c ]] [[ gf <Up> <Down> K x <C-x> gl gs <C-^> za',
  ' '
)

--- The keys in the order of their use.
---@generic T: { lhs: string }
---@param keys T[]
---@return T[]
local function ordered(keys)
  local first, rest = {}, {}
  for _, lhs in ipairs(USE) do
    vim.list_extend(
      first,
      vim.tbl_filter(function(key)
        return key.lhs == lhs
      end, keys)
    )
  end
  rest = vim.tbl_filter(function(key)
    return not vim.list_contains(USE, key.lhs)
  end, keys)
  return vim.list_extend(first, rest)
end

--- Shows keys.
---@param keys caliban.Key[]
---@param more table[] further keys, with `lhs` and `desc`
function M.show(keys, more)
  local lines, seen = {}, {}
  local all = ordered(vim.list_extend(vim.list_slice(keys), more))
  local leader = require('caliban.editor.maps').leader():gsub('%%', '%%%%')
  for _, key in ipairs(all) do
    local desc = require('caliban.editor.icons').of(key.desc)
    local line = (' %-7s %s '):format(key.lhs:gsub('^<localleader>', leader), desc)
    if not seen[line] then
      seen[line] = true
      table.insert(lines, line)
    end
  end
  local place = { relative = 'cursor', row = 1, col = 0 } ---@type vim.api.keyset.win_config
  local win = require('caliban.chat.float').show(lines, 'Keys', place, 'g?')
  -- a wider line wraps, indented to the column of the descriptions
  vim.wo[win][0].breakindent, vim.wo[win][0].breakindentopt = true, 'shift:8'
  require('caliban.chat.float').fit(win)
end

return M
