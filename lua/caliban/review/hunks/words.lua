--- Finds the words that differ between the removed and the added lines of a hunk. Compares each
--- line with the line on the other side that is most like it, or with several lines if the line was
--- broken up or joined. A hunk that is too large has no changed words.
local M = {}

local algebra = require('caliban.review.hunks.algebra')

--- The most pairs of lines to compare, the most bytes of a line that is split into words, and the
--- most bytes of all removed or all added lines.
local MOST_PAIRS, MOST_BYTES, MOST_TEXT = 900, 800, 16000
--- The most lines into which one line may have been broken.
local MOST_PARTS = 6
--- The lines in `kept` are dropped once they have more bytes than this.
local MOST_KEPT = 64000

---@class caliban.Words
---@field old table<integer, integer[]> by the line's index, from 1: for each range,
---its first byte, from 0, and the byte after its last one
---@field new table<integer, integer[]>

---@class caliban.WordLine
---@field parts string[] words, blanks and other characters
---@field ids integer[] the numbers of the different parts that are not blank (see `WordIds`)
---@field counts integer[] how often the line has the part with the same index in `ids`
---@field places table<integer, integer?> by the part's number: its index in `ids`
---@field size integer the bytes of all parts that are not blank

---@class caliban.Match removed lines that match added lines; at least one side is a single line
---@field old integer the first removed line, from 1
---@field olds integer the number of removed lines
---@field new integer the first added line, from 1
---@field news integer the number of added lines

---@class caliban.WordIds numbers for the parts of lines
---@field of table<string, integer> by the part: its number
---@field sizes integer[] by the part's number: its bytes

--- The lines that were split last. They are kept because most lines of a hunk stay the same while
--- the user types in it.
---@class caliban.WordLines
---@field of table<string, caliban.WordLine>
---@field ids caliban.WordIds
---@field bytes integer
local kept = { of = {}, ids = { of = {}, sizes = {} }, bytes = 0 }

