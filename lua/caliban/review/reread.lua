--- What is left of a review's hunks after Neovim has read the file's text from disk again, and after a write.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local file = require('caliban.editor.file')
local state = require('caliban.review.state')

---@param hunk { old: string[], new: string[] }
---@return string
local function key(hunk)
  return table.concat(hunk.new, '\n') .. '\0' .. table.concat(hunk.old, '\n')
end

---@param lines string[]
---@param all string[]
---@return boolean
local function contains(lines, all)
  local found = ('\n%s\n'):format(table.concat(all, '\n'))
  return found:find(('\n%s\n'):format(table.concat(lines, '\n')), 1, true) ~= nil
end

--- Whether a text has a hunk.
---@param hunk caliban.Hunk
---@param lines string[] the text
---@return boolean
local function has(hunk, lines)
  if #hunk.new == 0 then
    return not contains(hunk.old, lines)
  end
  return contains(hunk.new, lines)
end

--- How many accepted and pending hunks are not in the buffer any more.
---@param r caliban.Review
---@param pending caliban.Hunk[] the hunks that were pending before
---@param before? string[] the lines before, if they are known
---@return integer
function M.lost(r, pending, before)
  local now = file.lines(r.buf)
  local base = before and algebra.base(before, pending)
  -- the hunks by which the agreed text differs from the text now
  local undone, made = {}, {} ---@type table<string, integer>, table<string, integer>
  for _, d in ipairs(base and algebra.runs(base, now) or {}) do
    local old =
      vim.list_slice(base or {}, d[1] + 1 --[[@as integer]], d[1] + d[2] --[[@as integer]])
    local new = vim.list_slice(now, d[3] + 1 --[[@as integer]], d[3] + d[4] --[[@as integer]])
    local back, on = key({ old = new, new = old }), key({ old = old, new = new })
    undone[back], made[on] = (undone[back] or 0) + 1, (made[on] or 0) + 1
  end
  ---@param counts table<string, integer>
  ---@param hunk caliban.Hunk
  ---@return boolean
  local function take(counts, hunk)
    local left = counts[key(hunk)] or 0
    counts[key(hunk)] = left - 1
    return left > 0
  end
  local lost, again = 0, {} ---@type integer, table<string, true>
  for _, hunk in ipairs(pending) do
    again[key(hunk)] = true
  end
  for _, hunk in ipairs(state.agreed(r)) do
    -- a hunk whose decision the user has undone is pending
    local is_lost = not again[key(hunk)] and (take(undone, hunk) or not has(hunk, now))
    lost = lost + (is_lost and 1 or 0)
  end
  for _, hunk in ipairs(pending) do
    lost = lost + ((not take(made, hunk) and not has(hunk, now)) and 1 or 0)
  end
  return lost
end

--- How many hunks that the user has rejected are in the file again, because another program has changed the file as it
--- was written.
---@param r caliban.Review
---@param written? string the text that was written; nil if none was
---@return integer
function M.again(r, written)
  if not written or not vim.api.nvim_buf_is_loaded(r.buf) then
    return 0
  end
  local was, now = vim.split(written, '\n', { plain = true }), file.lines(r.buf)
  local n = 0
  for _, d in ipairs(algebra.runs(written == '' and {} or was, now)) do
    local old = vim.list_slice(was, d[1] + 1 --[[@as integer]], d[1] + d[2] --[[@as integer]])
    local new = vim.list_slice(now, d[3] + 1 --[[@as integer]], d[3] + d[4] --[[@as integer]])
    n = n + (state.has_rejected(r, old, new) and 1 or 0)
  end
  return n
end

return M
