--- Where a chat is shown. Only windows it has opened are ever resized or closed; options are set for the
--- window and the buffer together, so that another buffer in the window brings its own.
local M = {}

local api = vim.api

---@param win integer
---@param options table<string, any>
local function set(win, options)
  for option, value in pairs(options) do
    vim.wo[win][0][option] = value
  end
end

local plain = {
  wrap = true,
  breakindent = true,
  linebreak = true,
  number = false,
  relativenumber = false,
  cursorline = false,
  colorcolumn = '',
  statuscolumn = '',
  foldcolumn = '0',
  foldenable = false,
  list = false,
  spell = false,
}

--- The windows a chat may be shown in already: this tab's, or all where it has a tab of its own.
---@return integer[]
local function candidates()
  local own_tab = require('caliban.chat.layout').now() == 'tab'
  return own_tab and api.nvim_list_wins() or api.nvim_tabpage_list_wins(0)
end

--- The window that shows one of the two buffers of any chat.
---@param part 'transcript'|'composer'
---@return integer? win
---@return caliban.Chat? chat
local function showing(part)
  local chats = require('caliban.chat')
  for _, win in ipairs(candidates()) do
    local buf = api.nvim_win_get_buf(win)
    local chat = chats.of(buf)
    if chat and chat[part] == buf then
      return win, chat
    end
  end
end

--- Whether this tab shows a transcript (of this chat, if one is given).
---@param chat? caliban.Chat
---@return boolean
function M.visible(chat)
  local chats = require('caliban.chat')
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local buf = api.nvim_win_get_buf(win)
    local of = chats.of(buf)
    if of and of.transcript == buf and (not chat or of == chat) then
      return true
    end
  end
  return false
end

--- The window of the composer below a transcript's window, in the same tab.
---@param win integer
---@return integer?
function M.composer_of(win)
  local chat = require('caliban.chat').of(api.nvim_win_get_buf(win))
  for _, other in ipairs(api.nvim_tabpage_list_wins(api.nvim_win_get_tabpage(win))) do
    if chat and api.nvim_win_get_buf(other) == chat.composer then
      return other
    end
  end
end

---@param chat caliban.Chat
---@param win integer
---@return boolean # whether it is shown
local function bar(chat, win)
  local left, right = require('caliban.status').line(chat, api.nvim_win_get_width(win) - 3)
  return require('caliban.editor.name').winbar(win, '%%< %s%%=  %s ', left, right)
end

--- What the composer's keys do in a phase; in the others a turn runs.
local hints = {
  idle = '<CR> send',
  offline = ':Caliban restart',
  reviewing = '<CR> send, review later · <C-c> stop',
}
local RUNNING = '<CR> queue · %s steer · <C-c> stop'

---@param chat caliban.Chat
---@param win integer
local function hint(chat, win)
  local phase = chat.status and chat.status.phase or 'idle'
  local steer = require('caliban.chat.steer').key()
  local keys = hints[phase] or RUNNING:format(steer)
  require('caliban.editor.name').winbar(win, '%%=%%#CalibanDim#%s · g? keys ', keys)
end

--- Sets the lines above the windows of a chat, where they have changed. If another plugin has its own line above the
--- transcript, the state is shown in the composer.
---@param chat caliban.Chat
function M.decorate(chat)
  local stands = true
  for _, win in ipairs(vim.fn.win_findbuf(chat.transcript)) do
    stands = bar(chat, win) and stands
  end
  for _, win in ipairs(vim.fn.win_findbuf(chat.composer)) do
    hint(chat, win)
  end
  require('caliban.chat.composer').show_state(chat, not stands)
end

--- Begins to watch what other plugins put above the windows of chats.
function M.watch()
  local group = api.nvim_create_augroup('caliban_winbar', {})
  local due = false
  -- once for many events: a plugin may answer each of our lines with one of its own
  local function look()
    local _ = due
      or vim.schedule(function()
        due = false
        vim.tbl_map(M.decorate, require('caliban.chat').all)
      end)
    due = true
  end
  api.nvim_create_autocmd('OptionSet', { group = group, pattern = 'winbar', callback = look })
  api.nvim_create_autocmd('WinEnter', { group = group, callback = look })
