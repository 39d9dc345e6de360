--- Keeps the reviews, one for each buffer. Applies proposals, follows typing and decisions, saves files.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF
local admission = require('caliban.review.admission')
local arrival = require('caliban.review.arrival')
local bytes = require('caliban.editor.bytes')
local decision = require('caliban.review.decision')
local diagnosed = require('caliban.review.diagnosed')
local entry = require('caliban.review.entry')
local file = require('caliban.editor.file')
local named = require('caliban.review.named')
local on_disk = require('caliban.review.on_disk')
local returned = require('caliban.review.returned')
local write_guard = require('caliban.review.write_guard')
local listeners = require('caliban.review.listeners')
local remains = require('caliban.review.remains')
local undone = require('caliban.review.undone')
local settlement = require('caliban.review.settlement')
local long = require('caliban.review.hunks.long')
local tracking = require('caliban.review.hunks.tracking')
local state = require('caliban.review.state')
local verdict = require('caliban.review.verdict')
local versions = require('caliban.review.versions')
local whole = require('caliban.review.whole')

local reviews = {} ---@type table<integer, caliban.Review>
local guarded = {} ---@type table<caliban.Review, 'refuse'|'follow'> whether writes are refused or followed
local reading = {} ---@type table<caliban.Review, true> whose text Neovim has read from disk again, until `reloaded`
local due = {} ---@type table<caliban.Review, boolean> reviews for which `look` is scheduled
local order = {} ---@type integer[] buffers in the order in which their reviews began

---@param text? string
local function say(text)
  if text then
    require('caliban.editor.notify').show(text)
  end
end

--------------------------------------------------------------------------------------------- settling

--- Removes a review from the registry.
---@param r caliban.Review
local function forget(r)
  undone.stop(r)
  reviews[r.buf], guarded[r] = nil, nil
  order = vim.tbl_filter(function(buf)
    return buf ~= r.buf
  end, order)
end

--- Called when nothing is pending any more: saves the file, tells the program, and ends the review.
---@param r caliban.Review
---@return string summary for the user
---@return boolean unsaved whether agreed text is not on disk
local function settle(r)
  state.close(r)
  guarded[r] = nil
  undone.stop(r)
  listeners.tell('closed', r)
  write_guard.clear(r.buf)
  local written, unsaved = false, ''
  if not r.deleted and not r.binary then
    written, unsaved = settlement.save(r)
    if unsaved ~= '' then
      remains.keep(r.buf)
      remains.note(r, unsaved)
    end
  end
  local is_valid = api.nvim_buf_is_valid(r.buf)
  if not is_valid then
    forget(r)
  end
  local stays = not (r.create and unsaved == '' and vim.uv.fs_stat(r.path) == nil)
  if stays and not r.deleted and (r.was or verdict.tally(r).any > 0) then
    diagnosed.check(r)
  end
  diagnosed.forget(r)
  local line = settlement.summary(r, written, unsaved)
  settlement.report(r, not stays and not r.deleted, unsaved)
  returned.judged(r)
  if r.deleted and is_valid and not (r.own and vim.bo[r.buf].modified) then
    forget(r)
    whole.close(r.buf, r)
  end
  state.settled(r)
  versions.ended(r)
  settlement.unlist(r)
  M.retry()
  return line, unsaved ~= ''
end

--- Called when another Neovim takes the review over: removes the review from this Neovim.
---@param r caliban.Review
function M.release(r)
  forget(r)
  state.release(r)
  listeners.tell('closed', r)
  write_guard.clear(r.buf)
  listeners.tell('reported', r)
end

--- Called when the buffer was closed: ends its review.
---@param r caliban.Review
---@param was caliban.Hunk[] the hunks that were pending
---@param fate? 'leave'|'throw'
local function lose(r, was, fate)
  forget(r)
  listeners.tell('closed', r)
  write_guard.clear(r.buf)
  local left = r.whole
  if left and left.done then
    whole.conclude(r, left)
  end
  if r.open then
    verdict.decided(r, fate or 'leave', was)
    settlement.report(r, false, '', left and 'whole' or 'hunks')
    M.retry()
  end
