--- The state of a file under review. Only this module writes its fields, except for those that
--- depend on the buffer's undo state, which `hunks/tracking` writes. Other modules read the fields,
--- and change them through functions.
local M = {}

local bytes = require('caliban.editor.bytes')
local tracking = require('caliban.review.hunks.tracking')

---@class caliban.Entered a proposal that was applied to a buffer
---@field id integer
---@field calls? string[] the calls of the model that made the proposal
---@field program? integer the channel of the program that made the proposal
---@field lines string[] the buffer's lines before the proposal
---@field edits caliban.Edit[]
---@field key? integer the key of the proposal's first change minus 1; nil in the record of an older Caliban
---@field count? integer the number of the proposal's changes, each of which has a key
---@field eol { [1]: boolean, [2]: boolean } whether the file ended in a newline before the proposal, and after
---@field whole? 'delete'|'rename'
---@field to? string

---@class caliban.Given a reason that the user has given for a rejection
---@field of? integer[] keys of changes, as in a hunk; nil for the whole file, and in the record of an older Caliban
---@field whole? boolean whether a deletion, a renaming or an empty file was rejected
---@field reason string

---@class caliban.Review: caliban.Tracked
---@field path string the file's path, as the program named the file
---@field session string
---@field proposals caliban.Entered[]
---@field reasons caliban.Given[]
---@field rejected caliban.Hunk[] hunks that were rejected since the review was last settled
---@field agreed caliban.Hunk[] hunks that were accepted since the review was last settled
---@field lost integer how many of them, and of the pending hunks, are not in the file any more
---@field outside boolean whether another program has changed lines of hunks on disk since the review was last settled
---@field returned? boolean whether hunks were under review before, and thrown away on disk
---@field acted boolean whether the user has decided something since the review was last settled
---@field whole_rejected? boolean whether the user has rejected the deletion, renaming or empty file
---@field empty_agreed? boolean whether the user has agreed to a new file without text
---@field create boolean
---@field whole? caliban.Whole the pending deletion or renaming
---@field deleted? boolean whether the user has agreed to the deletion
---@field was? string the path before the renaming that the user has agreed to
---@field auto boolean auto-edit mode: the pending hunks are written at once
---@field attempt? string the agreed text, if the last write of it failed
---@field binary boolean whether the file is binary, so that the buffer does not show its bytes
---@field created boolean whether the buffer was created for the review
---@field origin? string the file's text on disk as last seen; nil if the text is not known
---@field clash? string why the file on disk must not be overwritten
---@field ended? boolean whether the file on disk ended in a line break before the review
---@field eol? { [1]: boolean, [2]: boolean } 'endofline' and 'fixendofline' before a proposal changed them
---@field from table<integer, integer> the buffer that each window showed before `ui/jump` put the file there

---@param buf integer
---@param created boolean whether the buffer was created for the review
---@param restored boolean whether an earlier Neovim has begun the review
---@return caliban.Review
function M.new(buf, created, restored)
  local r = tracking.new(buf, not restored) --[[@as caliban.Review]]
  r.created, r.from, r.acted = created, {}, false
  return r
end

--- How many changes are pending: the hunks, and a deletion or renaming.
---@param r caliban.Review
---@return integer
function M.count(r)
  return tracking.count(r) + (r.whole and 1 or 0)
end

--- Whether the user has decided something since the review was last settled.
---@param r caliban.Review
---@return boolean
function M.has_acted(r)
  return r.acted
end

--- Whether the user has rejected a hunk from `old` to `new` since the review was last settled.
---@param r caliban.Review
---@param old string[]
---@param new string[]
---@return boolean
function M.has_rejected(r, old, new)
  for _, hunk in ipairs(r.rejected) do
    if vim.deep_equal(hunk.new, new) and vim.deep_equal(hunk.old, old) then
      return true
    end
  end
  return false
end

--- Tells of a change on disk whether it is a hunk that the user has rejected. If so, something wrote the buffer while the
--- hunk was in it, and the write guard did not stop that.
---@param r caliban.Review
---@return fun(edit: caliban.DiskEdit, mine: string[]): boolean
function M.was_rejected(r)
  return function(edit, mine)
    local now = vim.list_slice(mine, edit.start + 1, edit.start + edit.count)
    return M.has_rejected(r, now, edit.lines)
  end
end

--- The buffer that a window showed before Caliban showed the file in it.
---@param r caliban.Review
---@param win integer
---@return integer? # nil if Caliban did not show the file in the window
function M.shown_before(r, win)
  return r.from[win]
end

