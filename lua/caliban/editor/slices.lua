--- Does long work in short slices, so that Neovim can handle keys in between.
local M = {}

--- The length of a slice in ns. The rest of a frame (16 ms) is left for a key, its redraw and a
--- single slow step: for example, when Lua enlarges its table of strings, this takes 10 ms at
--- 131,072 strings.
local SLICE = 3e6
--- If a slice has lasted longer than this, in ns, it ends before a long step, so that the long step
--- gets a separate slice. Shorter work needs no pause.
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
      -- `vim.schedule` would run the next slice before Neovim has drawn the effect of the last key
      vim.defer_fn(slice, 1)
    end
  end
  slice()
end

--- Runs a step without pauses. The garbage collector is stopped during the step, and works in later
--- steps.
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

--- If the time of the slice is over, pauses until the next slice; afterwards anything in the editor
--- may have changed. Does nothing outside of `run`.
---@param long? boolean whether the next step takes long
function M.rest(long)
  local mine = running and coroutine.running() == running
  if mine and vim.uv.hrtime() - began > (long and FRESH or SLICE) then
    ---@diagnostic disable-next-line: await-in-sync
    coroutine.yield()
  end
end

return M
