--- Messages for the user.
local M = {}

local levels = vim.log.levels

--- A message in rows that fit the command line. A message that would fill more than half of the screen is cut.
---@param text string
---@return string[]
local function rows_of(text)
  local room, wrap = vim.v.echospace, require('caliban.editor.wrap')
  local rows = wrap.rows(text, room, '')
  local most = math.max(1, math.floor(vim.o.lines / 2))
  if #rows > most then
    rows = vim.list_slice(rows, 1, most)
    local more = require('caliban.editor.icons').of(' …')
    rows[most] = wrap.first(rows[most], room - vim.fn.strdisplaywidth(more)) .. more
  end
  return rows
end

--- Shows a message that is wider than the command line, without the hit-enter prompt.
---@param text string
---@param group? string
local function wide(text, group)
  local rows = rows_of(text)
  local function clear()
    -- the last row must not stay alone
    vim.api.nvim_echo({ { '' } }, false, {})
  end
  local last, shown = require('caliban.editor.rows').show(rows, group, clear)
  if not shown then
    last = require('caliban.editor.wrap').first(text:gsub('%s+', ' '), vim.v.echospace)
  end
  ---@param all boolean draw all of the screen again
  local function draw(all)
    vim.cmd.redraw({ bang = all })
    vim.api.nvim_echo({ { last, group } }, false, {})
  end
  draw(false)
  -- during `:wqa` Neovim draws no windows
  vim.schedule(function()
    local _ = require('caliban.editor.rows').are_shown(rows) and draw(true)
  end)
end

local ns = vim.api.nvim_create_namespace('caliban_notify')

--- If 'cmdheight' is 0, sets it to 1 until the next key, because otherwise each message would show
--- the hit-enter prompt. This is not needed with plugins that draw messages elsewhere (noice, ui2).
local function make_room()
  if vim.o.cmdheight > 0 or package.loaded.noice or package.loaded['vim._core.ui2'] then
    return
  end
  vim.cmd('noautocmd set cmdheight=1 | redraw')
  vim.on_key(function()
    vim.on_key(nil, ns)
    vim.schedule(function()
      vim.cmd('noautocmd set cmdheight=0')
    end)
  end, ns)
end

local shown = false -- whether a message was shown since Neovim last waited for a key
local last ---@type string? the message that was shown last

---@param text string
---@return boolean
local function is_wide(text)
  return text:find('\n', 1, true) ~= nil or vim.fn.strdisplaywidth(text) > vim.v.echospace
end

---@param text string
---@param group? string
local function line(text, group)
  make_room()
  if shown then
    -- Neovim would show two messages of one command below each other, with the hit-enter prompt
    vim.cmd.redraw()
  end
  shown = true
  vim.schedule(function()
    shown = false
  end)
  last = text
  require('caliban.editor.rows').close()
  local whole = { { text, group } }
  if not is_wide(text) or #vim.api.nvim_list_uis() == 0 then
    vim.api.nvim_echo(whole, true, {})
    return
  end
  local prompts, more = vim.o.messagesopt, vim.o.more
  vim.o.messagesopt, vim.o.more = prompts:gsub('hit%-enter', 'wait:0'), false
  vim.api.nvim_echo(whole, true, {})
  vim.o.messagesopt, vim.o.more = prompts, more
  wide(text, group)
end

local waiting = {} ---@type [string, string?][]

--- Shows the messages that wait, as soon as the user has left the command line.
local function flush()
  if vim.fn.mode() == 'c' then
    local once = { once = true, callback = vim.schedule_wrap(flush) }
    vim.api.nvim_create_autocmd('CmdlineLeave', once)
    return
  end
  while waiting[1] do
    pcall(line, unpack(waiting[1], 1, 2))
    table.remove(waiting, 1)
  end
end

--- Shows a message, in several rows if need be. Never shows the hit-enter prompt. While the user types in the command
--- line, the message waits.
---@param text string
---@param group? string
function M.echo(text, group)
  table.insert(waiting, { text, group })
  -- Neovim handles events while it shows a wide message, so a message that arrives meanwhile has to
  -- wait
  if #waiting == 1 then
    flush()
  end
end

--- Whether `vim.notify` is Neovim's own function, not a plugin's, which may be a callable table.
---@return boolean
local function is_own()
  local notify = vim.notify ---@type any
  local info = type(notify) == 'function' and debug.getinfo(notify, 'S')
  local source = info and info.source or ''
  -- in a build without debug information Neovim's own code has no file name
  return source == '?' or source:find('^@vim/.*editor%.lua$') ~= nil
end

--- The text of a message as it is shown: with the signs of the setting `icons`, with control characters spelt out, and
--- without the backticks around names, as in the chat.
---@param text string
---@return string
function M.words(text)
  local plain = require('caliban.editor.icons').of(text):gsub('`([^`\n]+)`', '%1')
  return (plain:gsub('[^\n]+', require('caliban.editor.name').shown))
end

--- Shows a message whose text `M.words` has returned.
---@param text string
---@param level? integer of vim.log.levels
local function put(text, level)
  if not is_own() then
    return vim.notify(text, level or levels.INFO, { title = 'Caliban' })
  end
  M.echo(text, level == levels.ERROR and 'ErrorMsg' or nil)
end

--- Shows a message by a plugin's `vim.notify`. Without a plugin, shows it by `echo`: Neovim's own
--- `vim.notify` would show the hit-enter prompt for a message that is wider than the screen. An
--- echoed warning is not highlighted: the colour of warnings is kept for a chat that waits for the
--- user.
---@param text string
---@param level? integer of vim.log.levels
function M.show(text, level)
  put(M.words(text), level)
end

local told = {} ---@type table<string, true>

--- Shows an error of Caliban's own code, but each text only once.
---@param text string
function M.once(text)
  if not told[text] then
    told[text] = true
    M.show(text, levels.ERROR)
  end
end

--- Replaces the message that was shown last, which is no longer true. A plugin would only show both.
---@param text string
function M.correct(text)
  local words = M.words(text)
  if is_own() then
    require('caliban.editor.rows').close()
    wide(words)
    last = words
  end
end

--- Removes a message that is no longer true, if it was shown last.
---@param text? string
function M.withdraw(text)
  if text and last == M.words(text) and is_own() and vim.fn.mode() ~= 'c' then
    last = nil
    require('caliban.editor.rows').close()
    vim.api.nvim_echo({ { '' } }, false, {})
  end
end

---@type fun(buf: integer, text: string): boolean
local beside_text = function()
  return false
end

--- Registers the function that shows a message beside the text of a buffer while the user types there.
---@param fn fun(buf: integer, text: string): boolean returns whether the message was shown
function M.divert(fn)
  beside_text = fn
end

--- Shows a message. In insert mode it is shown beside the text if possible, otherwise as `show`
--- does.
---@param text string
---@param level? integer of vim.log.levels; default: WARN
function M.say(text, level)
  -- in insert mode, `-- INSERT --` would overwrite the message
  local typing = vim.fn.mode() == 'i'
  text = M.words(text)
  if not (typing and beside_text(vim.api.nvim_get_current_buf(), text)) then
    put(text, level or levels.WARN)
  end
end

return M