--- The fields that are saved in the record on disk.
---@param r caliban.Review
---@return table<string, any>
function M.stored(r)
  return {
    session = r.session,
    path = r.path,
    create = r.create,
    auto = r.auto,
    binary = r.binary == true,
    own = r.own == true,
    reasons = r.reasons,
    was = r.was,
    returned = r.returned,
    whole = r.whole,
    folders = require('caliban.editor.folders').of(r.path),
  }
end

--------------------------------------------------------------------------------------------- beginning and end

--- Called before a proposal is applied while no review of the file is open: resets the fields.
---@param r caliban.Review
---@param p caliban.WireProposal
---@param owner string the conversation that reviews the file
---@param own boolean whether the user has unsaved changes
function M.begin(r, p, owner, own)
  r.path, r.session, r.create = p.path, owner, p.create
  r.auto, r.binary = p.at_once, p.binary
  r.proposals, r.reasons, r.rejected, r.acted = {}, {}, {}, false
  r.agreed, r.lost, r.outside = {}, 0, false
  r.clash, r.eol, r.ended, r.returned = nil, nil, bytes.ended(r.buf), nil
  tracking.decide(r, nil)
  tracking.set_own(r, own)
end

--- Whether the file on disk ends as before the review.
---@param r caliban.Review
---@param eol? boolean whether its last line ends in a line break
---@return boolean
function M.ends_as_before(r, eol)
  return r.ended == eol
end

--- Called when the end of the file on disk has changed.
---@param r caliban.Review
---@param eol boolean
function M.follow_end(r, eol)
  r.ended = eol
  if r.eol then
    r.eol[1] = eol
  end
end

--- Called when another program has created the file that was to be created.
---@param r caliban.Review
---@param eol boolean whether the file ends in a line break
function M.appear(r, eol)
  r.create, r.ended = false, eol
  if r.whole and r.whole.kind == 'create' then
    r.whole = nil
  end
end

--- Called when a proposal that has to wait for the user's review is added to hunks that are already
--- on disk: from now on the file is written only after the user's decisions.
---@param r caliban.Review
function M.leave_auto_edit(r)
  r.auto = false
end

--- Marks the review as open: changes are pending.
---@param r caliban.Review
function M.open(r)
  tracking.set_open(r, true)
end

--- Marks the review as closed: no change is pending any more, and the review is about to be settled.
---@param r caliban.Review
function M.close(r)
  tracking.set_open(r, false)
end

--- Called when another Neovim takes the review over: closes the review and drops its hunks.
---@param r caliban.Review
function M.release(r)
  M.close(r)
  r.whole = nil
  tracking.empty(r)
end

--- Called after the verdict was sent: clears the user's decisions and what was noted about the file
--- on disk.
---@param r caliban.Review
function M.settled(r)
  r.reasons, r.rejected, r.acted, r.clash, r.origin = {}, {}, false, nil, nil
  r.agreed, r.lost, r.outside = {}, 0, false
  r.deleted, r.was, r.whole_rejected, r.empty_agreed = nil, nil, nil, nil
  tracking.settled(r)
end

--- Restores the fields from a record on disk.
---@param r caliban.Review
---@param it caliban.Record
---@param own boolean whether the user has unsaved changes
function M.restore(r, it, own)
  r.was, r.proposals, r.reasons, r.returned = it.was, it.proposals, it.reasons, it.returned
  tracking.set_own(r, own)
end

---@param r caliban.Review
---@param session string
function M.set_session(r, session)
  r.session = session
end

--------------------------------------------------------------------------------------------- proposals

