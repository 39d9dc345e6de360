--- The rows of a chat above or below the code. On a low screen the transcript takes half of it while a turn runs; on any
--- screen it takes the rows that an open question needs. Afterwards all windows get their heights back. A chat whose
--- height the user has changed keeps that height.
local M = {}

local api = vim.api
local layout = require('caliban.chat.layout')

--- The rows that a window of code keeps.
local CODE = 3
--- The rows of the transcript beside a plan that is to be read on a low screen, and those of the code.
local PLAN_CHAT, PLAN_CODE = 6, 2

--- The phases in which the code has its full height: in `reviewing` the user looks at changes there.
local calm = { idle = true, offline = true, reviewing = true }

--- The rows of the tour's last words and of all that is below them, while the user is in the chat.
---@param chat caliban.Chat
---@param win integer
---@return integer
local function toured(chat, win)
  local buf = api.nvim_get_current_buf()
  local is_here = buf == chat.transcript or buf == chat.composer
  if not (is_here and chat.status and chat.status.tour) then
    return 0
  end
  local block, row = require('caliban.chat.order').last(chat, function(it)
    return it.shape == 'text'
  end)
  return block and api.nvim_win_text_height(win, { start_row = row + (block.head or 0) }).all or 0
end

--- The height of a transcript that has half of a low screen, because a turn runs or a question waits; else 0.
---@param chat caliban.Chat
---@param win integer
---@return integer
local function half(chat, win)
  local share = layout.share(win)
  local is_busy = chat.question or not calm[chat.status and chat.status.phase or 'idle']
  local has_half = vim.o.lines <= layout.LOW and is_busy and not (share and share.held)
  return has_half and math.ceil(vim.o.lines / 2) or 0
end

--- The height that a transcript's window should have at least.
---@param chat caliban.Chat
---@param win integer
---@return integer
local function least(chat, win)
  local rows = half(chat, win)
  local words, winbar = toured(chat, win), vim.wo[win].winbar ~= '' and 1 or 0
  rows = words > 0 and math.max(rows, words + winbar) or rows
  local block, top = require('caliban.chat.order').asking(chat)
  if block then
    local first = top + (block.head or 0)
    local text = api.nvim_win_text_height(win, { start_row = first }).all
    rows = math.max(rows, text + winbar)
  end
  return rows
end

--- The windows of this tab that show no chat and do not float.
---@return integer[]
local function others()
  return vim.tbl_filter(function(win)
    local chat = require('caliban.chat.chats').of(api.nvim_win_get_buf(win))
    return not chat and api.nvim_win_get_config(win).relative == ''
  end, api.nvim_tabpage_list_wins(0))
end

--- The windows of this tab that show the same transcript as this one, from top to bottom.
---@param win integer
---@return integer[]
local function same(win)
  local buf = api.nvim_win_get_buf(win)
  return vim.tbl_filter(function(other)
    return api.nvim_win_get_buf(other) == buf and api.nvim_win_get_config(other).relative == ''
  end, api.nvim_tabpage_list_wins(0))
end

--- The rows that the windows above and below a chat of `size` rows can spare. Another window of the transcript keeps
--- a row of text.
---@param win integer
---@param size integer
---@return integer
local function spare(win, size)
  local tabline = vim.o.showtabline == 2 or vim.o.showtabline == 1 and #api.nvim_list_tabpages() > 1
  local rows, count = {}, 0
  for _, win in ipairs(others()) do
    local row = api.nvim_win_get_position(win)[1]
    count = count + (rows[row] and 0 or 1)
    rows[row] = true
  end
  -- each window has a statusline, and so has the composer
  local free = vim.o.lines - vim.o.cmdheight - (tabline and 1 or 0) - size - 1
  local split = #same(win) - 1
  return free - count * (CODE + 1) - split * (2 + (vim.wo[win].winbar ~= '' and 1 or 0))
end

--- The rows that a transcript above or below the code can get from the windows of the code.
---@param win integer
---@return integer
local function more(win)
  local share = layout.share(win)
  local is_free = share and share.side == 'lines' and not share.held
  return is_free and math.max(0, spare(win, layout.size(win, 'lines'))) or 0
end

--- Sets the height of a transcript's window. Where the other windows have fixed heights, the composer does not get the
--- rows that are left.
---@param win integer
---@param height integer
local function resize(win, height)
  local last = api.nvim_buf_line_count(api.nvim_win_get_buf(win))
  local follows = api.nvim_win_get_cursor(win)[1] == last
  local below = layout.composer_of(win)
  local rows = below and api.nvim_win_get_height(below) or 0
  api.nvim_win_set_height(win, height)
  local surplus = below and api.nvim_win_get_height(below) - rows or 0
  if surplus > 0 then
    api.nvim_win_set_height(win, api.nvim_win_get_height(win) + surplus)
  end
  if follows then
    require('caliban.chat.scroll').bottom(win, last)
  end
end

