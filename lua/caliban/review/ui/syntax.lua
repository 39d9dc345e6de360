--- Marks the pending hunk with the first syntax error that the changes add to a file under review.
local M = {}

local api = vim.api
local algebra = require('caliban.review.hunks.algebra')
local listeners = require('caliban.review.listeners')
local syntax = require('caliban.review.hunks.syntax')
local tracking = require('caliban.review.hunks.tracking')

local space = api.nvim_create_namespace('caliban.review.syntax')

--- A file is parsed once it has not changed for this time, in milliseconds.
local CALM = 100

---@class caliban.Unparseable
---@field new string[] the hunk's `new`, by which the hunk is known
---@field words string

---@class caliban.SyntaxWatch
---@field turn integer the number of the last change: the result of a parse before that change is ignored
---@field waits? boolean whether the file will be parsed once changes pause
---@field cleared? boolean whether the buffer shows nothing of the review
---@field found? caliban.Unparseable

local watches = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, caliban.SyntaxWatch>

---@param r caliban.Review
---@return caliban.SyntaxWatch
local function of(r)
  watches[r] = watches[r] or { turn = 0 }
  return watches[r]
end

--- The words about a hunk's syntax error; nil if the hunk has no mark.
---@param r caliban.Review
---@param hunk caliban.Hunk
---@return string?
function M.words(r, hunk)
  local found = of(r).found
  return found and found.new == hunk.new and found.words or nil
end

--- The width of the mark after the text of a row, in cells.
---@param buf integer
---@param row integer
---@return integer
function M.width(buf, row)
  local mark = api.nvim_buf_get_extmarks(buf, space, { row, 0 }, { row, -1 }, { details = true })[1]
  local text = vim.tbl_get(mark or {}, 4, 'virt_text', 1, 1) --[[@as string?]]
  return text and api.nvim_strwidth(text) + 1 or 0
end

--- The hunk of an error: the hunk on its row, else the last hunk in the construct that has the error, else the nearest
--- hunk above.
---@param list caliban.Hunk[] at least one
---@param it caliban.SyntaxError
---@return caliban.Hunk
local function hunk_of(list, it)
  local inner, above ---@type caliban.Hunk?, caliban.Hunk?
  for _, hunk in ipairs(list) do
    local last = hunk.start + math.max(#hunk.new, 1) - 1
    if hunk.start <= it.row and it.row <= last then
      return hunk
    elseif hunk.start <= it.last and last >= it.first then
      inner = hunk
    elseif hunk.start <= it.row then
      above = hunk
    end
  end
  return inner or above or list[1]
end

--- Sets the mark, or removes it.
---@param r caliban.Review
---@param found? caliban.Unparseable
---@param row? integer
local function mark(r, found, row)
  local it = of(r)
  local changed = not vim.deep_equal(it.found, found)
  it.found = found
  if api.nvim_buf_is_valid(r.buf) then
    api.nvim_buf_clear_namespace(r.buf, space, 0, -1)
    if found and row then
      local opts = { virt_text = { { ' ' .. found.words, 'CalibanSyntax' } }, strict = false }
      api.nvim_buf_set_extmark(r.buf, space, row, 0, opts)
    end
  end
  if changed then
    listeners.tell('parsed', r)
  end
end

---@param r caliban.Review
---@param list caliban.Hunk[]
---@param errors? caliban.SyntaxError[]
local function show(r, list, errors)
  local first = errors and errors[1]
  if not first or #list == 0 then
    return mark(r)
  end
  local hunk = hunk_of(list, first)
  local last = math.min(hunk.start + math.max(#hunk.new, 1), api.nvim_buf_line_count(r.buf)) - 1
  local inside = hunk.start <= first.row and first.row <= last
  local words = inside and 'syntax error: ' .. first.what
    or ('syntax error on line %d: %s'):format(first.row + 1, first.what)
  mark(r, { new = hunk.new, words = words }, inside and first.row or math.min(hunk.start, last))
end

--- Parses the file.
---@param r caliban.Review
---@param turn integer
local function look(r, turn)
  local lang = api.nvim_buf_is_loaded(r.buf) and syntax.language(r.buf)
  if not lang or syntax.too_long(r.buf) then
    return mark(r)
  end
  local list, lines = tracking.list(r), require('caliban.editor.file').lines(r.buf)
  local function before()
    return algebra.base(lines, list)
  end
  syntax.added(lang, before, lines, function(errors)
    if of(r).turn == turn and api.nvim_buf_is_loaded(r.buf) then
      show(r, list, errors)
    end
  end)
end

---@param r caliban.Review
local function wait(r)
  local it = of(r)
  local turn = it.turn
  vim.defer_fn(function()
    if it.turn ~= turn then
      return wait(r)
    end
    it.waits = false
    if not it.cleared and not tracking.is_undoing(r) then
      look(r, turn)
    end
  end, CALM)
end

--- Parses the file once changes pause.
---@param r caliban.Review
local function soon(r)
  local it = of(r)
  it.turn, it.cleared = it.turn + 1, false
  if not it.waits then
    it.waits = true
    wait(r)
  end
end

---@param r caliban.Review
local function clear(r)
  local it = of(r)
  it.turn, it.cleared = it.turn + 1, true
  mark(r)
end

listeners.add({ pending = soon, cleared = clear, closed = clear })

return M
