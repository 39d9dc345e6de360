--- The files under review and their pending hunks, as data for scripts and for the program.
local M = {}

local file = require('caliban.editor.file')
local tracking = require('caliban.review.hunks.tracking')
local state = require('caliban.review.state')

--- The most lines of one file that the program is told.
local LINES = 20

---@class caliban.Pending
---@field buf integer
---@field path string
---@field start integer
---@field count integer
---@field removed string[]
---@field added string[]
---@field whole? 'delete'|'rename'|'create' whether the file itself is to be deleted, renamed, or created without text
---@field to? string the new path

---@class caliban.UnderReview
---@field buf integer
---@field path string
---@field session string
---@field hunks integer
---@field proposals integer[]

---@class caliban.Waiting
---@field id integer
---@field path string
---@field session string
---@field turn integer
---@field waits 'calm'|'review' why the proposal waits, as in `caliban.Arriving`

--- The pending hunks of a review, in the order of their rows.
---@param r caliban.Review
---@return caliban.Hunk[]
function M.list(r)
  return tracking.list(r)
end

--- A pending deletion or renaming.
---@param r caliban.Review
---@param whole caliban.Whole
---@return caliban.Pending
local function of_file(r, whole)
  return {
    buf = r.buf,
    path = r.path,
    start = 0,
    count = 0,
    removed = whole.kind == 'delete' and file.lines(r.buf) or {},
    added = {},
    whole = whole.kind,
    to = whole.to,
  }
end

--- The pending changes of these reviews.
---@param open caliban.Review[]
---@param buf? integer default: all buffers
---@return caliban.Pending[]
function M.hunks(open, buf)
  local out = {}
  for _, r in ipairs(open) do
    local wanted = buf == nil or buf == r.buf
    if wanted and r.whole then
      out[#out + 1] = of_file(r, r.whole)
    end
    for _, h in ipairs(wanted and M.list(r) or {}) do
      out[#out + 1] = {
        buf = r.buf,
        path = r.path,
        start = h.start,
        count = #h.new,
        removed = h.old,
        added = h.new,
      }
    end
  end
  return out
end

--- The files of these reviews.
---@param open caliban.Review[]
---@return caliban.UnderReview[]
function M.files(open)
  return vim.tbl_map(function(r)
    return {
      buf = r.buf,
      path = r.path,
      session = r.session,
      hunks = state.count(r),
      proposals = vim.tbl_map(function(it)
        return it.id
      end, r.proposals),
    }
  end, open)
end

--- Tells the program which changes of a conversation wait for the user's decision.
---@param session string
function M.tell(session)
  local files, partly = {}, false
  for _, r in ipairs(require('caliban.review.registry').open()) do
    if r.session == session and not r.auto then
      local lines = {}
      for i, h in ipairs(M.list(r)) do
        lines[i] = i <= LINES and h.start + 1 or nil
      end
      files[#files + 1] = { path = r.path, changes = state.count(r), lines = lines }
      partly = partly or require('caliban.review.verdict').has_decisions(r)
    end
  end
  if #files == 0 then
    return
  end
  ---@type caliban.Left
  local message = { kind = 'left', session = session, partly_decided = partly, files = files }
  require('caliban.program.process').notify(message)
end

--- The proposals that are not in a buffer yet.
---@param items caliban.Arriving[]
---@return caliban.Waiting[]
function M.waiting(items)
  local out = {}
  for _, item in ipairs(items) do
    local session, turn, waits = item.session, item.turn, item.waits or 'calm'
    for _, p in ipairs(item.proposals) do
      out[#out + 1] = { id = p.id, path = p.path, session = session, turn = turn, waits = waits }
    end
  end
  return out
end

return M
