--- A command that the user writes in the composer after a `!`: it runs in the user's own shell, without a question and
--- outside of the sandbox. The command and what it printed go with the next message.
local M = {}

--- The most bytes of output that are kept, from its end.
local MOST = 64 * 1024

--- The output without escape sequences and control characters.
---@param text string
---@return string
local function plain(text)
  text = text:gsub('\27%[[%d;?]*%a', ''):gsub('\27%][^\7\27]*\7?', ''):gsub('\r\n', '\n')
  return (text:gsub('[^\n]*\r', ''):gsub('[%z\1-\8\11-\31\127]', ''))
end

---@param command string
---@param out string[] the pieces of its output
---@param code integer
---@return caliban.Excerpt
local function excerpt(command, out, code)
  local text = table.concat(out)
  local cut = #text > MOST and text:sub(-MOST):gsub('^[^\n]*\n', '', 1)
  text = (cut and '(the beginning is left out)\n' .. cut or text)
  local ended = code == 0 and '' or ('\n(exit code %d)'):format(code)
  local shown = ('$ %s\n%s%s'):format(command, plain(text):gsub('%s+$', ''), ended)
  return { kind = 'buffer', path = '! ' .. command, text = shown } --[[@as caliban.Excerpt]]
end

--- Runs the command in a composer's text, in the folder of the chat's project.
---@param chat caliban.Chat
---@param text string
---@param add fun(chat: caliban.Chat, excerpt: caliban.Excerpt) takes the command with its output
---@return boolean # false if the text is a message
function M.run(chat, text, add)
  local command = text:match('^!%s*([^\n]+)$') ---@type string?
  if not command then
    return false
  end
  local out = {} ---@type string[]
  local function take(_, piece)
    table.insert(out, piece)
  end
  local flags = vim.split(vim.o.shellcmdflag, ' ', { trimempty = true })
  local line = vim.list_extend(vim.list_extend({ vim.o.shell }, flags), { command })
  local notify = require('caliban.editor.notify')
  local done = vim.schedule_wrap(function(result)
    add(chat, excerpt(command, out, result.code))
    notify.say('The output goes with your next message.', vim.log.levels.INFO)
  end)
  local ok, why = pcall(vim.system, line, { cwd = chat.root, stdout = take, stderr = take }, done)
  if not ok then
    notify.say(('The command was not run: %s'):format(tostring(why)))
  end
  return true
end

return M
