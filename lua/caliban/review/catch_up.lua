--- The buffers catch up with their files after a command of the model's, which changes files on disk. An unmodified
--- buffer is read again. In one with text of the user's own, the command's changes are merged.
local M = {}

local api = vim.api
local arrival = require('caliban.review.arrival')
local bytes = require('caliban.editor.bytes')
local file = require('caliban.editor.file')
local merging = require('caliban.review.hunks.merge')
local registry = require('caliban.review.registry')
local written = require('caliban.editor.written')
local write_guard = require('caliban.review.write_guard')

---@class caliban.Stood a file on disk before a command
---@field text string
---@field stamp string

local stood = {} ---@type table<integer, caliban.Stood> by buffer, for buffers with unsaved text
local due = {} ---@type table<integer, true> buffers that catch up later, because the user is in the middle of a command
local running = 0 -- commands
local group = api.nvim_create_augroup('caliban.review.catch_up', {})

--- Whether a loaded buffer shows a file.
---@param buf integer
---@return boolean
local function shows_file(buf)
  return api.nvim_buf_is_loaded(buf)
    and file.ordinary(buf)
    and api.nvim_buf_get_name(buf):find('^/') ~= nil
    and not file.odd(buf)
    and not file.is_renamed(buf)
end

---@param buf integer
---@return boolean
local function is_reviewed(buf)
  local r = registry.of(buf)
  return r ~= nil and r.open
end

--- Notes the file of a buffer with unsaved text, if the buffer has all changes on disk.
---@param buf integer
local function note(buf)
  local known = stood[buf] ---@as caliban.Stood?
  if known or not shows_file(buf) or not vim.bo[buf].modified or is_reviewed(buf) then
    return
  end
  local stamp = file.stamp(buf)
  local text = stamp ~= '' and not file.check(buf, '') and not file.stale(buf) and file.disk(buf)
  if text then
    stood[buf] = { text = text, stamp = stamp }
  end
end

--- Makes edits of a buffer in an undo step of their own.
---@param buf integer
---@param edits caliban.DiskEdit[] ascending
local function make(buf, edits)
  local levels = vim.bo[buf].undolevels
  -- setting this option ends the open undo block
  vim.bo[buf].undolevels = levels
  for i = #edits, 1, -1 do
    file.put(buf, edits[i].start, edits[i].count, edits[i].lines)
  end
  vim.bo[buf].undolevels = levels
end

--- Merges the changes on disk into a buffer with unsaved text. If both have changed a line, the buffer's line stays.
---@param buf integer
local function merge(buf)
  local was, stamp = stood[buf], file.stamp(buf) ---@type caliban.Stood?, string
  if not was or was.stamp == stamp then
    return
  end
  bytes.follow(buf, was.text)
  local disk, eol = file.disk(buf)
  if not disk then
    return
  end
  write_guard.acknowledge(buf)
  local edits, clashes =
    merging.merge(merging.split(was.text), merging.split(disk), file.lines(buf))
  make(buf, edits)
  stood[buf] = { text = disk, stamp = stamp }
  if clashes > 0 then
    local what = "%s: %d of the changes that the model's command has made on disk %s with your "
      .. 'unsaved text, which stays in the buffer.'
    local conflict = clashes == 1 and 'conflicts' or 'conflict'
    local name = file.short(api.nvim_buf_get_name(buf))
    require('caliban.editor.notify').show(what:format(name, clashes, conflict), vim.log.levels.WARN)
    return
  end
  file.merged(buf, stamp)
  if file.text(buf) == disk and file.eol(buf) == eol and not bytes.changed(buf) then
    vim.bo[buf].modified = false
  end
end

---@param buf integer
---@return boolean
local function rereads(buf)
  local own = vim.bo[buf].autoread ---@type boolean?
  if own == nil then
    own = vim.go.autoread
  end
  return own
end

---@param buf integer
local function catch_up(buf)
  if not shows_file(buf) then
    return
  elseif not arrival.calm(buf) then
    due[buf] = true
    return
  end
  due[buf] = nil
  if is_reviewed(buf) then
    write_guard.look(buf)
  elseif vim.bo[buf].modified then
    merge(buf)
  elseif rereads(buf) then
    file.refresh(buf)
  end
end

--- Forgets the files once no command runs any more.
local function forget()
  if running == 0 and next(due) == nil then
    stood = {}
  end
end

--- Called when a command begins.
function M.begin()
  running = running + 1
  for _, buf in ipairs(api.nvim_list_bufs()) do
    note(buf)
    if shows_file(buf) and not vim.bo[buf].modified then
      bytes.be_sure(buf)
    end
  end
end

--- Gives a buffer under review the name that a command has given to its file.
---@param from string
---@param to string
local function follow(from, to)
  local buf = file.find(from)
  local r = buf and registry.of(buf)
  if buf and r and r.open and api.nvim_buf_is_loaded(buf) and arrival.calm(buf) then
    require('caliban.review.whole').follow(r, to)
  end
end

--- Called when a command has ended.
---@param moved table<string, string> the new paths of files that it has renamed, by the former ones
function M.ended(moved)
  running = math.max(0, running - 1)
  for from, to in pairs(moved) do
    follow(from, to)
  end
  for _, buf in ipairs(api.nvim_list_bufs()) do
    catch_up(buf)
  end
  forget()
end

-- the user may begin to type while a command runs
local has_event = vim.fn.exists('##BufModifiedSet') == 1
api.nvim_create_autocmd(has_event and 'BufModifiedSet' or 'OptionSet', {
  group = group,
  pattern = not has_event and 'modified' or nil,
  callback = function(event)
    local buf = event.buf ~= 0 and event.buf or api.nvim_get_current_buf()
    if running > 0 then
      note(buf)
    end
  end,
})

api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost', 'BufUnload', 'BufFilePost' }, {
  group = group,
  callback = function(event)
    if event.event ~= 'BufWritePost' or written.is_done(event.buf) then
      stood[event.buf], due[event.buf] = nil, nil
    end
  end,
})

api.nvim_create_autocmd({ 'SafeState', 'ModeChanged', 'InsertLeave', 'RecordingLeave' }, {
  group = group,
  callback = function()
    if next(due) == nil or not arrival.calm(api.nvim_get_current_buf()) then
      return
    end
    vim.schedule(function()
      for buf in pairs(due) do
        catch_up(buf)
      end
      forget()
    end)
  end,
})

return M
