--- Long work in slices, so that what the user types comes in between.
local M = {}

--- How long one slice takes, in ns: what is left of a frame is for a key and its redraw, and for a single step that
--- takes long: Lua's table of strings grows in one, 10 ms where 131,072 are in it.
local SLICE = 3e6
--- What it may have taken before a step that cannot rest: short work is done at once.
local FRESH = 1e6

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
      -- a scheduled call would come before what the last key drew is shown
      vim.defer_fn(slice, 1)
    end
  end
  slice()
end

--- A step that cannot rest, without what the collector would do in it: that comes in the next ones.
---@param fn fun(...)
---@param ... any
function M.whole(fn, ...)
  collectgarbage('stop')
  local ok, err = pcall(fn, ...)
  collectgarbage('restart')
  if not ok then
    error(err, 0)
  end
end

--- A place where the work may rest, and anything may have changed afterwards. Elsewhere than in `run` it does nothing.
---@param long? boolean what comes next takes long
function M.rest(long)
  local mine = running and coroutine.running() == running
  if mine and vim.uv.hrtime() - began > (long and FRESH or SLICE) then
    ---@diagnostic disable-next-line: await-in-sync
    coroutine.yield()
  end
end

return M
