--- Measures the columns for signs and numbers in the windows of a file under review. There, removed
--- lines, which are virtual lines, have signs of their own.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban.review.gutter')

---@class caliban.Gutter the columns of a buffer as they were when its review was drawn
---@field cells? integer their width, if a sign has room there
---@field windows integer the number of windows
---@field changed fun() called when their width has changed
---@field is_due? boolean whether `changed` is about to be called

---@type table<integer, caliban.Gutter?>
local known = {}
--- The buffers whose windows are being drawn.
---@type table<integer, caliban.Gutter?>
local drawn = {}

--- The width of these columns; nil if they have no room for a sign, or if they differ between
--- windows, because virtual lines are the same in all windows of a buffer.
---@param buf integer
---@return integer?
local function measured(buf)
  local cells ---@type integer?
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local off = vim.fn.getwininfo(win)[1].textoff
    if off < 2 or off ~= (cells or off) then
      return nil
    end
    cells = off
  end
  return cells
end

--- Measures the columns of a buffer before its review is drawn, and begins to watch them. Does nothing while they are
--- watched and have not changed.
---@param buf integer
---@param changed fun() called when their width has changed
---@return integer? cells
function M.measure(buf, changed)
  local it, windows = known[buf], #vim.fn.win_findbuf(buf)
  if not it or it.is_due or it.windows ~= windows then
    it = { cells = measured(buf), windows = windows, changed = changed }
    known[buf] = it
  end
  return it.cells
end

--- The width of the columns for which a review is drawn.
---@param buf integer
---@return integer? # nil if a sign has no room
function M.cells(buf)
  local it = known[buf]
  return it and it.cells
end

--- The sign that stands in the text of a changed line where only it tells added and removed lines apart: without colours,
--- and without columns for signs and numbers.
---@param buf integer
---@param sign '+'|'-'
---@return [string, string]?
function M.in_text(buf, sign)
  return not M.cells(buf) and require('caliban.editor.tint').is_plain() and { sign, 'CalibanSign' }
    or nil
end

--- The sign of a removed line: the bar of a change, and `-` in place of a number, so that the line
--- does not look like code of the file, even without colours.
---@param cells integer
---@return [string, string][]
function M.sign(cells)
  if cells < 3 then
    return { { '- ', 'CalibanSign' } }
  end
  local bar = require('caliban.editor.icons').of('▎')
  return { { bar, 'CalibanSign' }, { (' '):rep(cells - 3) .. '- ', 'CalibanDim' } }
end

--- Indents virtual lines without signs, so that they align with virtual lines that have signs.
---@param buf integer
---@param lines [string, string][][]
---@return [string, string|string[]][][]
function M.indented(buf, lines)
  local cells = M.cells(buf)
  return vim.tbl_map(function(chunks)
    return cells and vim.list_extend({ { (' '):rep(cells), 'Normal' } }, chunks) or chunks
  end, lines)
end

---@param buf integer
function M.forget(buf)
  known[buf] = nil
end

-- The columns are measured after all windows were drawn, because Neovim gives a window its column for signs only while it
-- draws the window.
api.nvim_set_decoration_provider(ns, {
  on_win = function(_, _, buf)
    local it = known[buf]
    if it and not it.is_due then
      drawn[buf] = it
    end
    return false
  end,
  on_end = function()
    for buf, it in pairs(drawn) do
      drawn[buf] = nil
      if known[buf] == it and not it.is_due and it.cells ~= measured(buf) then
        it.is_due = true
        vim.schedule(it.changed)
      end
    end
  end,
})

return M
