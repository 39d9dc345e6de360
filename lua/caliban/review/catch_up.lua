--- The buffers catch up with their files after a command of the model's, which changes files on disk, and while one goes
--- on in the background. An unmodified buffer is read again. In one with text of the user's own, the command's changes
--- are merged.
local M = {}

local api = vim.api
local arrival = require('caliban.review.arrival')
local bytes = require('caliban.editor.bytes')
local file = require('caliban.editor.file')
local on_disk = require('caliban.review.on_disk')
local registry = require('caliban.review.registry')
local stood = require('caliban.review.stood')
local written = require('caliban.editor.written')
local write_guard = require('caliban.review.write_guard')

local due = {} ---@type table<integer, true> buffers that catch up later, because the user is in the middle of a command
local running = 0 -- commands, with the jobs
local jobs = 0 -- commands that go on in the background
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

--- The open review of a buffer.
---@param buf integer
---@return caliban.Review?
local function reviewed(buf)
  local r = registry.of(buf)
  return r and r.open and r or nil
end

--- Notes what stands in a buffer and its file, unless a review knows it.
---@param buf integer
local function note(buf)
  if shows_file(buf) and not reviewed(buf) then
    stood.note(buf)
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
  local is_file = shows_file(buf)
  if is_file and not arrival.calm(buf) then
    due[buf] = true
    return
  end
  due[buf] = nil
  local r = is_file and reviewed(buf)
  if not is_file then
    return
  elseif r then
    write_guard.look(buf)
    on_disk.follow(r)
  elseif vim.bo[buf].modified then
    stood.merge(buf)
  elseif rereads(buf) then
    file.refresh(buf)
  end
end

--- All buffers catch up, or later if the user is in the middle of a command.
local function all()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    catch_up(buf)
  end
end

--- Forgets the texts once no command runs any more.
local function forget()
  if running == 0 and next(due) == nil then
    stood.forget()
  end
end

--- The time between two looks at the files while a job runs, in ms.
local BETWEEN = 500

local timer ---@type uv.uv_timer_t?
local looked = {} ---@type table<integer, string> the stamps of the files at the last look, by buffer
local caught = {} ---@type table<integer, string> the stamps of the files with which the buffers have caught up

--- The buffers catch up with the files that a job has changed and has not written since the last look.
local function look()
  if jobs == 0 then
    return
  end
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local stamp = shows_file(buf) and file.stamp(buf) or nil
    if stamp and stamp == looked[buf] and stamp ~= caught[buf] then
      caught[buf] = stamp
      catch_up(buf)
    end
    looked[buf] = stamp
  end
end

--- Looks at the files as long as jobs run.
local function watch()
  if jobs > 0 and not timer then
    timer = assert(vim.uv.new_timer())
    timer:start(BETWEEN, BETWEEN, vim.schedule_wrap(look))
  elseif jobs == 0 and timer then
    timer:close()
    timer, looked, caught = nil, {}, {}
  end
end

--- Called when a command begins.
---@param is_job boolean
function M.begin(is_job)
  running = running + 1
  jobs = jobs + (is_job and 1 or 0)
  watch()
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
---@param is_job boolean
function M.ended(moved, is_job)
  running = math.max(0, running - 1)
  jobs = math.max(0, jobs - (is_job and 1 or 0))
  watch()
  for from, to in pairs(moved) do
    follow(from, to)
  end
  all()
  forget()
end

--- Called when the program has ended: none of its commands runs any more.
local function exited()
  if running > 0 then
    running, jobs = 0, 0
    watch()
    all()
    forget()
  end
end

require('caliban.program.process').listen({ exited = exited })

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

-- a buffer may be read or written while a command runs
api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost', 'BufWinEnter', 'BufUnload' }, {
  group = group,
  callback = function(event)
    local is_write = event.event == 'BufWritePost'
    if event.event ~= 'BufWinEnter' and (not is_write or written.is_done(event.buf)) then
      due[event.buf] = nil
    end
    if running > 0 and event.event ~= 'BufUnload' then
      note(event.buf)
    end
  end,
})

api.nvim_create_autocmd(arrival.EVENTS, {
  group = group,
  callback = function()
    if next(due) == nil or not arrival.rests() then
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