end

--- Removes the text of a buffer whose file is gone and is about to be created again, and ends its review.
---@param buf integer
local function leave(buf)
  local r = M.of(buf)
  if not (r and r.open) then
    return remains.remove(buf)
  end
  local was = tracking.list(r)
  forget(r)
  tracking.empty(r)
  remains.remove(buf)
  lose(r, was, 'throw')
end

--------------------------------------------------------------------------------------------- listening

--- Writes the file with its pending hunks, in auto-edit mode. Tells the user if this fails.
---@param r caliban.Review
---@return string why the file was not written; '' if it was
local function persist(r)
  local why = settlement.write_pending(r)
  say(why ~= '' and ('%s was not written: %s.'):format(named.shown(r), why) or nil)
  return why
end

--- Sets the write guard according to `guarded`: it refuses writes of the buffer, or only watches them.
---@param r caliban.Review
local function protect(r)
  local set = guarded[r] == 'refuse' and write_guard.set or write_guard.follow
  set(r.buf, {
    refusal = function()
      local n = state.count(r)
      local waits = n == 1 and '1 hunk waits' or ('%d hunks wait'):format(n)
      local text = '%s is not written: %s for you. :w! writes it as it is.'
      return text:format(named.shown(r), waits)
    end,
    written = function(past)
      local line = on_disk.written(r, past)
      say(line)
      return line ~= nil
    end,
    changed = function(why)
      vim.schedule(function()
        local gone = whole.gone(r) and why == 'deleted'
        if r.open and api.nvim_buf_is_loaded(r.buf) and not gone and not reading[r] then
          settlement.merge(r, why)
          if r.auto and not r.own and not r.clash and vim.bo[r.buf].modified then
            persist(r)
          end
          say(M.look(r))
          on_disk.follow(r)
        end
      end)
    end,
  })
end

--- Makes the write guard refuse writes if the buffer has hunks that are not on disk, and else only watch them.
---@param r caliban.Review
local function guard(r)
  local is_written = r.auto or tracking.count(r) == 0 and not r.create
  local wanted = is_written and 'follow' or 'refuse'
  if guarded[r] ~= wanted then
    guarded[r] = wanted
    protect(r)
  end
end

--- Updates a review after a change: opens it, draws it, or settles it.
---@param r caliban.Review
---@param decided? boolean whether the user has just decided something
---@return string? summary for the user if the review was settled
---@return boolean? unsaved whether agreed text is not on disk then
function M.look(r, decided)
  if reviews[r.buf] ~= r or not api.nvim_buf_is_loaded(r.buf) then
    return nil
  end
  tracking.sync(r)
  entry.follow_eol(r)
  listeners.tell('looked', r, decided or false)
  if state.count(r) > 0 then
    verdict.follow(r)
    if not r.open then
      state.open(r)
      state.set_origin(r, r.origin or settlement.origin(r.buf))
      returned.opened(r)
    end
    undone.stop(r)
    guard(r)
    listeners.tell('pending', r, decided or false)
  elseif r.open and not decided and tracking.returns(r) then
    undone.begin(r, function(at_once)
      return (M.conclude(r, at_once))
    end)
    guard(r)
    listeners.tell('pending', r, false)
  else
    return M.conclude(r, decided)
  end
end

--- Settles a review without pending changes, once its buffer may be written.
---@param r caliban.Review
---@param at_once? boolean true: even while the user is in the middle of a command
---@return string? summary for the user if the review was settled
---@return boolean? unsaved whether agreed text is not on disk then
function M.conclude(r, at_once)
  if reviews[r.buf] ~= r or not r.open or state.count(r) > 0 then
    return nil
  elseif at_once or arrival.calm(r.buf) then
    return settle(r)
  end
  listeners.tell('cleared', r)
  api.nvim_create_autocmd({ 'InsertLeave', 'ModeChanged', 'CursorHold' }, {
    [BUF] = r.buf,
    once = true,
    callback = vim.schedule_wrap(function()
      say(M.conclude(r))
    end),
  })
