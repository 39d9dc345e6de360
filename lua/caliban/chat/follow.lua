--- Follows the agent: the last code window shows the files that the agent reads and edits. The
--- window does not get the focus, and keeps its jump list and its alternate file. Afterwards the
--- window shows again what it showed before.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_follow')

--- A file of more bytes is not shown.
local LARGE = 5e6

---@class caliban.Following
---@field chat caliban.Chat
---@field win integer
---@field group integer the autocommands
---@field buf? integer the buffer that was shown last for the agent
---@field back? { buf: integer, view: table } what the window showed before

---@class caliban.FollowedPlace
---@field path string
---@field first? integer the lines that were read, from 1
---@field last? integer default: the last line of the file
---@field is_edit? boolean

local following ---@type caliban.Following?
local next_place ---@type caliban.FollowedPlace?

---@param text string
local function say(text)
  require('caliban.editor.notify').say(text, vim.log.levels.INFO)
end

--- Shows a buffer in a window without autocommands, a jump, or another alternate file. Then calls
--- `fn` in the window.
---@param win integer
---@param buf integer
---@param fn fun()
local function switch(win, buf, fn)
  api.nvim_win_call(win, function()
    vim.cmd(('noautocmd silent keepjumps keepalt buffer %d'):format(buf))
    fn()
  end)
end

---@param buf? integer
local function unmark(buf)
  if buf and api.nvim_buf_is_valid(buf) then
    api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  end
end

--- Shows in the window again what it showed before it followed the agent.
---@param it caliban.Following
local function restore(it)
  local back = it.back
  if
    back
    and api.nvim_win_is_valid(it.win)
    and api.nvim_win_get_buf(it.win) == it.buf
    and api.nvim_buf_is_loaded(back.buf)
  then
    switch(it.win, back.buf, function()
      vim.fn.winrestview(back.view)
    end)
  end
end

--- Whether the window may show another file now.
---@param it caliban.Following
---@return boolean
local function may_switch(it)
  local mode = api.nvim_get_mode().mode
  -- a selection or a pending operator would be lost
  local is_free = mode:find('^[nict]') and not mode:find('^no') and vim.fn.getcmdwintype() == ''
  local buf, wo = api.nvim_win_get_buf(it.win), vim.wo[it.win]
  if not is_free or it.win == api.nvim_get_current_win() or wo.winfixbuf or wo.diff then
    return false
  end
  local hidden = vim.bo[buf].bufhidden
  local hides = hidden == 'hide' or hidden == '' and vim.o.hidden
  return require('caliban.editor.file').ordinary(buf)
    and (hides or hidden == '' and not vim.bo[buf].modified)
end

--- The buffer of a file, which is loaded if necessary. Nil if the path is outside of the chat's
--- project or in `.git`, if there is no such file, or if the file is large or cannot be loaded.
---@param chat caliban.Chat
---@param path string
---@return integer?
local function loaded(chat, path)
  local names = require('caliban.editor.name')
  local root = names.real(chat.root or '')
  local real = names.real(names.meant(path, chat.root))
  local below = names.below(root, real)
  local stat = vim.uv.fs_stat(real)
  local is_file = stat and stat.type == 'file' and stat.size <= LARGE
  if not below or below:find('^%.git/') or not is_file then
    return nil
  end
  return (require('caliban.editor.file').load(real))
end

--- The first changed line of an edit that waits for the user.
---@param buf integer
---@return integer?
local function changed(buf)
  local pending = require('caliban.review').pending(buf)[1]
  return pending and pending.start + 1
end