end

--- A window has begun to show a buffer of a chat.
---@param chat caliban.Chat
---@param buf integer
function M.entered(chat, buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    -- once: what the user sets in it afterwards stays
    if vim.w[win].caliban_buffer ~= buf then
      vim.w[win].caliban_buffer = buf
      set(win, plain)
      local chars = vim.o.fillchars
      set(win, {
        signcolumn = buf == chat.transcript and 'yes:1' or 'no',
        -- what 'formatlistpat' finds at a line's beginning is how far its next rows are indented
        breakindentopt = buf == chat.transcript and 'list:-1' or '',
        fillchars = chars .. (chars == '' and '' or ',') .. 'eob: ',
      })
    end
  end
  M.decorate(chat)
  if buf == chat.transcript then
    require('caliban.chat.beside').refit(chat)
  end
end

--- Opens or closes windows without 'equalalways' resizing all others. Setting it again would do that too,
--- so the sizes are put back after it.
---@generic T
---@param fn fun(): T
---@return T
local function keeping_sizes(fn)
  if not vim.o.equalalways then
    return fn()
  end
  vim.cmd('noautocmd set noequalalways')
  local ok, result = pcall(fn)
  local sizes = vim.fn.winrestcmd()
  vim.cmd('noautocmd set equalalways')
  vim.cmd(sizes)
  if not ok then
    error(result, 0)
  end
  return result
end

---@param chat caliban.Chat
---@param composer? integer the composer's window, where that was left alone
---@return integer win
local function open_transcript(chat, composer)
  local layouts = require('caliban.chat.layout')
  local layout = layouts.now()
  local here = api.nvim_get_current_win()
  if composer and api.nvim_win_get_config(composer).relative == '' then
    return api.nvim_open_win(chat.transcript, false, { split = 'above', win = composer })
  elseif layout == 'tab' then
    vim.cmd(('tab sbuffer %d'):format(chat.transcript))
    local win = api.nvim_get_current_win()
    api.nvim_set_current_win(here)
    return win
  elseif layout == 'current' and not vim.wo[here].winfixbuf then
    api.nvim_win_set_buf(here, chat.transcript)
    return here
  end
  local win = api.nvim_open_win(chat.transcript, false, layouts.place(layout))
  set(win, { winfixwidth = layout == 'right' or layout == 'left' })
  layouts.opened(win, layout)
  return win
end

---@param chat caliban.Chat
---@param transcript integer
---@return integer win
local function open_composer(chat, transcript)
  if api.nvim_win_get_config(transcript).relative ~= '' then
    return api.nvim_open_win(
      chat.composer,
      false,
      require('caliban.chat.layout').float('composer', 3)
    )
  end
  local config = { split = 'below', win = transcript, height = 3 }
  local win = api.nvim_open_win(chat.composer, false, config)
  set(win, { winfixheight = true })
  return win
end

--- Shows a chat in a window that shows another, as it was left there.
---@param win integer
---@param chat caliban.Chat
---@param part 'transcript'|'composer'
local function swap(win, chat, part)
  local old = require('caliban.chat').of(api.nvim_win_get_buf(win))
  if not old or old == chat then
    return
  end
  api.nvim_win_call(win, function()
    local view = vim.fn.winsaveview()
    old.views[part] = view.lnum < vim.fn.line('$') and view or nil
    vim.cmd(('noautocmd keepalt keepjumps buffer %d'):format(chat[part]))
    local kept = chat.views[part] ---@as vim.fn.winsaveview.ret?
    if kept then
      vim.fn.winrestview(kept)
    else
      -- it followed the end: what came meanwhile is seen
      api.nvim_win_set_cursor(0, { api.nvim_buf_line_count(0), vim.v.maxcol - 1 })
    end
  end)
end

--- Opens what is not open of a chat's windows in this tab.
---@param chat caliban.Chat
---@return integer composer
local function open(chat)
  local upper, lower = showing('transcript'), showing('composer')
  if upper then
    swap(upper, chat, 'transcript')
  else
    local under = lower
    upper = keeping_sizes(function()
      return open_transcript(chat, under)
    end)
    local last = api.nvim_buf_line_count(chat.transcript)
    api.nvim_win_set_cursor(upper, { last, 0 })
  end
  if lower then
    swap(lower, chat, 'composer')
  else
    local above = upper
    lower = keeping_sizes(function()
      return open_composer(chat, above)
    end)
  end
  return lower
end

--- Shows a part of a chat in a window that was opened for something else.
---@param win integer
---@param chat caliban.Chat
---@param part 'transcript'|'composer'
function M.adopt(win, chat, part)
  api.nvim_win_call(win, function()
    vim.cmd(('keepalt keepjumps buffer! %d'):format(chat[part]))
    api.nvim_win_set_cursor(0, { api.nvim_buf_line_count(0), 0 })
  end)
  if part == 'composer' then
    set(win, { winfixheight = true })
  elseif api.nvim_win_get_config(win).relative == '' then
    local layout = require('caliban.chat.layout')
    layout.opened(win, layout.now())
  end
  M.fit(chat)
end

--- Shows a chat in this tab.
---@param chat caliban.Chat
---@param focus boolean
function M.open(chat, focus)
  local ok, win = pcall(open, chat)
  if not ok then
    local full = tostring(win):find('E36:', 1, true)
    local why = full and 'There is no room for the chat here.' or tostring(win)
    return require('caliban.editor.notify').say(why)
  end
  M.entered(chat, chat.transcript)
  M.entered(chat, chat.composer)
  M.fit(chat)
  -- the command-line window lets nobody out
  if focus and #vim.fn.getcmdwintype() == 0 then
    api.nvim_set_current_win(win)
  end
end

--- Closes a window; the last one shows what it showed before, else an empty buffer.
---@param win integer
function M.shut(win)
  if pcall(api.nvim_win_close, win, true) then
    return
  end
  api.nvim_win_call(win, function()
    local back = pcall(vim.cmd.buffer, '#')
    if not back or require('caliban.chat').of(api.nvim_get_current_buf()) then
      vim.cmd.enew()
    end
  end)
end

--- Closes the chat's windows in this tab.
function M.close()
  keeping_sizes(function()
    for _, part in ipairs({ 'composer', 'transcript' }) do
      local win = showing(part)
      while win do
        M.shut(win)
        win = showing(part)
      end
    end
  end)
end

---@param win integer
---@return integer
local function wanted(win)
  local lines = api.nvim_win_text_height(win, {}).all
  return math.max(3, math.min(10, lines)) + (vim.wo[win].winbar ~= '' and 1 or 0)
end

--- Gives the composer the height of its text, out of the transcript above it.
---@param chat caliban.Chat
function M.fit(chat)
  local lower, of = showing('composer')
  local upper = showing('transcript')
  if not (lower and upper and of == chat) then
    return
  end
  local want, have = wanted(lower), api.nvim_win_get_height(lower)
  if want == have then
    return
  end
  if api.nvim_win_get_config(lower).relative ~= '' then
    local float = require('caliban.chat.layout').float
    api.nvim_win_set_config(lower, float('composer', want))
    api.nvim_win_set_config(upper, float('transcript', want))
    return
  end
  local top, bottom = api.nvim_win_get_position(upper), api.nvim_win_get_position(lower)
  local height = api.nvim_win_get_height(upper)
  if top[2] ~= bottom[2] or bottom[1] - top[1] > height + 1 or height + have - want < 3 then
    return -- the user has moved one of them
  end
  -- the upper one's height is set: what it gives or takes comes from the one below it, and from no other
  set(lower, { winfixheight = false })
  api.nvim_win_set_height(upper, height + have - want)
  set(lower, { winfixheight = true })
end

return M