---@param r caliban.Review
---@param proposal caliban.Entered
function M.propose(r, proposal)
  r.proposals[#r.proposals + 1] = proposal
end

--- Sets or clears the pending deletion or renaming.
---@param r caliban.Review
---@param whole? caliban.Whole
function M.propose_whole(r, whole)
  r.whole = whole
end

--- Saves 'endofline' and 'fixendofline' before the first proposal that changes them.
---@param r caliban.Review
---@param eol { [1]: boolean, [2]: boolean } the options' values now
---@return { [1]: boolean, [2]: boolean } # the options' values before the first such proposal
function M.keep_eol(r, eol)
  r.eol = r.eol or eol
  return r.eol --[[@as { [1]: boolean, [2]: boolean }]]
end

--------------------------------------------------------------------------------------------- decisions

---@param r caliban.Review
---@param acted boolean
function M.set_acted(r, acted)
  r.acted = acted
end

--- Records why a hunk was rejected, for the model.
---@param r caliban.Review
---@param of? integer[] the keys of the hunk's changes, if they are known
---@param reason string
function M.add_reason(r, of, reason)
  r.reasons[#r.reasons + 1] = { of = of, whole = false, reason = reason }
end

--- Records why a deletion, a renaming or an empty file was rejected, for the model.
---@param r caliban.Review
---@param reason string
function M.add_reason_of_whole(r, reason)
  r.reasons[#r.reasons + 1] = { whole = true, reason = reason }
end

--- Records hunks that the user has rejected and that are no longer in the buffer.
---@param r caliban.Review
---@param taken caliban.Hunk[]
function M.add_rejected(r, taken)
  vim.list_extend(r.rejected, taken)
end

--- The hunks that the user has rejected.
---@param r caliban.Review
---@return caliban.Hunk[]
function M.rejected(r)
  return r.rejected
end

--- Records hunks that the user has accepted.
---@param r caliban.Review
---@param taken caliban.Hunk[]
function M.add_agreed(r, taken)
  vim.list_extend(r.agreed, taken)
end

--- The hunks that the user has accepted since the review was last settled.
---@param r caliban.Review
---@return caliban.Hunk[]
function M.agreed(r)
  return r.agreed
end

--- Called before another program's changes are made in the buffer: counts the accepted hunks that they throw away.
---@param r caliban.Review
---@param edits caliban.DiskEdit[]
---@param mine string[] the buffer's lines
function M.count_lost(r, edits, mine)
  local agreed = {} ---@type table<string, true>
  for _, hunk in ipairs(r.agreed) do
    agreed[table.concat(hunk.new, '\n') .. '\0' .. table.concat(hunk.old, '\n')] = true
  end
  for _, e in ipairs(edits) do
    local now = table.concat(mine, '\n', e.start + 1, e.start + e.count)
    r.lost = r.lost + (agreed[now .. '\0' .. table.concat(e.lines, '\n')] and 1 or 0)
  end
end

--- Records that hunks are not in the file any more.
---@param r caliban.Review
---@param count integer
function M.add_lost(r, count)
  r.lost = r.lost + count
end

--- Records that another program has changed lines of hunks.
---@param r caliban.Review
function M.set_outside(r)
  r.outside = true
end

--- Records that hunks are under review again that were thrown away on disk.
---@param r caliban.Review
function M.set_returned(r)
  r.returned = true
end

--- Whether hunks are under review again that were thrown away on disk.
---@param r caliban.Review
---@return boolean
function M.has_returned(r)
  return r.returned == true
end

--- Records that the user has rejected the deletion or renaming.
---@param r caliban.Review
function M.reject_whole(r)
  r.whole_rejected, r.acted = true, true
end

--- Records that the user has agreed to the deletion.
---@param r caliban.Review
function M.agree_to_deletion(r)
  r.deleted = true
end

--- Records that the user has agreed to a new file without text.
---@param r caliban.Review
function M.agree_to_empty(r)
  r.empty_agreed, r.acted = true, true
end

--- Whether the user has agreed to a new file without text.
---@param r caliban.Review
---@return boolean
function M.is_empty_agreed(r)
  return r.empty_agreed == true
end

--- Records that the user has agreed to the renaming.
---@param r caliban.Review
---@param was string the path before the renaming
function M.agree_to_path(r, was)
  r.was, r.acted = was, true
end

--------------------------------------------------------------------------------------------- files and windows

--- Records that the user or a plugin has renamed the file.
---@param r caliban.Review
---@param path string
function M.renamed(r, path)
  r.was, r.path = r.was or r.path, path
end

---@param r caliban.Review
---@param path string
function M.set_path(r, path)
  r.path = path
end

---@param r caliban.Review
---@param win integer the window that is about to show the file
---@param buf integer the buffer that the window shows now
function M.keep_window(r, win, buf)
  r.from[win] = buf
end

--- Sets the file's text on disk as it was last seen.
---@param r caliban.Review
---@param origin? string
function M.set_origin(r, origin)
  r.origin = origin
end

--- Records why the file on disk must not be overwritten; nil if it may.
---@param r caliban.Review
---@param why? string
function M.set_clash(r, why)
  r.clash = why
end

--- Records the agreed text if the write of it has failed.
---@param r caliban.Review
---@param text? string
function M.set_attempt(r, text)
  r.attempt = text
end

--- Whether a text is the agreed text whose write has failed.
---@param r caliban.Review
---@param text string
---@return boolean
function M.is_attempt(r, text)
  return r.attempt == text
end

--- Records that the buffer's text was written to disk.
---@param r caliban.Review
---@param text string
function M.written(r, text)
  r.clash, r.origin, r.attempt = nil, text, nil
  tracking.set_own(r, false)
end

return M
