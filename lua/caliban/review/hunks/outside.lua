--- Makes the changes of another program (git, another editor, a formatter) in a buffer with hunks. Hunks that were on
--- disk, and that the program has thrown away there, are not pending any more.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local block = require('caliban.review.hunks.block')
local file = require('caliban.editor.file')
local index = require('caliban.review.hunks.index')
local lines_of = require('caliban.review.hunks.lines')
local regions = require('caliban.review.hunks.regions')

--- In a place with more lines than this times hunks, the hunks are thrown away together or not at all.
local MOST = 20000

---@class caliban.Place rows [first, last) of the buffer, which have the lines `now` on disk
---@field first integer
---@field last integer
---@field now string[]
---@field above? boolean see `caliban.DiskEdit`
---@field hunks caliban.Hunk[] the hunks in these rows

--- The places that changes on disk and the hunks which they touch cover.
---@param hunks caliban.Hunks
---@param mine string[] the buffer's lines
---@param edits caliban.DiskEdit[] ascending
---@return caliban.Place[] ascending
local function places(hunks, mine, edits)
  local out = {} ---@type caliban.Place[]
  for _, e in ipairs(edits) do
    local first, last, before = e.start, e.start + e.count, out[#out]
    local near = vim.tbl_filter(function(hunk)
      -- a removal of lines between two changes belongs to the first of them
      local last_one = before and before.hunks[#before.hunks]
      return #hunk.new > 0 or not last_one or last_one.start ~= hunk.start
    end, e.above and {} or index.near(hunks, first, last))
    for _, hunk in ipairs(near) do
      first, last = math.min(first, hunk.start), math.max(last, hunk.start + #hunk.new)
    end
    if before and #near > 0 and #before.hunks > 0 and first < before.last then
      -- the two changes are in the same hunk
      local shared = before.last - e.start
      local now = vim.list_slice(before.now, 1, #before.now - shared)
      vim.list_extend(now, e.lines)
      before.now = vim.list_extend(now, mine, e.start + e.count + 1, math.max(last, before.last))
      before.last = math.max(last, before.last)
      for _, hunk in ipairs(near) do
        if hunk.start ~= before.hunks[#before.hunks].start then
          table.insert(before.hunks, hunk)
        end
      end
    else
      local now = vim.list_extend(vim.list_slice(mine, first + 1, e.start), e.lines)
      vim.list_extend(now, mine, e.start + e.count + 1, last)
      out[#out + 1] = { first = first, last = last, now = now, above = e.above, hunks = near }
    end
  end
  return out
end

--- How many of some rows differ between two texts, and how many rows of the other text replace them.
---@param runs integer[][]
---@param first integer
---@param last integer
---@return integer differ
---@return integer added
local function replaced(runs, first, last)
  local differ, added = 0, 0
  for _, d in ipairs(runs) do
    local common = math.min(last, d[1] + d[2]) - math.max(first, d[1])
    if common > 0 then
      differ, added = differ + common, added + d[4]
    end
  end
  return differ, added
end

--- Which hunks of a place were thrown away: none of their lines is on disk, and all lines that they replaced are. A hunk
--- that replaced none was thrown away if nothing stands in its place; otherwise it was changed there.
---@param place caliban.Place
---@param lines string[] the buffer's lines in the place
---@return caliban.Hunk[] thrown
---@return string[] lines without these hunks
local function parted(place, lines)
  ---@param thrown caliban.Hunk[]
  local function without(thrown)
    return algebra.base(
      lines,
      vim.tbl_map(function(hunk)
        return algebra.moved(hunk, -place.first)
      end, thrown)
    )
  end
  local all = without(place.hunks)
  if vim.deep_equal(all, place.now) then
    return place.hunks, all
  end
  local thrown, left, shift = {}, lines, -place.first
  for _, hunk in ipairs(#lines * #place.hunks <= MOST and place.hunks or {}) do
    local first, more = hunk.start + shift, vim.list_extend(vim.list_slice(thrown), { hunk })
    local rest = without(more)
    local differ, added = replaced(algebra.runs(left, place.now), first, first + #hunk.new)
    local lost = replaced(algebra.runs(rest, place.now), first, first + #hunk.old)
    if differ == #hunk.new and lost == 0 and (#hunk.old > 0 or added == 0) then
      thrown, left, shift = more, rest, shift + #hunk.old - #hunk.new
    end
  end
  return thrown, left
end

--- Splits changes on disk into hunks that they have thrown away and changes of the text without these hunks.
---@param list caliban.Hunk[]
---@param mine string[] the buffer's lines
---@param edits caliban.DiskEdit[] ascending
---@return caliban.Hunk[] thrown ascending
---@return caliban.DiskEdit[] rest ascending
function M.split(list, mine, edits)
  local thrown, rest, shift = {}, {}, 0
  for _, place in ipairs(places(index.of(list), mine, edits)) do
    local lines = vim.list_slice(mine, place.first + 1, place.last)
    local gone, left = {}, lines ---@type caliban.Hunk[], string[]
    if #place.hunks > 0 then
      gone, left = parted(place, lines)
    end
    vim.list_extend(thrown, gone)
    for _, d in ipairs(algebra.runs(left, place.now)) do
      rest[#rest + 1] = {
        start = place.first + shift + d[1],
        count = d[2],
        lines = vim.list_slice(place.now, d[3] + 1, d[3] + d[4]),
        above = place.above,
      }
    end
    shift = shift + #left - #lines
  end
  return thrown, rest
end

--- The edits in groups, to be made one after the other, the last lines first. Where two edits touch, the buffer has
--- removed the lines between them: that removal keeps its place only if the two are not made at once.
---@param edits caliban.DiskEdit[] ascending
---@return caliban.DiskEdit[][]
local function groups(edits)
  local out, stop = {}, nil ---@type caliban.DiskEdit[][], integer?
  for _, e in ipairs(edits) do
    local start, count = e.start, e.count ---@type integer, integer
    if start == stop or #out == 0 then
      table.insert(out, 1, {})
    end
    table.insert(out[1], e)
    stop = start + count
  end
  return out
end

--- The hunks after these edits of the buffer: a removal of lines is below the lines that belong above it.
---@param hunks caliban.Hunk[]
---@param edits caliban.DiskEdit[] ascending
---@return caliban.Hunk[]
local function placed(hunks, edits)
  local below, shift = {}, 0 ---@type table<integer, integer>, integer
  for _, e in ipairs(edits) do
    below[e.start + shift] = e.above and #e.lines or nil
    shift = shift + #e.lines - e.count
  end
  return vim.tbl_map(function(hunk)
    local under = hunk.below or 0 ---@type integer
    local by = #hunk.new == 0 and under > 0 and below[hunk.start]
    if not by then
      return hunk
    end
    local it = algebra.moved(hunk, by)
    it.above, it.below = (hunk.above or 0) + by, under > by and under - by or 0
    return it
  end, hunks)
end

--- Whether a change is in a hunk.
---@param hunks caliban.Hunks
---@param e caliban.DiskEdit
---@return boolean
local function touches(hunks, e)
  for _, hunk in ipairs(index.near(hunks, e.start, e.start + e.count)) do
    local stop = hunk.start + #hunk.new
    local upto = e.start + e.count
    if hunk.start < upto and e.start < stop then
      return true
    end
  end
  return false
end

--- Makes changes on disk in the buffer.
---@param buf integer
---@param hunks caliban.Hunks
---@param edits caliban.DiskEdit[] ascending
---@param formats boolean whether a formatter has made them
---@return caliban.Hunks hunks after the changes
---@return caliban.Gone gone
---@return caliban.Hunk[] thrown the hunks that were thrown away
---@return boolean reworked whether other hunks were changed
function M.made(buf, hunks, edits, formats)
  local gone = { agents = {}, users = {}, of = {} } ---@type caliban.Gone
  local thrown, rest = M.split(index.list(hunks), file.lines(buf), edits)
  local reworked = false
  for i = #thrown, 1, -1 do
    local it = thrown[i]
    file.put(buf, it.start, #it.new, it.old)
    hunks = index.without(hunks, it.start, it.start + #it.new, #it.old - #it.new)
  end
  for _, group in ipairs(groups(rest)) do
    local all = block.new(hunks, lines_of.read(buf), false, gone, formats)
    for i = #group, 1, -1 do
      local e = group[i]
      reworked = reworked or touches(hunks, e)
      file.put(buf, e.start, e.count, e.lines)
      regions.add(all.regions, e.start, e.start + e.count, e.start + #e.lines)
    end
    local after, _, went = block.settled(all, lines_of.read(buf), {})
    hunks, gone = index.of(placed(index.list(after), group)), went
  end
  return hunks, gone, thrown, reworked
end

return M
