--- The windows of chats: opens, decorates and closes them. Only windows that show a chat are resized or closed. Options
--- are set for a window and a buffer together, so that they do not apply to another buffer in the window.
local M = {}

local api = vim.api

---@param win integer
---@param options table<string, any>
local function set(win, options)
  for option, value in pairs(options) do
    vim.wo[win][0][option] = value
  end
end

--- The value of 'winhighlight' with a winbar that is not bold, so that the keys and figures there
--- do not stand out from the text. A highlight of the winbar that the user has set stays.
---@param now string the user's value
---@return string
local function quiet(now)
  if (',' .. now):find(',WinBar:', 1, true) then
    return now
  end
  return now .. (now == '' and '' or ',') .. 'WinBar:WinBarNC'
end

--- Updates the key hints at the composer.
---@param chat caliban.Chat
function M.hint(chat)
  for _, win in ipairs(vim.fn.win_findbuf(chat.composer)) do
    require('caliban.chat.bars').keys(chat, win)
  end
end

--- Shows the state of a chat and how many lines are below its windows. If another plugin has set the winbar of the
--- transcript, they are shown above the composer's text.
---@param chat caliban.Chat
function M.show_state(chat)
  local stands, below = true, {} ---@type boolean, string[]
  for _, win in ipairs(vim.fn.win_findbuf(chat.transcript)) do
    local is_shown, words = require('caliban.chat.bars').state(chat, win)
    stands, below = is_shown and stands, is_shown and below or words
  end
  require('caliban.chat.composer').show_state(chat, not stands, below)
end

--- Updates what the windows of a chat show besides its text: the state, the key hints and the words in an empty composer.
---@param chat caliban.Chat
function M.decorate(chat)
  require('caliban.chat.plan_keys').map(chat)
  M.hint(chat)
  require('caliban.chat.placeholder').refresh(chat)
  M.show_state(chat)
end

--- Adapts a transcript to its windows, whose width may have changed.
---@param chat caliban.Chat
function M.refit(chat)
  if chat.total == 0 then
    chat.narrowest = nil
    return
  end
  if not require('caliban.chat.near').refit(chat) then
    return
  end
  if chat.listing then
    require('caliban.chat.changes').refresh(chat, false)
  end
  local own = {} ---@type caliban.BlockUpdate[]
  if chat.status and #chat.status.queue > 0 then
    table.insert(own, require('caliban.chat.queue').block(chat))
  end
  if chat.retry_at then
    table.insert(own, require('caliban.chat.countdown').block(chat))
  end
  local _ = #own > 0 and require('caliban.chat.paint').paint(chat, own)
end

--- Gives a chat the rows that it needs after windows were resized, and shows its question again.
---@param chat caliban.Chat
local function show_again(chat)
  require('caliban.chat.room').fit(chat)
  if chat.question then
    require('caliban.chat.reading').follow(chat, {})
  end
end

--- Begins to watch the sizes of the screen and of its windows.
local function watch_sizes()
  local group = api.nvim_create_augroup('caliban_layout', {})
  api.nvim_create_autocmd('WinResized', {
    group = group,
    callback = function()
      require('caliban.chat.layout').note_shares()
      for _, chat in ipairs(require('caliban.chat.chats').all) do
        show_again(chat)
        M.refit(chat)
        require('caliban.chat.below').fill(chat)
        require('caliban.chat.changes').resized(chat)
        -- the words fit the width of the window
        M.hint(chat)
        M.show_state(chat)
      end
    end,
  })
  api.nvim_create_autocmd('VimResized', {
    group = group,
    callback = function()
      local layout = require('caliban.chat.layout')
      layout.keep_shares()
      for _, chat in ipairs(require('caliban.chat.chats').all) do
        layout.fit(chat)
        show_again(chat)
        M.decorate(chat)
        require('caliban.chat.below').fill(chat)
      end
    end,
  })
end

--- Adapts a transcript after its windows have begun to wrap in another way.
---@param chat caliban.Chat
local function rewrap(chat)
  chat.narrowest = nil
  M.refit(chat)
end

