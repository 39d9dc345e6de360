--- Where the windows of a chat are on the screen, and how large they are. A chat at a side of the screen keeps its
--- share of the screen when the screen is resized.
local M = {}

local api = vim.api

--- A screen with at least `BESIDE` columns shows the chat beside the code. A screen with fewer than `COLUMNS` columns
--- or `LINES` lines shows the chat in a tab, any other screen below the code.
local BESIDE, COLUMNS, LINES = 120, 60, 20

--- On a screen of at most so many lines, a chat above or below the code has half of them, else a third.
M.LOW = 40

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
  return math.max(8, math.floor(vim.o.lines / (vim.o.lines > M.LOW and 3 or 2)))
end

--- The least lines of a composer.
---@return integer
function M.composer()
  return vim.o.lines < 30 and 1 or 3
end

---@return integer row, integer height
local function float_rows()
  local rows = math.max(8, vim.o.lines - 8)
  return math.floor((vim.o.lines - rows) / 2) - 1, rows
end

--- The configuration of a floating window of the chat.
---@param part 'transcript'|'composer'
---@param lines integer the height of the composer
---@return vim.api.keyset.win_config
function M.float(part, lines)
  local row, rows = float_rows()
  local columns = math.min(math.max(60, math.floor(vim.o.columns * 0.8)), vim.o.columns - 4)
  local above = rows - lines - 2
  return {
    relative = 'editor',
    border = require('caliban.editor.icons').border(),
    col = math.floor((vim.o.columns - columns) / 2),
    width = columns,
    row = part == 'transcript' and row or row + above + 2,
    height = part == 'transcript' and above or lines,
  }
end

--- The configuration of a transcript's window, at a side of the screen or floating.
---@param layout caliban.Layout
---@return vim.api.keyset.win_config
function M.place(layout)
  if layout == 'float' then
    return M.float('transcript', M.composer())
  elseif layout == 'top' or layout == 'bottom' then
    local split = layout == 'top' and 'above' or 'below'
    return { split = split, win = -1, height = height() }
  end
  return { split = layout == 'left' and 'left' or 'right', win = -1, width = width() }
end

--- The windows in which a chat may be open: all windows of this tab, then those of all tabs if chats open in a separate
--- tab.
---@return integer[]
local function candidates()
  local here = api.nvim_tabpage_list_wins(0)
  return M.now() == 'tab' and vim.list_extend(here, api.nvim_list_wins()) or here
end

--- A window that shows a transcript or a composer, of any chat.
---@param part 'transcript'|'composer'
---@param beside? integer a window: only those of its tab count
---@return integer? win
---@return caliban.Chat? chat
function M.showing(part, beside)
  local chats = require('caliban.chat.chats')
  local tab = beside and api.nvim_win_get_tabpage(beside)
  for _, win in ipairs(tab and api.nvim_tabpage_list_wins(tab) or candidates()) do
    local buf = api.nvim_win_get_buf(win)
    local chat = chats.of(buf)
    if chat and chat[part] == buf then
      return win, chat
    end
  end
end

--- Whether this tab shows a transcript (of this chat, if one is given).
---@param chat? caliban.Chat
---@return boolean
function M.visible(chat)
  local chats = require('caliban.chat.chats')
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local buf = api.nvim_win_get_buf(win)
    local of = chats.of(buf)
    if of and of.transcript == buf and (not chat or of == chat) then
      return true
    end
  end
  return false
end

--- The window of the composer below a transcript's window, in the same tab.
---@param win integer
---@return integer?
function M.composer_of(win)
  local chat = require('caliban.chat.chats').of(api.nvim_win_get_buf(win))
  for _, other in ipairs(api.nvim_tabpage_list_wins(api.nvim_win_get_tabpage(win))) do
    if chat and api.nvim_win_get_buf(other) == chat.composer then
      return other
    end
  end
end

--- The height of a composer's window that fits the text: at most 10 lines and a third of the screen, and the winbar.
---@param win integer
---@return integer
local function wanted(win)
  local lines = api.nvim_win_text_height(win, {}).all
  local most = math.min(10, math.floor(vim.o.lines / 3))
  return math.max(M.composer(), math.min(most, lines)) + (vim.wo[win].winbar ~= '' and 1 or 0)
end

--- Whether a composer is at most as high as its text wants it: the user has not made it higher.
---@param win integer
---@return boolean
function M.is_drafted(win)
  return api.nvim_win_get_height(win) <= wanted(win)
end

--- The least lines of a transcript above a composer that grows.
local KEPT = 3

--- The height that a transcript has to have, and the rows that it can get from other windows.
---@type fun(chat: caliban.Chat, win: integer): integer, integer
local bounds = function()
  return 0, 0
