--- Which hunks belong to which undo state of a buffer: follows typing, `u` and `<C-r>`.
local M = {}

local api = vim.api
local moved = require('caliban.moved')
local review = require('caliban.review')

--- Changes of one command that are followed one by one.
local MOST = 50

---@class caliban.Entered a proposal in a buffer
---@field id integer
---@field program? integer that it came from
---@field lines string[] of the buffer before it
---@field edits caliban.Edit[]
---@field eol { [1]: boolean, [2]: boolean } whether the last line ended, before it and after
---@field whole? 'delete'|'rename'

---@class caliban.Review
---@field buf integer
---@field path string as the program named it
---@field session string
---@field hunks caliban.Hunk[]
---@field open boolean something has been pending since it was last settled
---@field proposals caliban.Entered[]
---@field reasons caliban.Reason[]
---@field dropped caliban.Hunk[] rejected since it was last settled
---@field accepted integer
---@field rejected integer
---@field create boolean
---@field stands? 'guard'|'by' whether writes are refused
---@field whole? caliban.Whole what is proposed for the file as a whole
---@field deleted? boolean the user has agreed that it goes
---@field was? string its path before the user agreed to another
---@field auto boolean its hunks are on disk already: they entered in auto-edit mode
---@field created boolean the buffer was made for it
---@field own boolean the user has unsaved changes outside the hunks
---@field origin? string the disk's text at entry; absent where the buffer was modified then
---@field clash? string what on disk cannot be written over
---@field text? string the buffer's before the write that ends it: an autocommand may close the buffer
---@field before? caliban.Before the diagnostics before an edit that is not settled yet
---@field eol? { [1]: boolean, [2]: boolean } 'endofline' and 'fixendofline' before a proposal changed them
---@field seq integer the undo state `hunks` belong to
---@field states table<integer, { hunks: caliban.Hunk[], own: boolean }> other undo states
---@field undoing boolean an undo or redo was seen and not looked up yet
---@field burst integer changes since the last look
---@field lines? string[] the buffer's, while something is pending
---@field moved? caliban.Moved what the running command has moved
---@field far? { hunks: caliban.Hunk[], lines: string[] } before the first change of it not followed
---@field busy boolean the buffer is being changed from here
---@field later boolean a look is scheduled
---@field from table<integer, integer> windows `next` put it in, and what they showed

--- Ends the running undo block.
---@param buf integer
local function cut_undo(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

--- What is pending: hunks, and the file as a whole.
---@param r caliban.Review
---@return integer
function M.count(r)
  return #r.hunks + (r.whole and 1 or 0)
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

--- Replaces rows of a list, in place.
---@param list string[]
---@param first integer
---@param last integer
---@param new string[]
---@return string[] old
local function splice(list, first, last, new)
  local old, count = vim.list_slice(list, first + 1, last), #list
  local delta = #new - #old
  for k = delta > 0 and count or last + 1, delta > 0 and last + 1 or count, delta > 0 and -1 or 1 do
    list[k + delta] = list[k]
  end
  for k = count, count + delta + 1, -1 do
    list[k] = nil
  end
  for k, line in ipairs(new) do
    list[first + k] = line
  end
  return old
end

--- Keeps `lines` what the buffer's are. Where it cannot, they are read again at the next look.
---@param r caliban.Review
---@param first integer
---@param last integer
---@param new_last integer
---@return string[]? old absent: not known any more
---@return string[] new
function M.follow(r, first, last, new_last)
  r.burst = r.burst + 1
  local new = (r.lines or #r.hunks > 0) and api.nvim_buf_get_lines(r.buf, first, new_last, false)
    or {}
  if r.lines and (r.burst > MOST or last > #r.lines) then
    if not r.busy then
      r.far = { hunks = r.hunks, lines = r.lines }
    end
    r.lines = nil
  end
  return r.lines and splice(r.lines, first, last, new), new
end

--- A command is over: what it moved keeps its owner.
---@param r caliban.Review
local function conclude(r)
  local it, far = r.moved or moved.new(), r.far
  r.moved, r.far = nil, nil
  if r.undoing then
    return
  end
  if far then
    local now = api.nvim_buf_get_lines(r.buf, 0, -1, false)
    moved.note(it, far.hunks, 0, far.lines, now)
  end
  r.hunks = moved.settled(it, r.hunks)
end

--- Brings the hunks up to date with the buffer.
---@param r caliban.Review
function M.sync(r)
  conclude(r)
  r.burst = 0
  if r.undoing then
    land(r, M.seq(r), true)
  end
  r.hunks = review.tighten(r.hunks)
  if #r.hunks == 0 then
    r.lines = nil
  elseif not r.lines or #r.lines ~= api.nvim_buf_line_count(r.buf) then
    r.lines = api.nvim_buf_get_lines(r.buf, 0, -1, false)
  end
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
  -- one command's many changes are of one kind, and the tree grows with the history
  local tree = r.burst < MOST and vim.fn.undotree(r.buf) or nil
  if tree and tree.synced == 1 then
    if not r.undoing then
      conclude(r)
      remember(r)
    end
    r.undoing = true
  elseif tree then
    if r.undoing then
      local parent = tree.entries[#tree.entries - 1]
      land(r, parent and parent.seq or 0, false)
    end
    if tree.seq_cur ~= r.seq then
      conclude(r)
      remember(r)
      r.seq = tree.seq_cur
    end
  end
  local hunks, own = r.hunks, true
  local old, new = M.follow(r, first, last, new_last)
  if #hunks > 0 then
    r.hunks, own = review.change(hunks, first, last, new)
  end
  if old and not r.undoing then
    r.moved = r.moved or moved.new()
    moved.note(r.moved, hunks, first, old, new)
  end
  r.own = r.own or own
end

return M
