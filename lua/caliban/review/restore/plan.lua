--- Plans how to reopen a review in a buffer. The file's text may have changed since the record was written: a hunk becomes
--- pending again if the buffer already has its lines or if it can still be applied. Nothing else is changed.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local merging = require('caliban.review.hunks.merge')
local standing_in = require('caliban.review.hunks.standing')

---@class caliban.Reopening how to reopen a review in a buffer
---@field puts caliban.DiskEdit[][] ascending lists, each with rows of the text after the previous list
---@field hunks caliban.Hunk[] the pending hunks after `puts`
---@field lost caliban.Hunk[] the hunks that do not fit any more
---@field agreed integer the number of accepted changes that are not on disk and do not fit any more
---@field own boolean whether the buffer has unsaved changes of the user after `puts`
---@field again? boolean whether accepted changes are not on disk, so that the user has to decide again
---@field is_written? boolean whether the hunks are on disk
---@field version? string[] the text to which all hunks of the record belong, if they were on disk

---@param lines string[]
---@param first integer
---@param count integer
---@return string[]
local function slice(lines, first, count)
  return vim.list_slice(lines, first + 1, first + count)
end

---@param lines string[]
---@param puts caliban.DiskEdit[] ascending
---@return string[] the lines after `puts`
local function with(lines, puts)
  local out, row = {}, 0
  for _, it in ipairs(puts) do
    vim.list_extend(out, lines, row + 1, it.start)
    vim.list_extend(out, it.lines)
    row = it.start + it.count
  end
  return vim.list_extend(out, lines, row + 1)
end

