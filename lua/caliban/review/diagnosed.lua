--- The diagnostics before the model's edits, which are compared with those after them.
local M = {}

local diagnostics = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, caliban.Before>

--- Called before an edit is applied: notes the current diagnostics.
---@param r caliban.Review
---@param lines string[] the buffer's lines
function M.remember(r, lines)
  diagnostics[r] = diagnostics[r] or require('caliban.lsp.check').before(r.buf, lines)
end

--- Forgets the noted diagnostics, because the edit was not applied or the review is settled.
---@param r caliban.Review
function M.forget(r)
  diagnostics[r] = nil
end

--- Begins to compare the current diagnostics with those before the edits. Called before the verdict
--- is sent to the program.
---@param r caliban.Review
function M.check(r)
  local before = diagnostics[r] ---@as caliban.Before?
  diagnostics[r] = nil
  if before then
    pcall(require('caliban.lsp.check').begin, r.buf, r.session, r.path, before)
  end
end

return M
