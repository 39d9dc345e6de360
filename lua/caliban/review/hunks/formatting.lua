--- Notes the changes of formatters in a file under review. conform.nvim, `vim.lsp.buf.format()` and 'formatexpr' apply
--- their changes as text edits through one function of `vim.lsp.util`, which is on the call stack while a formatter
--- runs.
local M = {}

local api = vim.api
local rope = require('caliban.review.hunks.rope')

--- The most changes that are kept. Only texts of fewer than `LONG` bytes are sent to the program.
local MOST, LONG = 10, 1000000

---@class caliban.Formatted
---@field before caliban.Rope|string
---@field after caliban.Rope|string

--- Whether a formatter is changing a buffer right now. Completion applies text edits too, but in insert mode; renaming
--- and refactoring apply workspace edits.
---@return boolean
function M.runs()
  local util = package.loaded['vim.lsp.util']
  if not util or api.nvim_get_mode().mode:find('^[iR]') then
    return false
  end
  local found, level = false, 2
  local frame = debug.getinfo(level, 'f')
  while frame do
    if frame.func == util.apply_workspace_edit or frame.func == util.apply_text_document_edit then
      return false
    end
    found = found or frame.func == util.apply_text_edits
    level = level + 1
    frame = debug.getinfo(level, 'f')
  end
  return found
end

--- Adds a change of a formatter to the list. Joins the change with the last one if it continues that one.
---@param list? caliban.Formatted[]
---@param before caliban.Rope|string
---@param after caliban.Rope|string
---@return caliban.Formatted[]
function M.noted(list, before, after)
  list = list or {}
  local last = list[#list] ---@as caliban.Formatted?
  if last and last.after == before then
    last.after = after
    return list
  end
  table.insert(list, { before = before, after = after })
  if #list > MOST then
    table.remove(list, 1)
  end
  return list
end

---@param text caliban.Rope|string
---@return string
local function plain(text)
  return type(text) == 'string' and text or rope.text(text --[[@as caliban.Rope]])
end

--- The changes of formatters, for the program.
---@param list? caliban.Formatted[]
---@return caliban.WireFormatting[]
function M.list(list)
  local out = {} ---@type caliban.WireFormatting[]
  for _, it in ipairs(list or {}) do
    local before, after = plain(it.before), plain(it.after)
    if before ~= after and #before < LONG and #after < LONG then
      out[#out + 1] = { before = before, after = after }
    end
  end
  return out
end

return M
