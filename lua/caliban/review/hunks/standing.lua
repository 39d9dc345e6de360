--- Which hunks that are on disk still stand there after another program has changed the file. A hunk stands if all of its
--- new lines do, and a line beside it. A text that somebody else has written is never part of a hunk. Pure functions.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local outside = require('caliban.review.hunks.outside')
local returned = require('caliban.review.hunks.returned')

---@class caliban.Standing a text with hunks after changes on disk
---@field lines string[]
---@field hunks table<integer, caliban.Hunk> those that stand, by their numbers in the list before
---@field thrown table<integer, true> those that were thrown away: the lines that they replaced are there again

---@param lines string[]
---@return string
local function bare(lines)
  return (table.concat(lines):gsub('%s', ''))
end

--- Divides edits that change nothing but blanks within lines: each line is an edit.
---@param edits caliban.DiskEdit[]
---@param lines string[]
---@return caliban.DiskEdit[]
local function divided(edits, lines)
  local out = {} ---@type caliban.DiskEdit[]
  for _, e in ipairs(edits) do
    local is_alike = e.count == #e.lines and e.count > 1
    for n = 1, is_alike and e.count or 0 do
      is_alike = is_alike and bare({ lines[e.start + n] }) == bare({ e.lines[n] })
    end
    for n = 1, is_alike and e.count or 0 do
      out[#out + 1] = { start = e.start + n - 1, count = 1, lines = { e.lines[n] } }
    end
    out[#out + 1] = not is_alike and e or nil
  end
  return out
end

--- The hunk's new lines after edits within them that change nothing but blanks and line breaks.
---@param hunk caliban.Hunk
---@param edits caliban.DiskEdit[] those that touch the hunk
---@return string[]? # nil if the edits change more
local function reformatted(hunk, edits)
  local new, shift = vim.list_slice(hunk.new), hunk.start
  for _, e in ipairs(edits) do
    local from = e.start - shift
    if from < 0 or from + e.count > #new then
      return nil
    end
    local out = vim.list_extend(vim.list_slice(new, 1, from), e.lines)
    new = vim.list_extend(out, new, from + e.count + 1)
    shift = shift + e.count - #e.lines
  end
  return bare(hunk.new) ~= '' and bare(new) == bare(hunk.new) and new or nil
end

--- Whether a hunk has no line by which it can be recognized.
---@param hunk caliban.Hunk
---@return boolean
local function is_weak(hunk)
  return not table.concat(hunk.new):find('[%w\128-\255]')
end

--- The hunk after edits of the text on disk; nil if it does not stand any more.
---@param hunk caliban.Hunk
---@param edits caliban.DiskEdit[] ascending
---@param is_unsaved boolean whether the hunk is only in the buffer
---@return caliban.Hunk?
local function after(hunk, edits, is_unsaved)
  local start, stop, shift = hunk.start, hunk.start + #hunk.new, 0
  local within, is_above, is_below = {}, false, false ---@type caliban.DiskEdit[], boolean, boolean
  for _, e in ipairs(edits) do
    local upto = e.start + e.count
    if e.start < stop and start < upto then
      within[#within + 1] = e
    elseif upto <= start and not (upto == start and #hunk.new == 0 and e.start == start) then
      is_above = is_above or upto == start
      shift = shift + #e.lines - e.count
    elseif e.start == stop then
      is_below = true
      -- lines at the place of a removal
      is_above = is_above or #hunk.new == 0 and e.count == 0
    end
  end
  local is_bare = is_above and is_below or is_weak(hunk) and (is_above or is_below)
  if is_bare and not is_unsaved then
    return nil
  end
  local new = #within == 0 and hunk.new or reformatted(hunk, within)
  local it = new and algebra.moved(hunk, shift)
  return it and vim.tbl_extend('force', {}, it, { new = new }) --[[@as caliban.Hunk?]]
end

--- A removal of lines can have more than one place, and so can the lines that another program has put back. Gives each
--- removal the place of a change that may have put its lines back.
---@param list caliban.Hunk[]
---@param mine string[] the text
---@param edits caliban.DiskEdit[] ascending
---@return caliban.Hunk[]
local function placed(list, mine, edits)
  local out, k = vim.list_slice(list), 1
  ---@param first integer
  ---@param last integer
  local function get(first, last)
    return vim.list_slice(mine, first + 1, last)
  end
  ---@param n integer
  ---@param row integer
  ---@param e caliban.DiskEdit
  local function place(n, row, e)
    local hunk, before, after = out[n], out[n - 1], out[n + 1]
    local is_free = (not before or before.start + #before.new < row)
      and (not after or row < after.start)
    local may = hunk and is_free and #hunk.new == 0 and #e.lines >= #hunk.old
    out[n] = may and returned.placed(hunk, row, get) or hunk
  end
  for _, e in ipairs(edits) do
    while out[k] and out[k].start < e.start do
      k = k + 1
    end
    place(k - 1, e.start, e)
    place(k, e.start + e.count, e)
  end
  return out
end

---@param lines string[]
---@param edits caliban.DiskEdit[] ascending
---@return string[]
local function made(lines, edits)
  local out, row = {}, 0
  for _, e in ipairs(edits) do
    vim.list_extend(vim.list_extend(out, lines, row + 1, e.start), e.lines)
    row = e.start + e.count
  end
  return vim.list_extend(out, lines, row + 1)
end

---@param edits caliban.DiskEdit[]
---@return integer # how many lines they remove and add
local function size(edits)
  local n = 0
  for _, e in ipairs(edits) do
    n = n + e.count + #e.lines
  end
  return n
end

--- The changes on disk as changes of the base, if they are fewer than those of the text with the hunks and none is where a
--- hunk was: the text on disk is another version of the base, and has none of the hunks.
---@param list caliban.Hunk[]
---@param mine string[] the text
---@param edits caliban.DiskEdit[] ascending
---@return caliban.DiskEdit[]?
local function of_base(list, mine, edits)
  if #list == 0 or #edits == 0 then
    return nil
  end
  local base, now, delta, k = algebra.base(mine, list), made(mine, edits), 0, 1
  local out = vim.tbl_map(function(d)
    local lines = vim.list_slice(now, d[3] + 1, d[3] + d[4])
    return { start = d[1], count = d[2], lines = lines }
  end, algebra.runs(base, now))
  if size(out) >= size(edits) then
    return nil
  end
  for _, hunk in ipairs(list) do
    local start = hunk.start - delta
    while out[k] and out[k].start + out[k].count < start do
      k = k + 1
    end
    if out[k] and out[k].start <= start + #hunk.old then
      return nil
    end
    delta = delta + #hunk.new - #hunk.old
  end
  return out
end

--- Which hunks were thrown away on disk, and the other changes there.
---@param list caliban.Hunk[]
---@param mine string[] the text
---@param edits caliban.DiskEdit[] ascending
---@return table<integer, true> thrown their numbers
---@return caliban.DiskEdit[] rest changes of the text without these hunks
local function parted(list, mine, edits)
  local others, out = of_base(list, mine, edits), {} ---@type caliban.DiskEdit[]?, table<integer, true>
  for n = 1, others and #list or 0 do
    out[n] = true
  end
  if others then
    return out, others
  end
  local at = placed(list, mine, edits)
  local thrown, rest = outside.split(at, mine, edits)
  local gone = {} ---@type table<integer, true>
  for _, hunk in ipairs(thrown) do
    gone[hunk.start] = true
  end
  for n, hunk in ipairs(at) do
    out[n] = gone[hunk.start]
  end
  return out, rest
end

--- Makes changes on disk in a text with hunks.
---@param list caliban.Hunk[]
---@param mine string[] the text
---@param edits caliban.DiskEdit[] ascending
---@param unsaved? table<integer, true> the numbers of hunks that are only in the buffer
---@return caliban.Standing
function M.stood(list, mine, edits, unsaved)
  local thrown, rest = parted(list, mine, edits)
  local gone = {} ---@type caliban.Hunk[]
  for n, hunk in ipairs(list) do
    gone[#gone + 1] = thrown[n] and hunk or nil
  end
  local text = algebra.base(mine, gone)
  rest = divided(rest, text)
  local hunks, delta = {}, 0 ---@type table<integer, caliban.Hunk>, integer
  for n, hunk in ipairs(list) do
    if thrown[n] == true then
      delta = delta + #hunk.old - #hunk.new
    else
      hunks[n] = after(algebra.moved(hunk, delta), rest, unsaved ~= nil and unsaved[n] == true)
    end
  end
  return { lines = made(text, rest), hunks = hunks, thrown = thrown }
end

return M
