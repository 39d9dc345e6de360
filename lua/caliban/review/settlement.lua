--- The end of a review: compares the buffer with the file on disk, merges changes made on disk, writes the file, and
--- tells the program.
local M = {}

local api = vim.api
local appeared = require('caliban.review.appeared')
local bytes = require('caliban.editor.bytes')
local conflict = require('caliban.review.conflict')
local file = require('caliban.editor.file')
local names = require('caliban.editor.name')
local named = require('caliban.review.named')
local remains = require('caliban.review.remains')
local merging = require('caliban.review.hunks.merge')
local mixed = require('caliban.review.mixed')
local tracking = require('caliban.review.hunks.tracking')
local unread = require('caliban.editor.unread')
local state = require('caliban.review.state')
local verdict = require('caliban.review.verdict')
local versions = require('caliban.review.versions')
local waiting = require('caliban.review.waiting')

--- The buffer's text before the write that ends the review, because the write may close the buffer.
local texts = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, string>
--- The times, the size and the number of the file on disk at the last look.
local stamps = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, string>

---@param text string
local function warn(text)
  require('caliban.editor.notify').show(text, vim.log.levels.WARN)
end

--- The file's text on disk.
---@param buf integer
---@param text? string the buffer's text if the caller knows it
---@return string? text nil if the file has changed since the buffer read it, or does not exist
function M.origin(buf, text)
  if file.stale(buf) then
    return nil
  end
  local exists = vim.uv.fs_stat(api.nvim_buf_get_name(buf)) ~= nil
  if exists and not vim.bo[buf].modified then
    return text or file.text(buf)
  end
  return (file.disk(buf))
end

--- Makes changes on disk in the buffer. `reworked` is true if hunks have other lines now.
---@param r caliban.Review
---@param edits caliban.DiskEdit[]
---@param mine string[] the buffer's lines
---@param by? 'format'|'reject' whether a formatter has made the changes, or the user by a rewind
---@return boolean? reworked
local function make(r, edits, mine, by)
  state.count_lost(r, edits, mine)
  local before = tracking.text(r)
  local thrown, reworked, done = tracking.merge(r, edits, by == 'format')
  if not done then
    return conflict.stick(r)
  end
  if by == 'format' then
    return tracking.format(r, before, tracking.text(r))
  end
  verdict.decided(r, by or 'throw', thrown)
  if by == 'reject' then
    state.add_rejected(r, thrown)
  elseif reworked then
    state.set_outside(r)
  end
  return reworked
end

--- Marks the buffer as unmodified. Neovim then notes its options.
---@param r caliban.Review
local function unmodified(r)
  vim.bo[r.buf].modified = false
  bytes.note_options(r.buf)
end

--- Marks the buffer as modified if it differs from the file on disk.
---@param r caliban.Review
---@param disk string
---@param eol? boolean whether the last line on disk ends with a line break
local function mark(r, disk, eol)
  if tracking.text(r) ~= disk or file.eol(r.buf) ~= eol or bytes.changed(r.buf) then
    vim.bo[r.buf].modified = true
  else
    unmodified(r)
  end
end

--- Called when another program may have written the file: the buffer follows the way in which the text becomes bytes.
---@param r caliban.Review
local function follow_form(r)
  local changed, eol = bytes.follow(r.buf, r.origin or '')
  if changed then
    state.follow_end(r, eol == true)
  end
end

--- Makes the changes in the buffer that another program has made on disk.
---@param r caliban.Review
---@param was string the text on disk before
---@param disk string the text on disk now
---@param by? 'reject' whether the user has changed the file by a rewind
---@return boolean? reworked whether lines of hunks are others now
---@return integer clashes the number of changes that conflict with changes of the buffer
---@return string[]? stand the text on which the buffer's text stands
---@return string? places where they conflict, in words
local function take(r, was, disk, by)
  local is_left = state.was_rejected(r)
  local follow = waiting.are_waiting(r, was) and waiting.follow
    or versions.are_followed(r) and versions.follow
  if not by and follow then
    local done, reworked, clashes, stand, places = follow(r, was, disk, is_left)
    if not done then
      conflict.stick(r)
    end
    return reworked, clashes, stand, places
  end
  local plan = not by and mixed.plan(r, was, disk, is_left)
  if plan then
    return mixed.make(r, plan)
  end
  local mine, from = file.lines(r.buf), conflict.stand(r) or merging.split(was)
  local edits, clashes, rows, stand = merging.merge(from, merging.split(disk), mine)
  edits = vim.tbl_filter(function(e)
    return not is_left(e, mine)
  end, edits)
  return make(r, edits, mine, by), clashes, stand, merging.places(edits, rows)
end

