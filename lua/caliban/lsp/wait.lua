--- Waits for a condition by polling, without blocking Neovim.
local M = {}

local EVERY = 30 -- milliseconds

---@return number milliseconds
function M.now()
  return vim.uv.hrtime() / 1e6
end

--- Calls `probe` until it returns true or the time is over, then `done`.
---@param ms integer
---@param probe fun(): boolean
---@param done fun(came: boolean) gets the last result of `probe`
---@return fun() stop ends the wait: neither function is called any more
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
