--- The columns left of the text in the windows of a file under review, where virtual lines have signs of their own.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban.review.gutter')

---@class caliban.Gutter what the removed lines of a buffer were drawn for
---@field cells? integer
---@field changed fun() called once the columns have another width

---@type table<integer, caliban.Gutter?>
local known = {}

--- The width of these columns, if a sign has room there. Virtual lines are the same in all windows of a buffer, so where
--- the windows differ, removed lines have no sign.
---@param buf integer
---@return integer?
function M.cells(buf)
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

--- The sign of a removed line: the bar of a change, and `-` in place of a number, so that the line looks like no code of
--- the file also without colours.
---@param cells integer
---@return [string, string][]
function M.sign(cells)
  if cells < 3 then
    return { { '- ', 'CalibanSign' } }
  end
  local bar = require('caliban.editor.icons').of('▎')
  return { { bar, 'CalibanSign' }, { (' '):rep(cells - 3) .. '- ', 'CalibanDim' } }
end

--- Virtual lines without signs, among such that have them.
---@param buf integer
---@param lines [string, string][][]
---@return [string, string|string[]][][]
function M.indented(buf, lines)
  local cells = M.cells(buf)
  return vim.tbl_map(function(chunks)
    return cells and vim.list_extend({ { (' '):rep(cells), 'Normal' } }, chunks) or chunks
  end, lines)
end

--- Begins to watch the columns of a buffer, after its removed lines were drawn for these.
---@param buf integer
---@param cells? integer
---@param changed fun()
function M.note(buf, cells, changed)
  known[buf] = { cells = cells, changed = changed }
end

---@param buf integer
function M.forget(buf)
  known[buf] = nil
end

api.nvim_set_decoration_provider(ns, {
  on_win = function(_, _, buf)
    local it = known[buf]
    if it and it.cells ~= M.cells(buf) then
      known[buf] = nil
      vim.schedule(it.changed)
    end
    return false
  end,
})

return M
