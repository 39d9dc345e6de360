--- The reviews, for modules outside of `review`. Loading this module also starts the listeners that draw reviews and
--- save them to disk.
local M = {}

local arrival = require('caliban.review.arrival')
local pending = require('caliban.review.pending')
local registry = require('caliban.review.registry')
require('caliban.review.answers')
require('caliban.review.restore.record')
require('caliban.review.ui.overlay')
require('caliban.review.ui.syntax')
require('caliban.review.named').watch(registry.of)
require('caliban.review.remains').watch(registry.of)

M.propose, M.stopped, M.renamed = registry.propose, registry.stopped, registry.renamed
M.accept, M.reject, M.look = registry.accept, registry.reject, registry.look
M.open, M.of = registry.open, registry.of

--- How the user has decided so far on changes that are written already.
---@param message caliban.DecidedSoFar
---@return caliban.PartlyDecided
function M.decided(message)
  local buf = require('caliban.editor.file').find(message.path, true)
  local r = buf and registry.of(buf)
  local verdict = require('caliban.review.verdict')
  if not r or not r.open or not r.auto or not verdict.has_decisions(r) then
    return { words = {}, reasons = {} }
  end
  local reasons = vim.tbl_map(function(given)
    return given.reason
  end, r.reasons)
  return { words = verdict.words(r), reasons = reasons }
end

--- Called when a command of the model's begins or has ended.
---@param message caliban.Command
function M.command(message)
  local catch_up = require('caliban.review.catch_up')
  if message.ended then
    catch_up.ended(message.moved, message.is_job)
  else
    catch_up.begin(message.is_job)
  end
end

---@param message caliban.Halt
function M.halt(message)
  M.stopped(message.session, message.turn)
end

--- Called when a conversation was opened: reopens its reviews from disk.
---@param message caliban.Session
function M.take_up(message)
  require('caliban.review.restore.reopen').take_up(message)
end

--- The pending hunks of a buffer, or of all buffers.
---@param buf? integer
---@return caliban.Pending[]
function M.pending(buf)
  buf = buf == 0 and vim.api.nvim_get_current_buf() or buf
  return pending.hunks(M.open(), buf)
end

--- The files under review.
---@return caliban.UnderReview[]
function M.reviews()
  return pending.files(M.open())
end

--- The proposals that are not in a buffer yet, each with the reason why it waits.
---@return caliban.Waiting[]
function M.waiting()
  return pending.waiting(arrival.waiting())
end

---@class caliban.HunkPlace a place from which a key goes to the next hunk
---@field buf integer
---@field row integer from 0; -1: before the first row

---@param from? caliban.HunkPlace default: the cursor
function M.next(from)
  require('caliban.review.ui.jump').go(M.open(), 1, from)
end

---@param from? caliban.HunkPlace default: the cursor
function M.prev(from)
  require('caliban.review.ui.jump').go(M.open(), -1, from)
end

--- Lists the pending hunks in the quickfix list.
function M.quickfix()
  require('caliban.review.ui.jump').quickfix(M.open())
end

return M
