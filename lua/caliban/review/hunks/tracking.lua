--- The pending hunks of a buffer, for each of its undo states. The hunks follow typing, `u` and `<C-r>`.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')
local formatting = require('caliban.review.hunks.formatting')
local index = require('caliban.review.hunks.index')
local moved = require('caliban.review.hunks.moved')
local rope = require('caliban.review.hunks.rope')
local slices = require('caliban.editor.slices')

--- If one command makes more changes than this, the lines that it has moved are no longer
--- determined change by change.
local MOST = 50
--- How many lines are read in one slice.
local PART = 4000

---@class caliban.Tracked the hunks of a buffer, for each undo state; only this module sets its fields
---@field buf integer
---@field hunks caliban.Hunks
---@field own boolean whether the user has unsaved changes outside the hunks
---@field decided? caliban.Decided the last decision in this undo state
---@field open boolean whether changes have been pending since the review was last settled
---@field seq integer the undo state that `hunks`, `own` and `decided` belong to
---@field states table<integer, { hunks: caliban.Hunks, own: boolean, decided?: caliban.Decided }> the other undo states
---@field undoing? caliban.Change[] the changes of an undo or redo whose undo state `sync` has not looked up yet
---@field burst integer the number of changes since the last `sync`
---@field lines? caliban.Rope the buffer's lines, while hunks are pending
---@field reading? boolean whether `lines` are being read
---@field tick integer the changedtick of the buffer when it had these `lines`
---@field moved? caliban.Moved the lines that the running command has moved
---@field far? { hunks: caliban.Hunks, lines: caliban.Rope } before change number `MOST` + 1 of the running command
---@field busy boolean whether `edit` is changing the buffer
---@field formatted? caliban.Formatted[] the changes by formatters since the review was last settled

---@class caliban.Change rows [first, last) were replaced by `new`
---@field first integer
---@field last integer
---@field new string[]

