--- What is known of one file under review. It is written here alone, and by `hunks/tracking` what belongs to the undo
--- states of its buffer; all others ask for a change by a function.
local M = {}

local tracking = require('caliban.review.hunks.tracking')

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

---@class caliban.Review: caliban.Tracked
---@field path string as the program named it
---@field session string
---@field proposals caliban.Entered[]
---@field reasons caliban.Reason[]
---@field rejected caliban.Hunk[] rejected since it was last settled
---@field acted boolean something was decided since it was last settled
---@field whole_rejected? boolean what was proposed for the file as a whole was rejected
---@field create boolean
---@field whole? caliban.Whole what is proposed for the file as a whole
---@field deleted? boolean the user has agreed that it goes
---@field was? string its path before the user agreed to another
---@field auto boolean its hunks are on disk already: they entered in auto-edit mode
---@field binary boolean the buffer does not tell what the file holds
---@field created boolean the buffer was made for it
---@field origin? string the disk's text at entry; absent where the buffer was modified then
---@field clash? string what on disk cannot be written over
---@field eol? { [1]: boolean, [2]: boolean } 'endofline' and 'fixendofline' before a proposal changed them
---@field from table<integer, integer> windows `next` put it in, and what they showed

---@param buf integer
---@param created boolean it was made for the review
---@return caliban.Review
function M.new(buf, created)
  local r = tracking.new(buf) --[[@as caliban.Review]]
  r.created, r.from, r.acted = created, {}, false
  return r
end

--- What is pending: hunks, and the file as a whole.
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

--- Whether the user has rejected a hunk that made `new` of `old`, since the review was last settled.
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

--- The buffer that a window showed before it showed the file.
---@param r caliban.Review
---@param win integer
---@return integer? # absent: Caliban did not put the file there
function M.shown_before(r, win)
  return r.from[win]
end

--- The fields that the record on disk keeps; `restore` takes them back.
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
    whole = r.whole,
  }
end

--------------------------------------------------------------------------------------------- its life

--- A proposal is to enter where nothing has been pending since the last was settled.
---@param r caliban.Review
---@param p caliban.WireProposal
---@param owner string the conversation
---@param own boolean the user has unsaved changes
function M.begin(r, p, owner, own)
  r.path, r.session, r.create = p.path, owner, p.create
  r.auto, r.binary = p.at_once, p.binary
  r.proposals, r.reasons, r.rejected, r.acted = {}, {}, {}, false
  r.clash, r.eol = nil, nil
  tracking.decide(r, nil)
  tracking.set_own(r, own)
end

--- What waits joins what is written already: from now on it is written once it is decided.
---@param r caliban.Review
function M.leave_auto_edit(r)
  r.auto = false
end

--- Something has been pending.
---@param r caliban.Review
function M.open(r)
  tracking.set_open(r, true)
end

--- Nothing is pending any more, and it is looked at what that comes to.
---@param r caliban.Review
function M.close(r)
  tracking.set_open(r, false)
end

--- It is another Neovim's from now on.
---@param r caliban.Review
function M.release(r)
  M.close(r)
  r.whole = nil
  tracking.empty(r)
end

--- What it came to is told.
---@param r caliban.Review
function M.settled(r)
  r.reasons, r.rejected, r.acted, r.clash, r.origin = {}, {}, false, nil, nil
  r.deleted, r.was, r.whole_rejected = nil, nil, nil
  tracking.settled(r)
end

--- It comes back from a record.
---@param r caliban.Review
---@param it caliban.Record
---@param own boolean the user has unsaved changes
function M.restore(r, it, own)
  r.was, r.proposals, r.reasons = it.was, it.proposals, it.reasons
  tracking.set_own(r, own)
end

---@param r caliban.Review
---@param session string
function M.set_session(r, session)
  r.session = session
end

--------------------------------------------------------------------------------------------- what is proposed

---@param r caliban.Review
---@param proposal caliban.Entered
function M.propose(r, proposal)
  r.proposals[#r.proposals + 1] = proposal
end

--- What is proposed for the file as a whole, or that nothing is any more.
---@param r caliban.Review
---@param whole? caliban.Whole
function M.propose_whole(r, whole)
  r.whole = whole
end

--- A proposal is about to change the options of the last line.
---@param r caliban.Review
---@param eol { [1]: boolean, [2]: boolean } as they are
---@return { [1]: boolean, [2]: boolean } # as they were before the first proposal
function M.keep_eol(r, eol)
  r.eol = r.eol or eol
  return r.eol --[[@as { [1]: boolean, [2]: boolean }]]
end

--------------------------------------------------------------------------------------------- what is decided

--- The user has decided something, or what was decided is decided no more.
---@param r caliban.Review
---@param acted boolean
function M.set_acted(r, acted)
  r.acted = acted
end

---@param r caliban.Review
---@param lines string[] that it is about
---@param reason string
function M.add_reason(r, lines, reason)
  r.reasons[#r.reasons + 1] = { lines = lines, reason = reason }
end

--- Hunks are rejected, and not in the buffer any more.
---@param r caliban.Review
---@param taken caliban.Hunk[]
function M.add_rejected(r, taken)
  vim.list_extend(r.rejected, taken)
end

--- What was proposed for the file as a whole is rejected.
---@param r caliban.Review
function M.reject_whole(r)
  r.whole_rejected, r.acted = true, true
end

--- The user has agreed that the file goes.
---@param r caliban.Review
function M.agree_to_deletion(r)
  r.deleted = true
end

--- The user has agreed to another path.
---@param r caliban.Review
---@param was string
function M.agree_to_path(r, was)
  r.was, r.acted = was, true
end

--------------------------------------------------------------------------------------------- where it is

---@param r caliban.Review
---@param path string
function M.set_path(r, path)
  r.path = path
end

---@param r caliban.Review
---@param win integer that it is shown in from now on
---@param buf integer that the window showed
function M.keep_window(r, win, buf)
  r.from[win] = buf
end

--- Sets the file's text on disk from before the review.
---@param r caliban.Review
---@param origin? string
function M.set_origin(r, origin)
  r.origin = origin
end

--- The file on disk has changes that a save would overwrite.
---@param r caliban.Review
---@param why string
function M.set_clash(r, why)
  r.clash = why
end

--- The text is on disk as the buffer has it.
---@param r caliban.Review
---@param text string
function M.written(r, text)
  r.clash, r.origin = nil, text
  tracking.set_own(r, false)
end

return M
