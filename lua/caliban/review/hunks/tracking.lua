--- Which hunks belong to which undo state of a buffer: follows typing, `u` and `<C-r>`.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')
local formatting = require('caliban.review.hunks.formatting')
local index = require('caliban.review.hunks.index')
local moved = require('caliban.review.hunks.moved')
local rope = require('caliban.review.hunks.rope')
local slices = require('caliban.editor.slices')

--- Changes of one command whose moves are followed one by one.
local MOST = 50
--- Lines that are read in one go.
local PART = 4000

---@class caliban.Entered a proposal in a buffer
---@field id integer
---@field program? integer that it came from
---@field lines string[] of the buffer before it
---@field edits caliban.Edit[]
---@field key? integer the one before that of its first change; absent: an older Caliban recorded it
---@field count? integer its changes, each with a key
---@field eol { [1]: boolean, [2]: boolean } whether the last line ended, before it and after
---@field whole? 'delete'|'rename'
---@field to? string

---@class caliban.Review
---@field buf integer
---@field path string as the program named it
---@field session string
---@field hunks caliban.Hunks
---@field open boolean something has been pending since it was last settled
---@field proposals caliban.Entered[]
---@field reasons caliban.Reason[]
---@field dropped caliban.Hunk[] rejected since it was last settled
---@field formatted? caliban.Formatted[] what formatters changed since it was last settled
---@field decided? caliban.Decided the last decision of the undo state `hunks` belong to
---@field acted boolean something was decided since it was last settled
---@field spared? boolean what was proposed for the file as a whole was rejected
---@field came caliban.Hunks[] the hunks of each proposal as the model wrote them, until `proposed` has them
---@field proposed table<string, true> the same by their text
---@field seen integer how many of the proposals those are of
---@field create boolean
---@field stands? 'guard'|'by' whether writes are refused
---@field whole? caliban.Whole what is proposed for the file as a whole
---@field deleted? boolean the user has agreed that it goes
---@field was? string its path before the user agreed to another
---@field auto boolean its hunks are on disk already: they entered in auto-edit mode
---@field binary boolean the buffer does not tell what the file holds
---@field created boolean the buffer was made for it
---@field own boolean the user has unsaved changes outside the hunks
---@field origin? string the disk's text at entry; absent where the buffer was modified then
---@field clash? string what on disk cannot be written over
---@field text? string the buffer's before the write that ends it: an autocommand may close the buffer
---@field before? caliban.Before the diagnostics before an edit that is not settled yet
---@field eol? { [1]: boolean, [2]: boolean } 'endofline' and 'fixendofline' before a proposal changed them
---@field seq integer the undo state `hunks` belong to
---@field states table<integer, { hunks: caliban.Hunks, own: boolean, decided?: caliban.Decided }> other undo states
---@field undoing? caliban.Change[] an undo or redo was seen and not looked up yet; what it changed
---@field burst integer changes since the last look
---@field lines? caliban.Rope the buffer's, while something is pending
---@field reading? boolean they are being read
---@field tick integer the buffer's changedtick that `lines` are of
---@field moved? caliban.Moved what the running command has moved
---@field far? { hunks: caliban.Hunks, lines: caliban.Rope } before the first change of it not followed
---@field busy boolean the buffer is being changed from here
---@field later boolean a look is scheduled
---@field kept? integer what was pending when it was last kept on disk
---@field from table<integer, integer> windows `next` put it in, and what they showed

---@class caliban.Change rows [first, last) became `new`
---@field first integer
---@field last integer
---@field new string[]

