--- Keeps a file with pending hunks from being written by accident, and from the prompt when it changes on disk.
local M = {}

local api = vim.api
local file = require('caliban.file')

local group = api.nvim_create_augroup('caliban.guard', {})

---@class caliban.Guarded
---@field refusal fun(): string the sentence shown instead of a write
---@field written fun(past: boolean) what is shown was written, or so it seems, and past this guard
---@field changed fun(reason: string) the file changed on disk

--- Not an error of `:write`: from an autocommand that takes three lines and a key to dismiss.
---@param text string
local function complain(text)
  vim.v.errmsg = text
  api.nvim_echo({ { text, 'ErrorMsg' } }, true, {})
end

--- `:w!`, and `:w other`, run as they would without us.
---@param buf integer
---@param own boolean
---@param guarded caliban.Guarded
---@param event { file: string }
local function write(buf, own, guarded, event)
  M.clear(buf)
  local bang = own or vim.v.cmdbang == 1
  local target = own and '' or ' ' .. vim.fn.fnameescape(event.file)
  local ok, err = pcall(
    vim.cmd --[[@as function]],
    ('write%s %s%s'):format(bang and '!' or '', vim.v.cmdarg, target)
  )
  if api.nvim_buf_is_valid(buf) then
    M.set(buf, guarded)
    if own and ok then
      guarded.written(false)
    end
  end
  if not ok then
    complain(tostring(err):match('E%d+: .*') or tostring(err))
  end
end

---@param buf integer
---@param guarded caliban.Guarded
function M.set(buf, guarded)
  M.clear(buf)
  api.nvim_create_autocmd('BufWriteCmd', {
    group = group,
    buffer = buf,
    nested = true,
    callback = function(event)
      local own = file.real(event.match) == file.real(api.nvim_buf_get_name(buf))
      if own and vim.v.cmdbang == 0 then
        -- 'modified' stays, so that the write has failed for `:wq` and `:wqa`
        complain(guarded.refusal())
      else
        write(buf, own, guarded, event)
      end
    end,
  })
  api.nvim_create_autocmd('FileChangedShell', {
    group = group,
    buffer = buf,
    callback = function()
      vim.v.fcs_choice = ''
      guarded.changed(vim.v.fcs_reason)
    end,
  })
  -- `:noautocmd w`, and an autocommand that writes without being `nested`
  api.nvim_create_autocmd('BufModifiedSet', {
    group = group,
    buffer = buf,
    callback = function()
      if not vim.bo[buf].modified then
        guarded.written(true)
      end
    end,
  })
end

---@param buf integer
function M.clear(buf)
  if api.nvim_buf_is_valid(buf) then
    api.nvim_clear_autocmds({ group = group, buffer = buf })
  end
end

return M