--- Merges the changes of the file on disk into the buffer. If both have changed a line, the buffer's line stays.
---@param r caliban.Review
---@param why string a value of `v:fcs_reason`
---@param by? 'reject' whether the user has changed the file by a rewind
---@return boolean? reworked whether lines of hunks are others now
function M.merge(r, why, by)
  if file.is_renamed(r.buf) then
    -- the buffer was not read from the file of its new name
    return
  end
  local name = named.shown(r)
  local odd = file.odd(r.buf)
  if odd then
    state.set_clash(r, odd)
    return warn(('%s is no longer a file: %s. Your text stays in the buffer.'):format(name, odd))
  end
  local stamp = file.stamp(r.buf)
  follow_form(r)
  local disk, eol = file.disk(r.buf)
  if why ~= 'deleted' and not disk and vim.uv.fs_stat(api.nvim_buf_get_name(r.buf)) then
    state.set_clash(r, 'it changed on disk, and cannot be read')
    return warn(
      name
        .. ' changed on disk and can no longer be read in its encoding. The buffer keeps your text.'
    )
  elseif why == 'deleted' or not disk then
    if r.create and not r.origin then
      -- the file is only to be created
      return
    end
    local gone = remains.GONE
    remains.keep(r.buf)
    if r.clash == gone then
      return
    end
    state.set_clash(r, gone)
    local what =
      '%s was deleted or moved on disk while you were reviewing it. The buffer keeps its text.'
    return warn(what:format(name))
  end
  local was, is_awaited = r.origin, appeared.is_awaited(r)
  state.set_origin(r, disk)
  if r.clash == remains.GONE then
    -- the file is there again
    state.set_clash(r, conflict.is_known(r) and conflict.CHANGED or nil)
    mark(r, disk, eol)
  end
  if disk == was then
    return
  elseif is_awaited then
    appeared.take(r, merging.split(disk), eol == true)
    file.merged(r.buf, stamp)
    warn(name .. ' was created on disk while you were reviewing it. The review shows what differs.')
    return true
  elseif not was then
    state.set_clash(r, conflict.CHANGED)
    return warn(name .. ' changed on disk while you were reviewing it. The buffer keeps your text.')
  end
  tracking.sync(r)
  local reworked, clashes, stand, places = take(r, was, disk, by)
  mark(r, disk, eol)
  conflict.follow(r, clashes, stand, places)
  if not r.clash and clashes == 0 then
    file.merged(r.buf, stamp)
  end
  return reworked
end

--- Makes Neovim check whether the file changed on disk, and merges the changes.
---@param r caliban.Review
local function compare(r)
  named.follow(r)
  local odd = file.odd(r.buf)
  if odd then
    state.set_clash(r, odd)
    return
  elseif file.is_renamed(r.buf) then
    return
  end
  -- Neovim would ask the user about a new file (W13)
  local why = not r.create and file.check(r.buf, '')
  if why and not r.clash then
    M.merge(r, why)
  end
end

--- Looks at the file on disk before the user's decision, and merges what another program has changed there.
---@param r caliban.Review
---@param by? 'reject' whether the user has changed the file by a rewind
---@return boolean changed
---@return boolean? reworked whether lines of hunks are others now
function M.look(r, by)
  local stat = vim.uv.fs_stat(api.nvim_buf_get_name(r.buf))
  -- a file that has changed is not deleted
  local is_other = r.binary or r.deleted or r.whole and r.whole.kind == 'delete'
  if not stat or stat.type ~= 'file' or is_other or not (r.origin or appeared.is_awaited(r)) then
    return false
  end
  local stamp = vim.inspect({ stat.mtime, stat.ctime, stat.size, stat.ino })
  if stamps[r] == stamp then
    return false
  end
  stamps[r] = stamp
  follow_form(r)
  if file.disk(r.buf) == r.origin and r.clash ~= remains.GONE then
    return false
  end
  require('caliban.review.write_guard').acknowledge(r.buf)
  return true, M.merge(r, 'changed', by)
end

