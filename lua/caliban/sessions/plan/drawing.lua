--- Draws a plan as the chat draws a reply: hides the marks of Markdown, except in the cursor's
--- line.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban.plan.drawing')

--- The text of each plan as one block of a transcript, by the plan's buffer.
---@type table<integer, caliban.Block?>
local blocks = {}

--- The plan that is being drawn, and whether the marks of Markdown are hidden in its window.
local drawn ---@type caliban.Block?
local rendered = false
local opts = { ephemeral = true, strict = false } ---@type vim.api.keyset.set_extmark

--- Reads a plan again, because its text has changed.
---@param buf integer
function M.read(buf)
  local lines = api.nvim_buf_line_count(buf)
  blocks[buf] = {
    id = 0,
    shape = 'text',
    n = lines,
    col = 0,
    final = true,
    done = 0,
    marks = {},
    fences = {},
    spans = {},
    wrapped = {},
  }
  require('caliban.chat.hidden').show_all(buf)
  require('caliban.chat.markdown').advance(buf, blocks[buf], 0)
end

---@param buf integer
function M.forget(buf)
  blocks[buf] = nil
end

--- Whether render-markdown.nvim draws a buffer: drawn twice, the first letters of its headings would be hidden.
---@param buf integer
---@return boolean
local function is_theirs(buf)
  local manager = package.loaded['render-markdown.core.manager'] ---@type any
  local attached = type(manager) == 'table' and manager.attached
  local ok, drawn_by_it = pcall(attached or error, buf)
  return ok and drawn_by_it == true
end

---@param win integer
---@param buf integer
---@return boolean # whether to call `on_line`
local function on_win(_, win, buf)
  drawn = not is_theirs(buf) and blocks[buf] or nil
  rendered = drawn ~= nil and require('caliban.chat.rendering').begin(win)
  return drawn ~= nil
end

---@param buf integer
---@param row integer
local function on_line(_, _, buf, row)
  -- Neovim draws a change of the text before `read` is called, so the plan may lack this row
  if not drawn or row >= drawn.n then
    return
  end
  local spans = require('caliban.chat.markdown').spans(buf, drawn, 0, row)
  for n = 1, #spans, 3 do
    opts.end_col, opts.hl_group = spans[n + 1], spans[n + 2]
    api.nvim_buf_set_extmark(buf, ns, row, spans[n] --[[@as integer]], opts)
  end
  if rendered then
    require('caliban.chat.rendering').draw(buf, drawn, row, row, spans)
  end
end

require('caliban.editor.since').draw(ns, { on_win = on_win, on_line = on_line })

return M
