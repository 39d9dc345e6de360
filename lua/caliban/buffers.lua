--- The reviews, one a buffer: what arrives, what the user types and decides, what is saved and told.
local M = {}

local api = vim.api
local arrive = require('caliban.arrive')
local deciding = require('caliban.decide')
local entry = require('caliban.entry')
local file = require('caliban.file')
local guard = require('caliban.guard')
local hunks = require('caliban.hunks')
local overlay = require('caliban.overlay')
local record = require('caliban.record')
local rest = require('caliban.rest')
local settling = require('caliban.settle')
local slices = require('caliban.slices')
local track = require('caliban.track')
local verdict = require('caliban.verdict')
local whole = require('caliban.whole')

local reviews = {} ---@type table<integer, caliban.Review>
local order = {} ---@type integer[] buffers as their reviews began

local ADVICE = 'accept or reject them first, or :w! to write what is shown.'

---@param text? string
local function say(text)
  if text then
    require('caliban.notify').show(text)
  end
end

--------------------------------------------------------------------------------------------- settling

---@param r caliban.Review
local function forget(r)
  rest.stop(r)
  reviews[r.buf] = nil
  order = vim.tbl_filter(function(buf)
    return buf ~= r.buf
  end, order)
end

--- Nothing is pending any more.
---@param r caliban.Review
---@return string summary one line for the user
local function settle(r)
  r.open, r.stands, r.kept = false, nil, nil
  rest.stop(r)
  record.drop(r)
  overlay.clear(r.buf)
  guard.clear(r.buf)
  local written, unsaved = false, ''
  if not r.deleted and not r.binary then
    written, unsaved = settling.save(r)
  end
  local there = api.nvim_buf_is_valid(r.buf)
  local name = there and api.nvim_buf_get_name(r.buf) or ''
  if not there then
    forget(r)
  elseif unsaved == '' and file.real(name) ~= file.real(r.path) then
    unsaved = ('its buffer has another name, %s'):format(file.short(name))
  end
  local kept = not (r.create and unsaved == '' and vim.uv.fs_stat(r.path) == nil)
  if kept and not r.deleted and (r.was or verdict.tally(r).any > 0) then
    settling.check(r)
  end
  r.before = nil
  settling.report(r, not kept and not r.deleted, unsaved)
  local line = settling.summary(r, written, unsaved)
  if r.deleted and there and not (r.own and vim.bo[r.buf].modified) then
    forget(r)
    whole.close(r)
  end
  r.reasons, r.dropped, r.acted, r.clash, r.origin = {}, {}, false, nil, nil
  r.deleted, r.was, r.spared, r.lines, r.formatted = nil, nil, nil, nil, nil
  settling.unlist(r)
  M.retry()
  return line
end

--- It is another Neovim's from now on: here nothing of it is pending.
---@param r caliban.Review
function M.release(r)
  forget(r)
  r.open, r.whole, r.hunks = false, nil, hunks.of({})
  overlay.clear(r.buf)
  guard.clear(r.buf)
  require('caliban.chat.review').settled(r, '')
end

--- The file or its buffer is no more.
---@param r caliban.Review
local function lose(r)
  forget(r)
  overlay.clear(r.buf)
  guard.clear(r.buf)
  if r.whole and r.whole.done then
    whole.conclude(r, r.whole)
  end
  record.drop(r)
  if r.open then
    local kept = r.deleted or r.was ~= nil
    r.decided = kept and r.decided or nil
    settling.report(r, not kept, kept and '' or 'its buffer was closed')
    M.retry()
  end
end

--------------------------------------------------------------------------------------------- listening

--- Writes what is pending too, as auto-edit mode has it.
---@param r caliban.Review
---@return string why it was not written; '' where it was
local function persist(r)
  local why = settling.through(r)
  say(why ~= '' and ('%s is not written: %s.'):format(file.short(r.path), why) or nil)
  return why
end

