--- Applies proposals that belong together to their buffers in one step: either all of them or none.
--- A proposal has "entered" when its changes are in the buffer.
local M = {}

local arrival = require('caliban.review.arrival')
local diagnosed = require('caliban.review.diagnosed')
local entry = require('caliban.review.entry')
local file = require('caliban.editor.file')
local remains = require('caliban.review.remains')
local settlement = require('caliban.review.settlement')
local long = require('caliban.review.hunks.long')
local tracking = require('caliban.review.hunks.tracking')
local state = require('caliban.review.state')
local stood = require('caliban.review.stood')
local whole = require('caliban.review.whole')

--- If there are more edits than this, the garbage collector is stopped while they are applied. For
--- fewer edits, restarting the collector takes more time than stopping it saves.
local MANY = 500

---@class caliban.Reviews functions of `registry`, which requires this module
---@field of fun(buf: integer): caliban.Review? the review of a buffer, even if it is not open
---@field begin fun(item: caliban.Arriving, p: caliban.WireProposal, buf: integer, text?: string): caliban.Review
---@field leave fun(buf: integer) removes the text of a buffer whose file is gone, and ends its review
---@field persist fun(r: caliban.Review): string why the file was not written; '' if it was
---@field look fun(r: caliban.Review, decided?: boolean): string?
---@field say fun(text?: string)

---@class caliban.Fit a proposal that fits its buffer
---@field p caliban.WireProposal
---@field buf integer
---@field plan caliban.Plan

---@param reviews caliban.Reviews
---@param item caliban.Arriving
---@param p caliban.WireProposal
---@return caliban.Fit?
---@return caliban.Unfit? why the proposal does not fit; also nil if the buffer has changed meanwhile
local function fit(reviews, item, p)
  local buf, why, created = file.open(p.path, p.create)
  if not buf then
    return nil, entry.refused(why or 'it could not be loaded')
  end
  item.created = item.created or {}
  item.created[buf] = item.created[buf] or created or nil
  if p.create and (p.dos or p.bom) and not vim.uv.fs_stat(p.path) then
    local bo = vim.bo[buf]
    bo.fileformat, bo.bomb = p.dos and 'dos' or bo.fileformat, p.bom or bo.bomb
  end
  local r = reviews.of(buf)
  local open = r and r.open and r or nil
  if not open and not p.binary then
    -- the buffer gets what is on disk before the proposal changes it
    local catch_up = vim.bo[buf].modified and stood.merge or file.refresh
    catch_up(buf)
  end
  why = whole.refusal(p, buf, r)
  if why then
    return nil, entry.refused(why)
  end
  local plan, unfit = entry.plan(p, buf, open)
  if not plan then
    return nil, unfit
  end
  return { p = p, buf = buf, plan = plan }
end

