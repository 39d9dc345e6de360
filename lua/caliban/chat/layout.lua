--- Where the windows of a chat are on the screen, and how large they are. A chat at a side of the screen keeps its
--- share of the screen when the screen is resized.
local M = {}

local api = vim.api

--- The screen that has room for the chat beside the code, and the smallest that has room for it below the code.
local BESIDE, COLUMNS, LINES = 120, 60, 20

---@alias caliban.Layout 'right'|'left'|'top'|'bottom'|'tab'|'float'|'current'

--- Where the chat opens on a screen of this size.
---@param columns integer
---@param lines integer
---@return caliban.Layout
function M.of(columns, lines)
  local chosen = require('caliban.config').get().layout
  if chosen ~= 'auto' then
    return chosen
  elseif columns < COLUMNS or lines < LINES then
    return 'tab'
  end
  return columns >= BESIDE and 'right' or 'bottom'
end

--- Where the chat opens now.
---@return caliban.Layout
function M.now()
  return M.of(vim.o.columns, vim.o.lines)
end

---@return integer
local function width()
  return math.min(math.max(60, math.floor(vim.o.columns * 0.4)), vim.o.columns - 1)
end

---@return integer
local function height()
  return math.max(8, math.floor(vim.o.lines / 3))
end

---@return integer row, integer height
local function float_rows()
  local rows = math.max(8, vim.o.lines - 8)
  return math.floor((vim.o.lines - rows) / 2) - 1, rows
end

--- A part of the chat in floating windows.
---@param part 'transcript'|'composer'
---@param lines integer of the composer
---@return vim.api.keyset.win_config
function M.float(part, lines)
  local row, rows = float_rows()
  local columns = math.min(math.max(60, math.floor(vim.o.columns * 0.8)), vim.o.columns - 4)
  local above = rows - lines - 2
  return {
    relative = 'editor',
    border = 'single',
    col = math.floor((vim.o.columns - columns) / 2),
    width = columns,
    row = part == 'transcript' and row or row + above + 2,
    height = part == 'transcript' and above or lines,
  }
end

--- The window in which a transcript opens at a side of the screen, or over it.
---@param layout caliban.Layout
---@return vim.api.keyset.win_config
function M.place(layout)
  if layout == 'float' then
    return M.float('transcript', 3)
  elseif layout == 'top' or layout == 'bottom' then
    local split = layout == 'top' and 'above' or 'below'
    return { split = split, win = -1, height = height() }
  end
  return { split = layout == 'left' and 'left' or 'right', win = -1, width = width() }
end

---@class caliban.Share the part of the screen that the windows of a chat at a side have
---@field side 'columns'|'lines'
---@field part number of the screen, from 0 to 1
---@field size integer columns or lines when they were last set or seen
---@field screen integer columns or lines of the screen at that time

--- Columns or lines of the chat that this transcript's window belongs to.
---@param win integer
---@param side 'columns'|'lines'
---@return integer
local function size(win, side)
  if side == 'columns' then
    return api.nvim_win_get_width(win)
  end
  local below = require('caliban.chat.windows').composer_of(win)
  return api.nvim_win_get_height(win) + (below and api.nvim_win_get_height(below) + 1 or 0)
end

--- Remembers the share of the screen that a transcript's window has.
---@param win integer
---@param side 'columns'|'lines'
local function note(win, side)
  local have, screen = size(win, side), vim.o[side]
  vim.w[win].caliban_share = { side = side, part = have / screen, size = have, screen = screen }
end

--- A transcript was opened in this window.
---@param win integer
---@param layout caliban.Layout
function M.opened(win, layout)
  if layout == 'right' or layout == 'left' then
    note(win, 'columns')
  elseif layout == 'top' or layout == 'bottom' then
    note(win, 'lines')
  end
end

---@param win integer
---@return caliban.Share?
local function share_of(win)
  return vim.w[win].caliban_share
end

--- Windows have another size: where the user has resized them, the present size of each chat becomes its share.
local function resized()
  for _, win in ipairs(vim.v.event.windows or {}) do
    local share = api.nvim_win_is_valid(win) and share_of(win)
    if share and share.screen == vim.o[share.side] and size(win, share.side) ~= share.size then
      note(win, share.side)
    end
  end
  for _, chat in ipairs(require('caliban.chat').all) do
    require('caliban.chat.beside').refit(chat)
  end
end

--- The screen was resized: gives each chat at a side its share.
local function screen_resized()
  local windows = require('caliban.chat.windows')
  for _, win in ipairs(api.nvim_list_wins()) do
    local share = share_of(win)
    if share then
      local want = math.max(1, math.floor(share.part * vim.o[share.side] + 0.5))
      if share.side == 'columns' then
        api.nvim_win_set_width(win, want)
      else
        api.nvim_win_set_height(
          win,
          math.max(1, want - size(win, 'lines') + api.nvim_win_get_height(win))
        )
      end
      share.size, share.screen = size(win, share.side), vim.o[share.side]
      vim.w[win].caliban_share = share
    end
  end
  for _, chat in ipairs(require('caliban.chat').all) do
    windows.fit(chat)
    windows.decorate(chat)
  end
end

--- Begins to watch the size of the screen.
function M.watch()
  local group = api.nvim_create_augroup('caliban_layout', {})
  api.nvim_create_autocmd('WinResized', { group = group, callback = resized })
  api.nvim_create_autocmd('VimResized', { group = group, callback = screen_resized })
end

return M