end

--- Calls `look` after the current change.
---@param r caliban.Review
function M.soon(r)
  if due[r] then
    return
  end
  due[r] = true
  vim.schedule(function()
    due[r] = nil
    say(M.look(r))
  end)
end

--- Called when Neovim reads the text from disk again, or unloads the buffer: drops all hunks now and calls `reloaded`
--- later. A proposal may be applied in between.
---@param r caliban.Review
---@param detached boolean whether Neovim has detached the buffer's callbacks
local function reread(r, detached)
  local was_open, was, lines = r.open, tracking.reread(r)
  reading[r] = true
  vim.schedule(function()
    reading[r] = nil
    M.reloaded(r, detached, was_open and was or nil, lines)
  end)
end

--- Listens to the changes of a review's buffer.
---@param r caliban.Review
local function listen(r)
  api.nvim_buf_attach(r.buf, false, {
    on_lines = function(_, _, tick, first, last, new_last)
      if reviews[r.buf] ~= r then
        return true
      end
      if tracking.on_lines(r, tick, first, last, new_last) then
        M.soon(r)
      end
    end,
    on_changedtick = function(_, _, tick)
      tracking.on_changedtick(r, tick)
    end,
    on_reload = function()
      reread(r, false)
    end,
    on_detach = function()
      reread(r, true)
    end,
  })
end

--- Called after the buffer's text was read again, or the buffer was unloaded: ends a review without hunks or buffer.
---@param r caliban.Review
---@param detached boolean
---@param was? caliban.Hunk[] the hunks that were pending; nil if the review was not open
---@param lines? string[] the lines before
function M.reloaded(r, detached, was, lines)
  if reviews[r.buf] ~= r then
    return
  end
  if not api.nvim_buf_is_valid(r.buf) or not api.nvim_buf_is_loaded(r.buf) then
    return lose(r, was or {})
  end
  tracking.reloaded(r)
  if detached then
    listen(r)
  end
  if was and r.open and state.count(r) == 0 then
    verdict.decided(r, 'leave', was)
    versions.note(r, was, lines)
    state.add_lost(r, require('caliban.review.reread').lost(r, was, lines))
    say(settle(r))
  elseif versions.look(r) then
    say(M.look(r))
  end
end

--------------------------------------------------------------------------------------------- entry

