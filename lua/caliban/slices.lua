--- Long work in slices, so that what the user types comes in between.
local M = {}

--- How long one slice takes, in ns: what is left of a frame is for a key and its redraw.
local SLICE = 6e6

local running ---@type thread?
local began = 0 ---@type number

--- Runs `fn` at once. Where that takes longer than a slice and `fn` may rest, the remainder is done later.
---@param fn fun()
function M.run(fn)
  local work = coroutine.create(fn)
  local function slice()
    local outer, before = running, began
    running, began = work, vim.uv.hrtime()
    local ok, err = coroutine.resume(work)
    running, began = outer, before
    if not ok then
      error(err, 0)
    elseif coroutine.status(work) ~= 'dead' then
      vim.schedule(slice)
    end
  end
  slice()
end

--- A place where the work may rest, and anything may have changed afterwards. Elsewhere than in `run` it does nothing.
function M.rest()
  if running and coroutine.running() == running and vim.uv.hrtime() - began > SLICE then
    ---@diagnostic disable-next-line: await-in-sync
    coroutine.yield()
  end
end

return M
