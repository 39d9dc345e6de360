--- The roots of the projects whose chats are open in this Neovim. `chat/chats` registers the
--- functions that look up a root.
local M = {}

---@class caliban.Roots
---@field current fun(): string? the root of the current chat's project
---@field of fun(session: string): string? the root of a session's project; nil if this Neovim does not write the session

---@type caliban.Roots
local roots = {
  current = function() end,
  of = function() end,
}

--- Registers the functions that look up roots.
---@param source caliban.Roots
function M.listen(source)
  roots = source
end

--- The root of the current chat's project.
---@return string?
function M.current()
  return roots.current()
end

--- The root of a session's project; nil if this Neovim does not have the session open for writing.
---@param session string
---@return string?
function M.of(session)
  return roots.of(session)
end

return M