--- Ends Neovim's open undo block, so that the next change can be undone separately.
---@param buf integer
local function cut_undo(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

--- The number of the buffer's undo state.
---@param r caliban.Tracked
---@return integer
function M.seq(r)
  return vim.fn.undotree(r.buf).seq_cur
end

--- Whether a redo (`<C-r>`) can restore hunks.
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

--- The pending hunks, in the form that `set` takes.
---@param r caliban.Tracked
---@return caliban.Hunks
function M.hunks(r)
  return r.hunks
end

--- The pending hunk that contains a row, and its number.
---@param r caliban.Tracked
---@param row integer
---@return integer? number from 1
---@return caliban.Hunk?
function M.at(r, row)
  return index.at(r.hunks, row)
end

--- The pending hunks that overlap or touch rows [first, last].
---@param r caliban.Tracked
---@param first integer
---@param last integer
---@return caliban.Hunk[]
function M.near(r, first, last)
  return index.near(r.hunks, first, last)
end

--- Splits the pending hunks at the ends of the rows [first, last), as `algebra.take` does.
---@param r caliban.Tracked
---@param first integer
---@param last integer
---@param back boolean whether the hunks in these rows are rejected
---@return caliban.Hunk[] taken
---@return caliban.Hunks rest in the form that `set` takes
function M.take(r, first, last, back)
  return index.take(r.hunks, first, last, back)
end

--- The first pending hunk that begins after a row, or the last pending hunk that begins before the row.
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

--- The changes that formatters have made since the review was last settled.
---@param r caliban.Tracked
---@return caliban.WireFormatting[]
function M.formattings(r)
  return formatting.list(r.formatted)
end

--------------------------------------------------------------------------------------------- setting fields

---@param r caliban.Tracked
---@param hunks caliban.Hunks whose new lines are in the buffer
function M.set(r, hunks)
  r.hunks = hunks
end

---@param r caliban.Tracked
---@param list caliban.Hunk[] whose new lines are in the buffer
function M.set_list(r, list)
  r.hunks = index.of(list)
end

---@param r caliban.Tracked
function M.empty(r)
  r.hunks = index.of({})
end

--- Updates the hunks after a change that the user has not made: rows [first, last) were replaced by
--- `lines`.
---@param r caliban.Tracked
---@param first integer
---@param last integer
---@param lines string[]
function M.follow_edit(r, first, last, lines)
  r.hunks = index.change(r.hunks, first, last, lines)
end

---@param r caliban.Tracked
---@param own boolean whether the user has unsaved changes outside the hunks
function M.set_own(r, own)
  r.own = own
end

--- Sets the last decision of the current undo state.
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

--- Called after the verdict was sent: drops the copies of the text that only the verdict needs.
---@param r caliban.Tracked
function M.settled(r)
  r.lines, r.formatted = nil, nil
end

--- Notes the new changedtick of the buffer, whose text has not changed.
---@param r caliban.Tracked
---@param tick integer
function M.on_changedtick(r, tick)
  r.tick = tick
end

--- Called when Neovim reads the buffer's text from disk again, or unloads the buffer: drops all hunks.
---@param r caliban.Tracked
---@return caliban.Hunk[] # the hunks that were pending
function M.reread(r)
  local was = index.list(r.hunks)
  r.hunks, r.states, r.undoing = index.of({}), {}, nil
  r.lines, r.moved, r.far = nil, nil, nil
  return was
end

--- Called after Neovim has read the buffer's text from disk: the buffer has no unsaved changes of the user, and a new
--- undo state.
---@param r caliban.Tracked
function M.reloaded(r)
  r.own, r.seq = false, M.seq(r)
end

--- Records that a formatter has changed the text.
---@param r caliban.Tracked
---@param before caliban.Rope|string
---@param after caliban.Rope|string
function M.format(r, before, after)
  r.formatted = formatting.noted(r.formatted, before, after)
end

--------------------------------------------------------------------------------------------- following the buffer

--- Saves the hunks of the current undo state before the buffer changes to another one.
---@param r caliban.Tracked
local function keep_state(r)
  r.states[r.seq] = { hunks = r.hunks, own = r.own, decided = r.decided }
end

---@param r caliban.Tracked
---@param list caliban.Hunk[]
---@return boolean whether the buffer has the hunks' new lines at their rows
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

--- Restores the saved hunks of the undo state to which `u` or `<C-r>` has led. If no hunks were
--- saved for it or they do not fit the buffer, updates the current hunks by the changes that the
--- undo has made.
---@param r caliban.Tracked
---@param at integer the undo state
---@param check boolean whether to check that the hunks fit the buffer
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

--- Makes the same change in `lines` that was made in the buffer.
---@param r caliban.Tracked
---@param tick integer
---@param first integer
---@param last integer
---@param new_last integer
---@return string[]? old the replaced lines; nil if they are not known, or if this change needs no search for moved lines
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

--- Notes the lines that a command with more than `MOST` changes has moved: all changes after the
--- first `MOST` count as one.
---@param r caliban.Tracked
---@param it caliban.Moved
local function note_burst(r, it)
  local far = r.far --[[@as { hunks: caliban.Hunks, lines: caliban.Rope }]]
  local first, last, new_last = rope.differing(far.lines, r.lines or M.read(r))
  local old = rope.lines(far.lines, first, last)
  local new = api.nvim_buf_get_lines(r.buf, first, new_last, false)
  moved.note(it, index.near(far.hunks, first, last), first, old, new)
end

--- Called after a command: restores the owners of the lines that it has moved (see `moved`).
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

--- Reads the buffer's lines, in slices.
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

--- Reads `lines` from the buffer: those of a short text at once, those of a long one later in
--- slices.
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
---@return caliban.Rope? # nil if the buffer has to be read
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

--- Brings the hunks up to date with the buffer. Must be called before the hunks are read.
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

--- Changes the buffer in a separate undo step.
---@param r caliban.Tracked
---@param change fun()
---@param after? caliban.Rope the buffer's lines after the change if the caller knows them
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

--- Finds out to which undo state a change belongs. In `undotree()`, `synced` is 1 after an undo or
--- redo, but not after a new change, which leaves an undo block open.
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

--- Updates the hunks after a change of the buffer: rows [first, last) were replaced by rows [first,
--- new_last).
---@param r caliban.Tracked
---@param tick integer
---@param first integer
---@param last integer
---@param new_last integer
---@return boolean by_user false if `edit` made the change
function M.on_lines(r, tick, first, last, new_last)
  if r.busy then
    follow(r, tick, first, last, new_last)
    return false
  end
  -- more than `MOST` changes are assumed to come from one command, either an edit or an undo,
  -- because `undotree()` is slow for a long history
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
