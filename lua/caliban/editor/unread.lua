--- Buffers whose file did not exist when they were loaded. If such a file appears, Neovim does not fire FileChangedShell:
--- it asks the user (W13) as soon as it looks at the file.
local M = {}

local api = vim.api

local unread = {} ---@type table<integer, true>
local group = api.nvim_create_augroup('caliban.unread', {})

--- Whether Neovim has written a new buffer, perhaps without autocommands: a buffer with text is unmodified only then.
---@param buf integer
---@return boolean
function M.is_written(buf)
  local lines = api.nvim_buf_get_lines(buf, 0, 2, false)
  return not vim.bo[buf].modified and (#lines > 1 or lines[1] ~= '')
end

--- Whether the file of a buffer has appeared on disk, and Neovim has not read it.
---@param buf integer
---@return boolean
function M.has_appeared(buf)
  return unread[buf] == true
    and not M.is_written(buf)
    and vim.uv.fs_stat(api.nvim_buf_get_name(buf)) ~= nil
end

--- Reads a file that has appeared. The buffer has its text already.
---@param buf integer
function M.read(buf)
  api.nvim_buf_call(buf, function()
    vim.cmd('silent! edit')
  end)
end

for _, buf in ipairs(api.nvim_list_bufs()) do
  local name = api.nvim_buf_get_name(buf)
  if name:find('^/') and api.nvim_buf_is_loaded(buf) and not vim.uv.fs_stat(name) then
    unread[buf] = true
  end
end

api.nvim_create_autocmd('BufNewFile', {
  group = group,
  callback = function(event)
    unread[event.buf] = true
  end,
})

api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost', 'BufFilePost', 'BufUnload' }, {
  group = group,
  callback = function(event)
    local is_write = event.event == 'BufWritePost'
    if not is_write or require('caliban.editor.written').is_done(event.buf) then
      unread[event.buf] = nil
    end
  end,
})

return M