--- Updates 'breakat'. Adapts a visible transcript if the option has changed, or if the window to
--- which the transcript was adapted no longer shows it.
local function update_breaks()
  local changed = require('caliban.chat.breaks').update()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local buf = api.nvim_win_get_buf(win)
    local chat = require('caliban.chat.chats').of(buf)
    local fitted = chat and chat.transcript == buf and chat.narrowest
    local shows = require('caliban.editor.wrap').shows
    if chat and fitted and (changed or not shows(fitted.win, buf)) then
      rewrap(chat)
    end
  end
end

--- Begins to watch which windows show a transcript, and how they wrap.
local function watch_breaks()
  local group = api.nvim_create_augroup('caliban_breaks', {})
  local update = vim.schedule_wrap(update_breaks)
  local events = { 'BufWinEnter', 'WinNew', 'WinClosed', 'TabEnter' }
  api.nvim_create_autocmd(events, { group = group, callback = update })
  local pattern = { 'linebreak', 'wrap', 'breakat' }
  api.nvim_create_autocmd('OptionSet', { group = group, pattern = pattern, callback = update })
  api.nvim_create_autocmd('OptionSet', {
    group = group,
    pattern = 'wrap',
    callback = function()
      local buf, is_new = api.nvim_get_current_buf(), vim.v.option_old ~= vim.v.option_new
      local chat = is_new and require('caliban.chat.chats').of(buf)
      local _ = chat and chat.transcript == buf and rewrap(chat)
    end,
  })
end

--- Begins to watch the windows, and the winbars and statuslines that other plugins set.
function M.watch()
  watch_sizes()
  watch_breaks()
  local group = api.nvim_create_augroup('caliban_winbar', {})
  local due = false
  -- Updates the winbars only once for many events, because another plugin may replace each new
  -- winbar by its own.
  local function look()
    local _ = due
      or vim.schedule(function()
        due = false
        for _, chat in ipairs(require('caliban.chat.chats').all) do
          show_again(chat)
          M.decorate(chat)
        end
      end)
    due = true
  end
  api.nvim_create_autocmd('OptionSet', { group = group, pattern = 'winbar', callback = look })
  api.nvim_create_autocmd('OptionSet', {
    group = group,
    pattern = 'statusline',
    -- some plugins set the same statusline again and again
    callback = function()
      local _ = vim.v.option_old ~= vim.v.option_new and look()
    end,
  })
  api.nvim_create_autocmd('OptionSet', {
    group = group,
    pattern = 'laststatus',
    -- scheduled, because Neovim changes the sizes of windows after this event
    callback = vim.schedule_wrap(function()
      for _, chat in ipairs(require('caliban.chat.chats').all) do
        M.decorate(chat)
        require('caliban.chat.layout').fit(chat)
      end
    end),
  })
  api.nvim_create_autocmd('WinEnter', { group = group, callback = look })
  api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    group = group,
    pattern = 'caliban://*/prompt',
    desc = 'caliban: name the key for a command of the user',
    callback = function(args)
      local chat = require('caliban.chat.chats').of(args.buf)
      local first = api.nvim_buf_get_lines(args.buf, 0, 1, false)[1] or ''
      local shells = vim.startswith(first, '!')
      if chat and (shells or chat.shells) then
        chat.shells = shells
        M.hint(chat)
      end
    end,
  })
  api.nvim_create_autocmd({ 'InsertEnter', 'InsertLeave' }, {
    group = group,
    -- scheduled, because the mode changes only after `InsertEnter`
    callback = vim.schedule_wrap(function(args)
      local chat = require('caliban.chat.chats').of(args.buf)
      local _ = chat and M.hint(chat)
    end),
  })
end

--- Shows all of a chat whose transcript has taken the place of another chat's, as after `<C-o>`.
---@param chat caliban.Chat
local function join(chat)
  local layout, chats = require('caliban.chat.layout'), require('caliban.chat.chats')
  local _, other = layout.showing('composer')
  local can = other and chats.usable(chat.composer) and #vim.fn.getcmdwintype() == 0
  if can and not layout.visible(other) and layout.visible(chat) then
    chats.current = chat
    M.open(chat, false)
  end
