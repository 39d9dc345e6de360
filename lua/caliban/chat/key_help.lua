--- The small window that shows the keys of a buffer.
local M = {}

--- Shows keys.
---@param keys caliban.Key[]
---@param more table[] further keys, with `lhs` and `desc`
function M.show(keys, more)
  local lines, seen = {}, {}
  local all = vim.list_extend(vim.list_slice(keys), more)
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
  local rows = vim.api.nvim_win_text_height(win, {}).all
  vim.api.nvim_win_set_height(win, math.max(1, math.min(rows, vim.o.lines - 4)))
end

return M
