--- Changes that are under review again after the verdict on them: the user has undone their decision, or another program
--- has brought the changes back. The program is told, because the verdict does not count any more.
local M = {}

local judged = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, caliban.Entered[]>

--- Called when the verdict on the changes of a review was sent.
---@param r caliban.Review
function M.judged(r)
  judged[r] = r.proposals
end

--- Called when a review opens.
---@param r caliban.Review
function M.opened(r)
  local is_again = judged[r] == r.proposals
  judged[r] = nil
  if not is_again then
    return
  end
  local calls = {} ---@type string[]
  for _, it in ipairs(r.proposals) do
    vim.list_extend(calls, it.calls or {})
  end
  ---@type caliban.UnderReviewAgain
  local message = { kind = 'under_review_again', session = r.session, path = r.path, calls = calls }
  require('caliban.program.process').notify(message)
end

return M
