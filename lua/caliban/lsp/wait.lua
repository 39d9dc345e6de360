--- Waits for what only time brings, without holding up the editor.
local M = {}

local EVERY = 30

---@return number milliseconds
function M.now()
  return vim.uv.hrtime() / 1e6
end

--- Probes until it is true or the time is over.
---@param ms integer
---@param probe fun(): boolean
---@param done fun(came: boolean)
---@return fun() stop nothing more is called
function M.till(ms, probe, done)
  local timer = assert(vim.uv.new_timer())
  local began, over = M.now(), false
  local function stop()
    over = true
    if not timer:is_closing() then
      timer:close()
    end
  end
  local function look()
    if over then
      return
    end
    local came = probe()
    if came or M.now() - began >= ms then
      stop()
      done(came)
    end
  end
  timer:start(EVERY, EVERY, vim.schedule_wrap(look))
  vim.schedule(look)
  return stop
end

return M
