--- The versions of a file under review, as git changes them: the texts to which the hunks belong. The difference between
--- two texts on disk that another program has written is never a hunk. Of a new text, those hunks are under review that
--- stand in it; the others leave the review, and are under review again in a later text in which they stand.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local file = require('caliban.editor.file')
local merging = require('caliban.review.hunks.merge')
local named = require('caliban.review.named')
local on_disk = require('caliban.review.on_disk')
local standing = require('caliban.review.hunks.standing')
local state = require('caliban.review.state')
local tracking = require('caliban.review.hunks.tracking')
local verdict = require('caliban.review.verdict')

local without = verdict.without

--- The most versions that are kept of a file.
local MOST = 8

---@class caliban.Version
---@field origin string[] the lines on disk
---@field lines string[] the lines of the buffer
---@field hunks caliban.Hunk[] the hunks that were pending
---@field lost integer how many accepted hunks were not in the file any more

---@class caliban.Versions
---@field proposals caliban.Entered[] those of the review
---@field list caliban.Version[] the last one is that of the user's last change or decision
---@field left? string the buffer's text after the last change on disk
---@field hunks? caliban.Hunks the hunks after it

local known = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, caliban.Versions>

---@param r caliban.Review
---@return caliban.Versions
local function of(r)
  local it = known[r] ---@type caliban.Versions?
  if not it or it.proposals ~= r.proposals then
    it = { proposals = r.proposals, list = {} }
    known[r] = it
  end
  return it
end

