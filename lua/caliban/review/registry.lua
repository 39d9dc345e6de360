--- The reviews, one a buffer: what arrives, what the user types and decides, what is saved and told.
local M = {}

local api = vim.api
local admission = require('caliban.review.admission')
local arrival = require('caliban.review.arrival')
local decision = require('caliban.review.decision')
local entry = require('caliban.review.entry')
local file = require('caliban.editor.file')
local names = require('caliban.editor.name')
local write_guard = require('caliban.review.write_guard')
local listeners = require('caliban.review.listeners')
local undone = require('caliban.review.undone')
local settlement = require('caliban.review.settlement')
local long = require('caliban.review.hunks.long')
local tracking = require('caliban.review.hunks.tracking')
local state = require('caliban.review.state')
local verdict = require('caliban.review.verdict')
local whole = require('caliban.review.whole')

local reviews = {} ---@type table<integer, caliban.Review>
local guarded = {} ---@type table<caliban.Review, 'guard'|'by'> whether writes are refused
local due = {} ---@type table<caliban.Review, boolean> a look is scheduled
local order = {} ---@type integer[] buffers as their reviews began

local ADVICE = 'accept or reject them first, or :w! to write what is shown.'

---@param text? string
local function say(text)
  if text then
    require('caliban.editor.notify').show(text)
  end
end

--------------------------------------------------------------------------------------------- settling

---@param r caliban.Review
local function forget(r)
  undone.stop(r)
  reviews[r.buf], guarded[r] = nil, nil
  order = vim.tbl_filter(function(buf)
    return buf ~= r.buf
  end, order)
end

--- Nothing is pending any more.
---@param r caliban.Review
---@return string summary one line for the user
local function settle(r)
  state.close(r)
  guarded[r] = nil
  undone.stop(r)
  listeners.tell('closed', r)
  write_guard.clear(r.buf)
  local written, unsaved = false, ''
  if not r.deleted and not r.binary then
    written, unsaved = settlement.save(r)
  end
  local there = api.nvim_buf_is_valid(r.buf)
  local name = there and api.nvim_buf_get_name(r.buf) or ''
  if not there then
    forget(r)
  elseif unsaved == '' and names.real(name) ~= names.real(r.path) then
    unsaved = ('its buffer has another name, %s'):format(file.short(name))
  end
  local stays = not (r.create and unsaved == '' and vim.uv.fs_stat(r.path) == nil)
  if stays and not r.deleted and (r.was or verdict.tally(r).any > 0) then
    settlement.check(r)
  end
  settlement.forget(r)
  settlement.report(r, not stays and not r.deleted, unsaved)
  local line = settlement.summary(r, written, unsaved)
  if r.deleted and there and not (r.own and vim.bo[r.buf].modified) then
    forget(r)
    whole.close(r.buf, r)
  end
  state.settled(r)
  settlement.unlist(r)
  M.retry()
  return line
end

--- It is another Neovim's from now on: here nothing of it is pending.
---@param r caliban.Review
function M.release(r)
  forget(r)
  state.release(r)
  listeners.tell('closed', r)
  write_guard.clear(r.buf)
  listeners.tell('reported', r, '')
end

--- The file or its buffer is no more.
---@param r caliban.Review
local function lose(r)
  forget(r)
  listeners.tell('closed', r)
  write_guard.clear(r.buf)
  if r.whole and r.whole.done then
    whole.conclude(r, r.whole)
  end
  if r.open then
    local stays = r.deleted or r.was ~= nil
    if not stays then
      tracking.decide(r, nil)
    end
    settlement.report(r, not stays, stays and '' or 'its buffer was closed')
    M.retry()
  end
end

--------------------------------------------------------------------------------------------- listening

--- Writes what is pending too, as auto-edit mode has it.
---@param r caliban.Review
---@return string why it was not written; '' where it was
local function persist(r)
  local why = settlement.write_pending(r)
  say(why ~= '' and ('%s is not written: %s.'):format(file.short(r.path), why) or nil)
  return why
end

---@param r caliban.Review
local function protect(r)
  local set = guarded[r] == 'guard' and write_guard.set or write_guard.follow
  set(r.buf, {
    refusal = function()
      local n = tracking.count(r)
      local pending = ('%d hunk%s'):format(n, n == 1 and '' or 's')
      return ('%s has %s under review: %s'):format(file.short(r.path), pending, ADVICE)
    end,
    written = function(past)
      local line = settlement.written(r, past)
      say(line)
      return line ~= nil
    end,
    changed = function(why)
      vim.schedule(function()
        local gone = whole.gone(r) and why == 'deleted'
        if r.open and api.nvim_buf_is_loaded(r.buf) and not gone then
          settlement.merge(r, why)
          if r.auto and not r.own then
            persist(r)
          end
          M.look(r)
        end
      end)
    end,
  })
end

--- Refuses writes where there is text that waits: only that must not be written.
---@param r caliban.Review
local function guard(r)
  local wanted = (r.auto or tracking.count(r) == 0) and 'by' or 'guard'
  if guarded[r] ~= wanted then
    guarded[r] = wanted
    protect(r)
  end
end

--- Looks at what became of a review: draws it, opens or settles it.
---@param r caliban.Review
---@param decided? boolean by the user just now
---@return string? summary where it was settled
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
    end
    undone.stop(r)
    guard(r)
    listeners.tell('pending', r, decided or false)
  elseif r.open and not decided and tracking.returns(r) then
    undone.begin(r, function(at_once)
      return M.conclude(r, at_once)
    end)
    guard(r)
    listeners.tell('pending', r, false)
  else
    return M.conclude(r, decided)
  end
