--- The two buffers of a chat, made when needed and made again when somebody wiped them.
local M = {}

local api = vim.api

--- What begins a line whose next rows are indented: the mark of a tool or thought, of a question, a notice or a quotation,
--- of an item of a list, or a word in a column of its own, as in the list of commands.
local LISTS = [[^\s*\%(\%([▸▾?!>*+-]\|\d\+[.)]\)\s\+\|\/\=\a\+\s\s\+\)]]

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
    -- Neovim keeps it, as the name of another buffer
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

--- Names the two after the chat's session.
---@param chat caliban.Chat
function M.rename(chat)
  for buf, suffix in pairs({ [chat.transcript] = '', [chat.composer] = '/prompt' }) do
    local _ = api.nvim_buf_is_valid(buf) and entitle(chat, buf, suffix)
  end
end

---@param chat caliban.Chat
---@return integer
local function make(chat)
  local buf = api.nvim_create_buf(false, true) -- 'buftype' nofile, no swap file
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].modifiable = true
  -- a window shows it: give the window what a chat needs
  api.nvim_create_autocmd('BufWinEnter', {
    buffer = buf,
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
  require('caliban.chat.long').attach(chat.transcript)
  api.nvim_create_autocmd('WinScrolled', {
    buffer = chat.transcript,
    callback = function()
      require('caliban.chat.windows').refit(chat)
    end,
  })
  require('caliban.chat.redraw').watch()
  require('caliban.chat.breaks').watch()
end

---@param chat caliban.Chat
local function composer(chat)
  chat.composer = make(chat)
  api.nvim_buf_set_lines(chat.composer, 0, -1, false, chat.text)
  -- no undo back to the empty buffer
  vim.bo[chat.composer].undolevels = vim.bo[chat.composer].undolevels
  require('caliban.chat.keys').attach(chat, chat.composer, 'composer')
  require('caliban.chat.composer').attach(chat)
end

--- Has an empty transcript painted.
---@param chat caliban.Chat
local function present(chat)
  chat.blocks, chat.total = {}, 0
  if chat.session then
    require('caliban.program.process').notify({ kind = 'open', session = chat.session })
  end
end

--- `:edit` has emptied one of the two: it gets its text again.
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

--- Makes what is missing.
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
