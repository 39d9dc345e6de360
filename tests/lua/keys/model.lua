--- What the law of random keys knows of a buffer under review: its text, its base and its hunks, and the keys so far.
local H = require('bench')
local B = require('caliban.review')
local R = require('caliban.review.hunks.algebra')
local api = vim.api
local K = {
  story = {}, ---@type string[] what was done, in order
  recent = {}, ---@type Look[] since the last decision or proposal
}

---@return string[]
function K.lines()
  return require('caliban.editor.file').lines(0)
end

---@class Hunk rows [first, last) are pending instead of the lines `old`
---@field first integer
---@field last integer
---@field old string[]

---@class Look
---@field text string[] the buffer's lines
---@field base string[] the lines that rejecting everything would leave
---@field hunks Hunk[]
---@field seq integer

---@return Look
function K.look()
  H.settle()
  local text, hunks, plain = K.lines(), {}, {}
  local row = -1
  for i, h in ipairs(B.pending(0)) do
    assert(h.start > row, 'hunks are apart: ' .. table.concat(K.story, ' | '))
    row = h.start + h.count
    H.eq(h.added, vim.list_slice(text, h.start + 1, row), table.concat(K.story, ' | '))
    hunks[i] = { first = h.start, last = row, old = h.removed }
    plain[i] = { start = h.start, new = h.added, old = h.removed }
    local parts = R.diff(h.removed, h.added, h.start)
    H.eq(
      1,
      #parts,
      'nothing is pending that is the same in base and buffer: ' .. table.concat(K.story, ' | ')
    )
  end
  return { text = text, base = R.base(text, plain), hunks = hunks, seq = vim.fn.undotree().seq_cur }
end

---@param look Look
---@return string
function K.shown(look)
  local out = {}
  for _, h in ipairs(look.hunks) do
    local new = vim.list_slice(look.text, h.first + 1, h.last)
    out[#out + 1] = ('%d:-%s+%s'):format(h.first, table.concat(h.old, ','), table.concat(new, ','))
  end
  return ('text %s\nbase %s\nhunks %s'):format(
    table.concat(look.text, ','),
    table.concat(look.base, ','),
    table.concat(out, ' ')
  )
end

---@param what string
---@param before Look
---@param after Look
---@return string
function K.context(what, before, after)
  local done = vim.list_slice(K.story, math.max(1, #K.story - 7))
  return ('%s after %s\n%s\nthen\n%s'):format(
    what,
    vim.inspect(done),
    K.shown(before),
    K.shown(after)
  )
end

---@param ok boolean
---@param what string
---@param before Look
---@param after Look
function K.check(ok, what, before, after)
  if not ok then
    error(K.context(what, before, after), 2)
  end
end

---@param keys string
function K.typed(keys)
  K.story[#K.story + 1] = keys
  api.nvim_feedkeys(vim.keycode(keys), 'tx', false)
end

--- Begins an act of a plugin: as between two keys, the undo block before it has ended.
---@param what string
function K.plugin(what)
  K.story[#K.story + 1] = what
  vim.bo.undolevels = vim.bo.undolevels
end

K.serial = 0

--- A new word of the user (`u`) or of the agent (`x`).
---@param whose 'u'|'x'|'b'
---@return string
function K.word(whose)
  K.serial = K.serial + 1
  return whose .. K.serial
end

---@param list string[]
---@return table<string, integer>
function K.count(list)
  local out = {}
  for _, line in ipairs(list) do
    for it in line:gmatch('%w+') do
      out[it] = (out[it] or 0) + 1
    end
  end
  return out
end

--- The lines outside of all hunks.
---@param it Look
---@return string[]
function K.outside(it)
  local out, row = {}, 0
  for _, h in ipairs(it.hunks) do
    vim.list_extend(out, it.text, row + 1, h.first)
    row = h.last
  end
  return vim.list_extend(out, it.text, row + 1, #it.text)
end

---@param it Look
---@param row integer
---@return Hunk?
function K.hunk_at(it, row)
  for _, h in ipairs(it.hunks) do
    if h.first <= row and row < h.last then
      return h
    end
  end
end

---@param it Look
---@param row integer a row outside of hunks
---@return integer the line's row in the base
function K.base_row(it, row)
  local shift = 0
  for _, h in ipairs(it.hunks) do
    if h.first <= row then
      shift = shift + #h.old - (h.last - h.first)
    end
  end
  return row + shift
end

---@param list string[]
---@param line string
---@return string[]
function K.without(list, line)
  local out, dropped = {}, false
  for _, it in ipairs(list) do
    if it == line and not dropped then
      dropped = true
    else
      out[#out + 1] = it
    end
  end
  return out
end

---@param list string[]
---@param words table<string, integer>
---@return string[] the words of the list that are in `words`
function K.among(list, words)
  local out = {}
  for _, line in ipairs(list) do
    for it in line:gmatch('%w+') do
      if words[it] then
        out[#out + 1] = it
      end
    end
  end
  return out
end

return K