end

--- Settles a review in which nothing is pending any more, once its buffer may be written.
---@param r caliban.Review
---@param at_once? boolean
---@return string? summary where it was settled
function M.conclude(r, at_once)
  if reviews[r.buf] ~= r or not r.open or state.count(r) > 0 then
    return nil
  elseif at_once or arrival.calm(r.buf) then
    return settle(r)
  end
  listeners.tell('cleared', r)
  api.nvim_create_autocmd({ 'InsertLeave', 'ModeChanged', 'CursorHold' }, {
    buffer = r.buf,
    once = true,
    callback = vim.schedule_wrap(function()
      say(M.conclude(r))
    end),
  })
end

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

--- What was pending is undone. A proposal may enter before the rest can be seen to.
---@param r caliban.Review
---@param detached boolean
local function reread(r, detached)
  local was_open, was = r.open, tracking.reread(r)
  vim.schedule(function()
    M.reloaded(r, detached, was_open and was or nil)
  end)
end

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

--- The buffer's text was read from disk again, or it is unloaded.
---@param r caliban.Review
---@param detached boolean
---@param was? caliban.Hunk[] pending before; absent: it was not open
function M.reloaded(r, detached, was)
  if reviews[r.buf] ~= r then
    return
  end
  if not api.nvim_buf_is_valid(r.buf) or not api.nvim_buf_is_loaded(r.buf) then
    return lose(r)
  end
  tracking.reloaded(r)
  if detached then
    listen(r)
  end
  if was and r.open and state.count(r) == 0 then
    verdict.reread(r, was)
    say(settle(r))
  end
end

--------------------------------------------------------------------------------------------- entry

---@param item caliban.Arriving
---@param p caliban.WireProposal
---@param buf integer
---@return caliban.Review
local function begin(item, p, buf)
  local r = reviews[buf]
  if not r then
    r = state.new(buf, (item.created or {})[buf] == true)
    reviews[buf] = r
    listen(r)
  end
  if not r.open then
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

--- A conversation has another name: what is under review in it, or on its way, goes along.
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

---@param item caliban.Arriving
---@return 'calm'|'review'|nil
local function waits(item)
  for _, p in ipairs(item.proposals) do
    local known = file.find(p.path)
    local r = known and reviews[known]
    if r and r.open and r.session ~= item.owner then
      return 'review'
    elseif not arrival.calm(known) then
      return 'calm'
    end
  end
end

---@param item caliban.Arriving
---@return 'calm'|'review'|nil
local function enter(item)
  local host = { begin = begin, persist = persist, look = M.look, of = M.of, say = say }
  while true do
    if arrival.stopped(item) then
      for _, p in ipairs(item.proposals) do
        entry.answer(p, 'stopped')
      end
      return nil
    end
    local waiting = waits(item)
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
          ('%s: its review cannot continue yet: %s'):format(file.short(item.record.path), why)
        )
      end
      return entry.turn_away(item, item.proposals[1], entry.refused(why))
    elseif not again then
      return nil
    end
  end
end

function M.retry()
  arrival.retry(enter)
end

---@param items caliban.Arriving[]
function M.push(items)
  arrival.push(items, enter)
end

--- Puts proposals before the user; returns at once.
---@param message caliban.Propose
function M.propose(message)
  M.push(arrival.grouped(message))
end

--- The user stopped a turn: what has not entered a buffer must not.
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
  opts = opts or {}
  local ended, chosen = undone.tell_all(), decision.chosen(opts, M.open())
  if ended and #chosen == 0 then
    return say(ended)
  end
  local line, missed = decision.choose(verdict, opts, chosen, function(r)
    local line = M.look(r, true)
    if not line and r.auto and vim.bo[r.buf].modified and not r.whole then
      persist(r)
    end
    return line
  end)
  if missed then
    listeners.tell('missed')
  end
  say(line)
end

--- Agrees to hunks: the base moves.
---@param opts? caliban.Choice|caliban.ReviewOpts
function M.accept(opts)
  long.step(choose, 'accept', opts)
end

--- Takes hunks back: the buffer moves, in one undo step a file.
---@param opts? caliban.Choice|caliban.ReviewOpts
function M.reject(opts)
  long.step(choose, 'reject', opts)
end

--- The reviews with something pending, in the order they began.
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

--- The review of a buffer, brought up to date; it may have nothing pending.
---@param buf integer
---@return caliban.Review?
function M.of(buf)
  local r = reviews[buf] ---@as caliban.Review?
  if r then
    tracking.sync(r)
  end
  return r
end

require('caliban.program.process').listen({
  under_review = function()
    return vim.tbl_map(function(r)
      return r.path
    end, M.open())
  end,
})

require('caliban.program.workspace').listen({
  pending = function(buf)
    local r = M.of(buf)
    return r and not r.auto and tracking.count(r) or 0
  end,
  undecided = function(buf)
    local r = M.of(buf)
    return r ~= nil and not r.auto and state.count(r) > 0
  end,
  gone = function(buf)
    local r = M.of(buf)
    return r ~= nil and whole.gone(r)
  end,
  saved = function(buf)
    local r = M.of(buf)
    if r then
      tracking.set_own(r, false)
    end
  end,
})

return M
