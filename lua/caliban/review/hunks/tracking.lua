--- The pending hunks of a buffer, for each of its undo states. The hunks follow typing, `u` and `<C-r>`.
local M = {}

local api = vim.api
local block = require('caliban.review.hunks.block')
local file = require('caliban.editor.file')
local formatting = require('caliban.review.hunks.formatting')
local index = require('caliban.review.hunks.index')
local lines_of = require('caliban.review.hunks.lines')
local outside = require('caliban.review.hunks.outside')
local regions = require('caliban.review.hunks.regions')
local rope = require('caliban.review.hunks.rope')
local slices = require('caliban.editor.slices')
local states = require('caliban.review.hunks.states')

--- If one command makes more changes than this, the undo state is no longer looked up at each of them.
local MOST = 50
--- A change of this many lines is compared with the lines before it only by `sync`.
local MANY = 2000
--- A text that one of so many commands has changed may come back.
local PAST = 3

---@class caliban.Tracked the hunks of a buffer, for each undo state; only this module sets its fields
---@field buf integer
---@field hunks caliban.Hunks
---@field own boolean whether the user has unsaved changes outside the hunks
---@field gone caliban.Gone the lines that the user has removed
---@field past caliban.UndoBlock[] the last blocks before this one since the last decision, newest first
---@field decided? caliban.Decided the last decision in this undo state
---@field open boolean whether changes have been pending since the review was last settled
---@field seq integer the undo state that `hunks`, `own`, `gone` and `decided` belong to
---@field states table<integer, caliban.UndoState> the other undo states
---@field first? integer undo states before this one have no line of the agent's; nil if that is not known
---@field undoing? caliban.Change[] the changes of an undo or redo whose undo state `sync` has not looked up yet
---@field aside? boolean whether a command that has changed no line may have led to another undo state
---@field burst integer the number of changes since the last `sync`
---@field lines? caliban.Rope the buffer's lines, while hunks are pending
---@field reading? boolean whether `lines` are being read
---@field tick integer the changedtick of the buffer when it had these `lines`
---@field block? caliban.UndoBlock the changes that lead to the current undo state, if the text before them is known
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
  return states.returns(r.buf, r.states)
end

--- Forgets the changes of the user: the hunks come from a decision, a proposal or a file.
---@param r caliban.Tracked
local function forget(r)
  r.block, r.past, r.gone = nil, {}, { agents = {}, users = {}, of = {} }
end

---@param buf integer
---@param is_new boolean whether no line of the buffer is the agent's yet, in no undo state
---@return caliban.Tracked
function M.new(buf, is_new)
  ---@diagnostic disable-next-line: missing-fields
  local r = { buf = buf, hunks = index.of({}), states = {} } ---@type caliban.Tracked
  r.open, r.busy, r.burst, r.tick = false, false, 0, 0
  forget(r)
  r.seq = M.seq(r)
  r.first = is_new and vim.fn.undotree(buf).seq_last + 1 or nil
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
  forget(r)
end

---@param r caliban.Tracked
---@param list caliban.Hunk[] whose new lines are in the buffer
function M.set_list(r, list)
  M.set(r, index.of(list))
end

---@param r caliban.Tracked
function M.empty(r)
  M.set_list(r, {})
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
  forget(r)
end

--- Notes the new changedtick of the buffer, whose text has not changed.
---@param r caliban.Tracked
---@param tick integer
function M.on_changedtick(r, tick)
  r.tick, r.aside = tick, true
end

--- Called when Neovim reads the buffer's text from disk again, or unloads the buffer: drops all hunks.
---@param r caliban.Tracked
---@return caliban.Hunk[] pending the hunks that were pending
---@return string[]? lines the buffer's lines, if they are known
function M.reread(r)
  local was, lines = index.list(r.hunks), r.lines and rope.lines(r.lines, 0, r.lines.count)
  r.hunks, r.states, r.undoing, r.lines = index.of({}), {}, nil, nil
  forget(r)
  return was, lines
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

--- Saves the hunks before the buffer changes to another undo state.
---@param r caliban.Tracked
---@param seq integer the undo state now
local function keep_state(r, seq)
  local state = { hunks = r.hunks, own = r.own, gone = r.gone, decided = r.decided }
  states.keep(r.states, r.seq, seq, state)
end

--- Brings the hunks up to date with the changes of the undo block.
---@param r caliban.Tracked
local function settle(r)
  local it = r.block
  if it and it.due then
    it.due = false
    r.hunks, r.own, r.gone = block.settled(it, r.lines --[[@as caliban.Rope]], r.past)
  end
end

--- Ends the undo block: the next change begins another.
---@param r caliban.Tracked
local function end_block(r)
  settle(r)
  if r.block then
    table.insert(r.past, 1, r.block)
    r.past[PAST + 1] = nil
  end
  r.block = nil
end

---@param r caliban.Tracked
---@param own boolean whether the user has unsaved changes outside the hunks
function M.set_own(r, own)
  end_block(r)
  r.own = own
end

--- Restores the saved hunks of the undo state to which `u` or `<C-r>` has led. If no hunks were
--- saved for it or they do not fit the buffer, updates the current hunks by the changes that the
--- undo has made. A state before the first proposal has no hunks.
---@param r caliban.Tracked
---@param at integer the undo state
---@param check boolean whether to check that the hunks fit the buffer
local function restore_state(r, at, check)
  local state = r.states[at]
  if state and (not check or states.fits(r.buf, r.lines, index.list(state.hunks))) then
    r.hunks, r.own, r.gone, r.decided = state.hunks, state.own, state.gone, state.decided
  elseif r.first and at < r.first then
    M.empty(r)
    r.own, r.decided = true, nil
  elseif r.block then
    settle(r)
  else
    for _, it in ipairs(r.undoing or {}) do
      local own
      r.hunks, own = index.change(r.hunks, it.first, it.last, it.new)
      r.own = r.own or own
    end
  end
  r.seq, r.undoing, r.block = at, nil, nil