--- Passes rows down to the window above a transcript if it has less than `CODE`: Neovim has taken all from it.
local function spread()
  local wins = others()
  for i, win in ipairs(wins) do
    local missing = CODE - api.nvim_win_get_height(wins[#wins])
    if missing > 0 and i < #wins then
      local height = api.nvim_win_get_height(win)
      api.nvim_win_set_height(win, math.min(height, math.max(CODE, height - missing)))
    end
  end
end

---@class caliban.Unresized the windows of a tab before a chat took more rows
---@field wins integer[]
---@field heights integer[]
---@field views { lnum: integer, topline: integer, buf: integer }[]
---@field screen integer the lines of the screen

---@return caliban.Unresized
local function look()
  local wins = api.nvim_tabpage_list_wins(0)
  local views = vim.tbl_map(function(win)
    local info = vim.fn.getwininfo(win)[1]
    return { lnum = api.nvim_win_get_cursor(win)[1], topline = info.topline, buf = info.bufnr }
  end, wins)
  local heights = vim.tbl_map(api.nvim_win_get_height, wins)
  return { wins = wins, heights = heights, views = views, screen = vim.o.lines }
end

--- Gives the windows of the code their heights back, and those in which nothing has moved their first lines. The composer
--- keeps the height of its draft.
---@param before caliban.Unresized
---@param chat caliban.Chat
local function give_back(before, chat)
  -- twice, because a window takes its rows from the next one
  for _ = 1, 2 do
    for i, win in ipairs(before.wins) do
      local buf = api.nvim_win_get_buf(win)
      if buf ~= chat.transcript and buf ~= chat.composer then
        api.nvim_win_set_height(win, before.heights[i])
      end
    end
  end
  for i, win in ipairs(before.wins) do
    local view, buf = before.views[i], api.nvim_win_get_buf(win)
    local stays = view.lnum == api.nvim_win_get_cursor(win)[1]
    if buf == view.buf and stays and buf ~= chat.transcript then
      api.nvim_win_call(win, function()
        vim.fn.winrestview({ topline = view.topline })
      end)
    end
  end
end

--- Gives a transcript's window more rows, or gives them back.
---@param chat caliban.Chat
---@param win integer
---@param share caliban.Share
local function fit(chat, win, share)
  local have, size = api.nvim_win_get_height(win), layout.size(win, 'lines')
  local base = math.max(1, math.floor(share.part * vim.o.lines + 0.5) - (size - have))
  local want = math.max(base, math.min(least(chat, win), have + spare(win, size)))
  if want == have or want == base and not share.before then
    return
  end
  local before = share.before
  if want > base then
    share.before = before or look()
    resize(win, want)
    spread()
  else
    share.before = nil
    local wins = api.nvim_tabpage_list_wins(0)
    if before and before.screen == vim.o.lines and vim.deep_equal(before.wins, wins) then
      give_back(before, chat)
    end
    resize(win, base)
  end
  share.size = layout.size(win, 'lines')
  vim.w[win].caliban_share = share
end

--- The window of this tab that shows a chat's plan, while the plan waits and the screen is low.
---@param chat caliban.Chat
---@return integer?
local function plan_window(chat)
  local plan = chat.status and chat.status.plan
  if not (plan and plan.stage == 'waiting') or vim.o.lines > layout.LOW then
    return nil
  end
  for _, win in ipairs(others()) do
    local buf = api.nvim_win_get_buf(win)
    if vim.w[win].caliban_plan and vim.b[buf].caliban_session == chat.session then
      return win
    end
  end
end

--- Gives a plan that is to be read the rows of the chat and of the code.
---@param chat caliban.Chat
---@param win integer of the transcript
---@param share caliban.Share
---@param plan integer the plan's window
local function show_plan(chat, win, share, plan)
  share.before = share.before or look()
  -- the rows that the composer gives back go to the plan
  layout.fit(chat)
  local rows = api.nvim_win_get_height(win) - math.min(PLAN_CHAT, math.floor(vim.o.lines / 4))
  for _, other in ipairs(others()) do
    local height = api.nvim_win_get_height(other)
    rows = rows + (other == plan and height or math.max(0, height - PLAN_CODE))
  end
  -- the highest window first, because a window gives its rows to the next one
  api.nvim_win_set_height(plan, rows)
  for _, other in ipairs(others()) do
    api.nvim_win_set_height(other, other == plan and rows or PLAN_CODE)
  end
  layout.fit(chat)
  share.size = layout.size(win, 'lines')
  vim.w[win].caliban_share = share
end

--- Fits the windows of a chat in this tab to what the chat shows.
---@param chat caliban.Chat
function M.fit(chat)
  if #vim.fn.getcmdwintype() > 0 then
    return -- no window may be resized while the command-line window is open
  end
  for _, win in ipairs(vim.fn.win_findbuf(chat.transcript)) do
    local share = layout.share(win)
    local here = api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage()
    local wins = here and same(win) or {}
    -- of several windows of the transcript, the one next to the composer shows the question
    if win == wins[#wins] and share and share.side == 'lines' and not share.held then
      local plan = plan_window(chat)
      if plan then
        show_plan(chat, win, share, plan)
      else
        fit(chat, win, share)
      end
    end
    -- a composer that has grown with its text gives rows back
    local lower = here
      and api.nvim_win_get_height(win) < half(chat, win)
      and layout.composer_of(win)
    local _ = lower and layout.is_drafted(lower) and layout.fit(chat)
  end
end

layout.bound(function(chat, win)
  return half(chat, win), more(win)
end)

return M
