--- Works on long texts and many hunks in slices. Neovim handles keys between two slices (at a
--- "rest"). So when one of these functions returns within `run` or `each`, anything in the editor
--- may have changed.
local M = {}

local api = vim.api
local algebra = require('caliban.review.hunks.algebra')
local file = require('caliban.editor.file')
local index = require('caliban.review.hunks.index')
local rope = require('caliban.review.hunks.rope')
local slices = require('caliban.editor.slices')
local stack = require('caliban.review.hunks.stack')

--- The number of lines to read, of lines to join, and of hunks to handle between two rests.
local PART, MANY, SOME = 1000, 4000, 64
--- The number of bytes in a part of a text for `hash`, the same as in the program
--- (`Text::hash_of_parts`).
local CHUNK = 65536

--- Runs `work` in slices, the first one at once. Then calls `over` with the results of `pcall(work)`.
---@param work fun(): any
---@param over fun(ok: boolean, result: any)
function M.run(work, over)
  slices.run(function()
    over(pcall(work))
  end)
end

--- Calls `fn` with each item, in slices. Then calls `over`, as `run` does.
---@generic T
---@param items T[]
---@param fn fun(item: T)
---@param over fun(ok: boolean, err: any)
function M.each(items, fn, over)
  M.run(function()
    for _, item in ipairs(items) do
      fn(item)
      slices.rest()
    end
  end, over)
end

--- Calls `fn` with these arguments, without splitting its work on many hunks into slices. The
--- garbage collector is stopped meanwhile.
---@param fn fun(...)
---@param ... any
function M.step(fn, ...)
  slices.whole(fn, ...)
end

--- The lines of a buffer, and its text.
---@param buf integer
---@return string[] lines
---@return string text
function M.read(buf)
  local lines, parts = {}, {}
  for row = 0, file.empty(buf) and -1 or api.nvim_buf_line_count(buf) - 1, PART do
    local part = api.nvim_buf_get_lines(buf, row, row + PART, false)
    parts[#parts + 1] = table.concat(part, '\n')
    vim.list_extend(lines, part)
    if row > 0 then
      slices.rest()
    end
    if not api.nvim_buf_is_loaded(buf) then
      break
    end
  end
  slices.rest(true)
  local text = table.concat(parts, '\n')
  slices.rest(true)
  return lines, text
end

--- The hash of a text, as the program computes it. For a long text it is the hash of the hashes of its parts.
---@param text string
---@return string
function M.hash(text)
  if #text <= CHUNK then
    return vim.fn.sha256(text)
  end
  local parts = {} ---@type string[]
  for at = 1, #text, CHUNK do
    parts[#parts + 1] = vim.fn.sha256(text:sub(at, at + CHUNK - 1))
    slices.rest()
  end
  return vim.fn.sha256(table.concat(parts))
end

--- Joins lines to the text of a file. Neovim represents a NUL byte in a line as '\n'.
---@param lines string[]
---@return string
function M.joined(lines)
  local parts = {} ---@type string[]
  for first = 1, #lines, MANY do
    local text = {} ---@type string[]
    for i = first, math.min(first + MANY - 1, #lines) do
      local line = lines[i]
      text[#text + 1] = line:find('\n', 1, true) and line:gsub('\n', '\0') or line
    end
    parts[#parts + 1] = table.concat(text, '\n')
    slices.rest()
  end
  return table.concat(parts, '\n')
end

--- The text of the base: the buffer's lines, in which the new lines of the hunks are replaced by
--- the old ones.
---@param lines string[]
---@param hunks caliban.Hunk[] the hunks in these lines
---@return string text
---@return integer how many lines the base has
function M.base(lines, hunks)
  slices.rest(true)
  local base = algebra.base(lines, hunks)
  slices.rest(true)
  return M.joined(base), #base
end

--- A table as JSON. The items of `lists` are encoded one after the other.
---@param fields table<string, any>
---@param lists table<string, (table|string)[]> an item that is a string is JSON already
---@return string
function M.json(fields, lists)
  local json = vim.json.encode(fields):sub(1, -2)
  for name, list in pairs(lists) do
    local items = {} ---@type string[]
    for i, item in ipairs(list) do
      items[i] = type(item) == 'string' and item or vim.json.encode(item)
      slices.rest()
    end
    json = ('%s,"%s":[%s]'):format(json, name, table.concat(items, ','))
  end
  slices.rest(true)
  return json .. '}'
end

--- How many lines a joined text has.
---@param text string
---@return integer
function M.count(text)
  slices.rest(true)
  local lines, at = 1, text:find('\n', 1, true)
  while at do
    lines, at = lines + 1, text:find('\n', at + 1, true)
    if lines % MANY == 0 then
      slices.rest()
    end
  end
  return lines
end

--- The edits of a proposal. The program's hunks may contain lines that are equal in both texts,
--- which makes them easier to read. The edits leave these lines out.
---@param hunks caliban.WireHunk[]
---@param lines string[] the lines of the text that the proposal was made from
---@param key integer the key of the first change minus 1
---@return caliban.Edit[]? edits in rows of this text; nil if the hunks do not fit this text
function M.edits(hunks, lines, key)
  local edits, row = {}, 0
  for i, h in ipairs(hunks) do
    local new = h.n == 0 and {} or vim.split(h.text, '\n', { plain = true })
    if h.start < row or h.start + h.count > #lines or #new ~= h.n then
      return nil
    end
    row = h.start + h.count
    local old = vim.list_slice(lines, h.start + 1, row)
    for _, d in ipairs(algebra.runs(old, new)) do
      edits[#edits + 1] = {
        start = h.start + d[1],
        old = vim.list_slice(old, d[1] + 1, d[1] + d[2]),
        new = vim.list_slice(new, d[3] + 1, d[3] + d[4]),
        of = { key + i },
      }
    end
    if i % SOME == 0 then
      slices.rest()
    end
  end
  return edits
end

---@param lines string[]
---@param edits caliban.Edit[]
---@return string[] lines after the edits
local function lines_after(lines, edits)
  local out, row = {}, 0
  for i, e in ipairs(edits) do
    vim.list_extend(out, lines, row + 1, e.start)
    vim.list_extend(out, e.new)
    row = e.start + #e.old
    if i % SOME == 0 then
      slices.rest()
    end
  end
  return vim.list_extend(out, lines, row + 1)
end

--- The lines after edits.
---@param lines string[]
---@param edits caliban.Edit[]
---@return caliban.Rope
function M.after(lines, edits)
  local after = rope.of(lines_after(lines, edits))
  -- a rest now, because afterwards the edits are applied without a rest
  slices.rest(true)
  return after
end

--- The text after edits.
---@param lines string[]
---@param edits caliban.Edit[]
---@return string
function M.text_after(lines, edits)
  return table.concat(lines_after(lines, edits), '\n')
end

--- The pending hunks after edits were applied to a buffer with these lines.
---@param lines string[]
---@param edits caliban.Edit[]
---@param was? caliban.Hunks the pending hunks before the edits
---@return caliban.Hunks
function M.stacked(lines, edits, was)
  if not was or was.count == 0 then
    return index.of(algebra.proposed(edits))
  end
  local asked = 0
  local function get(first, last)
    asked = asked + 1
    if asked % SOME == 0 then
      slices.rest()
    end
    return vim.list_slice(lines, first + 1, last)
  end
  local list, last = stack.stacked(index.list(was), edits, get), edits[#edits]
  if last and algebra.ends(last) and not algebra.at(list, last.start) then
    list[#list + 1] = { start = last.start, new = last.new, old = last.old, of = last.of }
  end
  return index.of(list)
end

return M
