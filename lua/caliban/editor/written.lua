--- Whether a `:write` has written the file. Neovim sends BufWritePost also if it has asked the user whether to write over
--- a change on disk, and the user has answered no.
local M = {}

local api = vim.api
local bytes = require('caliban.editor.bytes')
local disk = require('caliban.editor.disk')

local before = {} ---@type table<integer, string> by buffer: the file's stamp before the write

api.nvim_create_autocmd('BufWritePre', {
  group = api.nvim_create_augroup('caliban.written', {}),
  callback = function(event)
    before[event.buf] = disk.stamp(api.nvim_buf_get_name(event.buf))
  end,
})

--- For a BufWritePost autocommand of a write to the buffer's own file.
---@param buf integer
---@return boolean
function M.is_done(buf)
  return not vim.bo[buf].modified
    or before[buf] ~= disk.stamp(api.nvim_buf_get_name(buf))
    -- the clock of some disks does not tell two writes in a row apart
    or bytes.holds(buf, vim.v.cmdarg)
end

return M
