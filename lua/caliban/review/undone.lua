--- Reviews in which the user has undone all pending changes with `u`. Their verdict is delayed,
--- because `<C-r>` may restore the changes.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')

--- For how many milliseconds a verdict is delayed, unless the user does something outside of the
--- file.
M.delay = 20000

--- The header of a file whose verdict is delayed.
M.words = 'undone; <C-r> brings it back'

---@class caliban.Resting
---@field timer uv.uv_timer_t
---@field conclude caliban.Conclude

---@alias caliban.Conclude fun(at_once: boolean): string? sends the verdict. Unless `at_once`,
---waits until the buffer may be written. Returns a message for the user if the verdict was sent

local resting = {} ---@type table<caliban.Review, caliban.Resting>

--- Whether the verdict of a review is delayed.
---@param r caliban.Review
---@return boolean
function M.holds(r)
  return resting[r] ~= nil
end

--- Ends the delay: changes are pending again, or the verdict is about to be sent.
---@param r caliban.Review
function M.stop(r)
  local it = resting[r] ---@as caliban.Resting?
  resting[r] = nil
  if it then
    it.timer:close()
  end
end

--- Sends a verdict, if it is still delayed.
---@param r caliban.Review
---@param it? caliban.Resting
local function tell(r, it)
  if not it or resting[r] ~= it then
    return
  end
  M.stop(r)
  local line = it.conclude(false)
  if line then
    require('caliban.editor.notify').show(line)
  end
end

--- Delays the verdict of a review.
---@param r caliban.Review
---@param conclude caliban.Conclude
function M.begin(r, conclude)
  M.stop(r)
  local it = { conclude = conclude, timer = assert(vim.uv.new_timer()) } ---@type caliban.Resting
  resting[r] = it
  it.timer:start(
    M.delay,
    0,
    vim.schedule_wrap(function()
      tell(r, it)
    end)
  )
end

--- Sends every delayed verdict, even while the user is in the middle of a command.
---@return string? a message for the user if a verdict was sent
function M.tell_all()
  local before, line = resting, nil ---@type table<caliban.Review, caliban.Resting>, string?
  resting = {}
  for _, it in pairs(before) do
    it.timer:close()
    line = it.conclude(true) or line
  end
  return line
end

local group = api.nvim_create_augroup('caliban.review.undone', {})

--- Called by autocommands. Sends the delayed verdicts of the files for which `acts` returns true.
--- `acts` is called only after the autocommand, because Neovim enters a buffer for a moment when it
--- loads the buffer without a window.
---@param acts fun(r: caliban.Review): boolean whether the user acts outside of this file
local function elsewhere(acts)
  vim.schedule(function()
    for _, r in ipairs(vim.tbl_filter(acts, vim.tbl_keys(resting))) do
      tell(r, resting[r])
    end
  end)
end

api.nvim_create_autocmd('BufEnter', {
  group = group,
  callback = function()
    elsewhere(function(r)
      local buf = api.nvim_get_current_buf()
      return buf ~= r.buf and file.ordinary(buf)
    end)
  end,
})

-- without TextChanged, which also fires when the program changes a chat
api.nvim_create_autocmd({ 'TextChangedI', 'TextChangedP' }, {
  group = group,
  callback = function(event)
    elsewhere(function(r)
      return event.buf ~= r.buf
    end)
  end,
})

api.nvim_create_autocmd('VimLeavePre', {
  group = group,
  callback = function()
    M.tell_all()
  end,
})

return M
