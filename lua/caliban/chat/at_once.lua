--- Runs a function from an <expr> mapping, before keys that were typed ahead.
local M = {}

---@type fun()?
local due

--- Runs the function that was passed to the last call of `keys`.
function M.run()
  local fn = due
  due = nil
  if fn then
    fn()
  end
end

--- Returns keys for an <expr> mapping that run `fn`. They are a command, because a scheduled call
--- would run only after keys that were typed ahead.
---@param fn fun()
---@return string
function M.keys(fn)
  due = fn
  return '<Cmd>lua require("caliban.chat.at_once").run()<CR>'
end

return M
