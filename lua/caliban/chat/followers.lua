--- The windows that go to a transcript's new end after a change: those that follow the end, those whose cursor was on a
--- question that is gone, and if a question has arrived, all in which the user does not read. Those whose cursor is on
--- the open question stay there while something arrives below it: only there its keys answer.
local M = {}

local api = vim.api

---@class caliban.Followers
---@field windows integer[] the windows that follow the end
---@field on_question integer[] those, and the windows whose cursor is on the open question or below it
---@field staying integer[] the windows whose cursor is on the open question
---@field question? caliban.Question

--- The windows whose cursor is on a line or below it, and in which nothing is selected.
---@param buf integer
---@param from integer
---@param except? integer a window that does not follow
---@return integer[]
local function at_end(buf, from, except)
  local mode = vim.fn.mode(1)
  local selecting = mode:find('^[vVsS\22\19]') or mode:find('^no')
  local selecting_in = selecting and api.nvim_get_current_win()
  return vim.tbl_filter(function(win)
    return win ~= selecting_in and win ~= except and api.nvim_win_get_cursor(win)[1] >= from
  end, vim.fn.win_findbuf(buf))
end

--- Notes the windows before a change.
---@param chat caliban.Chat
---@param follow boolean whether any window goes to the new end
---@param except? integer a window that does not follow
---@return caliban.Followers
function M.note(chat, follow, except)
  local buf = chat.transcript
  local noted =
    { windows = {}, on_question = {}, staying = {}, question = chat.question or chat.repainted }
  if follow then
    noted.windows = at_end(buf, api.nvim_buf_line_count(buf), except)
    local block, row = require('caliban.chat.order').asking(chat)
    noted.on_question = block and at_end(buf, row + 1, except) or noted.windows
    noted.staying = block
        and vim.tbl_filter(function(win)
          return api.nvim_win_get_cursor(win)[1] <= row + block.n
        end, noted.on_question)
      or {}
  end
  return noted
end

--- Whether a question is still the open one.
---@param question? caliban.Question
---@param now? caliban.Question
---@return boolean
local function is_same(question, now)
  local asks, other = question and question.asks, now and now.asks
  return question ~= nil
    and now ~= nil
    and now.call == question.call
    and (asks and asks.question) == (other and other.question)
end

--- Keeps the cursor on the open question, at whose end it was, if something has arrived below the question.
---@param chat caliban.Chat
---@param windows integer[] those that go to the new end
---@param staying integer[]
---@return integer[] # those that still do
local function stay(chat, windows, staying)
  local block, row = require('caliban.chat.order').asking(chat)
  local last = block and row + block.n
  if not last or last >= api.nvim_buf_line_count(chat.transcript) then
    return windows
  end
  return vim.tbl_filter(function(win)
    local stays = vim.list_contains(staying, win)
    local _ = stays and api.nvim_win_set_cursor(win, { last, 0 })
    return not stays
  end, windows)
end

--- The windows that go to the new end.
---@param chat caliban.Chat
---@param before caliban.Followers
---@return integer[]
function M.after(chat, before)
  local question = before.question
  local stays = is_same(question, chat.question or chat.repainted)
  local windows = vim.list_slice(question and not stays and before.on_question or before.windows)
  windows = stays and stay(chat, windows, before.staying) or windows
  if chat.question and not is_same(question, chat.question) then
    for _, win in ipairs(vim.fn.win_findbuf(chat.transcript)) do
      local reads = win == api.nvim_get_current_win()
      if not reads and not vim.list_contains(windows, win) then
        table.insert(windows, win)
      end
    end
  end
  return windows
end

return M
