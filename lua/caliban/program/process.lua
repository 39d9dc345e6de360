--- The program's process: starts and restarts the program, makes the handshake, and sends
--- notifications. `dispatch` handles the program's messages. No message is sent by `rpcrequest`,
--- because that would block the editor.
local M = {}

local here = debug.getinfo(1, 'S').source:sub(2) ---@diagnostic disable-line: need-check-nil
local root = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(here))))

---@class caliban.Link
---@field job? integer the channel; nil while the program does not run
---@field leaving? integer the channel of a program that is ending for a restart
---@field welcome? caliban.Welcome
---@field queue table[] messages to send after the program has answered the handshake
---@field outliving table<string, table> verdicts and drafts, kept for the next program
---@field stderr string[] the last lines that the program wrote
---@field ended? string why the program does not run any more
---@field folder? string the working directory in which the program was started: its project does not change
---@field moves? boolean whether the program is being started in another folder
local link = { queue = {}, outliving = {}, stderr = {} }

---@class caliban.ProcessListener callbacks of modules that depend on this module
---@field ended? fun(why: string, unsent: table[]): boolean called when the program has ended; returns whether it told the user
---@field exited? fun() called when a program has ended in any way, also for a restart
---@field restarted? fun() called after a new program has started
---@field under_review? fun(): string[] returns the absolute paths of the files under review

local listeners = {} ---@type caliban.ProcessListener[]

