--- Calls the modules that draw a review, save it to disk, and list it in the chat.
local M = {}

---@class caliban.ReviewListener
---@field looked? fun(r: caliban.Review, decided: boolean) the review was updated; `decided`: after a decision of the user
---@field pending? fun(r: caliban.Review, decided: boolean) changes are pending, or a redo can bring them back
---@field cleared? fun(r: caliban.Review) the buffer shows nothing of the review any more
---@field closed? fun(r: caliban.Review) the review has ended
---@field reported? fun(r: caliban.Review) the verdict was sent
---@field renamed? fun(r: caliban.Review) the review's conversation was renamed
---@field parsed? fun(r: caliban.Review) the mark of a syntax error (see `ui/syntax`) has changed
---@field missed? fun() the user decided on the hunk under the cursor, but there is none
---@field waiting? fun() an edit began to wait for its buffer, or stopped waiting

local all = {} ---@type caliban.ReviewListener[]

---@param listener caliban.ReviewListener
function M.add(listener)
  all[#all + 1] = listener
end

---@param event 'looked'|'pending'|'cleared'|'closed'|'reported'|'renamed'|'parsed'|'missed'|'waiting'
---@param ... any the arguments of the listener
function M.tell(event, ...)
  for _, listener in ipairs(all) do
    local fn = listener[event]
    if fn then
      fn(...)
    end
  end
end

return M
