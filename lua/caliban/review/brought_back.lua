--- Hunks that another program has thrown away on disk, as `git stash` does, and that come back with a later change of
--- the file, as with `git stash pop`: they are under review again.
local M = {}

local api = vim.api
local algebra = require('caliban.review.hunks.algebra')
local file = require('caliban.editor.file')
local named = require('caliban.review.named')
local state = require('caliban.review.state')
local tracking = require('caliban.review.hunks.tracking')
local verdict = require('caliban.review.verdict')

---@class caliban.Thrown
---@field proposals caliban.Entered[] those of the review in which the hunks were pending
---@field hunks caliban.Hunk[]
---@field lines? string[] the buffer's lines without the hunks, once the review has ended

local thrown = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, caliban.Thrown>

---@param r caliban.Review
---@return caliban.Thrown?
local function of(r)
  local it = thrown[r] ---@type caliban.Thrown?
  return it and it.proposals == r.proposals and it or nil
end

--- Remembers hunks that were thrown away.
---@param r caliban.Review
---@param hunks caliban.Hunk[]
function M.note(r, hunks)
  if #hunks > 0 then
    local it = of(r) or { proposals = r.proposals, hunks = {} }
    vim.list_extend(it.hunks, hunks)
    thrown[r] = it
  end
end

--- Called when a review has ended.
---@param r caliban.Review
function M.ended(r)
  local it = of(r)
  if it and api.nvim_buf_is_loaded(r.buf) then
    it.lines = file.lines(r.buf)
  end
end

--- Takes the hunk out of the list that changes these lines.
---@param hunks caliban.Hunk[]
---@param old string[]
---@param new string[]
---@return caliban.Hunk?
local function take(hunks, old, new)
  for i, hunk in ipairs(hunks) do
    if vim.deep_equal(hunk.old, old) and vim.deep_equal(hunk.new, new) then
      return table.remove(hunks, i) --[[@as caliban.Hunk]]
    end
  end
end

--- Adds the hunks to the pending ones that a change on disk has brought back.
---@param r caliban.Review
---@param before string[] the buffer's lines before the change
---@return integer count the number of these hunks
function M.take(r, before)
  local it = of(r)
  if not it then
    return 0
  end
  local now, back = file.lines(r.buf), {} ---@type string[], caliban.Hunk[]
  for _, d in ipairs(algebra.runs(before, now)) do
    local old = vim.list_slice(before, d[1] + 1 --[[@as integer]], d[1] + d[2] --[[@as integer]])
    local new = vim.list_slice(now, d[3] + 1 --[[@as integer]], d[3] + d[4] --[[@as integer]])
    local hunk = take(it.hunks, old, new)
    if hunk then
      back[#back + 1] = { start = d[3], old = old, new = new, of = hunk.of, typed = hunk.typed }
    end
  end
  if #back == 0 then
    return 0
  end
  verdict.take_back(r, back)
  local all = vim.list_extend(tracking.list(r), back)
  table.sort(all, function(a, b)
    return a.start < b.start
  end)
  tracking.set_list(r, algebra.fused(all))
  state.set_returned(r)
  local what = '%s: %s undone on disk %s in the file again, and under review.'
  local count = #back == 1 and '1 change that was' or ('%d changes that were'):format(#back)
  require('caliban.editor.notify').show(
    what:format(named.shown(r), count, #back == 1 and 'is' or 'are')
  )
  return #back
end

--- Looks for hunks that have come back in a text that Neovim has read from disk after the review has ended.
---@param r caliban.Review
---@return boolean found
function M.look(r)
  local it = of(r)
  if r.open or not it or not it.lines or vim.bo[r.buf].modified then
    return false
  end
  local before = it.lines
  it.lines = file.lines(r.buf)
  return M.take(r, before) > 0
end

return M