--- Writes the buffer, unless its text conflicts with the file on disk or has other unsaved changes of the user.
---@param r caliban.Review
---@param disk? string the file's text on disk now
---@return string why the buffer was not written; '' if it was
---@return boolean changed whether autocommands of the write changed the text
local function write(r, disk)
  state.set_attempt(r, nil)
  if disk and disk ~= r.origin then
    M.merge(r, 'changed')
  end
  require('caliban.review.own').look(r)
  if r.clash then
    local mine = ", and its buffer has text of the user's own, which the user can write with :w"
    return r.clash .. (r.clash == remains.GONE and r.own and mine or ''), false
  elseif file.is_foreign(r.buf) then
    return ('there is already a file %s'):format(named.shown(r)), false
  elseif r.own then
    return 'it has other unsaved changes', false
  end
  local strayed = names.strayed(r.path, api.nvim_buf_get_name(r.buf))
  if strayed then
    return strayed, false
  end
  texts[r] = tracking.text(r)
  -- writing a modified buffer increases its changedtick by one
  local tick = api.nvim_buf_get_changedtick(r.buf) + (vim.bo[r.buf].modified and 1 or 0)
  local failed = file.write(r.buf, disk ~= nil) or ''
  local loaded = api.nvim_buf_is_loaded(r.buf)
  state.set_attempt(r, failed ~= '' and texts[r] or nil)
  if failed ~= '' and loaded and disk then
    local now = file.disk(r.buf)
    -- Neovim writes over the file if it makes no backup
    if now and now ~= disk and now ~= texts[r] then
      failed = failed .. '; only the buffer has its whole text'
    end
  end
  return failed, loaded and api.nvim_buf_get_changedtick(r.buf) ~= tick
end

--- Takes over what a formatter has made of the file as the buffer was written.
---@param r caliban.Review
---@param text string the text that was written
---@return boolean changed
local function take_over(r, text)
  local stamp = file.stamp(r.buf)
  local disk, eol = file.disk(r.buf)
  if not disk or disk == file.text(r.buf) then
    return false
  end
  require('caliban.review.write_guard').acknowledge(r.buf)
  tracking.sync(r)
  local mine = file.lines(r.buf)
  make(r, merging.merge(merging.split(text), merging.split(disk), mine), mine, 'format')
  state.set_origin(r, disk)
  mark(r, disk, eol)
  file.merged(r.buf, stamp)
  return true
end

--- Writes the file with its pending hunks, in auto-edit mode.
---@param r caliban.Review
---@return string why the file was not written; '' if it was
function M.write_pending(r)
  compare(r)
  local disk, was = file.disk(r.buf), tracking.list(r)
  local why = write(r, disk)
  if why == '' and api.nvim_buf_is_loaded(r.buf) then
    state.written(r, file.text(r.buf))
    take_over(r, r.origin --[[@as string]])
    tracking.sync(r)
    verdict.decided(r, 'revert', verdict.missing(r, was))
  end
  return why
end

--- Whether a new file was completely rejected, and nobody else has written the file. It is on disk in auto-edit mode, or
--- because the user has accepted it and then taken that back.
---@param r caliban.Review
---@param disk? string the file's text on disk
---@return boolean
local function unwanted(r, disk)
  local is_rejected = r.whole_rejected or verdict.tally(r).rejected > 0
  return r.create
    and not state.is_empty_agreed(r)
    and not file.odd(r.buf)
    and file.empty(r.buf)
    and (not disk or state.has_acted(r) and is_rejected and disk == r.origin)
end

--- Saves the accepted changes.
---@param r caliban.Review
---@return boolean written
---@return string why the text is not on disk; '' if it is
function M.save(r)
  compare(r)
  local none = verdict.tally(r).any == 0
  if none then
    require('caliban.review.entry').reset_eol(r)
  end
  local disk, eol = nil, nil ---@type string?, boolean?
  if not file.is_foreign(r.buf) then
    disk, eol = file.disk(r.buf)
  end
  local is_there = disk ~= nil and disk == tracking.text(r)
  -- a file that ends as before the review needs no write if everything is rejected
  local is_as_before = none and not r.create and state.ends_as_before(r, eol)
  local is_ended = not r.eol or is_as_before or bytes.keeps_end(r.buf, disk or '', eol)
  local is_unwanted = unwanted(r, disk) and not names.strayed(r.path)
  local is_same = is_there and is_ended and not is_unwanted
  if is_same and (none or not bytes.changed(r.buf)) then
    -- The user may have changed options such as 'fileformat'. Then the user saves the file.
    if not bytes.changed(r.buf) then
      local is_unread = unread.has_appeared(r.buf)
      unmodified(r)
      if is_unread then
        unread.read(r.buf)
      end
    end
    return false, ''
  elseif none and file.is_renamed(r.buf) then
    -- the user has not written the buffer under its new name
    return false, ''
  elseif is_unwanted then
    os.remove(r.path)
    require('caliban.editor.folders').remove(r.path)
    vim.bo[r.buf].modified = false
    if not require('caliban.review.whole').discard(r) then
      remains.restore(r.buf)
    end
    return false, ''
  elseif not r.clash and not state.has_acted(r) then
    -- a user who only pressed `u` has not asked Caliban to write the file
    return false, r.own and 'it has other unsaved changes' or 'it was undone'
  end
  local failed, changed = write(r, disk)
  if failed == '' and api.nvim_buf_is_loaded(r.buf) then
    changed = take_over(r, file.text(r.buf)) or changed
  end
  if failed == '' and texts[r] and changed then
    tracking.format(r, texts[r], tracking.text(r))
  end
  return failed == '', failed
