--- Tells those above the reviews what has become of one. What is drawn, kept on disk and listed in a chat follows from it.
local M = {}

---@class caliban.ReviewListener
---@field looked? fun(r: caliban.Review, decided: boolean) it was brought up to date, after a decision or otherwise
---@field pending? fun(r: caliban.Review, decided: boolean) something of it is pending, or a redo can bring it back
---@field cleared? fun(r: caliban.Review) nothing of it is to be seen in its buffer any more
---@field closed? fun(r: caliban.Review) it is over
---@field reported? fun(r: caliban.Review, unsaved: string) its verdict is told; why its text is not on disk
---@field renamed? fun(r: caliban.Review) its conversation has another name
---@field missed? fun() a decision was for the hunk under the cursor, and there is none
---@field waiting? fun() an edit began or ceased to wait

local all = {} ---@type caliban.ReviewListener[]

---@param listener caliban.ReviewListener
function M.add(listener)
  all[#all + 1] = listener
end

---@param event 'looked'|'pending'|'cleared'|'closed'|'reported'|'renamed'|'missed'|'waiting'
---@param ... any as the listener takes it
function M.tell(event, ...)
  for _, listener in ipairs(all) do
    local fn = listener[event]
    if fn then
      fn(...)
    end
  end
end

return M