---@param it caliban.Following
---@param place caliban.FollowedPlace
local function show(it, place)
  local buf = may_switch(it) and loaded(it.chat, place.path)
  if not buf then
    return
  end
  if not it.back or api.nvim_win_get_buf(it.win) ~= it.buf then
    local view = api.nvim_win_call(it.win, vim.fn.winsaveview)
    it.back = { buf = api.nvim_win_get_buf(it.win), view = view }
  end
  unmark(it.buf)
  it.buf = buf
  local count = api.nvim_buf_line_count(buf)
  local first = math.min(place.is_edit and changed(buf) or place.first or 1, count)
  switch(it.win, buf, function()
    api.nvim_win_set_cursor(0, { first, 0 })
    vim.cmd.normal({ place.is_edit and 'zz' or 'zt', bang = true })
  end)
  if not place.is_edit then
    local last = math.min(place.last or count, count)
    api.nvim_buf_set_extmark(buf, ns, first - 1, 0, {
      end_row = math.max(first, last),
      hl_group = 'CalibanFollow',
      hl_eol = true,
      priority = 50,
      strict = false,
    })
  end
end

--- Shows a place after the current event. Of several places at once only the last is shown.
---@param place caliban.FollowedPlace
local function soon(place)
  local is_first = not next_place
  next_place = place
  if is_first then
    vim.schedule(function()
      local it, at = following, next_place
      next_place = nil
      if it and at and api.nvim_win_is_valid(it.win) then
        show(it, at)
      elseif it then
        M.stop()
      end
    end)
  end
end

--- Called when the user enters a window. If this is the window that follows the agent, stops
--- following, and goes to the shown file by a jump, from which `<C-o>` leads back.
local function take()
  local it = following
  if not it or api.nvim_get_current_win() ~= it.win then
    return
  end
  local shown, place = it.buf, api.nvim_win_get_cursor(it.win)
  local is_shown = it.back and api.nvim_win_get_buf(it.win) == shown
  M.stop()
  if is_shown and shown and api.nvim_win_get_buf(it.win) ~= shown then
    vim.cmd("normal! m'")
    vim.bo[shown].buflisted = true
    api.nvim_win_set_buf(it.win, shown)
    api.nvim_win_set_cursor(it.win, place)
  end
end

--- Whether an event belongs to the followed chat.
---@param data table
---@return boolean
local function is_followed(data)
  return following ~= nil and data.session == following.chat.session
end

---@param it caliban.Following
local function listen(it)
  local function on(pattern, fn)
    api.nvim_create_autocmd('User', {
      group = it.group,
      pattern = pattern,
      callback = function(args)
        fn(args.data or {})
      end,
    })
  end
  on('CalibanToolEnd', function(data)
    if is_followed(data) and data.path then
      local first, last = tonumber(data.first), tonumber(data.last)
      soon({
        path = data.path,
        first = first --[[@as integer]],
        last = last --[[@as integer]],
      })
    end
  end)
  on('CalibanProposal', function(data)
    if is_followed(data) then
      soon({ path = data.path, is_edit = true })
    end
  end)
  on('CalibanTurnEnd', function(data)
    if is_followed(data) then
      M.stop()
    end
  end)
  api.nvim_create_autocmd('WinEnter', { group = it.group, callback = vim.schedule_wrap(take) })
end

--- Stops following the agent.
function M.stop()
  local it = following
  if not it then
    return
  end
  following, next_place, it.chat.followed = nil, nil, nil
  api.nvim_del_augroup_by_id(it.group)
  unmark(it.buf)
  if api.nvim_win_is_valid(it.win) then
    restore(it)
  end
  require('caliban.chat.windows').decorate(it.chat)
end

--- Begins to follow the current chat's agent, or stops following.
function M.toggle()
  if following then
    M.stop()
    return say('No longer following the agent.')
  end
  local chat = require('caliban.chat.chats').current
  local win = require('caliban.chat.visit').code_window()
  if not chat then
    return say('There is no chat yet. `:Caliban` opens one.')
  elseif not win then
    return say('No window of this tab shows a file. Open one, then `:Caliban follow`.')
  end
  local it = { chat = chat, win = win, group = api.nvim_create_augroup('caliban_follow', {}) }
  following, chat.followed = it, true
  listen(it)
  say('The last code window follows the agent until the turn ends.')
  require('caliban.chat.windows').decorate(chat)
end

return M
