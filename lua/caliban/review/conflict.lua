--- Conflicts between a file on disk and its buffer under review: both have other lines at the same place. The buffer
--- keeps its lines, and is not written until the conflict is over.
local M = {}

local named = require('caliban.review.named')
local state = require('caliban.review.state')

--- Why a buffer with a conflict is not written.
M.CHANGED = 'it changed on disk too'

---@class caliban.Conflict
---@field count integer the number of places
---@field stand? string[] the text on disk without the changes that conflict
---@field stuck? boolean whether a change on disk could not be made in the buffer

local known = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, caliban.Conflict>

--- The conflict of a file; nil if there is none, or if the user has written the buffer since.
---@param r caliban.Review
---@return caliban.Conflict?
local function of(r)
  if not r.clash then
    known[r] = nil
  end
  return known[r]
end

--- The text on which the buffer's text stands: all that differs is a change of the buffer.
---@param r caliban.Review
---@return string[]? # nil if that is the last text on disk
function M.stand(r)
  local it = of(r)
  return it and it.stand
end

--- Whether the file was in conflict when it was last seen.
---@param r caliban.Review
---@return boolean
function M.is_known(r)
  return of(r) ~= nil
end

--- Called when a change on disk could not be made in the buffer.
---@param r caliban.Review
function M.stick(r)
  known[r] = { count = 0, stuck = true }
  state.set_clash(r, M.CHANGED)
end

--- Called after the changes on disk were made in the buffer. Tells the user of a conflict that is new. A conflict is over
--- when the disk has the text again on which the buffer's text stands.
---@param r caliban.Review
---@param clashes integer the number of changes on disk that conflict
---@param stand? string[]
---@param places? string the lines of the buffer at which they conflict, in words
function M.follow(r, clashes, stand, places)
  local was = of(r)
  if was and was.stuck then
    return
  end
  known[r] = clashes > 0 and { count = clashes, stand = stand } or nil
  if clashes == 0 and was and r.clash == M.CHANGED then
    state.set_clash(r, nil)
  elseif clashes > 0 then
    state.set_clash(r, M.CHANGED)
  end
  if clashes > 0 and not (was and was.count == clashes) then
    local what =
      '%s changed on disk while you were reviewing it. %d of the changes on disk %s with yours%s.'
    local verb = clashes == 1 and 'conflicts' or 'conflict'
    local text = what:format(named.shown(r), clashes, verb, places and ': ' .. places or '')
    require('caliban.editor.notify').show(text, vim.log.levels.WARN)
  end
end

return M