end

--- Removes a buffer from the buffer list if it was created for the review and the user has never entered it.
---@param r caliban.Review
function M.unlist(r)
  if r.created and api.nvim_buf_is_valid(r.buf) and not vim.bo[r.buf].modified then
    local info = vim.fn.getbufinfo(r.buf)[1]
    vim.bo[r.buf].buflisted = info.lastused ~= 0 or #info.windows > 0
  end
end

--- The sentence that tells the user how a review has ended.
---@param r caliban.Review
---@param written boolean
---@param unsaved string why the text is not on disk; '' if it is
---@return string
function M.summary(r, written, unsaved)
  local parts = {}
  if r.deleted then
    parts[#parts + 1] = 'deleted'
  elseif r.was then
    parts[#parts + 1] = 'renamed from ' .. file.short(r.was)
  elseif state.is_empty_agreed(r) then
    parts[#parts + 1] = 'created without text'
  end
  vim.list_extend(parts, verdict.words(r))
  if r.whole_rejected then
    parts[#parts + 1] = 'rejected'
  end
  if #parts == 0 then
    parts[1] = 'undone'
  end
  local back = require('caliban.review.reread').again(r, texts[r])
  if r.lost > 0 then
    parts[#parts + 1] = ('but %d not in the file any more'):format(r.lost)
  end
  if back > 0 then
    parts[#parts + 1] = ('but %d in the file again'):format(back)
  elseif written then
    parts[#parts + 1] = 'saved'
  elseif unsaved ~= '' then
    parts[#parts + 1] = 'not saved: ' .. unsaved
  end
  local rest = named.elsewhere(r) and (' (%s stays as it is)'):format(file.short(r.path)) or ''
  return ('%s: %s%s'):format(named.shown(r), table.concat(parts, ', '), rest)
end

--- Tells the program how a review ended.
---@param r caliban.Review
---@param gone boolean whether the user has rejected a new file, which does not exist
---@param unsaved string why the text is not on disk; '' if it is
---@param closed? 'hunks'|'whole' what was not decided when the buffer was closed
function M.report(r, gone, unsaved, closed)
  require('caliban.review.listeners').tell('reported', r)
  local is_loaded = api.nvim_buf_is_loaded(r.buf)
  -- the text was removed, because the file is created again
  local is_removed = closed ~= nil and is_loaded
  local elsewhere = is_loaded and not gone and named.elsewhere(r) or nil
  local is_here = is_loaded and names.real(api.nvim_buf_get_name(r.buf)) == names.real(r.path)
  local stat = vim.uv.fs_stat(r.path)
  local is_foreign = is_loaded
    and not r.binary
    and (vim.bo[r.buf].fileformat == 'mac' or not file.is_utf8(r.buf))
  ---@type caliban.Reviewed
  local message = {
    kind = 'reviewed',
    session = r.session,
    proposals = vim.tbl_map(function(it)
      return it.id
    end, r.proposals),
    decisions = verdict.decisions(r),
    texts = require('caliban.review.entry').orphans(r),
    path = r.path,
    was = r.was,
    elsewhere = elsewhere,
    deleted = r.deleted == true,
    gone = gone,
    closed = closed ~= nil,
    whole_left = closed == 'whole',
    absent = not (r.deleted or gone or elsewhere or r.create or is_removed)
      and (not stat or stat.type ~= 'file'),
    is_former_there = r.was ~= nil and not r.deleted and vim.uv.fs_lstat(r.was) ~= nil,
    outside = r.outside,
    -- the program cannot read a file whose line ends are CR alone, or whose encoding is not UTF-8, so the message
    -- contains the text
    text = is_loaded
        and (elsewhere or is_removed or unsaved ~= '' or r.deleted and r.own or is_foreign and not r.deleted)
        and file.text(r.buf)
      or unsaved ~= '' and texts[r]
      or nil,
    disk = is_here and unsaved ~= '' and file.disk(r.buf) or nil,
    eol = not is_loaded or file.eol(r.buf),
    saved = unsaved == '',
    unsaved = unsaved,
    reasons = verdict.reasons(r),
    formattings = tracking.formattings(r),
  }
  texts[r] = nil
  require('caliban.program.process').notify(message)
  if unsaved ~= '' then
    require('caliban.review.unsaved').watch(r)
  end
  local tally = verdict.tally(r)
  local data = { buf = r.buf, path = r.path, accepted = tally.any, rejected = tally.rejected }
  require('caliban.editor.event').fire('CalibanReviewed', data)
end

return M
