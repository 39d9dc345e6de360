--- Reviews in which undo has left nothing to decide. The verdict waits, so that a redo can still take it back.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')

--- Milliseconds that a verdict waits for, where the user does nothing else.
M.delay = 2000

--- What a file says while its verdict waits.
M.words = 'undone; <C-r> brings it back'

---@class caliban.Resting
---@field timer uv.uv_timer_t
---@field over caliban.Over

---@alias caliban.Over fun(at_once: boolean): string? tells the verdict, or else once the buffer may be written; a line
---for the user

local resting = {} ---@type table<caliban.Review, caliban.Resting>

---@param r caliban.Review
---@return boolean
function M.holds(r)
  return resting[r] ~= nil
end

--- The review rests no more: something is pending again, or its verdict is told.
---@param r caliban.Review
function M.stop(r)
  local it = resting[r] ---@as caliban.Resting?
  resting[r] = nil
  if it then
    it.timer:close()
  end
end

--- Tells one verdict, if it still waits.
---@param r caliban.Review
---@param it? caliban.Resting
local function tell(r, it)
  if not it or resting[r] ~= it then
    return
  end
  M.stop(r)
  local line = it.over(false)
  if line then
    require('caliban.editor.notify').show(line)
  end
end

--- Lets the verdict of a review wait, from now on.
---@param r caliban.Review
---@param over caliban.Over
function M.begin(r, over)
  M.stop(r)
  local it = { over = over, timer = assert(vim.uv.new_timer()) } ---@type caliban.Resting
  resting[r] = it
  it.timer:start(
    M.delay,
    0,
    vim.schedule_wrap(function()
      tell(r, it)
    end)
  )
end

--- Every verdict that waits is told, even where the editor is in the middle of something.
---@return string? line for the user, where there was one
function M.tell_all()
  local before, line = resting, nil ---@type table<caliban.Review, caliban.Resting>, string?
  resting = {}
  for _, it in pairs(before) do
    it.timer:close()
    line = it.over(true) or line
  end
  return line
end

local group = api.nvim_create_augroup('caliban.review.undone', {})

--- Tells the verdicts that wait, if the user acts outside of their files. This is looked at after the event: a buffer
--- that is loaded without a window is entered only until then.
---@param acts fun(r: caliban.Review): boolean
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

-- outside of insert mode it is the program that changes a chat
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
