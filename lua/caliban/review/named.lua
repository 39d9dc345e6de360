--- A buffer under review that the user or a plugin has given another name. If the file was renamed with it, the review
--- goes on under the new name. If the file is still there, as after `:saveas`, its changes are under review elsewhere,
--- and the file itself stays as it is.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')
local names = require('caliban.editor.name')
local state = require('caliban.review.state')

--- The path of the buffer, if it is not the path of the file under review.
---@param r caliban.Review
---@return string?
function M.elsewhere(r)
  local name = api.nvim_buf_is_valid(r.buf) and api.nvim_buf_get_name(r.buf) or ''
  return name ~= '' and names.real(name) ~= names.real(r.path) and name or nil
end

--- The name for the user: that of the buffer.
---@param r caliban.Review
---@return string
function M.shown(r)
  return file.short(M.elsewhere(r) or r.path)
end

--- Follows a file that was renamed together with its buffer.
---@param r caliban.Review
function M.follow(r)
  local name = M.elsewhere(r)
  if not name or r.whole or vim.uv.fs_stat(r.path) then
    return
  elseif file.is_foreign(r.buf) then
    if r.create or not r.origin or file.disk(r.buf) ~= r.origin then
      return
    end
    file.adopt(r.buf)
  end
  state.renamed(r, names.real(name))
  require('caliban.review.listeners').tell('renamed', r)
end

---@param r caliban.Review
local function tell(r)
  M.follow(r)
  local count = state.count(r)
  if r.open and count > 0 and M.elsewhere(r) then
    local what = '%d hunk%s of %s %s now under review in %s. %s stays as it is on disk.'
    local was, is = file.short(r.path), count == 1 and 'is' or 'are'
    require('caliban.editor.notify').show(
      what:format(count, count == 1 and '' or 's', was, is, M.shown(r), was)
    )
  end
  require('caliban.review.listeners').tell('pending', r, false)
end

--- Watches the names of the buffers under review.
---@param of fun(buf: integer): caliban.Review?
function M.watch(of)
  api.nvim_create_autocmd('BufFilePost', {
    group = api.nvim_create_augroup('caliban.review.named', {}),
    callback = function(event)
      -- scheduled, because a plugin may rename the file after the buffer
      vim.schedule(function()
        local r = api.nvim_buf_is_loaded(event.buf) and of(event.buf)
        if r and r.open and M.elsewhere(r) then
          tell(r)
        end
      end)
    end,
  })
end

return M