--- The buffer's text in the record: the base with the hunks applied.
---@param it caliban.Record
---@return string[]
local function shown(it)
  local delta = 0 ---@type integer
  local puts = {} ---@type caliban.DiskEdit[]
  for i, h in ipairs(it.hunks) do
    puts[i] = { start = h.start - delta, count = #h.old, lines = h.new }
    delta = delta + #h.new - #h.old
  end
  return with(it.base, puts)
end

---@param runs integer[][]
---@return integer the number of lines that differ
local function size(runs)
  local lines = 0
  for _, d in ipairs(runs) do
    lines = lines + d[2] + d[4]
  end
  return lines
end

--- The plan for a buffer that already has the hunks, because a swap file was recovered or because
--- the hunks are on disk. Differences from the record were typed by the user later. If a hunk is
--- missing, it was applied after the swap file was written, so it is applied again.
---@param it caliban.Record
---@param runs integer[][] from the text in the record to `now`
---@param now string[] lines of the buffer
---@return caliban.Reopening
local function typed(it, runs, now)
  local list, own, edits = it.hunks, it.own, {} ---@type caliban.Hunk[], boolean, caliban.Edit[]
  for i = #runs, 1, -1 do
    local d = runs[i]
    local lines, touched = slice(now, d[3], d[4]), false
    for _, h in ipairs(it.hunks) do
      if h.start == d[1] and #h.new == d[2] and vim.deep_equal(h.old, lines) then
        table.insert(edits, 1, { start = d[3], old = h.old, new = h.new, of = h.of })
      end
    end
    list, touched = algebra.change(list, d[1], d[1] + d[2], lines)
    own = own or touched
  end
  local pending = require('caliban.review.hunks.stack').stacked(
    algebra.tighten(list),
    edits,
    function(first, last)
      return slice(now, first, last - first)
    end
  )
  local puts = vim.tbl_map(function(e)
    return { start = e.start, count = #e.old, lines = e.new }
  end, edits)
  return { puts = { puts }, hunks = pending, lost = {}, agreed = 0, own = own }
end

---@param lines string[]
---@param all string[]
---@return boolean
local function among(lines, all)
  for _, line in ipairs(lines) do
    if not vim.list_contains(all, line) then
      return false
    end
  end
  return true
end

--- The keys of the first proposed edit that contains all lines of a hunk.
---@param it caliban.Record
---@param hunk caliban.Hunk
---@return integer[]?
local function part_of(it, hunk)
  for _, proposal in ipairs(it.proposals) do
    for _, edit in ipairs(proposal.edits) do
      if among(hunk.old, edit.old) and among(hunk.new, edit.new) then
        return edit.of
      end
    end
  end
end

--- Gives keys to hunks that a diff has found: the keys of a hunk or edit in the record with the
--- same lines, otherwise the keys of an edit that contains their lines.
---@param it caliban.Record
---@param list caliban.Hunk[]
local function named(it, list)
  local known = {} ---@type table<string, (caliban.Edit|caliban.Hunk)[]>
  ---@param hunk caliban.Edit|caliban.Hunk
  ---@return (caliban.Edit|caliban.Hunk)[]
  local function alike(hunk)
    local key = table.concat(hunk.old, '\n') .. '\0' .. table.concat(hunk.new, '\n')
    known[key] = known[key] or {}
    return known[key]
  end
  for _, hunk in ipairs(it.hunks) do
    table.insert(alike(hunk), hunk)
  end
  for _, proposal in ipairs(it.proposals) do
    for _, edit in ipairs(proposal.edits) do
      table.insert(alike(edit), edit)
    end
  end
  for _, hunk in ipairs(list) do
    local from = table.remove(alike(hunk), 1) ---@as caliban.Edit|caliban.Hunk|nil
    if from then
      hunk.of, hunk.typed = from.of, from.typed
    else
      hunk.of = part_of(it, hunk)
    end
  end
end

---@param hunk { old: string[], new: string[] }
---@return string
local function key(hunk)
  return table.concat(hunk.new, '\n') .. '\0' .. table.concat(hunk.old, '\n')
end

--- The text in the record without the hunks and without the accepted changes that are not on disk: the text on disk with
--- what the user has typed. Changes of which the record does not say that they were accepted are the user's own.
---@param it caliban.Record
---@return string[]
local function own_text(it)
  if not it.own or not it.agreed then
    return it.origin
  end
  local accepted = {} ---@type table<string, true>
  for _, hunk in ipairs(it.agreed) do
    accepted[key(hunk)] = true
  end
  local puts = {} ---@type caliban.DiskEdit[]
  for _, d in ipairs(algebra.runs(it.origin, it.base)) do
    local old, new = slice(it.origin, d[1], d[2]), slice(it.base, d[3], d[4])
    if not accepted[key({ old = old, new = new })] then
      puts[#puts + 1] = { start = d[1], count = d[2], lines = new }
    end
  end
  return with(it.origin, puts)
end

--- Whether an accepted change is not on disk.
---@param it caliban.Record
---@param stood string[] the text in the record, with the hunks
---@return boolean
local function is_accepted(it, stood)
  local accepted = {} ---@type table<string, true>
  for _, hunk in ipairs(it.agreed or {}) do
    accepted[key(hunk)] = true
  end
  for _, d in ipairs(algebra.runs(it.origin, stood)) do
    local old, new = slice(it.origin, d[1], d[2]), slice(stood, d[3], d[4])
    if accepted[key({ old = old, new = new })] == true then
      return true
    end
  end
  return not it.agreed
end

--- The plan for a buffer that has the hunks, which are on disk, but not the text that the user has typed since.
---@param it caliban.Record
---@param stood string[] the text in the record, with the hunks
---@param now string[] lines of the buffer
---@param unsaved boolean whether the file on disk has other lines
---@return caliban.Reopening
local function written(it, stood, now, unsaved)
  local mine, clashes = merging.merge(it.origin, stood, now)
  local text = with(now, mine)
  local plan = typed(it, algebra.runs(stood, text), text)
  table.insert(plan.puts, 1, mine)
  plan.agreed, plan.own = clashes, unsaved or it.own or #mine > 0 and is_accepted(it, stood)
  plan.is_written = #plan.puts[2] == 0
  return plan
end

--- The hunks of a record and its accepted changes that are not on disk, as hunks of one text.
---@param it caliban.Record
---@param own string[] the text without them
---@return caliban.Hunk[]
local function all_hunks(it, own)
  if vim.deep_equal(own, it.base) then
    return it.hunks
  end
  local edits, delta = {}, 0 ---@type caliban.Edit[], integer
  for i, h in ipairs(it.hunks) do
    edits[i] = { start = h.start - delta, old = h.old, new = h.new, of = h.of, typed = h.typed }
    delta = delta + #h.new - #h.old
  end
  local accepted = algebra.diff(own, it.base, 0)
  local list = require('caliban.review.hunks.stack').stacked(accepted, edits, function(first, last)
    return slice(it.base, first, last - first)
  end)
  named(it, list)
  return list
end

--- The hunks that are a part of others.
---@param hunks caliban.Hunk[]
---@param others caliban.Hunk[]
---@return caliban.Hunk[]
local function within(hunks, others)
  return vim.tbl_filter(function(h)
    for _, other in ipairs(others) do
      if other.start <= h.start and h.start + #h.new <= other.start + #other.new then
        return true
      end
    end
    return false
  end, hunks)
end

--- Moves the hunks of a text to where they are after another program has changed it. A hunk whose lines it has changed is
--- lost, unless it has made just this hunk.
---@param list caliban.Hunk[]
---@param own string[] the text without the hunks
---@param edits caliban.DiskEdit[] the changes of this text
---@return caliban.Hunk[] hunks
---@return caliban.Hunk[] lost
---@return table<integer, true> made which of the hunks it has made
local function carried(list, own, edits)
  local carrying = require('caliban.review.hunks.carried')
  local lost = {} ---@type caliban.Hunk[]
  local out = carrying.carried(list, own, edits)
  while #out.rows > 0 do
    local left, shift = {}, 0 ---@type caliban.Hunk[], integer
    for _, hunk in ipairs(list) do
      if vim.list_contains(out.rows, hunk.start) then
        lost[#lost + 1] = hunk
        shift = shift + #hunk.old - #hunk.new
      else
        left[#left + 1] = algebra.moved(hunk, shift)
      end
    end
    list, out = left, carrying.carried(left, own, edits)
  end
  return out.hunks, lost, out.met
end

--- The plan for a buffer that does not have the hunks: a hunk is applied if the lines that it replaces are still in the
--- buffer. An accepted hunk that is not on disk becomes pending again, because a record alone must not cause a write.
---@param it caliban.Record
---@param now string[] lines of the buffer
---@param unsaved boolean whether the file on disk has other lines
---@return caliban.Reopening
local function merged(it, now, unsaved)
  local own = own_text(it)
  local mine, clashes = merging.merge(it.origin, own, now)
  local text = with(now, mine)
  local edits = merging.merge(it.origin, now, own)
  if not vim.deep_equal(with(own, edits), text) then
    edits = vim.tbl_map(function(d)
      return { start = d[1], count = d[2], lines = slice(text, d[3], d[4]) }
    end, algebra.runs(own, text))
  end
  local list = all_hunks(it, own)
  local hunks, lost, made = carried(list, own, edits)
  local puts, delta = {}, 0 ---@type caliban.DiskEdit[], integer
  for n, h in ipairs(hunks) do
    if not made[n] then
      puts[#puts + 1] = { start = h.start - delta, count = #h.old, lines = h.new }
      delta = delta + #h.new - #h.old
    end
  end
  local pending = within(it.hunks, lost)
  return {
    again = not vim.deep_equal(own, it.base),
    puts = { mine, puts },
    hunks = algebra.fused(hunks),
    lost = pending,
    agreed = clashes + math.max(0, #lost - #pending),
    own = unsaved or #mine > 0,
  }
end

--- The plan for a file whose hunks were on disk: those that stand in its text now.
---@param it caliban.Record
---@param stood string[] the text in the record, with the hunks
---@param now string[]
---@return caliban.Reopening
local function standing(it, stood, now)
  local edits = merging.merge(stood, now, stood)
  local there = standing_in.stood(it.hunks, stood, edits).hunks
  local plan = { puts = {}, hunks = {}, lost = {}, agreed = 0, own = false, version = stood } ---@type caliban.Reopening
  for n, hunk in ipairs(it.hunks) do
    table.insert(there[n] and plan.hunks or plan.lost, there[n] or hunk)
  end
  return plan
end

--- The plan for a buffer that was recovered from a swap file which is older than the record: what the user had typed and
--- decided after the swap file was written is in the record alone.
---@param it caliban.Record
---@param stood string[] the text in the record, with the hunks
---@param now string[] lines of the buffer
---@param recovered string[] the buffer's lines when it was recovered
---@return caliban.Reopening
local function older(it, stood, now, recovered)
  local newer, clashes = merging.merge(recovered, stood, now)
  local text = with(now, newer)
  local plan = typed(it, algebra.runs(stood, text), text)
  table.insert(plan.puts, 1, newer)
  plan.agreed = clashes
  return plan
end

--- Whether one of the hunks stands in the text on disk of which the record tells.
---@param it caliban.Record
---@param stood string[] the text in the record, with the hunks
---@return boolean
local function has_one(it, stood)
  local runs, k = algebra.runs(it.origin, stood), 1
  for _, hunk in ipairs(it.hunks) do
    while runs[k] and runs[k][3] + runs[k][4] < hunk.start do
      k = k + 1
    end
    if not runs[k] or hunk.start + #hunk.new < runs[k][3] then
      return true
    end
  end
  return false
end

--- Whether the text on disk differs from the base only where there are hunks. Anything else is a change of which a record
--- alone says that the user has agreed to it.
---@param it caliban.Record
---@param away integer[][] from the text on disk to the base
---@return boolean
local function is_of_hunks(it, away)
  local k, delta = 1, 0 ---@type integer, integer
  for _, run in ipairs(away) do
    local hunk = it.hunks[k]
    while hunk and hunk.start - delta + #hunk.old < run[3] do
      delta = delta + #hunk.new - #hunk.old
      k = k + 1
      hunk = it.hunks[k]
    end
    if not hunk or hunk.start - delta > run[3] + run[4] then
      return false
    end
  end
  return true
end

--- Whether the hunks of a record, or some of them, were on disk. What the user has typed inside of hunks does not count as
--- the user's own text in the record.
---@param it caliban.Record
---@param stood string[] the text in the record, with the hunks
---@return boolean
local function is_on_disk(it, stood)
  local away = algebra.runs(it.origin, it.base)
  if #away == 0 or it.whole and not it.auto or not it.own and not is_of_hunks(it, away) then
    return false
  elseif has_one(it, stood) then
    return true
  elseif not it.own then
    return it.auto
  end
  return it.auto and size(algebra.runs(it.origin, stood)) < size(away)
end

--- Plans how to reopen a review in a buffer with these lines. The buffer counts as having the
--- hunks, unless its lines are more similar to the record's text of the file on disk than to the
--- record's text with the hunks.
---@param it caliban.Record
---@param now string[]
---@param unsaved boolean whether the file on disk has other lines
---@param recovered? string[] the buffer's lines as they were recovered from a swap file that is older than the record
---@return caliban.Reopening
function M.plan(it, now, unsaved, recovered)
  local stood = shown(it)
  if
    recovered
    and size(algebra.runs(stood, recovered)) <= size(algebra.runs(it.origin, recovered))
  then
    return older(it, stood, now, recovered)
  end
  if
    it.auto
    and not it.own
    and not it.whole
    and not unsaved
    and vim.deep_equal(it.origin, stood)
  then
    return standing(it, stood, now)
  end
  local on_disk = is_on_disk(it, stood)
  -- what a buffer has that Neovim has read from the disk is no better known than the disk
  local is_read = not unsaved and not it.auto and not it.whole and not on_disk
  local runs = algebra.runs(stood, now)
  if #runs == 0 or not is_read and size(runs) <= size(algebra.runs(it.origin, now)) then
    return typed(it, runs, now)
  elseif on_disk then
    return written(it, stood, now, unsaved)
  end
  return merged(it, now, unsaved)
end

return M
