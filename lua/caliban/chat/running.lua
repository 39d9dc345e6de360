--- The running calls of a chat, and for how long each has run.
local M = {}

local api = vim.api
--- The namespace of the sign on a running call.
M.ns = api.nvim_create_namespace('caliban_running')

---@return number ms
local function now()
  return vim.uv.hrtime() / 1e6
end

--- Notes what the program's clock shows now.
---@param chat caliban.Chat
---@param program? number ms
function M.set_clock(chat, program)
  chat.clock = now() - (program or 0)
end

--- The words beside a running call; nil if the call does not run.
---@param chat caliban.Chat
---@param call caliban.CallLine
---@return string?
---@return string? short the words for a narrow window
function M.words(chat, call)
  if not call.began then
    return nil
  end
  local s = math.max(0, math.floor((now() - (chat.clock or 0) - call.began) / 1000))
  local words = s < 120 and ('running %d s'):format(s) or ('running %d min'):format(s / 60)
  return words .. ' · <C-c> stops', words
end

--- Removes the sign of a call.
---@param chat caliban.Chat
---@param id integer of the block
local function remove_sign(chat, id)
  local sign = chat.spinners[id]
  if sign and api.nvim_buf_is_valid(chat.transcript) then
    api.nvim_buf_del_extmark(chat.transcript, M.ns, sign)
  end
  chat.spinners[id] = nil
end

--- Notes whether a block's call runs.
---@param chat caliban.Chat
---@param block caliban.Block
---@param call? caliban.CallLine
function M.note(chat, block, call)
  if call and call.began then
    chat.running = chat.running or {}
    chat.running[block.id] = block
  elseif chat.running and chat.running[block.id] then
    chat.running[block.id] = nil
    remove_sign(chat, block.id)
  end
end

--- Forgets the running calls of a chat, whose transcript is emptied or whose program has ended.
---@param chat caliban.Chat
function M.forget(chat)
  chat.running = nil
  for id in pairs(vim.deepcopy(chat.spinners)) do
    remove_sign(chat, id)
  end
end

return M
