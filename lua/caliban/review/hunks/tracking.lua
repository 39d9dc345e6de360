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

---@class caliban.Tracked the hunks of a buffer, undo state by undo state; written here alone
---@field buf integer
---@field hunks caliban.Hunks
---@field own boolean the user has unsaved changes outside the hunks
---@field decided? caliban.Decided the last decision of the undo state `hunks` belong to
---@field open boolean something has been pending since it was last settled
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
---@field formatted? caliban.Formatted[] what formatters changed since it was last settled

---@class caliban.Change rows [first, last) became `new`
---@field first integer
---@field last integer
---@field new string[]

--- Ends the running undo block.
---@param buf integer
local function cut_undo(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

---@param r caliban.Tracked
---@return integer
function M.seq(r)
  return vim.fn.undotree(r.buf).seq_cur
end

--- Whether `<C-r>` leads to a text with hunks in it.
---@param r caliban.Tracked
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
---@return caliban.Tracked
function M.new(buf)
  ---@diagnostic disable-next-line: missing-fields
  local r = { buf = buf, hunks = index.of({}), states = {} } ---@type caliban.Tracked
  r.open, r.busy, r.burst, r.tick = false, false, 0, 0
  r.seq = M.seq(r)
  return r
end

--------------------------------------------------------------------------------------------- questions

--- How many hunks are pending.
---@param r caliban.Tracked
---@return integer
function M.count(r)
  return r.hunks.count
end

--- The pending hunks, in the order of their rows.
---@param r caliban.Tracked
---@return caliban.Hunk[]
function M.list(r)
  return index.list(r.hunks)
end

--- The pending hunks as `set` takes them.
---@param r caliban.Tracked
---@return caliban.Hunks
function M.hunks(r)
  return r.hunks
end

--- The pending hunk that holds a row, and its number.
---@param r caliban.Tracked
---@param row integer
---@return integer? number from 1
---@return caliban.Hunk?
function M.at(r, row)
  return index.at(r.hunks, row)
end

--- The pending hunks that reach into rows [first, last], or touch them.
---@param r caliban.Tracked
---@param first integer
---@param last integer
---@return caliban.Hunk[]
function M.near(r, first, last)
  return index.near(r.hunks, first, last)
end

--- The first pending hunk that begins after a row, or the last that begins before it.
---@param r caliban.Tracked
---@param row integer
---@param step 1|-1
---@return caliban.Hunk?
function M.beyond(r, row, step)
  return index.beyond(r.hunks, row, step)
end

--- Whether the user has undone or redone a change, and `sync` has not found the hunks of that undo state yet.
---@param r caliban.Tracked
---@return boolean
function M.is_undoing(r)
  return r.undoing ~= nil
end

--- What formatters changed since the review was last settled.
---@param r caliban.Tracked
---@return caliban.WireFormatting[]
function M.formattings(r)
  return formatting.list(r.formatted)
end

--------------------------------------------------------------------------------------------- as it is told

---@param r caliban.Tracked
---@param hunks caliban.Hunks that are in the buffer
function M.set(r, hunks)
  r.hunks = hunks
end

---@param r caliban.Tracked
---@param list caliban.Hunk[] that are in the buffer
function M.set_list(r, list)
  r.hunks = index.of(list)
end

---@param r caliban.Tracked
function M.empty(r)
  r.hunks = index.of({})
end

--- Rows [first, last) became these lines, and not by the user.
---@param r caliban.Tracked
---@param first integer
---@param last integer
---@param lines string[]
function M.follow_edit(r, first, last, lines)
  r.hunks = index.change(r.hunks, first, last, lines)
end

--- Whether the user has unsaved changes outside the hunks.
---@param r caliban.Tracked
---@param own boolean
function M.set_own(r, own)
  r.own = own
end

---@param r caliban.Tracked
---@param decided? caliban.Decided
function M.decide(r, decided)
  r.decided = decided
end

---@param r caliban.Tracked
---@param open boolean
function M.set_open(r, open)
  r.open = open
end

--- The verdict was sent: drops the copies of the text that only the verdict needs.
---@param r caliban.Tracked
function M.settled(r)
  r.lines, r.formatted = nil, nil
end

--- The buffer is at this changedtick, its text as it was.
---@param r caliban.Tracked
---@param tick integer
function M.on_changedtick(r, tick)
  r.tick = tick
end

--- The buffer's text is read from disk again, or it is unloaded: nothing is pending.
---@param r caliban.Tracked
---@return caliban.Hunk[] # pending before
function M.reread(r)
  local was = index.list(r.hunks)
  r.hunks, r.states, r.undoing = index.of({}), {}, nil
  r.lines, r.moved, r.far = nil, nil, nil
  return was
end

--- The text is there.
---@param r caliban.Tracked
function M.reloaded(r)
  r.own, r.seq = false, M.seq(r)
end

--- A formatter has changed the text.
---@param r caliban.Tracked
---@param before caliban.Rope|string
---@param after caliban.Rope|string
function M.format(r, before, after)
  r.formatted = formatting.noted(r.formatted, before, after)
end

--------------------------------------------------------------------------------------------- as it goes

--- Keeps the hunks of the undo state that is about to be left.
---@param r caliban.Tracked
local function keep_state(r)
  r.states[r.seq] = { hunks = r.hunks, own = r.own, decided = r.decided }
end

---@param r caliban.Tracked
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
---@param r caliban.Tracked
---@param at integer
---@param check boolean the buffer still is what it was there
local function restore_state(r, at, check)
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
---@param r caliban.Tracked
---@param tick integer
---@param first integer
---@param last integer
---@param new_last integer
---@return string[]? old absent: not known, or not to be followed
---@return string[] new
local function follow(r, tick, first, last, new_last)
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
---@param r caliban.Tracked
---@param it caliban.Moved
local function note_burst(r, it)
  local far = r.far --[[@as { hunks: caliban.Hunks, lines: caliban.Rope }]]
  local first, last, new_last = rope.differing(far.lines, r.lines or M.read(r))
  local old = rope.lines(far.lines, first, last)
  local new = api.nvim_buf_get_lines(r.buf, first, new_last, false)
  moved.note(it, index.near(far.hunks, first, last), first, old, new)
end

--- A command is over: what it moved keeps its owner.
---@param r caliban.Tracked
local function end_command(r)
  local it = r.moved or moved.new()
  if r.far and not r.undoing then
    note_burst(r, it)
  end
  r.moved, r.far = nil, nil
  if not r.undoing then
    r.hunks = moved.settled(it, r.hunks)
  end
end

--- The buffer's lines, read in parts.
---@param r caliban.Tracked
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
---@param r caliban.Tracked
local function read_lines(r)
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

---@param r caliban.Tracked
---@return caliban.Rope? # absent: the buffer has to be read
local function current_lines(r)
  local holds = r.tick == api.nvim_buf_get_changedtick(r.buf) and not file.empty(r.buf)
  return holds and r.lines or nil
end

--- The buffer's text, lines joined by '\n'.
---@param r caliban.Tracked
---@return string
function M.text(r)
  local lines = current_lines(r)
  return lines and rope.text(lines) or file.text(r.buf)
end

---@param r caliban.Tracked
---@return string[]
function M.lines(r)
  local lines = current_lines(r)
  return lines and rope.lines(lines, 0, lines.count) or file.lines(r.buf)
end

--- Brings the hunks up to date with the buffer.
---@param r caliban.Tracked
function M.sync(r)
  end_command(r)
  r.burst = 0
  if r.undoing then
    restore_state(r, M.seq(r), true)
  end
  r.hunks = index.tighten(r.hunks)
  if r.hunks.count == 0 then
    r.lines = r.open and r.lines or nil
  elseif not r.lines or r.lines.count ~= api.nvim_buf_line_count(r.buf) then
    read_lines(r)
  end
end

--- Changes the buffer in one undo step of its own.
---@param r caliban.Tracked
---@param change fun()
---@param after? caliban.Rope its lines then, if they are known already
---@return boolean ok, any err
function M.edit(r, change, after)
  keep_state(r)
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
---@param r caliban.Tracked
local function follow_undo(r)
  local tree = vim.fn.undotree(r.buf)
  if tree.synced == 1 then
    if not r.undoing then
      end_command(r)
      keep_state(r)
    end
    r.undoing = r.undoing or {}
    return
  end
  if r.undoing then
    local parent = tree.entries[#tree.entries - 1]
    restore_state(r, parent and parent.seq or 0, false)
  end
  if tree.seq_cur ~= r.seq then
    end_command(r)
    keep_state(r)
    r.seq = tree.seq_cur
  end
end

--- Neovim tells of a change: rows [first, last) became [first, new_last).
---@param r caliban.Tracked
---@param tick integer
---@param first integer
---@param last integer
---@param new_last integer
---@return boolean by_user else `edit` made it
function M.on_lines(r, tick, first, last, new_last)
  if r.busy then
    follow(r, tick, first, last, new_last)
    return false
  end
  -- one command's many changes are of one kind, and the tree grows with the history
  if r.burst < MOST then
    follow_undo(r)
  end
  r.burst = r.burst + 1
  local was, lines = r.hunks, r.lines
  local old, new = follow(r, tick, first, last, new_last)
  local formats = lines and r.lines and formatting.runs()
  if lines and r.lines and formats then
    M.format(r, lines, r.lines)
  end
  if r.undoing then
    table.insert(r.undoing, { first = first, last = last, new = new })
    return true
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
  return true
end

return M
