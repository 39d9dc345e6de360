--- Plans the edits of a proposal, applies them to a buffer, and answers the program.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')
local algebra = require('caliban.review.hunks.algebra')
local long = require('caliban.review.hunks.long')
local remains = require('caliban.review.remains')
local state = require('caliban.review.state')
local tracking = require('caliban.review.hunks.tracking')

---@class caliban.Plan how a proposal changes a buffer
---@field tick integer the changedtick of the buffer that the plan was made for
---@field lines string[] the buffer's lines before the change
---@field text string `lines`, joined by '\n'
---@field edits caliban.Edit[]
---@field key integer the key of the first change minus 1
---@field count integer the number of changes
---@field was? caliban.Hunks the pending hunks before the change
---@field hunks caliban.Hunks the pending hunks after the change
---@field after caliban.Rope the lines after the change
---@field replaces boolean whether the buffer's text has to be removed first, because its file is gone
---@field revives boolean whether the model writes a file that it has deleted: the change is one of the former text

--- Whether the buffer and its hunks are unchanged since the plan was made.
---@param plan caliban.Plan
---@param buf integer
---@param r? caliban.Review
---@return boolean
function M.holds(plan, buf, r)
  local was = r and r.open and tracking.hunks(r) or nil
  return api.nvim_buf_is_loaded(buf)
    and plan.tick == api.nvim_buf_get_changedtick(buf)
    and plan.was == was
end