---@param r caliban.Review
local function protect(r)
  local set = r.stands == 'guard' and guard.set or guard.follow
  set(r.buf, {
    refusal = function()
      local n = r.hunks.count
      local pending = ('%d hunk%s'):format(n, n == 1 and '' or 's')
      return ('%s has %s under review: %s'):format(file.short(r.path), pending, ADVICE)
    end,
    written = function(past)
      local line = settling.written(r, past)
      say(line)
      return line ~= nil
    end,
    changed = function(why)
      vim.schedule(function()
        local gone = whole.gone(r) and why == 'deleted'
        if r.open and api.nvim_buf_is_loaded(r.buf) and not gone then
          settling.merge(r, why)
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
local function stand(r)
  local stands = (r.auto or r.hunks.count == 0) and 'by' or 'guard'
  if r.stands ~= stands then
    r.stands = stands
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
  track.sync(r)
  entry.follow_eol(r)
  require('caliban.chat.review').touch(r, decided)
  if track.count(r) > 0 then
    verdict.follow(r)
    if not r.open then
      r.open = true
      r.origin = r.origin or settling.origin(r.buf)
    end
    rest.stop(r)
    stand(r)
    overlay.draw(r)
    if decided or r.kept ~= track.count(r) then
      r.kept = track.count(r)
      record.save(r)
    end
  elseif r.open and not decided and track.returns(r) then
    rest.begin(r, function(at_once)
      return M.conclude(r, at_once)
    end)
    stand(r)
    overlay.draw(r)
  else
    return M.conclude(r, decided)
  end
end

--- Settles a review in which nothing is pending any more, once its buffer may be written.
---@param r caliban.Review
---@param at_once? boolean
---@return string? summary where it was settled
function M.conclude(r, at_once)
  if reviews[r.buf] ~= r or not r.open or track.count(r) > 0 then
    return nil
  elseif at_once or arrive.calm(r.buf) then
    return settle(r)
  end
  overlay.clear(r.buf)
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
  if r.later then
    return
  end
  r.later = true
  vim.schedule(function()
    r.later = false
    say(M.look(r))
  end)
end

--- What was pending is undone. A proposal may enter before the rest can be seen to.
---@param r caliban.Review
---@param detached boolean
local function reread(r, detached)
  local was_open, was = r.open, hunks.list(r.hunks)
  r.hunks, r.states, r.undoing = hunks.of({}), {}, nil
  r.lines, r.moved, r.far = nil, nil, nil
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
      if r.busy then
        track.follow(r, tick, first, last, new_last)
      else
        track.typed(r, tick, first, last, new_last)
        M.soon(r)
      end
    end,
    on_changedtick = function(_, _, tick)
      r.tick = tick
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
  r.own, r.seq = false, track.seq(r)
  if detached then
    listen(r)
  end
  if was and r.open and track.count(r) == 0 then
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
    r = track.new(buf, (item.created or {})[buf] == true)
    reviews[buf] = r
    listen(r)
  end
  if not r.open then
    r.path, r.session, r.create = p.path, item.owner, p.create
    r.proposals, r.reasons, r.dropped, r.acted, r.decided = {}, {}, {}, false, nil
    r.came, r.proposed, r.seen = {}, {}, 0
    r.clash, r.eol, r.own = nil, nil, vim.bo[buf].modified
    r.auto, r.binary = p.at_once, p.binary
    order = vim.tbl_filter(function(other)
      return other ~= buf
    end, order)
    order[#order + 1] = buf
  elseif r.auto and not p.at_once then
    r.auto = false
  end
  return r
end

--- A conversation has another name: what is under review in it, or on its way, goes along.
---@param from string
---@param to string
function M.renamed(from, to)
  for _, item in ipairs(arrive.waiting()) do
    item.session = item.session == from and to or item.session
    item.owner = item.owner == from and to or item.owner
  end
  for _, r in pairs(reviews) do
    if r.session == from then
      r.session = to
      record.move(r)
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
    elseif not arrive.calm(known) then
      return 'calm'
    end
  end
end

---@param item caliban.Arriving
---@return 'calm'|'review'|nil
local function enter(item)
  local host = { begin = begin, persist = persist, look = M.look, of = M.of, say = say }
  while true do
    if arrive.stopped(item) then
      for _, p in ipairs(item.proposals) do
        entry.answer(p, 'stopped')
      end
      return nil
    end
    local waiting = waits(item)
    if waiting then
      return waiting
    end
    local way = require(item.record and 'caliban.reopen' or 'caliban.admit')
    local ok, again = pcall(way.enter, host, item)
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
    slices.rest()
  end
end

function M.retry()
  arrive.retry(enter)
end

---@param items caliban.Arriving[]
function M.push(items)
  arrive.push(items, enter)
end

--- Puts proposals before the user; returns at once.
---@param message caliban.Propose
function M.propose(message)
  M.push(arrive.grouped(message))
end

--- The user stopped a turn: what has not entered a buffer must not.
---@param session string
---@param turn integer
function M.stopped(session, turn)
  arrive.stop(session, turn)
  M.retry()
end

---@param message caliban.Halt
function M.halt(message)
  M.stopped(message.session, message.turn)
end

--------------------------------------------------------------------------------------------- decisions

---@param verdict 'accept'|'reject'
---@param opts? caliban.Choice
local function choose(verdict, opts)
  opts = opts or {}
  local ended, chosen = rest.over(), deciding.chosen(opts, M.open())
  if ended and #chosen == 0 then
    return say(ended)
  end
  say(deciding.choose(verdict, opts, chosen, function(r)
    local line = M.look(r, true)
    if not line and r.auto and vim.bo[r.buf].modified and not r.whole then
      persist(r)
    end
    return line
  end))
end

--- Agrees to hunks: the base moves.
---@param opts? caliban.Choice|caliban.ReviewOpts
function M.accept(opts)
  slices.whole(choose, 'accept', opts)
end

--- Takes hunks back: the buffer moves, in one undo step a file.
---@param opts? caliban.Choice|caliban.ReviewOpts
function M.reject(opts)
  slices.whole(choose, 'reject', opts)
end

--- The reviews with something pending, in the order they began.
---@return caliban.Review[]
function M.open()
  local out = {}
  for _, buf in ipairs(order) do
    local r = api.nvim_buf_is_loaded(buf) and M.of(buf)
    if r and track.count(r) > 0 then
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
    track.sync(r)
  end
  return r
end

--- The pending hunks of a buffer, or of all.
---@param buf? integer
---@return caliban.Pending[]
function M.pending(buf)
  buf = buf == 0 and api.nvim_get_current_buf() or buf
  return require('caliban.pending').hunks(M.open(), buf)
end

--- Files under review.
---@return caliban.UnderReview[]
function M.reviews()
  return require('caliban.pending').files(M.open())
end

--- Proposals that have not entered yet, and what each waits for.
---@return caliban.Waiting[]
function M.waiting()
  return require('caliban.pending').waiting(arrive.waiting())
end

function M.next()
  require('caliban.jump').go(M.open(), 1)
end

function M.prev()
  require('caliban.jump').go(M.open(), -1)
end

--- Lists the pending hunks in the quickfix list.
function M.quickfix()
  require('caliban.jump').quickfix(M.open())
end

return M