end

--- Sets the function that says how high a transcript has to be.
---@param fn fun(chat: caliban.Chat, win: integer): integer, integer
function M.bound(fn)
  bounds = fn
end

--- Fits the composer's height to its text by changing the height of the transcript above it.
---@param chat caliban.Chat
function M.fit(chat)
  local lower, of = M.showing('composer')
  local upper = M.showing('transcript')
  if not (lower and upper and of == chat) then
    return
  end
  local want, have = wanted(lower), api.nvim_win_get_height(lower)
  local half, more = bounds(chat, upper)
  local floats = api.nvim_win_get_config(lower).relative ~= ''
  if want == have and (floats or half == 0) then
    return
  elseif floats then
    api.nvim_win_set_config(lower, M.float('composer', want))
    api.nvim_win_set_config(upper, M.float('transcript', want))
    return
  end
  local top, bottom = api.nvim_win_get_position(upper), api.nvim_win_get_position(lower)
  local height = api.nvim_win_get_height(upper)
  local most = height + have + more - math.max(KEPT, half)
  -- the transcript keeps what it has to have; without a turn, a composer that has grown stays as it is
  local least = M.composer() + (vim.wo[lower].winbar ~= '' and 1 or 0)
  want = math.max(least, half == 0 and want > have and have or 0, math.min(want, most))
  if top[2] ~= bottom[2] or bottom[1] - top[1] > height + 1 or want == have then
    return -- the user has moved one of the two windows, or there is no room
  end
  vim.wo[lower][0].winfixheight = false
  -- the height of the upper window is set, because then Neovim changes only the window below it
  api.nvim_win_set_height(upper, height + have - want)
  vim.wo[lower][0].winfixheight = true
end

---@class caliban.Share the share of the screen that a chat at a side has
---@field side 'columns'|'lines'
---@field part number the share, from 0 to 1
---@field size integer the chat's columns or lines when last set or read
---@field screen integer columns or lines of the screen at that time
---@field wins integer[] the windows of the tab at that time
---@field held? boolean whether the user has set the size
---@field before? caliban.Unresized the windows before the chat took more rows

--- The width or the height of the chat whose transcript is in a window: in columns, or in lines with the composer
--- below.
---@param win integer
---@param side 'columns'|'lines'
---@return integer
function M.size(win, side)
  if side == 'columns' then
    return api.nvim_win_get_width(win)
  end
  local below = M.composer_of(win)
  return api.nvim_win_get_height(win) + (below and api.nvim_win_get_height(below) + 1 or 0)
end

--- The windows of a window's tab, without the floating ones.
---@param win integer
---@return integer[]
local function beside(win)
  return vim.tbl_filter(function(other)
    return api.nvim_win_get_config(other).relative == ''
  end, api.nvim_tabpage_list_wins(api.nvim_win_get_tabpage(win)))
end

--- Remembers the share of the screen that a transcript's window has.
---@param win integer
---@param side 'columns'|'lines'
---@param held? boolean whether the user has set the size
local function note(win, side, held)
  local have, screen = M.size(win, side), vim.o[side]
  local part, wins = have / screen, beside(win)
  vim.w[win].caliban_share =
    { side = side, part = part, size = have, screen = screen, wins = wins, held = held }
end

--- Called when a transcript was opened in a window: notes the chat's share of the screen if the
--- chat is at a side.
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
function M.share(win)
  return vim.w[win].caliban_share
end

--- Called when windows of this tab were resized: notes the new share of each chat that has another size now. If the tab
--- has the same windows as before, the user has set this size.
function M.note_shares()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local share = M.share(win)
    if share and share.screen == vim.o[share.side] then
      local wins, size = beside(win), M.size(win, share.side)
      local same = vim.deep_equal(share.wins, wins)
      if size ~= share.size and (same or not share.before) then
        note(win, share.side, same or share.held)
      elseif not same then
        -- a chat that has more rows only for now keeps its share
        share.size, share.wins = size, wins
        vim.w[win].caliban_share = share
      end
    end
  end
end

--- Called when the screen was resized: restores the share of each chat at a side.
function M.keep_shares()
  for _, win in ipairs(api.nvim_list_wins()) do
    local share = M.share(win)
    if share then
      local want = math.max(1, math.floor(share.part * vim.o[share.side] + 0.5))
      if share.side == 'columns' then
        api.nvim_win_set_width(win, want)
      else
        api.nvim_win_set_height(
          win,
          math.max(1, want - M.size(win, 'lines') + api.nvim_win_get_height(win))
        )
      end
      share.before = nil
      share.size, share.screen = M.size(win, share.side), vim.o[share.side]
      vim.w[win].caliban_share = share
    end
  end
end

return M
