--- Notes the changes that formatters make in a file under review. conform.nvim,
--- `vim.lsp.buf.format()` and 'formatexpr' apply their changes through one function of
--- `vim.lsp.util`, so a change is a formatter's if this function is on the call stack. So is a change by the autocommands
--- of a write.
local M = {}

local api = vim.api
local rope = require('caliban.review.hunks.rope')

--- The most changes that are kept. Only texts of fewer than `LONG` bytes are sent to the program.
local MOST, LONG = 10, 1000000

---@class caliban.Formatted
---@field before caliban.Rope|string
---@field after caliban.Rope|string

--- Whether the autocommands of a write are running.
---@return boolean
local function writes()
  -- the name of an event is the same in all languages of Neovim's messages
  local ok, stack = pcall(function()
    return vim.fn.expand('<abuf>') ~= '' and vim.fn.expand('<stack>') or ''
  end)
  return ok and tostring(stack):find('%f[%w]BufWriteP%l+%f[%W]') ~= nil
end

--- Whether a formatter is changing a buffer right now. Formatters, completion and refactorings all
--- call `apply_text_edits`: completion only in insert mode, refactorings through another function
--- of `vim.lsp.util`.
---@return boolean
function M.runs()
  local util = package.loaded['vim.lsp.util']
  if writes() then
    return true
  elseif not util or api.nvim_get_mode().mode:find('^[iR]') then
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

--- Adds a change of a formatter to the list. If the change begins with the text that the last one
--- has produced, the two are joined.
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
