--- The words beside the line of an edit whose changes are under review: what still waits, and how the user has decided on
--- the rest. They are counted as in the list of changes.
local M = {}

local api = vim.api
local icon = require('caliban.editor.icons').of

--- The proposals of a call in a review; nil if one of them also belongs to other calls, so that the hunks of the call
--- alone are not known.
---@param r caliban.Review
---@param call string
---@return caliban.Entered[]?
local function proposals(r, call)
  local found = {} ---@type caliban.Entered[]
  for _, it in ipairs(r.proposals) do
    local calls = it.calls or {}
    if vim.list_contains(calls, call) then
      if #calls > 1 then
        return nil
      end
      table.insert(found, it)
    end
  end
  return found
end

--- The words beside a call.
---@param chat caliban.Chat
---@param call string
---@param waits boolean whether the call waits for the user. If not, its changes were under review before, and thrown away
---@return string? # nil if nothing of the call waits, or if the changes of the call alone are not known
function M.words(chat, call, waits)
  local counts = { hunk = 0, delete = 0, rename = 0, create = 0 }
  local verdict = require('caliban.review.verdict')
  local decided = {} ---@type table<string, integer>
  for _, it in ipairs(chat.listing and chat.listing.files or {}) do
    local r = it.r
    local of = (waits or require('caliban.review.state').has_returned(r)) and proposals(r, call)
      or {}
    if not of then
      return nil
    elseif #of > 0 and api.nvim_buf_is_loaded(r.buf) then
      counts.hunk = counts.hunk + verdict.pending(r, of)
      local kind = r.whole and r.whole.kind
      if kind then
        counts[kind] = counts[kind] + 1
      end
      verdict.add(r, of, decided)
    end
  end
  local pending = require('caliban.review.whole_words').counted(counts)
  if pending == '' then
    return nil
  end
  local parts = vim.list_extend({ pending .. ' to review' }, verdict.worded(decided))
  return table.concat(parts, icon(' · '))
end

return M