--- Plans how to apply all proposals of an item (a group that belongs together), before any buffer
--- is changed. Works in slices, so a buffer may change meanwhile.
---@param reviews caliban.Reviews
---@param item caliban.Arriving
---@return caliban.Fit[]? # nil if a proposal cannot be applied
---@return boolean? again true: a buffer has changed meanwhile, so the item has to be planned again
local function fits(reviews, item)
  local all = {} ---@type caliban.Fit[]
  for _, p in ipairs(item.proposals) do
    local one, unfit = fit(reviews, item, p)
    if not one and not unfit then
      return nil, true
    elseif not one then
      for buf in pairs(item.created or {}) do
        file.unload(buf, true)
      end
      entry.turn_away(item, p, unfit --[[@as caliban.Unfit]])
      return nil
    end
    all[#all + 1] = one
  end
  for _, it in ipairs(all) do
    local holds = entry.holds(it.plan, it.buf, reviews.of(it.buf))
    if not holds or arrival.stopped(item) or not arrival.calm(it.buf) then
      return nil, true
    end
  end
  return all
end

---@class caliban.Step an applied proposal, which is undone if another proposal of the item cannot be applied
---@field fit caliban.Fit
---@field r caliban.Review
---@field hunks caliban.Hunks the hunks before the step
---@field modified boolean whether the buffer was modified before the step

--- Undoes applied proposals, the last one first.
---@param done caliban.Step[]
local function take_back(done)
  for i = #done, 1, -1 do
    local it = done[i]
    if it.fit.p.whole then
      whole.withdraw(it.r)
    else
      local lines = it.fit.plan.lines
      local runs = require('caliban.review.hunks.algebra').runs(file.lines(it.r.buf), lines)
      tracking.edit(it.r, function()
        for k = #runs, 1, -1 do
          local d = runs[k]
          file.put(it.r.buf, d[1], d[2], vim.list_slice(lines, d[3] + 1, d[3] + d[4]))
        end
      end)
      tracking.set(it.r, it.hunks)
      diagnosed.forget(it.r)
      vim.bo[it.r.buf].modified = it.modified
    end
  end
end

--- Applies proposals to their buffers. If a proposal fails, undoes the others.
---@param steps caliban.Step[]
---@return caliban.WireProposal? failed
---@return string? why
local function apply(steps)
  local done = {} ---@type caliban.Step[]
  -- deletions and renamings come first, because they can fail on disk
  local rest = vim.tbl_filter(function(step)
    return not step.fit.p.whole
  end, steps)
  local first = vim.tbl_filter(function(step)
    return step.fit.p.whole ~= nil
  end, steps)
  for _, step in ipairs(vim.list_extend(first, rest)) do
    local p, r, ok, err = step.fit.p, step.r, true, nil
    if p.whole then
      err = whole.enter(r, p)
      ok = err == nil
    else
      diagnosed.remember(r, step.fit.plan.lines)
      err = step.fit.plan.revives and whole.withdraw(r) or nil
      ok = err == nil
      if ok then
        ok, err = tracking.edit(r, function()
          entry.apply(r, step.fit.plan)
        end, step.fit.plan.after)
      end
    end
    if not ok then
      if not p.whole then
        done[#done + 1] = step
      end
      take_back(done)
      return p, err
    end
    done[#done + 1] = step
  end
  for _, step in ipairs(steps) do
    entry.entered(step.r, step.fit.p, step.fit.plan)
    if step.fit.p.create and not step.fit.plan.revives and #step.fit.plan.edits == 0 then
      whole.offer(step.r, step.fit.p)
    end
  end
end

--- Called when all proposals of the item are in their buffers: in auto-edit mode writes the file,
--- then tells the program.
---@param reviews caliban.Reviews
---@param step caliban.Step
---@return string? a message for the user
local function tell(reviews, step)
  local r, p = step.r, step.fit.p
  if p.whole then
    entry.told(p, r.buf, 1, r.auto and '' or nil)
  else
    local text = r.auto and file.text(r.buf)
    local unsaved = r.auto and reviews.persist(r) or nil
    if unsaved then
      whole.created(r, unsaved == '')
      diagnosed.check(r)
    end
    entry.told(p, r.buf, #step.fit.plan.edits, unsaved, text or nil)
  end
  if state.count(r) == 0 then
    state.open(r)
  end
  local line = reviews.look(r, true)
  local hunks = #step.fit.plan.edits
  local data = { buf = r.buf, path = p.path, hunks = hunks, session = r.session }
  require('caliban.editor.event').fire('CalibanProposal', data)
  return line
end

--- Applies proposals that fit their buffers, and tells the program.
---@param reviews caliban.Reviews
---@param item caliban.Arriving
---@param all caliban.Fit[]
local function let_in(reviews, item, all)
  local begun, steps = {}, {} ---@type table<integer, caliban.Review>, caliban.Step[]
  local replaced = {} ---@type integer[]
  for _, it in ipairs(all) do
    local r = begun[it.buf]
    if it.plan.replaces then
      reviews.leave(it.buf)
      replaced[#replaced + 1] = it.buf
    end
    if not r then
      r = reviews.begin(item, it.p, it.buf, it.plan.text)
      state.set_origin(r, r.open and r.origin or settlement.origin(it.buf, it.plan.text))
      begun[it.buf] = r
    end
    steps[#steps + 1] =
      { fit = it, r = r, hunks = tracking.hunks(r), modified = vim.bo[it.buf].modified }
  end
  local one, why = apply(steps)
  if one then
    for _, r in pairs(begun) do
      reviews.look(r)
    end
    for _, buf in ipairs(replaced) do
      remains.restore(buf)
    end
    if tostring(why):find('E565', 1, true) then
      error(why, 0)
    end
    return entry.turn_away(item, one, entry.refused(file.reason(why)))
  end
  for _, step in ipairs(steps) do
    reviews.say(tell(reviews, step))
  end
end

--- Applies the proposals of an item, or tells the program why they cannot be applied. Raises an
--- error only if Neovim forbids changing buffers at the moment (E565); then nothing was changed.
---@param reviews caliban.Reviews
---@param item caliban.Arriving
---@return boolean? again true: a buffer changed while its proposal was planned
function M.enter(reviews, item)
  local all, again = fits(reviews, item)
  local count = 0
  for _, it in ipairs(all or {}) do
    count = count + #it.plan.edits
  end
  if all and count > MANY then
    long.step(let_in, reviews, item, all)
  elseif all then
    let_in(reviews, item, all)
  end
  return again
end

return M
