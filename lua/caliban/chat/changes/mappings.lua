--- The keys that are mapped while the cursor is on the list of changes. They run the public `<Plug>` mappings.
local M = {}

---@param lhs string
---@param plug string the name of a `<Plug>` mapping
---@param desc string
---@return caliban.Mapping
local function map(lhs, plug, desc)
  local rhs = ('<Plug>(caliban-%s)'):format(plug)
  return { mode = 'n', lhs = lhs, rhs = rhs, desc = 'on a change: ' .. desc }
end

---@type caliban.Mapping[]
M.all = {
  map('<localleader>a', 'accept', 'accept it'),
  map('<localleader>r', 'reject', 'reject it'),
  map('<localleader>A', 'accept-file', 'accept its file'),
  map('<localleader>*', 'accept-all', 'accept all changes in all files'),
  map('<localleader>R', 'reject-file', 'reject its file'),
  map('<localleader>c', 'comment', 'comment on it'),
  map(']h', 'next', 'go to the next hunk'),
  map('[h', 'prev', 'go to the previous hunk'),
}

return M
