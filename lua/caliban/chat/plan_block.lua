--- The words of a plan's block in the transcript, which says that the plan waits.
local M = {}

--- The keys on the block. The first one has shorter words too.
---@return caliban.KeyWords[]
function M.keys()
  local leader = require('caliban.editor.maps').leader()
  return {
    { '<CR> to its window', '<CR> read' },
    leader .. 'a accept',
    leader .. 'r send back',
    leader .. 'd drop',
  }
end

--- Adds the keys to the lines of the block.
---@param lines string[]
---@return string[]
function M.lines(lines)
  local keys = vim.tbl_map(function(key)
    return type(key) == 'table' and key[1] or key
  end, M.keys())
  return vim.list_extend(lines, { '  ' .. table.concat(keys, '   ') })
end

return M
