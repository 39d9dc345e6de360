--- Does long work in slices, so that Neovim handles keys in between.
local M = {}

--- The length of a slice in ns. The rest of a frame is for a key, its redraw and a single slow step: Lua grows its
--- table of strings at once, which takes 10 ms at 131,072 strings.
local SLICE = 3e6
--- The time in ns after which a slice ends before a long step, so that the step gets a slice of its own. Short work
--- needs no pause.
local FRESH = 1e6

local running ---@type thread?
local began = 0 ---@type number

--- Runs `fn` at once. If `fn` takes longer than a slice, the next `rest` defers the remainder to a later slice.
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
      -- `vim.schedule` would run the next slice before Neovim has drawn the last key
      vim.defer_fn(slice, 1)
    end
  end
  slice()
end

--- Runs a step in one go, without pauses. The garbage collector is stopped meanwhile, and collects in later steps.
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

--- Ends the slice if its time is over. Anything may have changed when this function returns. Does nothing outside of
--- `run`.
---@param long? boolean whether the next step takes long
function M.rest(long)
  local mine = running and coroutine.running() == running
  if mine and vim.uv.hrtime() - began > (long and FRESH or SLICE) then
    ---@diagnostic disable-next-line: await-in-sync
    coroutine.yield()
  end
end

return M
