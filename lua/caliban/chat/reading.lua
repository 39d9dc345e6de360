--- Shows an open question in the windows of its chat: the whole question, or its beginning if a
--- window is too low. The question's keys are below its end, and at the composer while the cursor is
--- on the question. If the end is not on the screen, the composer names the answers.
local M = {}

local api, fn = vim.api, vim.fn

--- Whether a window has room for all lines from this one on.
---@param win integer
---@param first integer
---@return boolean
local function fits(win, first)
  local rows = api.nvim_win_text_height(win, { start_row = first - 1 }).all
  -- without the winbar, which `nvim_win_get_height()` counts
  return rows <= fn.getwininfo(win)[1].height
end

--- Shows a notice from its first line if a window that follows the end has no room for it.
---@param chat caliban.Chat
---@param win integer
---@param row integer the first row of the notice
function M.from(chat, win, row)
  if not chat.question and not fits(win, row + 1) then
    api.nvim_win_set_cursor(win, { row + 1, 0 })
    require('caliban.chat.scroll').top(win, row + 1)
  end
end

--- The keys in the line of a question, each with its meaning.
---@param line string
---@return string[]
function M.keys(line)
  return vim.split(vim.trim(line), '   ?')
end

--- Whether a key of a question is one of its two answers.
---@param key caliban.KeyWords
---@return boolean
function M.is_answer(key)
  return type(key) == 'string' and (vim.startswith(key, 'y ') or vim.startswith(key, 'n '))
end

--- The first and the last line of a chat's question.
---@param chat caliban.Chat
---@return integer? first
---@return integer last
local function lines(chat)
  local block, row = require('caliban.chat.order').asking(chat)
  if not (chat.question and block) then
    return nil, 0
  end
  return row + (block.head or 0) + 1, row + block.n
end

--- The first keys of a question that no window shows to its end: the answers to a question about a call, the first two
--- keys of another one. The user sees its beginning, and has to know that it can be answered.
---@param chat caliban.Chat
---@return string? # nil if there is no such question
function M.hidden_keys(chat)
  local first, last = lines(chat)
  local wins = first and fn.win_findbuf(chat.transcript) or {}
  for _, win in ipairs(wins) do
    if fn.line('w$', win) >= last then
      return nil
    end
  end
  if #wins == 0 then
    return nil
  end
  local all = M.keys(api.nvim_buf_get_lines(chat.transcript, last - 1, last, false)[1] or '')
  local answers = vim.tbl_filter(M.is_answer, all)
  return table.concat(#answers == 2 and answers or vim.list_slice(all, 1, 2), '  ')
end

--- Shows a question from its first line.
---@param win integer
---@param first integer the question's first line
---@param moves boolean whether the cursor goes there if the window has no room for all of the question
local function show(win, first, moves)
  local has_room, scroll = fits(win, first), require('caliban.chat.scroll')
  if not has_room and moves then
    api.nvim_win_set_cursor(win, { first, 0 })
    scroll.top(win, first)
  elseif has_room and (fn.line('w0', win) > first or fn.line('w$', win) < fn.line('$', win)) then
    scroll.bottom(win, fn.line('$', win), first)
  end
end

--- Shows the end of a question from a line on, and the lines before it for which there is room.
---@param win integer
---@param line integer
local function reveal(win, line)
  local top = line
  while top > 1 and fits(win, top - 1) do
    top = top - 1
  end
  api.nvim_win_set_cursor(win, { line, 0 })
  require('caliban.chat.scroll').top(win, top)
end

--- Shows the question in the windows that follow the end of the transcript, and the whole question,
--- where there is room, in those whose cursor is on it. If the question was shown before, the
--- cursor stays, unless the user has just asked for the explanation and the window has no room for
--- the whole question, or the question's keys have come and have taken the room for its first row.
---@param chat caliban.Chat
---@param windows integer[]
function M.follow(chat, windows)
  local first, last = lines(chat)
  local question = chat.question
  if first and question then
    for _, win in ipairs(fn.win_findbuf(chat.transcript)) do
      local follows = vim.list_contains(windows, win)
      if follows or api.nvim_win_get_cursor(win)[1] >= first then
        local was_whole = question.whole[win]
        question.whole[win] = fits(win, first)
        show(win, first, follows and (not question.placed or was_whole))
        local new = question.reveals
        local _ = new and not fits(win, first) and reveal(win, last - new + 1)
      end
    end
    question.placed, question.reveals = question.placed or #windows > 0, nil
  end
end

--- The number of rows of a line that begin before a byte.
---@param win integer
---@param lnum integer
---@param byte integer from 1
---@return integer
local function rows_before(win, lnum, byte)
  local column = api.nvim_win_call(win, function()
    return fn.virtcol({ lnum, byte })
  end)
  local range = { start_row = lnum - 1, start_vcol = 0, end_row = lnum - 1, end_vcol = column }
  local rows = api.nvim_win_text_height(win, range).all --[[@as integer]]
  return rows - 1
end

--- Shows a line from its first byte that has not been on the screen, and what follows it.
---@param win integer
---@param lnum integer
---@param text string
---@param seen table<integer, true>
---@return boolean # whether the window has moved
local function reach(win, lnum, text, seen)
  local byte = 1
  while byte < #text and seen[byte] do
    byte = byte + 1 + vim.str_utf_end(text, byte)
  end
  local before = api.nvim_win_call(win, fn.winsaveview)
  api.nvim_win_set_cursor(win, { lnum, byte - 1 })
  api.nvim_win_call(win, function()
    local _ = fn.foldclosed(lnum) > 0 and vim.cmd.normal({ 'zv', bang = true })
  end)
  if fits(win, lnum) then
    require('caliban.chat.scroll').bottom(win, fn.line('$', win), lnum)
  else
    local info = fn.getwininfo(win)[1]
    -- the first row of a line that begins above the window has a mark, and does not count
    local above = vim.wo[win].wrap and math.max(0, rows_before(win, lnum, byte) - 1) or 0
    api.nvim_win_call(win, function()
      fn.winrestview({ topline = lnum, skipcol = above * (info.width - info.textoff) })
    end)
  end
  local now = api.nvim_win_call(win, fn.winsaveview)
  return now.topline ~= before.topline or now.skipcol ~= before.skipcol
end

--- Shows the first part of a question that has not been on the screen.
---@param chat caliban.Chat
---@param question caliban.Question
---@return integer? win the window that has moved
function M.go_on(chat, question)
  local block, row = require('caliban.chat.order').asking(chat)
  local here = api.nvim_get_current_buf() == chat.transcript
  local win = here and api.nvim_get_current_win() or fn.win_findbuf(chat.transcript)[1]
  for i = 1, block and win and #question.lines - 1 or 0 do
    local line, seen = question.lines[i], question.seen[i]
    if line ~= '' and type(seen) == 'table' then
      return reach(win, row + i, line, seen) and win or nil
    end
  end
end

--- Goes to the first line of what waits for the user, and shows the lines from `top` on: all of them, or the first ones.
---@param win integer
---@param first integer
---@param top? integer the first line that is shown; default: `first`
function M.go(win, first, top)
  show(win, top or first, true)
  api.nvim_win_set_cursor(win, { first, 0 })
end

return M
