--- The keys that are mapped while the cursor is on the list of changes. They run the public `<Plug>` mappings.
local M = {}

local api = vim.api

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

--- The keys of the list as they are mapped in the composer while a change waits: they decide nothing, and go to the
--- first change.
---@param chat caliban.Chat
---@return caliban.Mapping[]
function M.leading(chat)
  local function lead()
    -- the composer's key that goes to what waits
    api.nvim_feedkeys('\t', 'mx', false)
    if api.nvim_get_current_buf() == chat.transcript and not chat.question then
      local text = 'This is the first change. Press the key again to decide.'
      require('caliban.editor.notify').show(text)
    end
  end
  local all = {} ---@type caliban.Mapping[]
  for _, it in ipairs(M.all) do
    if vim.startswith(it.lhs, '<localleader>') then
      local desc = 'go to the first change that waits'
      table.insert(all, { mode = 'n', lhs = it.lhs, rhs = lead, desc = desc })
    end
  end
  return all
end

return M
