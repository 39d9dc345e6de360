--- The user's comments on lines of a plan. A comment moves with its lines and is shown below them.
local M = {}

local api = vim.api
local icon = require('caliban.editor.icons').of
local ns = api.nvim_create_namespace('caliban.plan.remarks')

--- The comments of each buffer, by the id of the comment's extmark.
---@type table<integer, table<integer, string?>?>
local texts = {}

---@param buf integer
---@param first integer the first line, from 1
---@param last integer
---@param text string
local function put(buf, first, last, text)
  local count = api.nvim_buf_line_count(buf)
  last = math.max(1, math.min(last, count))
  first = math.max(1, math.min(first, last))
  local narrowest = require('caliban.editor.wrap').narrowest(buf)
  local width = math.max(20, (narrowest and narrowest.room or 60) - 2)
  local rows = {} ---@type [string, string][][]
  for _, line in ipairs(vim.split(text, '\n')) do
    for _, row in ipairs(require('caliban.editor.wrap').rows(line, width, '')) do
      rows[#rows + 1] = { { icon('▏ ') .. row, 'CalibanChip' } }
    end
  end
  local opts = {
    end_row = last - 1,
    virt_lines = rows,
    sign_text = icon('▏'),
    sign_hl_group = 'CalibanChip',
  }
  -- Neovim shows the virtual lines of a mark below the mark's first line
  local shown = { virt_lines = rows, strict = false }
  opts.virt_lines = first == last and rows or nil
  local id = api.nvim_buf_set_extmark(buf, ns, first - 1, 0, opts)
  if first ~= last then
    api.nvim_buf_set_extmark(buf, ns, last - 1, 0, shown)
  end
  local all = texts[buf] or {}
  all[id], texts[buf] = text, all
end

--- The comments of a plan, in the order of their lines.
---@param buf integer
---@return caliban.Remark[]
function M.all(buf)
  local all = {} ---@type caliban.Remark[]
  local marks = api.nvim_buf_get_extmarks(buf, ns, 0, -1, { details = true })
  for _, mark in ipairs(marks) do
    local text = (texts[buf] or {})[mark[1]]
    if text then
      local last = (mark[4] or {}).end_row or mark[2]
      local first = mark[2] + 1
      table.insert(all, { first = first, last = math.max(first, last + 1), text = text })
    end
  end
  return all
end

--- Replaces all comments of a plan.
---@param buf integer
---@param remarks caliban.Remark[]
function M.set(buf, remarks)
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  texts[buf] = {}
  for _, it in ipairs(remarks) do
    put(buf, it.first, it.last, it.text)
  end
end

--- The comment on exactly these lines.
---@param buf integer
---@param first integer
---@param last integer
---@return string?
function M.on(buf, first, last)
  for _, it in ipairs(M.all(buf)) do
    if it.first == first and it.last == last then
      return it.text
    end
  end
end

--- Scrolls the windows that show a line until the rows of its comment are visible too.
---@param buf integer
---@param line integer
local function reveal(buf, line)
  -- Neovim counts a comment as rows above the next line
  local is_last = line == api.nvim_buf_line_count(buf)
  local to = is_last and {} or { end_row = line, end_vcol = 0 } ---@type vim.api.keyset.win_text_height
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(win)[1]
    local top = info.topline
    ---@return boolean # whether the window has room from its first line to the comment
    local function fits()
      to.start_row = top - 1
      return api.nvim_win_text_height(win, to).all <= info.height
    end
    while line <= info.botline and top < line and not fits() do
      top = top + 1
    end
    api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = top })
    end)
  end
end

--- Sets the comment on these lines, and shows it. An empty text removes it.
---@param buf integer
---@param first integer
---@param last integer
---@param text string
function M.comment(buf, first, last, text)
  local others = vim.tbl_filter(function(it)
    return it.first ~= first or it.last ~= last
  end, M.all(buf))
  if vim.trim(text) ~= '' then
    table.insert(others, { first = first, last = last, text = text })
  end
  table.sort(others, function(a, b)
    return a.first < b.first or a.first == b.first and a.last < b.last
  end)
  M.set(buf, others)
  reveal(buf, last)
end

return M
