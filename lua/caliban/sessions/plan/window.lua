--- The windows of a plan: opens them beside the chat, and shows the plan's keys in their winbars.
local M = {}

local api = vim.api

--- The options of a window that was opened for a plan. Wrapped rows are indented by the width of the text that
--- 'formatlistpat' matches.
local OPTIONS = {
  wrap = true,
  linebreak = true,
  breakindent = true,
  breakindentopt = 'list:-1',
  concealcursor = '',
}

--- The window of this tab that shows a buffer.
---@param buf integer
---@return integer?
local function window(buf)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == buf then
      return win
    end
  end
end

--- The window to split: the last window of the user in this tab outside of the chats, otherwise the
--- transcript's window.
---@return integer?
local function anchor()
  local outside = require('caliban.chat.outside').last()
  local here = api.nvim_get_current_tabpage()
  local win = outside and outside.win
  if
    win
    and api.nvim_win_is_valid(win)
    and api.nvim_win_get_tabpage(win) == here
    and api.nvim_win_get_config(win).relative == ''
    and not require('caliban.chat.chats').of(api.nvim_win_get_buf(win))
  then
    return win
  end
  return (require('caliban.chat.layout').showing('transcript'))
end

--- Splits a window for a plan. The plan is to be read now, so it takes two thirds of the rows.
---@param buf integer
---@return integer win
local function split(buf)
  local beside = anchor()
  local config = { split = 'above', win = beside } ---@type vim.api.keyset.win_config
  if beside and api.nvim_win_get_config(beside).relative ~= '' then
    config = { split = 'above', win = -1 }
  else
    config.height = math.max(1, math.floor(api.nvim_win_get_height(beside or 0) * 2 / 3))
  end
  local win = require('caliban.chat.windows').keeping_sizes(function()
    return api.nvim_open_win(buf, false, config)
  end)
  vim.w[win].caliban_plan = true
  require('caliban.editor.bare').clear(win)
  for option, value in pairs(OPTIONS) do
    vim.wo[win][0][option] = value
  end
  vim.wo[win][0].conceallevel = require('caliban.config').get().conceal and 2 or 0
  return win
end

--- Shows a plan in this tab.
---@param buf integer
---@param focus boolean
---@return boolean # whether a window shows the plan
function M.open(buf, focus)
  local win = window(buf)
  if not win then
    local ok, made = pcall(split, buf) ---@type boolean, any
    if not ok then
      local full = tostring(made):find('E36:', 1, true)
      local why = full and 'There is no room for the plan here. Close a window first.'
        or tostring(made)
      require('caliban.editor.notify').say(why)
      return false
    end
    win = made
  end
  if focus and #vim.fn.getcmdwintype() == 0 then
    api.nvim_set_current_win(win)
  end
  return true
end

--- Whether a window of this tab shows a plan.
---@param buf integer
---@return boolean
function M.visible(buf)
  return api.nvim_buf_is_valid(buf) and window(buf) ~= nil
end

--- Closes the windows that were opened for a plan, unless the user types in them.
---@param buf integer
function M.close(buf)
  local typing = api.nvim_get_mode().mode ~= 'n'
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local is_ours = vim.w[win].caliban_plan and not (typing and win == api.nvim_get_current_win())
    if is_ours and #api.nvim_tabpage_list_wins(api.nvim_win_get_tabpage(win)) > 1 then
      require('caliban.chat.windows').keeping_sizes(function()
        local _ = pcall(api.nvim_win_close, win, false)
      end)
    end
  end
end

--- Whether a plan may be shown without a request: the chat is visible, and the user is in normal
--- mode or types in a buffer other than the plan's.
---@param chat caliban.Chat
---@param buf? integer the plan's buffer, if there is one
---@return boolean
function M.may_open(chat, buf)
  local mode = api.nvim_get_mode()
  local types = mode.mode == 'i' and buf ~= api.nvim_get_current_buf()
  local is_calm = not mode.blocking
    and (mode.mode == 'n' or types)
    and #vim.fn.getcmdwintype() == 0
    and vim.fn.reg_recording() == ''
    and vim.fn.reg_executing() == ''
    and vim.fn.pumvisible() == 0
  return is_calm and require('caliban.chat.layout').visible(chat)
end

--- Whether the user is not in the middle of a command.
---@return boolean
function M.is_safe()
  return vim.fn.state('moSawx') == ''
end

--- Sets the winbars of a plan's windows. The winbar of a narrow window has fewer keys, then no
--- name.
---@param buf integer
---@param state string the state of the plan in words
---@param keys string[] what can be pressed, in words; the longest first
function M.decorate(buf, state, keys)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local name, shown = 'Plan · ', keys[#keys] or ''
    local room = api.nvim_win_get_width(win) - api.nvim_strwidth(state) - 3
    for _, it in ipairs(keys) do
      if api.nvim_strwidth(name .. it) <= room then
        shown = it
        break
      end
    end
    if api.nvim_strwidth(name .. shown) > room then
      name = ''
    end
    local format = ' %s%%#CalibanAsk#%s%%*%%=%%#CalibanDim#%s '
    require('caliban.editor.name').winbar(win, format, name, state, shown)
  end
end

return M
