--- The actions of the keys on a line of the chat's list of changes.
local M = {}

local api = vim.api

local list = require('caliban.chat.changes')

--- Composes the list again and returns the item under the cursor.
---@param chat caliban.Chat
---@return caliban.Item?
local function item(chat)
  list.refresh(chat, false)
  return list.under(chat)
end

--- Whether a review still has this hunk, with the same new lines.
---@param r caliban.Review
---@param it caliban.Hunk
---@return boolean
local function stands(r, it)
  for _, hunk in ipairs(require('caliban.review.pending').list(r)) do
    if hunk.start == it.start then
      return vim.deep_equal(hunk.new, it.new)
    end
  end
  return false
end

--- The changes to which a decision on an item applies.
---@param it caliban.Item
---@param whole boolean choose the whole file, even if the item is a hunk
---@param reason? string
---@return caliban.Choice? # nil if the hunk has changed, after telling the user
local function choice(it, whole, reason)
  local r, hunk = it.r, it.hunk
  if not r then
    return { scope = 'all', session = it.session, reason = reason }
  elseif whole or not hunk then
    return { scope = 'file', buf = r.buf, reason = reason }
  elseif not stands(r, hunk) then
    require('caliban.editor.notify').show(
      'This hunk has changed since it was listed. Read it again, then decide.'
    )
    return nil
  end
  return { scope = 'hunk', buf = r.buf, row = hunk.start, reason = reason }
end

--- The item of a list of changes under the cursor.
---@return caliban.Item?
local function here()
  local buf = api.nvim_get_current_buf()
  local chat = require('caliban.chat.chats').of(buf)
  return chat and chat.listing and chat.transcript == buf and item(chat) or nil
end

--- The place of the change under the cursor in its file, from which a key goes to the next one. That of a line about a
--- whole file is before its first change.
---@return caliban.HunkPlace?
function M.place()
  local it = here()
  return it and it.r and { buf = it.r.buf, row = it.hunk and it.hunk.start or -1 } or nil
end

--- Completes a choice of changes without a buffer or range: if the cursor is on a list of changes,
--- the choice is the item under the cursor.
---@param opts caliban.Choice
---@return caliban.Choice? # nil if there is nothing to decide on, after telling the user
function M.resolve(opts)
  local named = opts.buf or opts.range or opts.scope == 'all'
  local it = not named and here()
  if not it then
    return opts
  elseif opts.scope == 'hunk' and not it.hunk then
    require('caliban.editor.notify').show('No hunk here.')
    return nil
  end
  return choice(it, opts.scope == 'file', opts.reason)
end

--- Asks for a reason and rejects the item under the cursor.
---@param chat caliban.Chat
function M.because(chat)
  local it = item(chat)
  if not it then
    return
  end
  require('caliban.editor.prompt').ask({ prompt = 'Reject, because: ' }, function(reason)
    local chosen = reason and choice(it, false, reason)
    if chosen then
      require('caliban.review').reject(chosen)
    end
  end)
end

--- Goes to the hunk or the file under the cursor.
---@param chat caliban.Chat
---@return boolean # false if there is none
function M.go(chat)
  local it = item(chat)
  if not (it and it.r and api.nvim_buf_is_loaded(it.r.buf)) then
    return false
  end
  require('caliban.review.ui.jump').to(it.r, it.hunk)
  return true
end

--- Takes back the last decision in the file under the cursor, as `u` in the file does.
---@param chat caliban.Chat
function M.back(chat)
  local it = item(chat)
  local r = it and it.r or it and list.decided(chat)
  local say = require('caliban.editor.notify').show
  local tracking = require('caliban.review.hunks.tracking')
  local before = r and require('caliban.review.verdict').last(r)
  if not (r and api.nvim_buf_is_loaded(r.buf) and before) then
    return say('No decision to take back here. In the file, u takes back the change itself.')
  end
  api.nvim_buf_call(r.buf, function()
    vim.cmd('silent undo')
    tracking.sync(r)
    if require('caliban.review.verdict').last(r) == before then
      vim.cmd('silent redo')
      local name = require('caliban.review.named').shown(r)
      say(('You have typed in %s since. u there takes that back first.'):format(name))
    end
  end)
end

--- Opens or closes the hunks of the file under the cursor, or the whole list.
---@param chat caliban.Chat
function M.toggle(chat)
  local it = item(chat)
  if it then
    list.toggle(chat, it)
  end
end

--- Goes to the hunk or the file under the cursor. On other lines opens or closes the list.
---@param chat caliban.Chat
function M.enter(chat)
  if not M.go(chat) then
    M.toggle(chat)
  end
end

return M