--- Applies the edits of a plan for which `holds` is true.
---@param r caliban.Review
---@param plan caliban.Plan
function M.apply(r, plan)
  for i = #plan.edits, 1, -1 do
    local e = plan.edits[i]
    file.put(r.buf, e.start, #e.old, e.new)
  end
  tracking.set(r, plan.hunks)
end

--- Sets whether the file ends in a newline.
---@param r caliban.Review
---@param wanted boolean
function M.set_eol(r, wanted)
  local bo = vim.bo[r.buf]
  if file.empty(r.buf) or bo.endofline == wanted then
    return
  end
  local eol = state.keep_eol(r, { bo.endofline, bo.fixendofline })
  bo.endofline = wanted
  bo.fixendofline = wanted and eol[2]
end

--- Sets 'endofline' and 'fixendofline' as they were before the proposals, unless the user has set them since.
---@param r caliban.Review
function M.reset_eol(r)
  local last = r.eol and r.proposals[#r.proposals]
  if not r.eol or not last then
    return
  end
  local bo, wanted = vim.bo[r.buf], last.eol[2]
  if bo.endofline == wanted then
    bo.endofline = r.eol[1]
  end
  if bo.fixendofline == (wanted and r.eol[2]) then
    bo.fixendofline = r.eol[2]
  end
  if not bo.endofline then
    require('caliban.editor.bytes').note_no_end(r.buf)
  end
end

--- Makes 'endofline' and the hunks consistent, because Neovim's undo does not restore 'endofline'.
--- After a redo has restored the hunks, sets the option as the last proposal did. If the user or a
--- rewind has reset the option, drops the hunk that represents the newline at the end of the file.
---@param r caliban.Review
function M.follow_eol(r)
  local last = r.eol and r.proposals[#r.proposals]
  if not last or tracking.count(r) == 0 then
    return
  elseif not r.open then
    M.set_eol(r, last.eol[2])
  elseif vim.bo[r.buf].endofline ~= last.eol[2] then
    local list = tracking.list(r)
    if algebra.ends(list[#list]) then
      tracking.set_list(r, vim.list_slice(list, 1, #list - 1))
    end
  end
end

--- Tells the program the outcome of a proposal.
---@param p caliban.WireProposal
---@param outcome string
---@param fields? table
function M.answer(p, outcome, fields)
  local message = { kind = 'arrived', id = p.id, state = outcome, hunks = 0 }
  message = vim.tbl_extend('force', message, fields or {})
  require('caliban.program.process').notify(message --[[@as caliban.Arrived]])
end

---@class caliban.Unfit why a proposal cannot be applied: the outcome, and its fields for the program
---@field [1] 'moved'|'refused'
---@field [2] table

--- Tells the program that no proposal of an item was applied, because the proposal `one` cannot be applied.
---@param item caliban.Arriving
---@param one caliban.WireProposal the proposal that cannot be applied
---@param unfit caliban.Unfit
function M.turn_away(item, one, unfit)
  for _, p in ipairs(item.proposals) do
    M.answer(p, p == one and unfit[1] or 'withheld', p == one and unfit[2] or nil)
  end
end

---@param why string as the end of a sentence
---@return caliban.Unfit
function M.refused(why)
  return { 'refused', { why = why } }
end

--- The outcome `moved`, with the buffer's current text, because the proposal was made from another
--- text.
---@param p caliban.WireProposal
---@param buf integer
---@param replaces boolean as in `caliban.Plan`
---@return caliban.Unfit
local function moved(p, buf, replaces)
  local now = file.snapshot(buf)
  if (replaces or file.empty(buf)) and not vim.uv.fs_stat(p.path) then
    now.text = nil
  end
  return { 'moved', now }
end

--- Whether a proposal was made from the buffer's current text.
---@param p caliban.WireProposal
---@param buf integer
---@param text string the buffer's text
---@param open boolean whether a review of the file is open
---@return boolean
local function current(p, buf, text, open)
  if p.create then
    return file.empty(buf) and (open or not vim.uv.fs_stat(p.path))
  end
  return long.hash(text) == p.sha
end

--- The hunk that writes a whole text in place of another one.
---@param hunk? caliban.WireHunk the hunk of the new file; nil if the file is to be empty
---@param count integer the number of lines of the other text
---@return caliban.WireHunk[]
local function over(hunk, count)
  return { { start = 0, count = count, n = hunk and hunk.n or 0, text = hunk and hunk.text or '' } }
end

--- Plans how a proposal changes a buffer. Works in slices, so the buffer may have changed when the
--- function returns.
---@param p caliban.WireProposal
---@param buf integer
---@param r? caliban.Review the open review of the file
---@return caliban.Plan? plan nil if the proposal cannot be applied
---@return caliban.Unfit? unfit why the proposal cannot be applied; also nil if the buffer changed meanwhile
function M.plan(p, buf, r)
  local tick, was = api.nvim_buf_get_changedtick(buf), r and tracking.hunks(r)
  local replaces = p.create and remains.are_in(buf)
  local lines, text = {}, '' ---@type string[], string
  if not replaces then
    lines, text = long.read(buf)
  end
  local revives = require('caliban.review.whole').is_over(p, r)
  local fits = p.binary or replaces or revives or current(p, buf, text, r ~= nil)
  local count = math.max(#p.hunks, 1)
  local key = require('caliban.review.verdict').new_keys(count)
  local hunks = revives and over(p.hunks[1], #lines) or p.hunks
  local edits = fits and long.edits(hunks, lines, key) or nil
  if not api.nvim_buf_is_loaded(buf) or api.nvim_buf_get_changedtick(buf) ~= tick then
    return nil
  elseif not edits then
    return nil, moved(p, buf, replaces)
  end
  local new = table.concat(vim.tbl_map(function(h)
    return h.text
  end, p.hunks))
  if not file.encodes(buf, new) then
    local why = 'its encoding (%s) cannot represent the new text'
    return nil, M.refused(why:format(vim.bo[buf].fileencoding))
  elseif not p.whole and #edits == 0 and #lines > 0 and p.eol ~= file.eol(buf) then
    -- only the newline at the end differs: a hunk of the last line represents this change
    local last = { lines[#lines] }
    edits = { { start = #lines - 1, old = last, new = last, of = { key + 1 } } }
  end
  return {
    tick = tick,
    lines = lines,
    text = text,
    edits = edits,
    key = key,
    count = #edits > 0 and count or 0,
    was = was,
    hunks = long.stacked(lines, edits, not replaces and was or nil),
    after = long.after(lines, edits),
    replaces = replaces,
    revives = revives,
  }
end

--- Adds an applied proposal to its review.
---@param r caliban.Review
---@param p caliban.WireProposal
---@param plan caliban.Plan
function M.entered(r, p, plan)
  -- the text before the change ends in a newline only if it has a line
  local eol = #plan.lines > 0 and file.eol(r.buf)
  M.set_eol(r, p.eol)
  vim.bo[r.buf].buflisted = true
  state.propose(r, {
    id = p.id,
    calls = p.calls,
    program = require('caliban.program.process').program(),
    lines = plan.lines,
    edits = plan.edits,
    key = plan.key,
    count = plan.count,
    eol = { eol, p.eol },
    whole = p.whole,
    to = p.to,
  })
end

--- Tells the program that a proposal was applied.
---@param p caliban.WireProposal
---@param buf integer
---@param hunks integer
---@param unsaved? string why the file was not written, '' if it was; nil if the file waits for the user's decision
---@param text? string the buffer's text before it was written
function M.told(p, buf, hunks, unsaved, text)
  local fields = { hunks = hunks, unsaved = unsaved }
  if text and api.nvim_buf_is_loaded(buf) and file.text(buf) ~= text then
    fields = vim.tbl_extend('error', fields, file.snapshot(buf))
  end
  M.answer(p, 'entered', fields)
end

--- The proposals that were made before the program was restarted, with their texts, because the
--- running program does not know them.
---@param r caliban.Review
---@return caliban.ProposedText[]
function M.orphans(r)
  local out, program = {}, require('caliban.program.process').program()
  for _, it in ipairs(r.proposals) do
    if it.program ~= program then
      out[#out + 1] = {
        id = it.id,
        calls = it.calls or {},
        before = table.concat(it.lines, '\n'),
        before_eol = it.eol[1],
        after = it.whole == 'delete' and '' or long.text_after(it.lines, it.edits),
        after_eol = it.eol[2],
        whole = it.whole,
        to = it.to,
      }
    end
  end
  return out
end

return M
