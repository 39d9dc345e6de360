--- A new file under review that another program creates on disk meanwhile: from then on the review shows what the
--- proposal changes in the text on disk.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local file = require('caliban.editor.file')
local state = require('caliban.review.state')
local tracking = require('caliban.review.hunks.tracking')
local unread = require('caliban.editor.unread')
local verdict = require('caliban.review.verdict')

--- Whether a review is one of a file that is still to be created.
---@param r caliban.Review
---@return boolean
function M.is_awaited(r)
  return r.open and r.create and r.origin == nil and not unread.is_written(r.buf)
end

--- Makes the text on disk the text that the user has agreed to.
---@param r caliban.Review
---@param lines string[] the lines on disk
---@param eol boolean whether the last of them ends in a line break
function M.take(r, lines, eol)
  tracking.sync(r)
  local was, of = tracking.list(r), {} ---@type caliban.Hunk[], integer[]
  for _, hunk in ipairs(was) do
    vim.list_extend(of, hunk.of or {})
  end
  state.appear(r, eol)
  tracking.set_list(r, algebra.diff(lines, file.lines(r.buf), 0, of))
  if tracking.count(r) == 0 then
    -- the text on disk is the proposed one
    verdict.decided(r, 'leave', was)
  end
end

return M