--- The open review that a proposal is added to. If there is none, begins a review.
---@param item caliban.Arriving
---@param p caliban.WireProposal
---@param buf integer
---@param text? string the buffer's text if the caller knows it
---@return caliban.Review
local function begin(item, p, buf, text)
  local r = reviews[buf]
  if not r then
    r = state.new(buf, (item.created or {})[buf] == true, item.record ~= nil)
    reviews[buf] = r
    listen(r)
  end
  if not r.open then
    bytes.note_before(buf, text)
    state.begin(r, p, item.owner, vim.bo[buf].modified)
    verdict.begin(r)
    order = vim.tbl_filter(function(other)
      return other ~= buf
    end, order)
    order[#order + 1] = buf
  elseif r.auto and not p.at_once then
    state.leave_auto_edit(r)
  end
  return r
end

--- Called when a conversation was renamed: gives its reviews and waiting proposals the new name.
---@param from string
---@param to string
function M.renamed(from, to)
  for _, item in ipairs(arrival.waiting()) do
    item.session = item.session == from and to or item.session
    item.owner = item.owner == from and to or item.owner
  end
  for _, r in pairs(reviews) do
    if r.session == from then
      state.set_session(r, to)
      listeners.tell('renamed', r)
    end
  end
end

--- Applies an item (a group of proposals), or tells the program why it cannot be applied.
---@param item caliban.Arriving
---@return 'calm'|'review'|nil waits why the item waits; nil if the item is done
local function enter(item)
  local host =
    { begin = begin, leave = leave, persist = persist, look = M.look, of = M.of, say = say }
  while true do
    if arrival.stopped(item) then
      for _, p in ipairs(item.proposals) do
        entry.answer(p, 'stopped')
      end
      return nil
    end
    local waiting = arrival.waits(item, reviews)
    if waiting then
      return waiting
    end
    local ok, again = pcall(item.enter or admission.enter, host, item)
    if not ok then
      local err = tostring(again)
      if err:find('E565', 1, true) or err:find('E11:', 1, true) then
        return 'calm'
      end
      local why = err:match('E%d+: [^\n]*') or err
      if item.record then
        return say(
          ('The review of %s cannot continue yet: %s'):format(file.short(item.record.path), why)
        )
      end
      return entry.turn_away(item, item.proposals[1], entry.refused(why))
    elseif not again then
      return nil
    end
  end
end

--- Tries again to apply the waiting items.
function M.retry()
  arrival.retry(enter)
end

--- Applies items as soon as possible.
---@param items caliban.Arriving[]
function M.push(items)
  arrival.push(items, enter)
end

--- Applies proposals as soon as possible; returns at once.
---@param message caliban.Propose
function M.propose(message)
  M.push(arrival.grouped(message))
end

--- Called when the user has stopped a turn: its waiting proposals are not applied.
---@param session string
---@param turn integer
function M.stopped(session, turn)
  arrival.stop(session, turn)
  M.retry()
end

--------------------------------------------------------------------------------------------- decisions

---@param verdict 'accept'|'reject'
---@param opts? caliban.Choice
local function choose(verdict, opts)
  local ended, choice = undone.tell_all(), decision.anchored(opts or {})
  local unseen = {} ---@type string[]
  for _, r in ipairs(decision.chosen(choice(), M.open())) do
    local changed, reworked = settlement.look(r)
    ended = changed and M.look(r) or ended
    unseen[#unseen + 1] = reworked and named.shown(r) or nil
  end
  opts = choice(true)
  if #unseen > 0 then
    local what =
      'Nothing is decided yet: changes of %s have become others on disk. Look at them, and decide again.'
    return say(what:format(table.concat(unseen, ', ')))
  end
  local chosen = decision.chosen(opts, M.open())
  if ended and #chosen == 0 then
    return say(ended)
  end
  local line, missed = decision.choose(verdict, opts, chosen, function(r)
    local summary, unsaved = M.look(r, true)
    if not summary and r.auto and vim.bo[r.buf].modified and not r.whole then
      persist(r)
    end
    return summary, unsaved
  end)
  if missed then
    listeners.tell('missed')
  end
  say(line and #chosen > 0 and line .. decision.onward(M.open()) or line)
end

--- Accepts hunks: their new lines become part of the base.
---@param opts? caliban.Choice|caliban.ReviewOpts
function M.accept(opts)
  long.step(choose, 'accept', opts)
end

--- Rejects hunks: restores the old lines in the buffers, in one undo step for each file.
---@param opts? caliban.Choice|caliban.ReviewOpts
function M.reject(opts)
  long.step(choose, 'reject', opts)
end

--- The reviews with pending changes, in the order in which they began.
---@return caliban.Review[]
function M.open()
  local out = {}
  for _, buf in ipairs(order) do
    local r = api.nvim_buf_is_loaded(buf) and M.of(buf)
    if r and state.count(r) > 0 then
      out[#out + 1] = r
    end
  end
  return out
end

--- The review of a buffer, brought up to date. It may have no pending changes.
---@param buf integer
---@return caliban.Review?
function M.of(buf)
  local r = reviews[buf] ---@as caliban.Review?
  if r then
    tracking.sync(r)
  end
  return r
end

return M