end

--- Makes the same change in `lines` that was made in the buffer.
---@param r caliban.Tracked
---@param tick integer
---@param first integer
---@param last integer
---@param new string[]
local function follow(r, tick, first, last, new)
  local lines = r.lines
  r.lines = lines and last <= lines.count and rope.splice(lines, first, last, new) or nil
  r.tick = r.lines and tick or r.tick
end

--- Adds a change to the undo block, or begins one.
---@param r caliban.Tracked
---@param was caliban.Hunks the hunks before the change
---@param before? caliban.Rope the buffer's lines before it
---@param first integer
---@param last integer
---@param count integer the number of new lines
local function note(r, was, before, first, last, count)
  local formats = formatting.runs()
  if not before or not r.lines or r.block and r.block.formats ~= formats then
    r.block = nil
  end
  if before and r.lines then
    r.block = r.block or block.new(was, before, r.own, r.gone, formats)
    r.block.due = true
    regions.add(r.block.regions, first, last, first + count)
  end
end

--- Reads `lines` from the buffer: those of a short text at once, those of a long one later in slices.
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
      local ok, read = pcall(lines_of.read, r.buf)
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
  -- the changedtick is negative once Neovim, which a signal ends, has closed the buffer
  local tick = api.nvim_buf_get_changedtick(r.buf)
  local holds = (tick == r.tick or tick < 0) and not file.empty(r.buf)
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
  r.burst = 0
  if r.undoing then
    restore_state(r, M.seq(r), true)
  end
  settle(r)
  if r.aside then
    r.seq, r.aside = M.seq(r), nil
  end
  r.hunks = index.tighten(r.hunks)
  if r.hunks.count == 0 then
    r.lines = r.open and r.lines or nil
    r.block = r.lines and r.block or nil
  elseif not r.lines or r.lines.count ~= lines_of.count(r.buf) then
    read_lines(r)
  end
end

--- Changes the buffer in a separate undo step.
---@param r caliban.Tracked
---@param change fun()
---@param after? caliban.Rope the buffer's lines after the change if the caller knows them
---@return boolean ok, any err
function M.edit(r, change, after)
  settle(r)
  forget(r)
  keep_state(r, M.seq(r))
  r.lines = not after and r.lines or nil
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

--- Makes the changes in the buffer that another program has made on disk, in a separate undo step.
---@param r caliban.Tracked
---@param edits caliban.DiskEdit[]
---@param formats? boolean whether the program is a formatter
---@return caliban.Hunk[] thrown the hunks that the program has thrown away
---@return boolean reworked whether it has changed other hunks
---@return boolean done false if the buffer cannot be changed
function M.merge(r, edits, formats)
  local thrown, reworked = {}, false ---@type caliban.Hunk[], boolean
  local done = M.edit(r, function()
    r.hunks, r.gone, thrown, reworked = outside.made(r.buf, r.hunks, edits, formats == true)
  end)
  return thrown, reworked, done
end

--- Finds out to which undo state a change belongs. In `undotree()`, `synced` is 1 after an undo or redo, but not
--- after a new change, which leaves an undo block open. Must be called before the change is followed.
---@param r caliban.Tracked
local function follow_undo(r)
  local tree = vim.fn.undotree(r.buf)
  if tree.synced == 1 then
    if not r.undoing then
      end_block(r)
      keep_state(r, r.seq)
      -- a command such as `=` that changes nothing begins an undo state without a report
      r.states[tree.seq_cur] = r.states[tree.seq_cur] or r.states[r.seq]
      r.undoing = {}
    end
    return
  end
  if r.undoing then
    local parent = tree.entries[#tree.entries - 1]
    restore_state(r, parent and parent.seq or 0, false)
  end
  if tree.seq_cur ~= r.seq then
    local parent = tree.entries[#tree.entries - 1]
    end_block(r)
    keep_state(r, parent and parent.seq or 0)
    r.seq = tree.seq_cur
  end
end

--- Updates the hunks after a change of the buffer: rows [first, last) were replaced by rows [first, new_last).
---@param r caliban.Tracked
---@param tick integer
---@param first integer
---@param last integer
---@param new_last integer
---@return boolean by_user false if `edit` made the change
function M.on_lines(r, tick, first, last, new_last)
  local new ---@type string[]
  first, last, new = lines_of.change(r.buf, r.lines, first, last, new_last)
  if r.busy then
    follow(r, tick, first, last, new)
    return false
  end
  -- more than `MOST` changes are taken for one command, because `undotree()` is slow for a long history
  if r.burst < MOST then
    follow_undo(r)
  end
  r.burst = r.burst + 1
  local was, before = r.hunks, r.lines
  follow(r, tick, first, last, new)
  note(r, was, before, first, last, #new)
  local lines = r.lines
  if before and lines and formatting.runs() then
    M.format(r, before, lines)
  end
  if r.undoing then
    table.insert(r.undoing, { first = first, last = last, new = new })
    return true
  end
  local edits = { { first = first, last = last, at = first, old = {}, new = new } }
  -- a diff of many lines would be made twice: now and by `sync`
  if before and lines and was.count > 0 and last - first + #new < MANY then
    local it = { first = first, last = last, from = first, upto = first + #new }
    edits = regions.edits({ it }, before, lines, was)
  end
  r.hunks, r.own = block.applied(was, edits, r.own, formatting.runs())
  return true
end

return M