---@param listener caliban.ProcessListener
function M.listen(listener)
  listeners[#listeners + 1] = listener
end

--- Says why the program does not run.
---@param text string
local function say(text)
  require('caliban.editor.notify').say(text, vim.log.levels.ERROR)
end

--- The path of the program, or why there is none.
---@return string? path, string? why
function M.path()
  local bin = require('caliban.config').get().bin
  if bin then
    local path = vim.fs.normalize(bin)
    if vim.fn.executable(path) == 1 then
      return path
    end
    local wrong = 'caliban: config.bin: %s is not an executable file. Correct the setting, or remove it'
      .. ' and run: cargo build --release in %s'
    return nil, wrong:format(path, require('caliban.editor.name').tilde(root))
  end
  for _, profile in ipairs({ 'release', 'debug' }) do
    local path = ('%s/target/%s/caliban'):format(root, profile)
    if vim.fn.executable(path) == 1 then
      return path
    end
  end
  local text = "Caliban's program is not built. Run: cargo build --release in %s"
  return nil, text:format(require('caliban.editor.name').tilde(root))
end

---@param data string[]
local function on_stderr(_, data)
  local lines = link.stderr
  lines[math.max(#lines, 1)] = (lines[#lines] or '') .. data[1]
  for i = 2, #data do
    table.insert(lines, data[i])
  end
  while #lines > 50 do
    table.remove(lines, 1)
  end
end

---@param why string
local function ended(why)
  local unsent = link.queue
  link.job, link.welcome, link.queue, link.ended = nil, nil, {}, why
  local shown = false
  for _, it in ipairs(listeners) do
    shown = it.ended ~= nil and it.ended(why, unsent) or shown
  end
  if not shown then
    require('caliban.editor.notify').show(why, vim.log.levels.ERROR)
  end
end

--- The exit code of a program that could not read a message from Neovim.
local UNREADABLE = 65

---@param code integer
---@return string
local function reason_of_exit(code)
  if code == UNREADABLE then
    return 'it could not read what Neovim sent'
  end
  return code > 128 and ('signal %d'):format(code - 128) or ('exit code %d'):format(code)
end

---@param job integer
---@param code integer
local function on_exit(job, code)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  for _, it in ipairs(listeners) do
    local _ = it.exited and it.exited()
  end
  if job == link.leaving then
    link.leaving = nil
    return M.restart()
  elseif job ~= link.job then
    return
  end
  local text = 'The program ended (%s). :Caliban restart starts it again; your text is safe.'
  ended(text:format(reason_of_exit(code)))
end

---@param message caliban.FromNvim
local function transmit(message)
  -- the channel closes a moment before on_exit runs
  if not pcall(vim.rpcnotify, link.job or 0, 'caliban', message) then
    table.insert(link.queue, message)
  end
end

--- The files with an open review, or with a verdict that the program had not received when it
--- ended.
---@return string[] absolute paths
function M.under_review()
  local out = {}
  for _, it in ipairs(listeners) do
    vim.list_extend(out, it.under_review and it.under_review() or {})
  end
  for _, message in pairs(link.outliving) do
    out[#out + 1] = message.kind == 'reviewed' and message.path or nil
  end
  return out
end

--- Starts the program unless it runs.
---@return boolean running, string? why the program does not run
function M.start()
  require('caliban.editor.modules').keep_out()
  if link.job or link.leaving then
    return true
  end
  local path, why = M.path()
  if not path then
    return false, why
  end
  link.stderr, link.ended = {}, nil
  local ok, job = pcall(vim.fn.jobstart, { path }, {
    rpc = true,
    on_exit = on_exit,
    on_stderr = on_stderr,
  })
  if not ok or job <= 0 then
    return false, ('%s could not be started.'):format(path)
  end
  link.job = job
  link.folder = link.folder or vim.fn.getcwd()
  -- quicker than `api_info()`, which takes a millisecond
  local version = vim.api.nvim_exec2('version', { output = true }).output:match('NVIM v(%S+)')
  transmit({
    kind = 'hello',
    version = require('caliban.version'),
    nvim = version or '?',
    cwd = link.folder,
    reviews = M.under_review(),
    leader = require('caliban.editor.maps').leader(),
    config = require('caliban.config').wire(),
  })
  return true
end

--- The folder in which the program was started.
---@return string? # nil before the first start
function M.folder()
  return link.folder
end

--- The channel of the running program; nil while no program runs. Each new program has a new channel.
---@return integer?
function M.program()
  return link.job
end

--- Keeps a draft or a verdict until the program is started again. Replaces an earlier draft of the
--- same session, or an earlier verdict on the same proposals.
---@param message table
---@return boolean # whether the message is a draft or a verdict
local function outlives(message)
  if message.kind == 'draft' then
    link.outliving['draft ' .. message.session] = message
  elseif message.kind == 'reviewed' then
    link.outliving['reviewed ' .. table.concat(message.proposals, ' ')] = message
  else
    return false
  end
  return true
end

--- Sends a message to the program. Starts the program if it was not started before. After the
--- program has ended, only drafts and verdicts are accepted; they are sent when the program is
--- started again.
---@param message caliban.FromNvim
---@return boolean accepted
---@return string? why the message was not accepted
function M.notify(message)
  if not link.job and outlives(message) then
    return true
  end
  if link.ended then
    return false, link.ended
  end
  local ok, why = M.start()
  if not ok then
    return false, why
  end
  if link.welcome then
    transmit(message)
  else
    table.insert(link.queue, message)
  end
  return true
end

--- Like `notify`, for a command of the user: shows why the message was not accepted.
---@param message caliban.FromNvim
---@return boolean accepted
function M.ask(message)
  local ok, why = M.notify(message)
  if not ok then
    say(why or '')
  end
  return ok
end

--- Called when the program has answered the handshake: sends the messages that have waited, or
--- stops a program of another version.
---@param message caliban.Welcome
function M.welcome(message)
  local own = require('caliban.version')
  if message.version ~= own then
    local job = link.job
    local text =
      'The plugin is version %s, but its program is version %s. Run: cargo build --release in %s, then :Caliban restart'
    ended(text:format(own, message.version, require('caliban.editor.name').tilde(root)))
    vim.fn.jobstop(job or 0)
    return
  end
  link.welcome = message
  local queue, outliving = link.queue, link.outliving
  link.queue, link.outliving = {}, {}
  for _, waiting in ipairs(vim.list_extend(queue, vim.tbl_values(outliving))) do
    transmit(waiting)
  end
end

--- Restarts the program, after the running one has saved everything and released its sessions.
--- Opens every chat again; the transcripts are painted from the sessions.
---@param folder? string the folder of another project: the program is started there, without the open chats
function M.restart(folder)
  link.folder, link.moves = folder or link.folder, folder ~= nil or link.moves
  if link.job then
    link.leaving, link.job, link.welcome = link.job, nil, nil
    vim.fn.jobstop(link.leaving)
  end
  if link.leaving then
    return
  end
  link.ended = nil
  require('caliban.config').forget()
  local ok, why = M.start()
  if not ok then
    return say(why or '')
  end
  local unsent, moves = link.queue, link.moves
  link.queue, link.moves = {}, nil
  for _, it in ipairs(moves and {} or listeners) do
    local _ = it.restarted and it.restarted()
  end
  vim.list_extend(link.queue, unsent)
end

--- When Neovim exits, it waits at most this long for the program, which may write to a slow disk.
--- In ms; <C-c> ends the wait.
local PATIENCE = 10000

--- Called when Neovim exits: waits until the program has handled all messages, saved its sessions
--- and ended.
---@return boolean # whether the program has ended without an error
function M.finish()
  if not link.job then
    return false
  end
  -- the channel is closed here, so that the program can read its input to the end; Neovim itself
  -- would send the program a signal, and kill it two seconds later
  pcall(vim.fn.chanclose, link.job, 'rpc')
  return vim.fn.jobwait({ link.job }, PATIENCE)[1] == 0
end

---@class caliban.Report
---@field path? string the program's executable
---@field missing? string why there is no executable
---@field running boolean
---@field welcome? caliban.Welcome
---@field ended? string
---@field stderr string[]

--- The state of the program, for the health report.
---@return caliban.Report
function M.report()
  local path, missing = M.path()
  return {
    path = path,
    missing = missing,
    running = link.job ~= nil,
    welcome = link.welcome,
    ended = link.ended,
    stderr = link.stderr,
  }
end

return M
