--- Deciding from the chat: what the keys do on a line of the list of what is under review.
local M = {}

local api = vim.api

local function list()
  return require('caliban.chat.review')
end

--- What the cursor's line is, as things stand now.
---@param chat caliban.Chat
---@return caliban.Item?
local function item(chat)
  list().refresh(chat, false)
  return list().under(chat)
end

--- Whether a review still has a hunk.
---@param r caliban.Review
---@param it caliban.Hunk
---@return boolean
local function stands(r, it)
  for _, hunk in ipairs(require('caliban.pending').list(r)) do
    if hunk.start == it.start then
      return vim.deep_equal(hunk.new, it.new)
    end
  end
  return false
end

--- What a line means; of a hunk's line the file, where that is wanted.
---@param it caliban.Item
---@param whole boolean
---@param reason? string
---@return caliban.Choice?
local function choice(it, whole, reason)
  local r, hunk = it.r, it.hunk
  if not r then
    return { scope = 'all', session = it.session, reason = reason }
  elseif whole or not hunk then
    return { scope = 'file', buf = r.buf, reason = reason }
  elseif not stands(r, hunk) then
    require('caliban.notify').show('That hunk has changed meanwhile.')
    return nil
  end
  return { scope = 'hunk', buf = r.buf, row = hunk.start, reason = reason }
end

---@param chat caliban.Chat
---@param act 'accept'|'reject'
---@param whole boolean
---@return fun()
local function decide(chat, act, whole)
  return function()
    local it = item(chat)
    local chosen = it and choice(it, whole)
    if chosen then
      require('caliban.buffers')[act](chosen)
    end
  end
end

--- The keys that are there while the cursor is on the list.
---@param chat caliban.Chat
---@return caliban.Mapping[]
function M.mappings(chat)
  ---@param lhs string
  ---@param rhs fun()
  ---@param desc string
  local function map(lhs, rhs, desc)
    return { mode = 'n', lhs = lhs, rhs = rhs, desc = 'on a change: ' .. desc }
  end
  return {
    map('<localleader>a', decide(chat, 'accept', false), 'accept it'),
    map('<localleader>r', decide(chat, 'reject', false), 'reject it'),
    map('<localleader>A', decide(chat, 'accept', true), 'accept its file'),
    map('<localleader>R', decide(chat, 'reject', true), 'reject its file'),
    map('<localleader>c', function()
      local it = item(chat)
      local chosen = it and choice(it, false)
      if chosen then
        require('caliban').comment(nil, chosen)
      end
    end, 'comment on it'),
    map(']h', require('caliban').next, 'go to the next hunk'),
    map('[h', require('caliban').prev, 'go to the previous hunk'),
  }
end

--- Asks why, and rejects.
---@param chat caliban.Chat
function M.because(chat)
  local it = item(chat)
  if not it then
    return
  end
  vim.ui.input({ prompt = 'Reject, because: ' }, function(reason)
    local chosen = reason and choice(it, false, reason)
    if chosen then
      require('caliban.buffers').reject(chosen)
    end
  end)
end

--- Goes to the hunk or the file.
---@param chat caliban.Chat
---@return boolean # false where there is none
function M.go(chat)
  local it = item(chat)
  if not (it and it.r and api.nvim_buf_is_loaded(it.r.buf)) then
    return false
  end
  require('caliban.jump').to(it.r, it.hunk)
  return true
end

--- Opens or closes the hunks of a file, or the whole list.
---@param chat caliban.Chat
function M.toggle(chat)
  local it = item(chat)
  if it then
    list().toggle(chat, it)
  end
end

---@param chat caliban.Chat
function M.enter(chat)
  if not M.go(chat) then
    M.toggle(chat)
  end
end

return M
