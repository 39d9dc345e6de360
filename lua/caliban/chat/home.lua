--- The project of the chats. The program serves one project: that of the folder in which it was started. If the user is
--- in another project, such as after |:cd| or |:tcd|, the chat says which one it belongs to and how to go over.
local M = {}

local api = vim.api

--- Shows a sentence about two projects. If there is no room for their folders, their names stand for them.
---@param text string with `%s` for each of them
---@param ours string the chats' project
---@param other string
local function say(text, ours, other)
  local name = require('caliban.editor.name')
  local function with(shorten)
    return text:format(shorten(ours), shorten(other))
  end
  local whole = with(name.tilde)
  local wide = api.nvim_strwidth(whole) > vim.v.echospace
  local short = with(vim.fs.basename)
  local differ = vim.fs.basename(ours) ~= vim.fs.basename(other)
  local words = name.shown(wide and differ and short or whole)
  require('caliban.editor.notify').show(words, vim.log.levels.WARN)
end

--- The roots of the chats' project and of the current folder's project.
---@return string? ours nil if the program has not been started yet
---@return string? other nil if this is the same project
local function roots()
  local folder = require('caliban.program.process').folder()
  if not folder then
    return nil
  end
  local root = require('caliban.program.project').root_of
  local ours, other = root(folder), root(vim.fn.getcwd())
  -- with 'autochdir' a folder that is no project was not chosen by the user
  local strays = vim.o.autochdir and not vim.uv.fs_lstat(vim.fs.joinpath(other, '.git'))
  return ours, not strays and other ~= ours and other or nil
end

--- Called when the user opens a chat: says in one line which project the chat belongs to if the user is in another one.
function M.tell()
  local ours, other = roots()
  if ours and other then
    vim.schedule(function()
      say('This is the chat of %s. `:Caliban project` opens that of %s.', ours, other)
    end)
  end
end

--- Called before the first chat is opened: if the program has been started in another project, for something else than a
--- chat, starts it again here.
function M.follow()
  local process, _, other = require('caliban.program.process'), roots()
  if other and #require('caliban.chat.chats').all == 0 and #process.under_review() == 0 then
    process.restart(vim.fn.getcwd())
  end
end

--- Why the program cannot leave its project now, and what to do.
---@return string?
local function hindrance()
  local process = require('caliban.program.process')
  if process.report().ended then
    return 'The program does not run: `:Caliban restart`'
  elseif #process.under_review() > 0 then
    return 'Changes wait for your review: `:Caliban review`'
  end
  for _, chat in ipairs(require('caliban.chat.chats').all) do
    local status = chat.status ---@as caliban.Status?
    local name = chat.session or 'main'
    if not status or not process.report().welcome then
      return 'The conversation is still being opened'
    elseif status.phase ~= 'idle' then
      return ('A turn runs or waits in `%s`: end it first'):format(name)
    elseif status.jobs > 0 then
      return ('A background job runs in `%s`: `/jobs` stops it'):format(name)
    elseif chat.ephemeral then
      return ('`%s` is never saved: `/fork` keeps it, `:Caliban delete` removes it'):format(name)
    end
  end
end

--- Deletes the buffers of the chats, and the other ones that Caliban has named.
local function wipe()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if vim.startswith(api.nvim_buf_get_name(buf), 'caliban://') then
      pcall(api.nvim_buf_delete, buf, { force = true })
    end
  end
end

--- Opens the chat of the current folder's project. The program saves the chats and is started again in that project.
---@param show fun(focus: boolean) shows the current chat, which it opens if there is none
function M.go(show)
  local ours, other = roots()
  if not (ours and other) then
    show(true)
    return
  end
  local why = hindrance()
  if why then
    return require('caliban.editor.notify').show(why .. '. Then `:Caliban project` goes over.')
  end
  local chats = require('caliban.chat.chats')
  local old = vim.list_slice(chats.all)
  vim.tbl_map(require('caliban.chat.composer').save, old)
  require('caliban.program.process').restart(vim.fn.getcwd())
  chats.current, chats.wanted = nil, false
  -- the old chats are removed only after `show`, which uses their windows
  show(true)
  chats.all = vim.tbl_filter(function(chat)
    return not vim.list_contains(old, chat)
  end, chats.all)
  wipe()
end

return M
