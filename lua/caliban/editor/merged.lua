--- Buffers into which changes of their files on disk were merged. Neovim has not read these changes, so it would ask the
--- user before it writes such a buffer. Here a command takes the place of `:write` as long as nobody has written the file
--- since.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF
local disk = require('caliban.editor.disk')
local names = require('caliban.editor.name')
local written = require('caliban.editor.written')
local write_command = require('caliban.editor.write_command')

local group = api.nvim_create_augroup('caliban.merged', {})
local stamps = {} ---@type table<integer, string> by buffer: the stamp of the file whose text was merged

--- Whether the file on disk is still the one whose text was merged into the buffer.
---@param buf integer
---@return boolean
function M.holds(buf)
  return stamps[buf] ~= nil and stamps[buf] == disk.stamp(api.nvim_buf_get_name(buf))
end

--- Lets Neovim ask again, because it writes or reads the file.
---@param buf integer
function M.drop(buf)
  stamps[buf] = nil
  api.nvim_clear_autocmds({ group = group, [BUF] = buf })
end

--- Carries out the user's `:write`.
---@param buf integer
---@param event { match: string, file: string }
local function write(buf, event)
  local path = api.nvim_buf_get_name(buf)
  local own = names.real(event.match) == names.real(path)
  -- a bang would override 'readonly' and the permissions
  local may = not vim.bo[buf].readonly and vim.fn.filewritable(path) == 1
  local bang = vim.v.cmdbang == 1 or own and may and M.holds(buf)
  local stamp = stamps[buf]
  M.drop(buf)
  local failed = write_command.run(buf, not own and event.file or nil, bang)
  if failed then
    write_command.refuse(failed)
  end
  if (failed or not own) and api.nvim_buf_is_loaded(buf) then
    M.note(buf, stamp)
  end
end

--- Called when the changes of the file on disk are in the buffer.
---@param buf integer
---@param stamp? string the stamp of the file on disk; default: as it is now
function M.note(buf, stamp)
  M.drop(buf)
  stamps[buf] = stamp or disk.stamp(api.nvim_buf_get_name(buf))
  api.nvim_create_autocmd('BufWriteCmd', {
    group = group,
    [BUF] = buf,
    nested = true,
    callback = function(event)
      -- the write guard has a command of its own
      if vim.bo[buf].buftype == '' then
        write(buf, event)
      end
    end,
  })
  api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost', 'BufUnload', 'BufFilePost' }, {
    group = group,
    [BUF] = buf,
    callback = function(event)
      local own = names.real(event.match) == names.real(api.nvim_buf_get_name(buf))
      if event.event ~= 'BufWritePost' or own and written.is_done(buf) then
        M.drop(buf)
      end
    end,
  })
end

return M
