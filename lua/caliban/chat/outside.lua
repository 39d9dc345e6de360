--- The windows and buffers in which the user works outside of the chats, and which of them was used
--- last.
local M = {}

local api = vim.api

--- The most buffers that are remembered.
local MOST = 50

---@class caliban.Outside
---@field win integer
---@field buf integer

---@type caliban.Outside[] newest last
local visited = {}

--- Whether this is a buffer in which the user works: not a chat, a prompt, a list, or the panel of
--- a plugin.
---@param buf integer
---@return boolean
local function is_work(buf)
  if not api.nvim_buf_is_loaded(buf) or require('caliban.chat.chats').of(buf) then
    return false
  end
  local kind = vim.bo[buf].buftype
  local is_panel = kind == 'nofile' and not vim.bo[buf].buflisted
  return kind ~= 'prompt' and kind ~= 'quickfix' and not is_panel
end

--- Whether nothing is in a buffer, and no window shows it any more.
---@param buf integer
---@return boolean
local function is_left(buf)
  local is_unnamed = api.nvim_buf_get_name(buf) == '' and not vim.bo[buf].modified
  return is_unnamed and vim.bo[buf].buftype == '' and #vim.fn.win_findbuf(buf) == 0
end

--- Remembers the current window and its buffer.
local function visit()
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  if api.nvim_win_get_config(win).relative ~= '' then
    return
  end
  for i, it in ipairs(visited) do
    if it.buf == buf then
      table.remove(visited, i)
      break
    end
  end
  table.insert(visited, { win = win, buf = buf })
  if #visited > MOST then
    table.remove(visited, 1)
  end
end

--- Begins to watch which windows and buffers the user enters.
function M.watch()
  visit()
  api.nvim_create_autocmd({ 'WinEnter', 'BufEnter' }, {
    group = api.nvim_create_augroup('caliban_outside', {}),
    callback = visit,
  })
end

--- The last used window outside of the chats, and the buffer that it had. The window may be closed or have another
--- buffer by now.
---@return caliban.Outside? # nil if there is none
function M.last()
  visit()
  for i = #visited, 1, -1 do
    local it = visited[i]
    if api.nvim_buf_is_valid(it.buf) and is_work(it.buf) and not is_left(it.buf) then
      return it
    end
  end
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local buf = api.nvim_win_get_buf(win)
    if is_work(buf) and api.nvim_win_get_config(win).relative == '' then
      return { win = win, buf = buf }
    end
  end
end

--- A number that tells when the user was last in a buffer: of two buffers, the one with the greater
--- number was used later.
---@param buf integer
---@return integer # 0 if the user was not in the buffer
function M.rank(buf)
  for i, it in ipairs(visited) do
    if it.buf == buf then
      return i
    end
  end
  return 0
end

return M