end

--- Called when a window shows a buffer of a chat: sets the window's options.
---@param chat caliban.Chat
---@param buf integer
function M.entered(chat, buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    -- the options are set only once, so that the user can change them later
    if vim.w[win].caliban_buffer ~= buf then
      vim.w[win].caliban_buffer = buf
      -- some of these options move the text in the window
      local view = api.nvim_win_call(win, vim.fn.winsaveview) ---@type vim.fn.winsaveview.ret
      require('caliban.editor.bare').prose(win)
      local _ = buf == chat.transcript and set(win, require('caliban.chat.scroll').options())
      set(win, {
        signcolumn = buf == chat.transcript and 'yes:1' or 'no',
        -- wrapped rows are indented by the width of the text that 'formatlistpat' matches
        breakindentopt = buf == chat.transcript and 'list:-1' or '',
        conceallevel = buf == chat.transcript and require('caliban.config').get().conceal and 2
          or 0,
        concealcursor = '',
        winhighlight = quiet(vim.wo[win].winhighlight),
      })
      api.nvim_win_call(win, function()
        vim.fn.winrestview(view)
      end)
    end
  end
  M.decorate(chat)
  if buf == chat.transcript then
    -- Neovim triggers no window events if an autocommand, such as for `VimEnter`, opens the chat
    update_breaks()
    M.refit(chat)
    vim.schedule_wrap(join)(chat)
  end
end

--- Calls `fn`, which opens or closes windows, with 'equalalways' switched off, so that the other
--- windows keep their sizes. Switching the option on again resizes the windows, so their sizes are
--- restored afterwards.
---@generic T
---@param fn fun(): T
---@return T
function M.keeping_sizes(fn)
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

--- Opens a window for a buffer, even if an autocommand sets 'winfixbuf' in new windows.
---@param buf integer
---@param config vim.api.keyset.win_config
---@return integer win
local function open_window(buf, config)
  local before = api.nvim_list_wins()
  local ok, win = pcall(api.nvim_open_win, buf, false, config)
  if ok then
    return win
  end
  for _, new in ipairs(api.nvim_list_wins()) do
    if not vim.list_contains(before, new) then
      vim.wo[new].winfixbuf = false
      api.nvim_win_set_buf(new, buf)
      return new
    end
  end
  error(win, 0)
end

---@param chat caliban.Chat
---@param composer? integer the composer's window, if still open
---@return integer win
local function open_transcript(chat, composer)
  local layouts = require('caliban.chat.layout')
  local layout = layouts.now()
  local here = api.nvim_get_current_win()
  if composer and api.nvim_win_get_config(composer).relative == '' then
    return open_window(chat.transcript, { split = 'above', win = composer })
  elseif layout == 'tab' then
    vim.cmd(('tab sbuffer %d'):format(chat.transcript))
    local win = api.nvim_get_current_win()
    api.nvim_set_current_win(here)
    return win
  elseif layout == 'current' and not (vim.wo[here].winfixbuf or vim.wo[here].previewwindow) then
    local before = api.nvim_win_get_buf(here)
    api.nvim_win_set_buf(here, chat.transcript)
    vim.w[here].caliban_before = before
    return here
  end
  local win = open_window(chat.transcript, layouts.place(layout))
  set(win, { winfixwidth = layout == 'right' or layout == 'left', winfixheight = false })
  layouts.opened(win, layout)
  return win
end

---@param chat caliban.Chat
---@param transcript integer
---@return integer win
local function open_composer(chat, transcript)
  if api.nvim_win_get_config(transcript).relative ~= '' then
    return open_window(
      chat.composer,
      require('caliban.chat.layout').float('composer', require('caliban.chat.layout').composer())
    )
  end
  local rows = require('caliban.chat.layout').composer()
  local config = { split = 'below', win = transcript, height = rows }
  local win = open_window(chat.composer, config)
  set(win, { winfixheight = true })
  return win
end

--- Shows a chat in a window of another chat, with the view that the chat last had.
---@param win integer
---@param chat caliban.Chat
---@param part 'transcript'|'composer'
local function swap(win, chat, part)
  local old = require('caliban.chat.chats').of(api.nvim_win_get_buf(win))
  if not old or old == chat then
    return
  end
  vim.wo[win][0].winfixbuf = false
  api.nvim_win_call(win, function()
    local view = vim.fn.winsaveview()
    old.views[part] = view.lnum < vim.fn.line('$') and view or nil
    vim.cmd(('noautocmd keepalt keepjumps buffer %d'):format(chat[part]))
    local back = chat.views[part] ---@as vim.fn.winsaveview.ret?
    if back then
      vim.fn.winrestview(back)
    else
      -- the window was at the end of the chat before: go to the new end
      api.nvim_win_set_cursor(0, { api.nvim_buf_line_count(0), vim.v.maxcol - 1 })
    end
  end)
end

--- Opens the windows of a chat that are not open in this tab.
---@param chat caliban.Chat
---@return integer composer the composer's window
local function open(chat)
  local showing = require('caliban.chat.layout').showing
  local upper = showing('transcript')
  local lower = showing('composer', upper)
  if upper then
    swap(upper, chat, 'transcript')
  else
    local under = lower
    local function above()
      return open_transcript(chat, under)
    end
    local ok, win = pcall(M.keeping_sizes, above)
    if not ok and under and #api.nvim_tabpage_list_wins(0) > 1 then
      -- a composer of one row has no room above it: both windows are opened anew
      api.nvim_win_close(under, true)
      under, lower = nil, nil
      ok, win = pcall(M.keeping_sizes, above)
    end
    upper = ok and win or error(win, 0)
    local last = api.nvim_buf_line_count(chat.transcript)
    api.nvim_win_set_cursor(upper, { last, 0 })
  end
  if lower then
    swap(lower, chat, 'composer')
  else
    local above = upper
    lower = M.keeping_sizes(function()
      return open_composer(chat, above)
    end)
  end
  return lower
end

--- Shows a part of a chat in an existing window.
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
  require('caliban.chat.layout').fit(chat)
end

--- Shows a chat in this tab.
---@param chat caliban.Chat
---@param focus boolean
function M.open(chat, focus)
  if chat.question and not require('caliban.chat.layout').showing('transcript') then
    chat.question.placed = nil -- a new window shows the question from its first line
  end
  local ok, win = pcall(open, chat)
  if not ok then
    local full = tostring(win):find('E36:', 1, true)
    local why = full and 'There is no room for the chat here. Close a window first.'
      or tostring(win)
    return require('caliban.editor.notify').say(why)
  end
  M.entered(chat, chat.transcript)
  M.entered(chat, chat.composer)
  require('caliban.chat.layout').fit(chat)
  require('caliban.chat.composer').reveal(chat)
  require('caliban.chat.room').fit(chat)
  if chat.question and not chat.question.placed then
    require('caliban.chat.reading').follow(chat, vim.fn.win_findbuf(chat.transcript))
  end
  -- the command-line window cannot be left
  if focus and #vim.fn.getcmdwintype() == 0 then
    api.nvim_set_current_win(win)
  end
end

--- Closes a window. The user's own window shows the buffer again that it had before. If the window is the last one, it
--- shows the buffer in which the user was last, or an empty buffer.
---@param win integer
function M.shut(win)
  local before = vim.w[win].caliban_before ---@type integer?
  vim.w[win].caliban_before = nil
  if before and api.nvim_buf_is_loaded(before) then
    vim.wo[win].winfixbuf = false
    return api.nvim_win_set_buf(win, before)
  elseif pcall(api.nvim_win_close, win, true) then
    return
  end
  local outside = require('caliban.chat.outside').last()
  vim.wo[win].winfixbuf = false
  if outside then
    api.nvim_win_set_buf(win, outside.buf)
  else
    api.nvim_win_call(win, vim.cmd.enew)
  end
end

--- Closes the chat's windows in this tab.
function M.close()
  M.keeping_sizes(function()
    local function first()
      local showing = require('caliban.chat.layout').showing
      return showing('composer') or showing('transcript')
    end
    local win = first()
    while win do
      M.shut(win)
      win = first()
    end
  end)
end

return M
