--- Whether changes that are written at once, in auto-edit mode, are on disk.
local M = {}

local api = vim.api
local algebra = require('caliban.review.hunks.algebra')
local bytes = require('caliban.editor.bytes')
local file = require('caliban.editor.file')
local index = require('caliban.review.hunks.index')
local listeners = require('caliban.review.listeners')
local merging = require('caliban.review.hunks.merge')
local named = require('caliban.review.named')
local state = require('caliban.review.state')
local tracking = require('caliban.review.hunks.tracking')
local words = require('caliban.review.whole_words')

--- The most lines of a text that is compared with the one on disk while the user types.
local MOST = 20000

---@class caliban.OnDisk the last comparison
---@field tick integer
---@field origin? string
---@field hunks caliban.Hunks
---@field differs boolean

local shown = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, string>
local last = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, caliban.OnDisk>

--- Whether a text on disk has other lines in place of a hunk's.
---@param r caliban.Review
---@return boolean
local function compared(r)
  for _, run in ipairs(algebra.runs(merging.split(r.origin or ''), file.lines(r.buf))) do
    local first, stop = run[3], run[3] + run[4]
    for _, hunk in ipairs(index.near(tracking.hunks(r), first, stop)) do
      local upto = hunk.start + #hunk.new
      local meets = hunk.start < stop and first < upto
      if meets or #hunk.new == 0 and run[2] > 0 and first <= hunk.start and hunk.start <= stop then
        return true
      end
    end
  end
  return false
end

---@param r caliban.Review
---@return boolean
local function differs(r)
  local tick, hunks = api.nvim_buf_get_changedtick(r.buf), tracking.hunks(r)
  local it = last[r] ---@type caliban.OnDisk?
  if not it or it.tick ~= tick or it.origin ~= r.origin or it.hunks ~= hunks then
    it = { tick = tick, origin = r.origin, hunks = hunks, differs = compared(r) }
    last[r] = it
  end
  return it.differs
end

--- Whether the text on disk has all pending hunks, as the file was last seen.
---@param r caliban.Review
---@return boolean
function M.are_there(r)
  return r.origin ~= nil and not differs(r)
end

--- The words for pending hunks, as the file on disk was last seen.
---@param r caliban.Review
---@return string? # nil if the hunks wait for the user's decision, or if this is not known
function M.words(r)
  if not r.auto or not api.nvim_buf_is_loaded(r.buf) then
    return nil
  elseif not vim.uv.fs_stat(r.path) then
    return 'not on disk'
  elseif vim.bo[r.buf].modified then
    if api.nvim_buf_line_count(r.buf) > MOST then
      return nil
    end
    return differs(r) and 'not written' or 'written'
  end
  return 'written'
end

--- What is shown of a review that depends on the disk.
---@param r caliban.Review
---@return string
local function summary(r)
  return (r.whole and words.line(r) or '') .. (M.words(r) or '')
end

--- Called when the file on disk may be another one: shows what has become of the changes under review.
---@param r caliban.Review
function M.follow(r)
  if r.open and shown[r] ~= summary(r) then
    listeners.tell('looked', r, true)
    listeners.tell('pending', r, false)
  end
end

listeners.add({
  pending = function(r)
    shown[r] = summary(r)
  end,
})

--- Called after the buffer was written with its pending hunks: notes the text that is now on disk.
---@param r caliban.Review
---@param past boolean whether a write may have bypassed the guard; the file on disk then shows whether the buffer was written
---@return string? a message for the user
function M.written(r, past)
  local text = tracking.text(r)
  if past and (not bytes.has(r.buf, text) or text == r.origin) then
    return nil
  end
  state.written(r, text)
  M.follow(r)
  local n = tracking.count(r)
  local pending = require('caliban.editor.count').of(n, 'hunk')
  return past and ('%s was written with %s under review.'):format(named.shown(r), pending) or nil
end

return M
