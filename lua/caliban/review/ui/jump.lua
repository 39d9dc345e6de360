--- Goes from hunk to hunk, across files and windows.
local M = {}

local api = vim.api
local tracking = require('caliban.review.hunks.tracking')
local state = require('caliban.review.state')

---@param win integer
---@return boolean whether the window may show another buffer
local function free(win)
  local filetype = vim.bo[api.nvim_win_get_buf(win)].filetype
  return not vim.wo[win].winfixbuf
    and filetype ~= 'caliban'
    and filetype ~= 'caliban-prompt'
    and api.nvim_win_get_config(win).relative == ''
end

--- Goes to a window that shows the file. If there is none, shows the file in the current window, or in another window
--- if the current window must not show other buffers.
---@param r caliban.Review
local function show(r)
  local here, anywhere = vim.fn.bufwinid(r.buf), vim.fn.win_findbuf(r.buf)
  if #anywhere > 0 then
    return api.nvim_set_current_win(here >= 0 and here or anywhere[1])
  end
  if not free(api.nvim_get_current_win()) then
    local others = vim.tbl_filter(free, api.nvim_tabpage_list_wins(0))
    if #others > 0 then
      api.nvim_set_current_win(others[1])
    else
      vim.cmd('aboveleft vsplit')
      vim.wo.winfixbuf = false
    end
  end
  state.keep_window(r, api.nvim_get_current_win(), api.nvim_get_current_buf())
  api.nvim_set_current_buf(r.buf)
end

--- Whether the removed lines above a hunk's first row are visible in the current window.
---@param row integer
---@return boolean
local function shows_removed(row)
  local view = vim.fn.winsaveview()
  local fill = api.nvim_win_text_height(0, { start_row = row, end_row = row }).fill
  return view.topline <= row or view.topfill >= fill
end

--- Scrolls until the removed lines and the last row of a hunk are visible, if the window has room for the whole hunk.
---@param row integer the hunk's first row
---@param last integer
local function reach(row, last)
  local win = api.nvim_get_current_win()
  local top, bottom = vim.fn.line('w0') - 1, vim.fn.line('w$') - 1
  local height = vim.fn.getwininfo(win)[1].height
  -- more lines do not fit, and Neovim would need a long time to measure a very long one
  local bytes = api.nvim_buf_get_offset(0, last + 1) - api.nvim_buf_get_offset(0, top)
  local is_visible = bottom >= last and shows_removed(row)
  if is_visible or last - row >= height or bytes > 8 * height * vim.o.columns then
    return
  end
  local function rows(from)
    return api.nvim_win_text_height(win, { start_row = from, end_row = last }).all
  end
  if rows(row) <= height then
    while rows(top) > height do
      top = top + 1
    end
    local fill = api.nvim_win_text_height(win, { start_row = top, end_row = top }).fill
    vim.fn.winrestview({ topline = top + 1, topfill = fill })
  end
end

--- Puts the current window's cursor on a row of the file, and shows the hunk there.
---@param r caliban.Review
---@param row integer
local function place(r, row)
  api.nvim_win_set_cursor(0, { row + 1, 0 })
  vim.cmd('normal! zv')
  local _, hunk = tracking.at(r, row)
  local last = row + math.max(hunk and #hunk.new or 0, 1) - 1
  require('caliban.review.ui.overlay').uncover(r.buf, last)
  reach(row, last)
end

--- Shows a hunk in a window of this tab that shows its file, unless one of them shows the hunk already. The current window
--- stays as it is.
---@param r caliban.Review
---@param hunk caliban.Hunk
function M.peek(r, hunk)
  local row = math.min(hunk.start, api.nvim_buf_line_count(r.buf) - 1)
  local last = row + math.max(#hunk.new, 1)
  local found ---@type integer?
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == r.buf then
      local is_visible = vim.fn.line('w0', win) <= row + 1 and vim.fn.line('w$', win) >= last
      if
        is_visible
        and api.nvim_win_call(win, function()
          return shows_removed(row)
        end)
      then
        return
      end
      found = win ~= api.nvim_get_current_win() and win or found
    end
  end
  if found then
    api.nvim_win_call(found, function()
      place(r, row)
    end)
  end
end

--- Puts the cursor on a row of the file, and adds its previous position to the jump list.
---@param r caliban.Review
---@param row integer
local function land(r, row)
  vim.cmd("normal! m'")
  if r.buf ~= api.nvim_get_current_buf() then
    show(r)
  end
  place(r, row)
end

--- Goes to a hunk.
---@param r caliban.Review
---@param hunk? caliban.Hunk default: the top of a file that is to be deleted or renamed, else the first hunk
function M.to(r, hunk)
  local first = hunk or tracking.list(r)[1] ---@as caliban.Hunk?
  if r.whole and not hunk then
    return land(r, 0)
  elseif first then
    return land(r, math.min(first.start, api.nvim_buf_line_count(r.buf) - 1))
  end
  vim.cmd("normal! m'")
  show(r)
end

--- The row of the next hunk. The top of a file that is to be deleted or renamed counts as a hunk.
---@param r caliban.Review
---@param row integer
---@param step 1|-1
---@return integer? row
local function beyond(r, row, step)
  local hunk = tracking.beyond(r, row, step)
  if step == 1 and row < 0 and r.whole or step == -1 and not hunk and row > 0 and r.whole then
    return 0
  end
  -- lines that are removed at the end are shown on the last line
  local start = hunk and math.min(hunk.start, api.nvim_buf_line_count(r.buf) - 1)
  return start and (start - row) * step > 0 and start or nil
end

--- Goes to the next hunk of a file. If there is none, goes to the first hunk of the next file; after the last file comes
--- the first. With `step` -1, goes backwards.
---@param open caliban.Review[]
---@param step 1|-1 1: forwards
---@param from? caliban.HunkPlace default: the cursor
function M.go(open, step, from)
  if #open == 0 then
    return require('caliban.editor.notify').show('Nothing is under review.')
  end
  from = from or { buf = api.nvim_get_current_buf(), row = api.nvim_win_get_cursor(0)[1] - 1 }
  local at = step == 1 and 0 or #open + 1
  for i, r in ipairs(open) do
    if r.buf == from.buf then
      at = i
      local row = beyond(r, from.row, step)
      if row then
        return land(r, row)
      end
    end
  end
  local r = open[(at - 1 + step) % #open + 1]
  land(r, beyond(r, step == 1 and -1 or api.nvim_buf_line_count(r.buf) + 1, step) or 0)
end

--- Lists the pending hunks in the quickfix list.
---@param open caliban.Review[]
function M.quickfix(open)
  local items = {}
  for _, r in ipairs(open) do
    local last = api.nvim_buf_line_count(r.buf)
    if r.whole then
      items[#items + 1] =
        { bufnr = r.buf, lnum = 1, text = require('caliban.review.whole_words').line(r) }
    end
    for _, h in ipairs(tracking.list(r)) do
      local text = ('-%d +%d  %s'):format(#h.old, #h.new, vim.trim(h.new[1] or h.old[1] or ''))
      items[#items + 1] = { bufnr = r.buf, lnum = math.min(h.start + 1, last), text = text }
    end
  end
  if #items == 0 then
    return require('caliban.editor.notify').show('Nothing is under review.')
  end
  vim.fn.setqflist({}, ' ', { title = 'Caliban review', items = items })
  vim.cmd.copen({ count = math.max(1, math.min(#items, math.floor(vim.o.lines / 3))) })
end

return M
