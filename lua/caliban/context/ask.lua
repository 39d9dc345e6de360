--- Sends a message or adds context from any window. The chat is opened, but the current window
--- stays the same.
local M = {}

local MOST = 256 * 1024 -- bytes of one excerpt: sending more to the program would block Neovim

---@class caliban.AskOpts: caliban.AddOpts
---@field context? caliban.Excerpt[]
---@field steer? boolean

--- Sends a message. The text of the buffer or range in `opts` goes with the message. Without them,
--- in visual mode, the selection goes with it.
---@param text string
---@param opts? caliban.AskOpts
function M.ask(text, opts)
  opts = opts or {}
  local context = opts.context
  if not context then
    local context_of = require('caliban.context.excerpt')
    local named = opts.range or opts.buf
    local excerpt = named and context_of.of(opts) or context_of.visual()
    context = excerpt and { excerpt } or {}
  end
  if vim.trim(text) == '' then
    require('caliban.editor.notify').show('Nothing sent. The message is empty.')
    return
  end
  local chat = require('caliban.chat').show(false)
  if chat then
    local steer = opts.steer or false
    local message = { kind = 'send', text = text, context = context, steer = steer }
    if not require('caliban.chat.chats').send(chat, message) then
      -- the program has ended
      require('caliban.chat.composer').append(chat, text, context --[[@as caliban.Excerpt[] ]])
    end
  end
end

--- Sends a message that the user has typed outside of the composer, by the composer's rules: after a `!` the text is a
--- command for the user's shell. `M.ask`, which scripts call with texts of others, runs none.
---@param text string
---@param opts caliban.AskOpts
function M.typed(text, opts)
  local shell = require('caliban.chat.shell')
  if not shell.is_command(text) then
    return M.ask(text, opts)
  end
  local chat = require('caliban.chat').show(false)
  if not chat then
    return
  end
  local composer = require('caliban.chat.composer')
  for _, excerpt in ipairs(opts.context or {}) do
    composer.chip(chat, excerpt)
  end
  local why = shell.run(chat, text, composer.chip)
  if why then
    require('caliban.editor.notify').show(why, vim.log.levels.WARN)
  end
end

--- Why an excerpt cannot go with a message.
---@param excerpt? caliban.Excerpt
---@return string?
local function misfit(excerpt)
  if not excerpt then
    return 'No buffer is open beside the chat. Nothing was added.'
  end
  local buf = vim.api.nvim_get_current_buf()
  local chat = require('caliban.chat.chats').of(buf)
  if
    chat
    and chat.composer == buf
    and excerpt.path == require('caliban.context.excerpt').path(buf)
  then
    return 'These lines are of the message itself. Nothing was added.'
  elseif #excerpt.text > MOST then
    local say =
      'The text is %d kB long; at most %d kB can be added. Name the file in the message instead.'
    return say:format(#excerpt.text / 1024, MOST / 1024)
  end
end

--- Adds an excerpt to the composer without sending.
---@param excerpt? caliban.Excerpt nil if there is nothing to add
---@param focus boolean
function M.add(excerpt, focus)
  local why = misfit(excerpt)
  if not excerpt or why then
    return require('caliban.editor.notify').show(why or '', vim.log.levels.WARN)
  end
  local chat = require('caliban.chat').show(focus)
  if chat then
    require('caliban.chat.composer').chip(chat, excerpt)
  end
end

--- Prompts for a message and sends it.
---@param selection? caliban.Excerpt
function M.prompt(selection)
  selection = selection or require('caliban.context.excerpt').visual()
  if vim.fn.mode():find('^[vV\22]') then
    vim.cmd('normal! \27')
  end
  require('caliban.editor.prompt').ask({ prompt = 'Ask Caliban: ' }, function(text)
    if text and vim.trim(text) ~= '' then
      M.typed(text, { context = selection and { selection } or {} })
    end
  end)
end

return M