--- Adds a version, unless nothing but other programs has changed the text or the hunks since the last one.
---@param r caliban.Review
---@param it caliban.Versions
---@param version caliban.Version
---@param hunks? caliban.Hunks
local function add(r, it, version, hunks)
  local is_known = #it.list > 0
    and it.left == table.concat(version.lines, '\n')
    and it.hunks == hunks
  if is_known then
    return
  end
  version.lost = r.lost
  it.list[#it.list + 1] = version
  if #it.list > MOST then
    table.remove(it.list, 1)
  end
end

--- The numbers of the hunks that are not on disk.
---@param it caliban.Version
---@return table<integer, true>
local function unsaved(it)
  local out = {} ---@type table<integer, true>
  for _, d in ipairs(algebra.runs(it.origin, it.lines)) do
    for n, hunk in ipairs(it.hunks) do
      if hunk.start <= d[3] + d[4] and d[3] <= hunk.start + #hunk.new then
        out[n] = true
      end
    end
  end
  return out
end

---@param hunks caliban.Hunk[]
---@param one caliban.Hunk
---@return boolean
local function meets(hunks, one)
  for _, it in ipairs(hunks) do
    if one.start <= it.start + #it.new and it.start <= one.start + #one.new then
      return true
    end
  end
  return false
end

--- The row of a text in a later one.
---@param hunk caliban.Hunk
---@param runs integer[][]
---@return integer? # nil if a line of the hunk is not there
local function row_of(hunk, runs)
  local shift = 0
  for _, d in ipairs(runs) do
    if d[1] + d[2] <= hunk.start then
      shift = shift + d[4] - d[2]
    elseif d[1] < hunk.start + #hunk.new then
      return nil
    end
  end
  return shift
end

---@class caliban.InText the hunks of all versions in a text on disk
---@field hunks caliban.Hunk[] those that stand, with rows of the buffer
---@field off caliban.Hunk[] the others

--- Looks for hunks of earlier versions.
---@param r caliban.Review
---@param list caliban.Version[]
---@param disk string[]
---@param lines string[] the buffer's lines
---@param found caliban.InText
local function find(r, list, disk, lines, found)
  local runs = algebra.runs(disk, lines)
  for k = #list, 1, -1 do
    local hunks = verdict.undecided(r, list[k].hunks)
    local text = list[k].lines
    local there = standing.stood(hunks, text, (merging.merge(text, disk, text))).hunks
    for n, hunk in ipairs(hunks) do
      local by = there[n] and row_of(there[n], runs)
      local it = by and algebra.moved(there[n], by)
      if it and not meets(found.hunks, it) then
        table.insert(found.hunks, it)
      elseif not it then
        table.insert(found.off, hunk)
      end
    end
  end
  table.sort(found.hunks, function(a, b)
    return a.start < b.start
  end)
end

---@param hunks caliban.Hunk[]
---@return table<integer, true>
local function keys(hunks)
  local out = {} ---@type table<integer, true>
  for _, hunk in ipairs(hunks) do
    for _, k in ipairs(hunk.of or { 0 }) do
      out[math.abs(k)] = true
    end
  end
  return out
end

--- Makes the hunks that stand the pending ones.
---@param r caliban.Review
---@param found caliban.InText
---@param was caliban.Hunk[] those that were pending
---@return boolean left whether one of those is not pending any more
local function set(r, found, was)
  local back = without(found.hunks, keys(was))
  tracking.set_list(r, found.hunks)
  local off, of_off = {}, {} ---@type caliban.Hunk[], table<integer, true>
  for _, hunk in ipairs(without(found.off, keys(found.hunks))) do
    vim.list_extend(off, without({ hunk }, of_off))
    of_off = vim.tbl_extend('force', of_off, keys({ hunk }))
  end
  verdict.take_back(r, vim.list_extend(vim.list_slice(found.hunks), off))
  verdict.decided(r, 'throw', off)
  if #back > 0 then
    state.set_returned(r)
    local what = '%s: %s undone on disk %s in the file again, and under review.'
    local count = #back == 1 and '1 change that was' or ('%d changes that were'):format(#back)
    require('caliban.editor.notify').show(
      what:format(named.shown(r), count, #back == 1 and 'is' or 'are')
    )
  end
  return #without(was, keys(found.hunks)) > 0
end

--- Whether the hunks of a review are on disk.
---@param r caliban.Review
---@return boolean
function M.are_followed(r)
  return r.auto or tracking.count(r) > 0 and on_disk.are_there(r)
end

--- Makes the changes in the buffer that another program has made in the file with the hunks.
---@param r caliban.Review
---@param was string the file's text before
---@param disk string its text now
---@param is_left fun(e: caliban.DiskEdit, mine: string[]): boolean whether a change is not made
---@return boolean done false if the buffer cannot be changed
---@return boolean reworked whether other hunks are pending than before
---@return integer clashes the number of changes on disk that conflict with changes of the buffer
function M.follow(r, was, disk, is_left)
  local mine, pending = file.lines(r.buf), tracking.list(r)
  local it, now = of(r), merging.split(disk)
  add(
    r,
    it,
    { origin = merging.split(was), lines = mine, hunks = pending, lost = 0 },
    tracking.hunks(r)
  )
  local version = it.list[#it.list]
  local edits, clashes = merging.merge(version.origin, now, version.lines)
  edits = vim.tbl_filter(function(e)
    return not is_left(e, version.lines)
  end, edits)
  state.add_lost(r, version.lost - r.lost)
  state.count_lost(r, edits, version.lines)
  local stood = standing.stood(version.hunks, version.lines, edits, unsaved(version))
  local found, formatted, foreign = { hunks = {}, off = {} }, false, {} ---@type caliban.InText, boolean, caliban.Hunk[]
  for n, hunk in ipairs(version.hunks) do
    local there = stood.hunks[n]
    table.insert(there and found.hunks or found.off, there or hunk)
    formatted = formatted or there ~= nil and not vim.deep_equal(there.new, hunk.new)
    foreign[#foreign + 1] = not there and not stood.thrown[n] and hunk or nil
  end
  find(r, vim.list_slice(it.list, 1, #it.list - 1), now, stood.lines, found)
  local runs = algebra.runs(mine, stood.lines)
  local done = #runs == 0
    or tracking.edit(r, function()
      for i = #runs, 1, -1 do
        local d = runs[i]
        file.put(r.buf, d[1], d[2], vim.list_slice(stood.lines, d[3] + 1, d[3] + d[4]))
      end
    end)
  if not done then
    return false, false, clashes
  end
  local gone = without(pending, keys(found.hunks))
  set(r, found, pending)
  it.left, it.hunks = tracking.text(r), tracking.hunks(r)
  if formatted then
    state.set_outside(r)
  end
  local is_foreign = #foreign > 0 and #gone > 0 and #without(gone, keys(foreign)) < #gone
  return true, (formatted or is_foreign) and #found.hunks > 0, clashes
end

--- Called when Neovim has read a file again that had hunks.
---@param r caliban.Review
---@param hunks caliban.Hunk[] those that were pending
---@param lines? string[] the buffer's lines before, if they are known
function M.note(r, hunks, lines)
  if lines and #hunks > 0 then
    local it = of(r)
    it.hunks = nil
    add(r, it, { origin = lines, lines = lines, hunks = hunks, lost = 0 })
  end
end

--- Called when a review has ended.
---@param r caliban.Review
function M.ended(r)
  local it = of(r)
  local left = 0
  for _, version in ipairs(it.list) do
    version.origin, left = version.lines, left + #verdict.undecided(r, version.hunks)
  end
  if left == 0 then
    known[r] = nil
  end
end

--- The version for the record on disk: that with the most hunks on which the user has not decided, if some of these are
--- not pending now. There is none if the user has changed something since, because the record has one text.
---@param r caliban.Review
---@return { lines: string[], hunks: caliban.Hunk[] }?
function M.away(r)
  local it = known[r] ---@type caliban.Versions?
  local best ---@type { lines: string[], hunks: caliban.Hunk[] }?
  local pending = tracking.list(r)
  if r.open and it and (it.hunks ~= tracking.hunks(r) or it.left ~= tracking.text(r)) then
    return nil
  end
  for _, version in ipairs(it and it.proposals == r.proposals and it.list or {}) do
    local hunks = verdict.undecided(r, version.hunks)
    if #hunks > 0 and #hunks >= (best and #best.hunks or 0) then
      best = { lines = version.lines, hunks = hunks }
    end
  end
  local has_all = best and #without(pending, keys(best.hunks)) == 0
  return best and has_all and #without(best.hunks, keys(pending)) > 0 and best or nil
end

--- Takes up the version of a record.
---@param r caliban.Review
---@param lines string[]
---@param hunks caliban.Hunk[]
function M.take_up(r, lines, hunks)
  local it = of(r)
  it.list = { { origin = lines, lines = lines, hunks = hunks, lost = 0 } }
  it.left, it.hunks = tracking.text(r), tracking.hunks(r)
end

--- Looks for hunks that have come back in a text that Neovim has read from disk after the review has ended.
---@param r caliban.Review
---@return boolean found
function M.look(r)
  local it = known[r] ---@type caliban.Versions?
  if r.open or not it or it.proposals ~= r.proposals or vim.bo[r.buf].modified then
    return false
  end
  local now, found = file.lines(r.buf), { hunks = {}, off = {} } ---@type string[], caliban.InText
  find(r, it.list, now, now, found)
  if #found.hunks == 0 then
    return false
  end
  set(r, found, {})
  it.left, it.hunks = tracking.text(r), tracking.hunks(r)
  return true
end

return M
