--- Proposals that are not in their buffers yet. Each proposal waits until it can be applied without disturbing the
--- user.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')
local listeners = require('caliban.review.listeners')
local long = require('caliban.review.hunks.long')

---@class caliban.Arriving proposals that are applied together, or a review that is to be reopened
---@field proposals caliban.WireProposal[]
---@field session string
---@field owner string the conversation that reviews the proposals
---@field turn integer
---@field waits? 'calm'|'review' `calm`: for the user to finish a command; `review`: for another conversation's review to end
---@field created? table<integer, true> buffers that were created for the proposals
---@field record? caliban.Record the record of the review that is to be reopened
---@field enter? fun(reviews: caliban.Reviews, item: caliban.Arriving): boolean? called instead of `admission.enter`
---@field batch? caliban.Batch

---@alias caliban.Enter fun(item: caliban.Arriving): 'calm'|'review'|nil applies an item, or returns why it waits

local waiting = {} ---@type caliban.Arriving[]
local stopped = {} ---@type table<string, boolean> turns, by `key`
local trying, scheduled, again = false, false, false -- `again`: `retry` was called during a try
local group ---@type integer?

---@param session string
---@param turn integer|''
---@return string
local function key(session, turn)
  return session .. '\0' .. turn
end

--- Whether a buffer may be changed now, without disturbing the user in the middle of a command or
--- macro. `state()` reports an incomplete command, but not a macro.
---@param buf? integer nil if the buffer is not loaded yet
---@return boolean
function M.calm(buf)
  local busy = vim.fn.getcmdwintype() .. vim.fn.state('x')
  if #busy > 0 then
    return false
  elseif buf ~= api.nvim_get_current_buf() then
    return true
  end
  local mode = api.nvim_get_mode()
  return mode.mode == 'n'
    and not mode.blocking
    and vim.fn.state('moSaw') == ''
    and vim.fn.reg_recording() == ''
    and vim.fn.reg_executing() == ''
    and vim.fn.pumvisible() == 0
end

--- Tries to apply an item (a group of proposals that belong together).
---@param item caliban.Arriving
---@param blocked table<string, 'calm'|'review'> for each path of the items before this one: why that item waits
---@param enter caliban.Enter
local function try(item, blocked, enter)
  local waits ---@type 'calm'|'review'|nil
  -- proposals for the same file are applied in their order, so an item waits for earlier ones of
  -- its files
  for _, p in ipairs(M.stopped(item) and {} or item.proposals) do
    waits = waits or blocked[p.path]
  end
  item.waits = waits or enter(item)
  for _, p in ipairs(item.proposals) do
    blocked[p.path] = item.waits
  end
  if item.waits == nil then
    waiting = vim.tbl_filter(function(other)
      return other ~= item
    end, waiting)
  end
end

--- Why the first item waits; false if there are no items.
---@return 'calm'|'review'|false|nil
local function first_waits()
  return #waiting > 0 and waiting[1].waits
end

--- The events after which the user may have finished a command.
M.EVENTS =
  { 'SafeState', 'ModeChanged', 'CmdwinLeave', 'InsertLeave', 'RecordingLeave', 'BufEnter' }

--- Whether the user may have finished a command, for autocommands of these events: `calm` is never true in one.
---@return boolean
function M.rests()
  return vim.fn.getcmdwintype() == ''
    and api.nvim_get_mode().mode == 'n'
    and vim.fn.reg_recording() == ''
    and vim.fn.reg_executing() == ''
end

--- Whether an item may be applied now. Without this check the tries would never end, because each
--- try causes another SafeState event.
---@return boolean
local function may_enter()
  for _, item in ipairs(M.rests() and waiting or {}) do
    if item.waits == 'calm' then
      return true
    end
  end
  return false
end

--- While items wait, listens for events after which the user may have finished a command.
---@param enter caliban.Enter
local function watch(enter)
  if #waiting > 0 and not group then
    group = api.nvim_create_augroup('caliban.review.arrival', {})
    api.nvim_create_autocmd(M.EVENTS, {
      group = group,
      callback = function()
        if may_enter() then
          M.retry(enter)
        end
      end,
    })
  elseif #waiting == 0 and group then
    api.nvim_del_augroup_by_id(group)
    group = nil
  end
end

--- Tries to apply the waiting items, after the current event.
---@param enter caliban.Enter
function M.retry(enter)
  again = trying
  if scheduled or trying then
    return
  end
  scheduled = true
  -- scheduled, because buffers may be locked within the autocommand
  vim.schedule(function()
    scheduled, trying = false, true
    local before, blocked = first_waits(), {} ---@type any, table<string, 'calm'|'review'>
    long.each(vim.list_slice(waiting), function(item)
      try(item, blocked, enter)
    end, function(ok, err)
      trying = false
      if first_waits() ~= before then
        listeners.tell('waiting')
      end
      watch(enter)
      if again then
        M.retry(enter)
      end
      if not ok then
        error(err, 0)
      end
    end)
  end)
end

--- Splits the proposals of a message into items, one for each group.
---@param message caliban.Propose
---@return caliban.Arriving[]
function M.grouped(message)
  local items, groups = {}, {} ---@type caliban.Arriving[], table<integer, caliban.Arriving>
  for _, p in ipairs(message.proposals) do
    local item = groups[p.group]
    if not item then
      item =
        { proposals = {}, session = message.session, owner = message.owner, turn = message.turn }
      groups[p.group], items[#items + 1] = item, item
    end
    table.insert(item.proposals, p)
  end
  return items
end

--- Adds items, and applies each as soon as possible.
---@param items caliban.Arriving[]
---@param enter caliban.Enter
function M.push(items, enter)
  vim.list_extend(waiting, items)
  M.retry(enter)
end

--- The items that are not applied yet.
---@return caliban.Arriving[]
function M.waiting()
  return waiting
end

--- Marks a turn as stopped: its waiting proposals are not applied any more.
---@param session string
---@param turn integer
function M.stop(session, turn)
  stopped[key(session, turn)] = true
end

--- Called when no turn of a session runs: forgets its stopped turns, because later turns may have
--- the same numbers.
---@param session string
function M.rest(session)
  for it in pairs(stopped) do
    if vim.startswith(it, key(session, '')) then
      stopped[it] = nil
    end
  end
end

---@param item caliban.Arriving
---@return boolean
function M.stopped(item)
  return stopped[key(item.session, item.turn)] == true
end

--- Why an item has to wait; nil if the item need not wait.
---@param item caliban.Arriving
---@param reviews table<integer, caliban.Review> by buffer
---@return 'calm'|'review'|nil
function M.waits(item, reviews)
  for _, p in ipairs(item.proposals) do
    local known = file.find(p.path)
    local r = known and reviews[known]
    if r and r.open and r.session ~= item.owner then
      return 'review'
    elseif not M.calm(known) then
      return 'calm'
    end
  end
end

return M
