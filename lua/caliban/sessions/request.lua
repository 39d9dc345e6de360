--- Shows the last request that was sent to the model.
local M = {}

local api = vim.api

--- Goes from the chat's windows to a window that is large enough to be split.
local function leave_chat()
  local chats = require('caliban.chat.chats')
  if not chats.of(api.nvim_get_current_buf()) then
    return
  end
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local chat = chats.of(api.nvim_win_get_buf(win))
    local float = api.nvim_win_get_config(win).relative ~= ''
    if not float and not (chat and chat.composer == api.nvim_win_get_buf(win)) then
      return api.nvim_set_current_win(win)
    end
  end
end

---@type vim.api.keyset.cmd_mods?
local mods

--- Asks the program for the request, which `show` puts into a new window.
---@param given? vim.api.keyset.cmd_mods modifiers for the new window (`:vertical`, `:tab`)
function M.ask(given)
  mods = given
  require('caliban.chat').send({ kind = 'show_request' })
end

--- Goes to the window of the scratch buffer with this name. Creates the buffer and the window if
--- needed.
---@param name string
---@param modifiers? vim.api.keyset.cmd_mods
---@return integer buf
function M.window(name, modifiers)
  local buf = require('caliban.editor.name').buffer(name)
  local win = buf and vim.fn.win_findbuf(buf)[1]
  if buf and win then
    api.nvim_set_current_win(win)
  else
    leave_chat()
    vim.cmd({ cmd = 'new', mods = modifiers })
    require('caliban.editor.bare').clear(api.nvim_get_current_win())
    buf = api.nvim_get_current_buf()
    require('caliban.editor.scratch').guard(buf)
    vim.bo[buf].buftype, vim.bo[buf].bufhidden = 'nofile', 'wipe'
    vim.bo[buf].swapfile, vim.bo[buf].undolevels = false, -1
    api.nvim_buf_set_name(buf, name)
  end
  return buf
end

--- Shows a request in a buffer of its own.
---@param message caliban.Request
function M.show(message)
  local buf = M.window(('caliban://%s/request'):format(message.session), mods)
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(message.body, '\n'))
  vim.bo[buf].modifiable, vim.bo[buf].modified = false, false
  vim.bo[buf].filetype = 'json'
  -- in a narrow window the figures after the address are cut, not the address
  local first, rest = message.about:match('^(.-)( · .*)$')
  require('caliban.editor.name').winbar(0, ' %s%%<%s', first or message.about, rest or '')
end

return M
