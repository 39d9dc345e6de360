--- A command that the user writes in the composer after a `!`: it runs in the user's own shell, without a question and
--- outside of the sandbox. The command and what it printed go with the next message.
local M = {}

--- The sign before a command in its chip.
M.SIGN = '! '
--- The most bytes of output that are kept, from its end.
local MOST = 64 * 1024
--- A command that has printed as many bytes is stopped: Neovim reads its output between two keys.
local FLOOD = 16 * 1024 * 1024

---@class caliban.ShellRun
---@field chat caliban.Chat
---@field command string
---@field pid integer also the id of its process group
---@field out string[] the pieces of output that are kept
---@field kept integer the bytes of these
---@field printed integer the bytes of all output

---@type table<caliban.ShellRun, true>
local running = {}

--- What the commands have printed, by the excerpt that goes with the next message.
---@type table<caliban.Excerpt, string[]>
local printed = setmetatable({}, { __mode = 'k' })
--- The lines of it that are shown at the composer. Of more lines, the first two and the last two are shown.
local FEW = 5

--- The output without escape sequences and control characters.
---@param text string
---@return string
local function plain(text)
  text = text:gsub('\27%[[%d;?]*%a', ''):gsub('\27%][^\7\27]*\7?', ''):gsub('\r\n', '\n')
  return (text:gsub('[^\n]*\r', ''):gsub('[%z\1-\8\11-\31\127]', ''))
end

---@param run caliban.ShellRun
---@param result vim.SystemCompleted
---@return string # how the command ended, as the last line of its output
local function ending(run, result)
  if run.printed >= FLOOD then
    return ('\n(stopped after %d MB of output)'):format(FLOOD / 1024 / 1024)
  end
  if result.signal ~= 0 then
    return ('\n(stopped by signal %d)'):format(result.signal)
  end
  return result.code == 0 and '' or ('\n(exit code %d)'):format(result.code)
end

---@param run caliban.ShellRun
---@param command string
---@param result vim.SystemCompleted
---@return caliban.Excerpt
local function excerpt(run, command, result)
  local text = table.concat(run.out)
  local is_cut = #text < run.printed or #text > MOST
  if is_cut then
    text = '(the beginning is left out)\n' .. text:sub(-MOST):gsub('^[^\n]*\n', '', 1)
  end
  local output = plain(text):gsub('%s+$', '') .. ending(run, result)
  local shown = ('$ %s\n%s'):format(command, output)
  local it = { kind = 'buffer', path = M.SIGN .. command, text = shown } ---@type caliban.Excerpt
  printed[it] = output == '' and {} or vim.split(vim.trim(output), '\n', { plain = true })
  return it
end

--- The beginning and the end of what a command has printed, for the rows below its chip.
---@param of caliban.Excerpt
---@param width integer
---@return string[]
function M.preview(of, width)
  local lines, icon = printed[of] or {}, require('caliban.editor.icons').of
  local rows = lines
  if #lines > FEW then
    local more = icon('… %d more lines · K shows all'):format(#lines - FEW + 1)
    rows = { lines[1], lines[2], more, lines[#lines - 1], lines[#lines] }
  end
  local name, cut = require('caliban.editor.name'), require('caliban.chat.fit').cut
  return vim.tbl_map(function(row)
    return '  ' .. cut(name.shown(row:sub(1, 1000):gsub('\t', '  ')), width - 2)
  end, rows)
end

--- Ends a command and all processes that it has started.
---@param run caliban.ShellRun
local function kill(run)
  -- other negative numbers name other groups, or all processes
  if run.pid > 1 then
    vim.uv.kill(-run.pid, 'sigterm')
  end
end

---@param run caliban.ShellRun
---@param piece? string
local function take(run, piece)
  if not piece or run.printed >= FLOOD then
    return
  end
  table.insert(run.out, piece)
  run.printed, run.kept = run.printed + #piece, run.kept + #piece
  while run.kept - #run.out[1] >= MOST do
    run.kept = run.kept - #table.remove(run.out, 1)
  end
  if run.printed >= FLOOD then
    kill(run)
  end
end

--- Whether the text of a composer is a command and no message.
---@param text string
---@return boolean
function M.is_command(text)
  return text:find('^!%s*%S') ~= nil
end

--- Runs the command in a composer's text, in the folder of the chat's project.
---@param chat caliban.Chat
---@param text string
---@param add fun(chat: caliban.Chat, excerpt: caliban.Excerpt) takes the command with its output
---@return string? # why it was not started
function M.run(chat, text, add)
  local command = text:match('^!%s*([^\n]+)$') ---@type string?
  if not command then
    return 'A command after ! has one line. To send this text as a message, write a blank before the !.'
  end
  local run = { chat = chat, command = command, pid = -1, out = {}, kept = 0, printed = 0 } ---@type caliban.ShellRun
  local done = vim.schedule_wrap(function(result)
    running[run] = nil
    add(chat, excerpt(run, command, result))
  end)
  local function read(_, piece)
    take(run, piece)
  end
  local flags = vim.split(vim.o.shellcmdflag, ' ', { trimempty = true })
  local line = vim.list_extend(vim.list_extend({ vim.o.shell }, flags), { command })
  -- a process group of its own, so that all that the command has started can be ended
  local options = { cwd = chat.root, stdout = read, stderr = read, detach = true }
  local ok, started = pcall(vim.system, line, options, done)
  if not ok then
    local why = "The command was not started: %s. Check 'shell' and 'shellcmdflag'."
    return why:format((tostring(started):gsub('[%s.]+$', '')))
  end
  run.pid = started.pid
  running[run] = true
end

--- The commands of a chat that run, as in their chips.
---@param chat caliban.Chat
---@return string[]
function M.running(chat)
  local all = {} ---@type caliban.ShellRun[]
  for run in pairs(running) do
    all[#all + 1] = run.chat == chat and run or nil
  end
  table.sort(all, function(a, b)
    return a.pid < b.pid
  end)
  return vim.tbl_map(function(run)
    return M.SIGN .. run.command
  end, all)
end

--- Stops the commands of a chat.
---@param chat? caliban.Chat nil for those of all chats
function M.stop(chat)
  for run in pairs(running) do
    if not chat or run.chat == chat then
      kill(run)
    end
  end
end

vim.api.nvim_create_autocmd('VimLeavePre', {
  group = vim.api.nvim_create_augroup('caliban_shell', {}),
  callback = function()
    M.stop()
  end,
})

return M
