--- Keys of a chat that are mapped only for a while: in the transcript while the cursor is on lines of one kind, in the
--- composer while a change waits.
local M = {}

local maps = require('caliban.editor.maps')

---@type table<integer, { kind: string, keys: caliban.Mapped[] }?> by buffer
local mapped = {}

--- Maps the keys of a kind of lines in place of those of another kind, or unmaps them.
---@param buf integer
---@param kind 'change'|'plan'
---@param mappings? caliban.Mapping[] absent if no keys of this kind are to be mapped
function M.set(buf, kind, mappings)
  local now = mapped[buf]
  local is_own = now ~= nil and now.kind == kind
  if (mappings ~= nil) == is_own then
    return
  elseif now and (mappings or is_own) then
    maps.clear(buf, now.keys)
    mapped[buf] = nil
  end
  if mappings then
    mapped[buf] = { kind = kind, keys = maps.set(buf, mappings) }
  end
end

return M
