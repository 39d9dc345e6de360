--- Messages for the user.
local M = {}

local levels = vim.log.levels

---@param text string
---@return string # cut to the width that Neovim shows without the hit-enter prompt
local function fit(text)
  local room, more = vim.v.echospace, require('caliban.editor.icons').of('…')
  local short = vim.fn.strcharpart(text:gsub('%s+', ' '), 0, room)
  while short ~= '' and vim.fn.strdisplaywidth(short .. more) > room do
    short = vim.fn.strcharpart(short, 0, vim.fn.strchars(short) - 1)
  end
  return short .. more
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

---@param text string
---@param group? string
---@param uncut? boolean show all of the text, even if Neovim then shows the hit-enter prompt
local function line(text, group, uncut)
  make_room()
  if shown then
    -- Neovim would show two messages of one command below each other, with the hit-enter prompt
    vim.cmd.redraw()
  end
  shown = true
  vim.schedule(function()
    shown = false
  end)
  local whole = { { text, group } }
  local wide = text:find('\n', 1, true) or vim.fn.strdisplaywidth(text) > vim.v.echospace
  if uncut or not wide or #vim.api.nvim_list_uis() == 0 then
    vim.api.nvim_echo(whole, true, {})
    return
  end
  local prompts, more = vim.o.messagesopt, vim.o.more
  vim.o.messagesopt, vim.o.more = prompts:gsub('hit%-enter', 'wait:0'), false
  vim.api.nvim_echo(whole, true, {})
  vim.o.messagesopt, vim.o.more = prompts, more
  vim.cmd.redraw()
  vim.api.nvim_echo({ { fit(text), group } }, false, {})
end

local waiting = {} ---@type [string, string?, boolean?][]

--- Shows a message in one line. If the line is cut, `:messages` has the whole message.
---@param text string
---@param group? string
---@param uncut? boolean show all of the text, in several lines if need be
function M.echo(text, group, uncut)
  table.insert(waiting, { text, group, uncut })
  -- Neovim handles events while it shows a wide message, so a message that arrives meanwhile has to
  -- wait
  if #waiting > 1 then
    return
  end
  while waiting[1] do
    pcall(line, unpack(waiting[1], 1, 3))
    table.remove(waiting, 1)
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

--- The text of a message as it is shown: with the signs of the setting `icons`, and without the
--- backticks around names, as in the chat.
---@param text string
---@return string
function M.words(text)
  return (require('caliban.editor.icons').of(text):gsub('`([^`\n]+)`', '%1'))
end

--- Shows a message whose text `M.words` has returned.
---@param text string
---@param level? integer of vim.log.levels
---@param uncut? boolean
local function put(text, level, uncut)
  if not is_own() then
    return vim.notify(text, level or levels.INFO, { title = 'Caliban' })
  end
  M.echo(text, level == levels.ERROR and 'ErrorMsg' or nil, uncut)
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

--- Replaces the message that was shown last, which is no longer true. A plugin would only show both.
---@param text string
function M.correct(text)
  local words = M.words(text)
  if is_own() then
    local wide = vim.fn.strdisplaywidth(words) > vim.v.echospace
    vim.api.nvim_echo({ { wide and fit(words) or words } }, false, {})
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
---@param uncut? boolean never cut the text: its end is needed, such as a command to run
function M.say(text, level, uncut)
  -- in insert mode, `-- INSERT --` would overwrite the message
  local typing = vim.fn.mode() == 'i'
  text = M.words(text)
  if not (typing and beside_text(vim.api.nvim_get_current_buf(), text)) then
    put(text, level or levels.WARN, uncut)
  end
end

return M
