--- Accepts and rejects hunks.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')
local tracking = require('caliban.review.hunks.tracking')
local state = require('caliban.review.state')
local verdicts = require('caliban.review.verdict')
local whole = require('caliban.review.whole')
local words = require('caliban.review.whole_words')

---@class caliban.Choice
---@field scope? 'hunk'|'file'|'all'|'range'
---@field buf? integer
---@field range? [integer, integer] lines, from 1, inclusive
---@field reason? string
---@field row? integer a row of the hunk, from 0; default: the cursor's row
---@field session? string with scope `all`: only files that this conversation reviews

--- Begins an undo state with the same text, so that `u` takes back an acceptance and nothing else. An empty file gets
--- none: any change of its buffer would give it a line.
---@param r caliban.Review
---@param row integer of the first hunk that was accepted, where `u` puts the cursor
local function begin_state(r, row)
  if file.empty(r.buf) then
    return
  end
  local was_modified = vim.bo[r.buf].modified
  tracking.edit(r, function()
    local at = math.min(row, api.nvim_buf_line_count(r.buf) - 1)
    api.nvim_buf_set_text(r.buf, at, 0, at, 0, { '' })
  end)
  if not was_modified then
    vim.bo[r.buf].modified = false
  end
end

--- Accepts or rejects the hunks, and parts of hunks, in rows [first, last).
---@param r caliban.Review
---@param verdict 'accept'|'reject'
---@param first integer
---@param last integer
---@param reason? string
---@return integer? the number of hunks decided; nil if the buffer cannot be changed, after telling the user
function M.decide(r, verdict, first, last, reason)
  local taken, rest = tracking.take(r, first, last, verdict == 'reject')
  if #taken == 0 then
    return 0
  elseif verdict == 'accept' then
    begin_state(r, taken[1].start)
    tracking.set(r, rest)
    state.set_acted(r, true)
    state.add_agreed(r, taken)
    verdicts.decided(r, verdict, taken)
    return #taken
  end
  local ok, err = tracking.edit(r, function()
    for i = #taken, 1, -1 do
      file.put(r.buf, taken[i].start, #taken[i].new, taken[i].old)
    end
  end)
  if not ok then
    require('caliban.editor.notify').show(
      ('%s cannot be changed now: %s'):format(
        require('caliban.review.named').shown(r),
        file.reason(err)
      ),
      vim.log.levels.ERROR
    )
    return nil
  end
  tracking.set(r, rest)
  state.set_acted(r, true)
  verdicts.decided(r, verdict, taken)
  state.add_rejected(r, taken)
  for _, hunk in ipairs((reason or '') ~= '' and taken or {}) do
    state.add_reason(r, hunk.of, reason or '')
  end
  return #taken
end

---@param buf integer
---@return integer row of the cursor, from 0
local function cursor(buf)
  local win = vim.fn.bufwinid(buf)
  win = buf == api.nvim_get_current_buf() and 0 or win
  return win >= 0 and api.nvim_win_get_cursor(win)[1] - 1 or 0
end

--- The rows [first, last) to which a choice of changes refers.
---@param r caliban.Review
---@param opts caliban.Choice
---@return integer? first nil if the row is in no hunk
---@return integer? last
function M.rows(r, opts)
  if opts.range then
    return math.min(opts.range[1], opts.range[2]) - 1, math.max(opts.range[1], opts.range[2])
  elseif opts.scope == 'file' or opts.scope == 'all' then
    return 0, api.nvim_buf_line_count(r.buf)
  end
  local _, hunk = tracking.at(r, opts.row or cursor(r.buf))
  if hunk then
    return hunk.start, hunk.start + #hunk.new
  end
end

--- A choice of changes whose rows move with the lines of the buffer.
---@param opts caliban.Choice
---@return fun(last?: boolean): caliban.Choice # the choice now; `last`: it is not asked for again
function M.anchored(opts)
  local buf = (opts.buf == nil or opts.buf == 0) and api.nvim_get_current_buf() or opts.buf --[[@as integer]]
  local ns = api.nvim_create_namespace('caliban.review.decision')
  ---@param row integer
  ---@return integer
  local function mark(row)
    local most = api.nvim_buf_is_loaded(buf) and api.nvim_buf_line_count(buf) or 0
    return most > row and row >= 0 and api.nvim_buf_set_extmark(buf, ns, row, 0, {}) or 0
  end
  local row, range = opts.row, opts.range
  local marks =
    { mark(row or -1), mark(range and range[1] - 1 or -1), mark(range and range[2] - 1 or -1) }
  ---@param id integer
  ---@param was integer
  ---@return integer
  local function now(id, was)
    local at = id > 0
      and api.nvim_buf_is_loaded(buf)
      and api.nvim_buf_get_extmark_by_id(buf, ns, id, {})
    return at and at[1] or was
  end
  return function(last)
    local out = vim.tbl_extend('force', {}, opts, {
      row = row and now(marks[1], row),
      range = range and { now(marks[2], range[1] - 1) + 1, now(marks[3], range[2] - 1) + 1 },
    })
    for _, id in ipairs(last and api.nvim_buf_is_loaded(buf) and marks or {}) do
      api.nvim_buf_del_extmark(buf, ns, id)
    end
    return out --[[@as caliban.Choice]]
  end
end

--- The reviews to which a choice of changes refers.
---@param opts caliban.Choice
---@param open caliban.Review[]
---@return caliban.Review[]
function M.chosen(opts, open)
  local buf = (opts.buf == nil or opts.buf == 0) and api.nvim_get_current_buf() or opts.buf
  return vim.tbl_filter(function(r)
    local all = opts.scope == 'all' and (not opts.session or r.session == opts.session)
    return all or r.buf == buf
  end, open)
end

--- Where the next change is, for a user who has just decided on the last one of this file.
---@param open caliban.Review[] the reviews with pending changes
---@return string # the end of a message; '' if nothing waits, or if this file still has changes
function M.onward(open)
  local buf = api.nvim_get_current_buf()
  local waits = #open > 0 and file.ordinary(buf) and #M.chosen({}, open) == 0
  if not waits then
    return ''
  end
  return ('; :Caliban next goes to %s'):format(require('caliban.review.named').shown(open[1]))
end

--- Accepts or rejects the hunks to which a choice of changes refers.
---@param verdict 'accept'|'reject'
---@param opts caliban.Choice
---@param chosen caliban.Review[] reviews with pending changes
---@param look fun(r: caliban.Review): string?, boolean? draws or settles a review; returns a message for the user if it settles, and whether agreed text is not on disk
---@return string? message for the user
---@return boolean? missed true: the cursor is on no hunk
function M.choose(verdict, opts, chosen, look)
  local lines, failed, unsaved = {}, false, 0
  local decided = { hunk = 0, delete = 0, rename = 0, create = 0 }
  for _, r in ipairs(chosen) do
    local first, last = M.rows(r, opts)
    local all = opts.scope == 'file' or opts.scope == 'all'
    if r.whole and (all or tracking.count(r) == 0) then
      first, last = 0, api.nvim_buf_line_count(r.buf)
      local kind = r.whole.kind
      local done = whole.decide(r, verdict, opts.reason)
      decided[kind], failed = decided[kind] + (done and 1 or 0), failed or not done
    end
    if first and last then
      local count = M.decide(r, verdict, first, last, opts.reason)
      decided.hunk, failed = decided.hunk + (count or 0), failed or not count
      local line, left = look(r)
      lines[#lines + 1], unsaved = line, unsaved + (left and 1 or 0)
    end
  end
  if #lines > 1 then
    local but = unsaved > 0
        and (', %d file%s not saved'):format(unsaved, unsaved == 1 and '' or 's')
      or ''
    return ('%d files: %s %sed%s'):format(#lines, words.counted(decided), verdict, but)
  elseif #chosen == 0 then
    return 'Nothing is under review here.'
  end
  local none = words.counted(decided) == '' and not failed
  return lines[1], none and #lines == 0
end

return M
