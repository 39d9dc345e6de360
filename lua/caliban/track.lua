--- Which hunks belong to which undo state of a buffer: follows typing, `u` and `<C-r>`.
local M = {}

local api = vim.api
local review = require('caliban.review')

---@class caliban.Review
---@field buf integer
---@field path string as the program named it
---@field session string
---@field hunks caliban.Hunk[]
---@field open boolean something has been pending since it was last settled
---@field proposals integer[]
---@field reasons caliban.Reason[]
---@field accepted integer
---@field rejected integer
---@field create boolean
---@field created boolean the buffer was made for it
---@field own boolean the user has unsaved changes outside the hunks
---@field origin? string the disk's text at entry; absent where the buffer was modified then
---@field clash? string what on disk cannot be written over
---@field eol? { [1]: boolean, [2]: boolean } 'endofline' and 'fixendofline' before a proposal changed them
---@field seq integer the undo state `hunks` belong to
---@field states table<integer, { hunks: caliban.Hunk[], own: boolean }> other undo states
---@field undoing boolean an undo or redo was seen and not looked up yet
---@field burst integer changes since the last look
---@field busy boolean the buffer is being changed from here
---@field later boolean a look is scheduled
---@field from table<integer, integer> windows `next` put it in, and what they showed

--- Ends the running undo block.
---@param buf integer
local function cut_undo(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

---@param r caliban.Review
---@return integer
function M.seq(r)
  return vim.fn.undotree(r.buf).seq_cur
end

--- Keeps the hunks of the undo state that is about to be left.
---@param r caliban.Review
local function remember(r)
  r.states[r.seq] = { hunks = r.hunks, own = r.own }
end

---@param r caliban.Review
---@param hunks caliban.Hunk[]
---@return boolean whether they are in the buffer
local function fits(r, hunks)
  for _, hunk in ipairs(hunks) do
    local there = api.nvim_buf_get_lines(r.buf, hunk.start, hunk.start + #hunk.new, false)
    if not vim.deep_equal(there, hunk.new) then
      return false
    end
  end
  return true
end

--- Takes up the hunks of the undo state that `u` or `<C-r>` went to.
---@param r caliban.Review
---@param at integer
---@param check boolean the buffer still is what it was there
local function land(r, at, check)
  local state = r.states[at]
  if state and (not check or fits(r, state.hunks)) then
    r.hunks, r.own = state.hunks, state.own
  end
  r.seq, r.undoing = at, false
end

--- Brings the hunks up to date with the buffer.
---@param r caliban.Review
function M.sync(r)
  r.burst = 0
  if r.undoing then
    land(r, M.seq(r), true)
  end
  r.hunks = review.tighten(r.hunks)
end

--- Changes the buffer in one undo step of its own.
---@param r caliban.Review
---@param change fun()
---@return boolean ok, any err
function M.edit(r, change)
  remember(r)
  r.busy = true
  cut_undo(r.buf)
  local ok, err = pcall(change)
  pcall(cut_undo, r.buf)
  r.busy = false
  r.seq = M.seq(r)
  return ok, err
end

--- `synced` is what tells undo and redo from typing: a new change has an open undo block.
---@param r caliban.Review
---@param first integer
---@param last integer
---@param new_last integer
function M.typed(r, first, last, new_last)
  r.burst = r.burst + 1
  -- one command's many changes are of one kind, and the tree grows with the history
  local tree = r.burst < 50 and vim.fn.undotree(r.buf) or nil
  if tree and tree.synced == 1 then
    if not r.undoing then
      remember(r)
    end
    r.undoing = true
  elseif tree then
    if r.undoing then
      local parent = tree.entries[#tree.entries - 1]
      land(r, parent and parent.seq or 0, false)
    end
    if tree.seq_cur ~= r.seq then
      remember(r)
      r.seq = tree.seq_cur
    end
  end
  local new = #r.hunks > 0 and api.nvim_buf_get_lines(r.buf, first, new_last, false) or {}
  local own = true
  if #r.hunks > 0 then
    r.hunks, own = review.change(r.hunks, first, last, new)
  end
  r.own = r.own or own
end

return M
