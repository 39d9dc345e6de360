--- Creates the two buffers of a chat when they are needed, and again after they were wiped out.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF

--- The value of 'formatlistpat': it matches the beginning of lines whose wrapped rows are indented.
--- Such lines begin with the sign of a tool, a thought, a question, a notice, a quotation, a list
--- item or a to-do item, with a word in a separate column, as in the list of commands, or with the number of an
--- option.
local LISTS =
  [[^\s*\%(\%([▸▾?!>*+-]\|\d\+[.)]\|\[[ x>]\]\)\s\+\|\/\=\h\+\s\s\+\|\d\s\s\%(\[[ x]\] \)\=\)]]

--- Deletes the buffer with this name, unless it is the buffer `but`.
---@param full string
---@param but integer
local function wipe(full, but)
  local old = require('caliban.editor.name').buffer(full, but)
  if old then
    api.nvim_buf_delete(old, { force = true })
  end
end

---@param chat caliban.Chat
---@param buf integer
---@param suffix string
local function entitle(chat, buf, suffix)
  local before = api.nvim_buf_get_name(buf)
  local full = 'caliban://' .. chat.session .. suffix
  vim.b[buf].caliban_session = chat.session
  wipe(full, buf)
  api.nvim_buf_set_name(buf, full)
  if before ~= '' then
    -- Neovim has created a buffer with the old name
    wipe(before, buf)
  end
end

---@param chat caliban.Chat
---@param buf integer
---@param filetype string
---@param suffix string
local function name(chat, buf, filetype, suffix)
  if chat.session and not vim.b[buf].caliban_session then
    entitle(chat, buf, suffix)
    vim.bo[buf].filetype = filetype
  end
end

--- Renames both buffers after the chat's session.
---@param chat caliban.Chat
function M.rename(chat)
  for buf, suffix in pairs({ [chat.transcript] = '', [chat.composer] = '/prompt' }) do
    local _ = api.nvim_buf_is_valid(buf) and entitle(chat, buf, suffix)
  end
end

---@param chat caliban.Chat
---@return integer
local function make(chat)
  local buf = require('caliban.editor.scratch').new() -- 'buftype' nofile, no swap file
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].modifiable = true
  -- a window shows the buffer: set the window's options
  api.nvim_create_autocmd('BufWinEnter', {
    [BUF] = buf,
    callback = function()
      require('caliban.chat.windows').entered(chat, buf)
    end,
  })
  return buf
end

---@param chat caliban.Chat
local function transcript(chat)
  chat.transcript = make(chat)
  chat.blocks, chat.total = {}, 0
  vim.bo[chat.transcript].undolevels = -1
  vim.bo[chat.transcript].formatlistpat = LISTS
  vim.bo[chat.transcript].modifiable = false
  require('caliban.chat.keys').attach(chat, chat.transcript, 'transcript')
  require('caliban.chat.above').attach(chat, chat.transcript)
  api.nvim_create_autocmd('TextYankPost', {
    [BUF] = chat.transcript,
    callback = function(args)
      require('caliban.chat.long').yanked(args.buf)
    end,
  })
  require('caliban.chat.redraw').watch()
end

---@param chat caliban.Chat
local function composer(chat)
  chat.composer = make(chat)
  api.nvim_buf_set_lines(chat.composer, 0, -1, false, chat.text)
  -- the user's `u` must not restore the empty buffer
  vim.bo[chat.composer].undolevels = vim.bo[chat.composer].undolevels
  require('caliban.chat.keys').attach(chat, chat.composer, 'composer')
  require('caliban.chat.composer').attach(chat)
end

--- Asks the program to paint an empty transcript again.
---@param chat caliban.Chat
local function present(chat)
  chat.blocks, chat.total = {}, 0
  if chat.session then
    require('caliban.program.process').notify({ kind = 'open', session = chat.session })
  end
end

--- Restores the text of a buffer that `:edit` has emptied.
---@param chat caliban.Chat
---@param buf integer
function M.refill(chat, buf)
  if buf == chat.transcript then
    vim.bo[buf].modifiable = false
    present(chat)
  else
    api.nvim_buf_set_lines(buf, 0, -1, false, chat.text)
  end
end

--- Creates the buffers that are missing.
---@param chat caliban.Chat
function M.ensure(chat)
  local usable = require('caliban.chat.chats').usable
  if not usable(chat.transcript) then
    local again = chat.transcript > 0
    transcript(chat)
    if again then
      present(chat)
    end
  end
  if not usable(chat.composer) then
    composer(chat)
  end
  name(chat, chat.transcript, 'caliban', '')
  name(chat, chat.composer, 'caliban-prompt', '/prompt')
end

return M