--- Ends the running undo block.
---@param buf integer
local function cut_undo(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

--- What is pending: hunks, and the file as a whole.
---@param r caliban.Review
---@return integer
function M.count(r)
  return r.hunks.count + (r.whole and 1 or 0)
end

---@param r caliban.Review
---@return integer
function M.seq(r)
  return vim.fn.undotree(r.buf).seq_cur
end

--- Whether `<C-r>` leads to a text with hunks in it.
---@param r caliban.Review
---@return boolean
function M.returns(r)
  local undone = false
  for _, entry in ipairs(vim.fn.undotree(r.buf).entries) do
    undone = undone or entry.curhead == 1
    local state = undone and r.states[entry.seq]
    if state and state.hunks.count > 0 then
      return true
    end
  end
  return false
end

---@param buf integer
---@param created boolean it was made for the review
---@return caliban.Review
function M.new(buf, created)
  ---@diagnostic disable-next-line: missing-fields
  local r = { buf = buf, created = created, hunks = index.of({}), states = {}, from = {} } ---@type caliban.Review
  r.open, r.busy, r.later, r.burst, r.tick = false, false, false, 0, 0
  r.came, r.proposed, r.seen, r.acted = {}, {}, 0, false
  r.seq = M.seq(r)
  return r
end

--- Keeps the hunks of the undo state that is about to be left.
---@param r caliban.Review
local function remember(r)
  r.states[r.seq] = { hunks = r.hunks, own = r.own, decided = r.decided }
end

---@param r caliban.Review
---@param list caliban.Hunk[]
---@return boolean whether they are in the buffer
local function fits(r, list)
  if r.lines then
    return rope.hold(r.lines, list)
  end
  for _, hunk in ipairs(list) do
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
  if state and (not check or fits(r, index.list(state.hunks))) then
    r.hunks, r.own, r.decided = state.hunks, state.own, state.decided
  else
    for _, it in ipairs(r.undoing or {}) do
      local own
      r.hunks, own = index.change(r.hunks, it.first, it.last, it.new)
      r.own = r.own or own
    end
  end
  r.seq, r.undoing = at, nil
end

--- Keeps `lines` what the buffer's are.
---@param r caliban.Review
---@param tick integer
---@param first integer
---@param last integer
---@param new_last integer
---@return string[]? old absent: not known, or not to be followed
---@return string[] new
function M.follow(r, tick, first, last, new_last)
  local lines = r.lines
  if not lines and r.hunks.count == 0 then
    return nil, {}
  end
  local new = api.nvim_buf_get_lines(r.buf, first, new_last, false)
  if not lines or last > lines.count then
    r.lines = nil
    return nil, new
  end
  r.lines, r.tick = rope.splice(lines, first, last, new), tick
  if r.busy then
    return nil, new
  elseif r.burst > MOST then
    r.far = r.far or { hunks = r.hunks, lines = lines }
    return nil, new
  end
  return rope.lines(lines, first, last), new
end

--- A command of many changes, looked at as one: what stands where another thing stood.
---@param r caliban.Review
---@param it caliban.Moved
local function leap(r, it)
  local far = r.far --[[@as { hunks: caliban.Hunks, lines: caliban.Rope }]]
  local first, last, new_last = rope.differing(far.lines, r.lines or M.read(r))
  local old = rope.lines(far.lines, first, last)
  local new = api.nvim_buf_get_lines(r.buf, first, new_last, false)
  moved.note(it, index.near(far.hunks, first, last), first, old, new)
end

--- A command is over: what it moved keeps its owner.
---@param r caliban.Review
local function conclude(r)
  local it = r.moved or moved.new()
  if r.far and not r.undoing then
    leap(r, it)
  end
  r.moved, r.far = nil, nil
  if not r.undoing then
    r.hunks = moved.settled(it, r.hunks)
  end
end

--- The buffer's lines, read in parts.
---@param r caliban.Review
---@return caliban.Rope
function M.read(r)
  local lines = {} ---@type string[]
  for row = 0, api.nvim_buf_line_count(r.buf) - 1, PART do
    vim.list_extend(lines, api.nvim_buf_get_lines(r.buf, row, row + PART, false))
    if row > 0 then
      slices.rest()
    end
  end
  return rope.of(lines)
end

--- Reads `lines`; those of a long text are there later.
---@param r caliban.Review
local function copy(r)
  r.lines = nil
  if r.reading then
    return
  end
  r.reading = true
  slices.run(function()
    local tick, lines
    repeat
      tick = api.nvim_buf_get_changedtick(r.buf)
      local ok, read = pcall(M.read, r)
      lines = ok and read or nil
    until not lines or tick == api.nvim_buf_get_changedtick(r.buf)
    r.reading = false
    if lines and r.hunks.count > 0 then
      r.lines, r.tick = lines, tick
    end
  end)
end

---@param r caliban.Review
---@return caliban.Rope? # absent: the buffer has to be read
local function known(r)
  local holds = r.tick == api.nvim_buf_get_changedtick(r.buf) and not file.empty(r.buf)
  return holds and r.lines or nil
end

--- The buffer's text, lines joined by '\n'.
---@param r caliban.Review
---@return string
function M.text(r)
  local lines = known(r)
  return lines and rope.text(lines) or file.text(r.buf)
end

---@param r caliban.Review
---@return string[]
function M.lines(r)
  local lines = known(r)
  return lines and rope.lines(lines, 0, lines.count) or file.lines(r.buf)
end

--- Brings the hunks up to date with the buffer.
---@param r caliban.Review
function M.sync(r)
  conclude(r)
  r.burst = 0
  if r.undoing then
    land(r, M.seq(r), true)
  end
  r.hunks = index.tighten(r.hunks)
  if r.hunks.count == 0 then
    r.lines = r.open and r.lines or nil
  elseif not r.lines or r.lines.count ~= api.nvim_buf_line_count(r.buf) then
    copy(r)
  end
end

--- Changes the buffer in one undo step of its own.
---@param r caliban.Review
---@param change fun()
---@param after? caliban.Rope its lines then, if they are known already
---@return boolean ok, any err
function M.edit(r, change, after)
  remember(r)
  if after then
    r.lines = nil
  end
  r.busy = true
  cut_undo(r.buf)
  local ok, err = pcall(change)
  pcall(cut_undo, r.buf)
  r.busy = false
  r.seq = M.seq(r)
  if ok and after then
    r.lines, r.tick = after, api.nvim_buf_get_changedtick(r.buf)
  end
  return ok, err
end

--- `synced` is what tells undo and redo from typing: a new change has an open undo block.
---@param r caliban.Review
local function step(r)
  local tree = vim.fn.undotree(r.buf)
  if tree.synced == 1 then
    if not r.undoing then
      conclude(r)
      remember(r)
    end
    r.undoing = r.undoing or {}
    return
  end
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

---@param r caliban.Review
---@param tick integer
---@param first integer
---@param last integer
---@param new_last integer
function M.typed(r, tick, first, last, new_last)
  -- one command's many changes are of one kind, and the tree grows with the history
  if r.burst < MOST then
    step(r)
  end
  r.burst = r.burst + 1
  local was, lines = r.hunks, r.lines
  local old, new = M.follow(r, tick, first, last, new_last)
  local formats = lines and r.lines and formatting.runs()
  if lines and r.lines and formats then
    formatting.note(r, lines, r.lines)
  end
  if r.undoing then
    table.insert(r.undoing, { first = first, last = last, new = new })
    return
  end
  local own = true
  if was.count > 0 then
    r.hunks, own = index.change(was, first, last, new, formats)
  end
  if old then
    r.moved = r.moved or moved.new()
    moved.note(r.moved, index.near(was, first, last), first, old, new)
  end
  r.own = r.own or own
end

return M