---@param line string
---@param known caliban.WordIds
---@return caliban.WordLine
local function take_apart(line, known)
  local parts, ids, counts, places = {}, {}, {}, {}
  local out = { parts = parts, ids = ids, counts = counts, places = places, size = 0 }
  if #line > MOST_BYTES then
    return out
  end
  local function note(part)
    if part == '' then
      return
    end
    local id = known.of[part] or #known.sizes + 1
    known.of[part], known.sizes[id] = id, #part
    local at = places[id] or #ids + 1
    places[id], ids[at], counts[at] = at, id, (counts[at] or 0) + 1
    parts[#parts + 1], out.size = part, out.size + #part
  end
  for space, word, other in line:gmatch('(%s*)([%w_\128-\255]*)([^%w%s_\128-\255]?)') do
    if space ~= '' then
      parts[#parts + 1] = space
    end
    note(word)
    note(other)
  end
  return out
end

---@param lines string[]
---@return caliban.WordLine[]
local function word_lines(lines)
  local out = {} ---@type caliban.WordLine[]
  for i, line in ipairs(lines) do
    local it = kept.of[line]
    if not it then
      it = take_apart(line, kept.ids)
      if #line <= MOST_BYTES then
        kept.of[line], kept.bytes = it, kept.bytes + #line
      end
    end
    out[i] = it
  end
  return out
end

---@param one caliban.WordLine
---@param other caliban.WordLine
---@return boolean whether the lines have a part in common
local function share(one, other)
  for i = 1, #other.ids do
    if one.places[other.ids[i]] then
      return true
    end
  end
  return false
end

local NO_SCORES = {} ---@type number[]

--- How well a line matches the lines from `from` on in `others`: the n-th score is for the first n
--- of these lines, and positive if they are alike. There are no scores if the line and the first of
--- these lines have no part in common.
---@param one caliban.WordLine
---@param others caliban.WordLine[]
---@param from integer
---@param sizes integer[] by the part's number: its bytes
---@return number[]
local function scores(one, others, from, sizes)
  if not share(one, others[from]) then
    return NO_SCORES
  end
  local left = {} ---@type table<integer, integer>
  local out, sum, rest = {}, -one.size / 4, one.size
  for i = 1, #one.ids do
    left[one.ids[i]] = one.counts[i]
  end
  for n = 1, math.min(MOST_PARTS, #others - from + 1) do
    local other, common = others[from + n - 1], 0 ---@type caliban.WordLine, integer
    local ids, counts = other.ids, other.counts
    for i = 1, #ids do
      local has = left[ids[i]]
      if has and has > 0 then
        local both = math.min(has, counts[i])
        common, left[ids[i]] = common + both * sizes[ids[i]], has - both
      end
    end
    -- where a line was broken up, new text may have been added, so less has to match
    local needs = other.size / (n == 1 and 4 or 8)
    sum, rest = sum + common - needs, rest - common
    out[n] = common > needs and sum or 0
    if rest < 3 then
      break
    end
  end
  return out
end

--- The best matches of two lists of lines, in the order of both.
---@param old caliban.WordLine[]
---@param new caliban.WordLine[]
---@param sizes integer[] by the part's number: its bytes
---@return caliban.Match[]
local function align(old, new, sizes)
  -- the best next step at old line `i` and new line `j`, at index `(i - 1) * wide + j`: match
  -- `olds` old lines with `news` new lines, or skip a line; `totals` has the score of this step and
  -- all steps after it
  local wide = #new + 1
  local totals, olds, news, matches = {}, {}, {}, {}
  for k = 1, (#old + 1) * wide do
    totals[k], olds[k], news[k], matches[k] = 0, 1, 1, false
  end
  ---@param k integer
  ---@param i integer how many of the old lines
  ---@param j integer how many of the new lines
  ---@param score number
  ---@param match boolean
  local function consider(k, i, j, score, match)
    local total = score + totals[k + i * wide + j]
    if total > totals[k] then
      totals[k], olds[k], news[k], matches[k] = total, i, j, match
    end
  end
  for i = #old, 1, -1 do
    for j = #new, 1, -1 do
      local k = (i - 1) * wide + j
      consider(k, 1, 0, 0, false)
      consider(k, 0, 1, 0, false)
      for n, score in ipairs(scores(old[i], new, j, sizes)) do
        consider(k, 1, n, score, true)
      end
      for n, score in ipairs(scores(new[j], old, i, sizes)) do
        consider(k, n, 1, score, true)
      end
    end
  end
  local out, i, j = {}, 1, 1
  while i <= #old and j <= #new do
    local k = (i - 1) * wide + j
    if matches[k] then
      out[#out + 1] = { old = i, olds = olds[k], new = j, news = news[k] }
    end
    i, j = i + olds[k], j + news[k]
  end
  return out
end

--- The parts of some lines as one list.
---@param lines caliban.WordLine[]
---@param first integer
---@param count integer
---@param blanks boolean whether blanks count
---@return string[] parts
---@return integer[] for each part: the index of its line
---@return integer[] for each part: its first byte in the line, from 0
local function joined(lines, first, count, blanks)
  local parts, rows, bytes = {}, {}, {}
  for i = first, first + count - 1 do
    local at = 0
    for _, part in ipairs(lines[i].parts) do
      if blanks or not part:find('^%s') then
        local k = #parts + 1
        parts[k], rows[k], bytes[k] = part, i, at
      end
      at = at + #part
    end
  end
  return parts, rows, bytes
end

--- Adds a range to the ranges of a line. Joins it with the range before if at most one blank is
--- between them.
---@param out table<integer, integer[]>
---@param lines string[]
---@param row integer
---@param from integer
---@param to integer
local function add(out, lines, row, from, to)
  local list = out[row] or {}
  out[row] = list
  local last = list[#list]
  if last and lines[row]:sub(last + 1, from):find('^%s?$') then
    list[#list] = to
  else
    list[#list + 1], list[#list + 2] = from, to
  end
end

--- Adds the words that differ between matched lines to `out`. Adds nothing if the lines have little
--- in common.
---@param out caliban.Words
---@param old string[]
---@param new string[]
---@param it caliban.Match
---@param sides { old: caliban.WordLine[], new: caliban.WordLine[] }
local function compare(out, old, new, it, sides)
  local blanks = it.olds == it.news
  local a, rows_a, bytes_a = joined(sides.old, it.old, it.olds, blanks)
  local b, rows_b, bytes_b = joined(sides.new, it.new, it.news, blanks)
  local runs, changed = algebra.runs(a, b), 0
  for _, d in ipairs(runs) do
    changed = changed + math.max(d[2], d[4])
  end
  if changed * 2 > math.max(#a, #b) + 2 then
    return
  end
  for _, d in ipairs(runs) do
    for k = d[1] + 1, d[1] + d[2] do
      add(out.old, old, rows_a[k], bytes_a[k], bytes_a[k] + #a[k])
    end
    for k = d[3] + 1, d[3] + d[4] do
      add(out.new, new, rows_b[k], bytes_b[k], bytes_b[k] + #b[k])
    end
  end
end

---@param lines string[]
---@return integer
local function bytes(lines)
  local sum = 0
  for _, line in ipairs(lines) do
    sum = sum + #line
  end
  return sum
end

--- The words that differ between removed and added lines.
---@param old string[]
---@param new string[]
---@return caliban.Words
function M.changed(old, new)
  local out = { old = {}, new = {} }
  if #old == 0 or #new == 0 or #old * #new > MOST_PAIRS then
    return out
  end
  local one = #old == 1 and #new == 1
  if not one and math.max(bytes(old), bytes(new)) > MOST_TEXT then
    return out
  end
  if kept.bytes > MOST_KEPT then
    kept = { of = {}, ids = { of = {}, sizes = {} }, bytes = 0 }
  end
  local sides = { old = word_lines(old), new = word_lines(new) }
  local matches = one and { { old = 1, olds = 1, new = 1, news = 1 } }
    or align(sides.old, sides.new, kept.ids.sizes)
  for _, it in ipairs(matches) do
    compare(out, old, new, it, sides)
  end
  return out
end

return M
