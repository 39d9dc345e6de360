--- The to-do list of a chat: its count for the status, and a small window that follows the list and never takes the
--- focus.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban.todo')

--- The window, its buffer, the chat whose list it shows, and the first line of the page to which the user has gone.
local shown ---@type { win: integer, buf: integer, chat: caliban.Chat, page?: integer }?

local marks = { pending = '[ ]', in_progress = '[>]', completed = '[x]' } ---@type table<string, string>
local groups = { in_progress = 'CalibanTool', completed = 'CalibanDim' } ---@type table<string, string?>

--- The number of completed items and of all items in a chat's list; nil if the chat has no list.
---@param chat caliban.Chat
---@return { done: integer, all: integer }?
function M.count(chat)
  local items = chat.todo
  if not items or #items == 0 then
    return nil
  end
  local done = 0
  for _, item in ipairs(items) do
    done = done + (item.status == 'completed' and 1 or 0)
  end
  return { done = done, all = #items }
end

--- The count in a few cells, such as `3/7`.
---@param chat caliban.Chat
---@return string?
function M.brief(chat)
  local count = M.count(chat)
  return count and ('%d/%d'):format(count.done, count.all)
end

---@return boolean
local function is_open()
  return shown ~= nil and api.nvim_win_is_valid(shown.win)
end

--- Closes the window.
function M.close()
  local win = is_open() and shown and shown.win
  shown = nil
  api.nvim_create_augroup('caliban_todo', {})
  if win then
    pcall(api.nvim_win_close, win, true)
  end
end

--- The title: the count, and what the key of the window does where the user is.
---@param chat caliban.Chat
---@param more boolean whether items are below the window, which the key shows
---@return string
local function title(chat, more)
  local count = M.count(chat) or { done = 0, all = 0 }
  local buf = api.nvim_get_current_buf()
  local key = (buf == chat.transcript or buf == chat.composer) and 'gl' or ':Caliban todo'
  local does = more and 'more' or 'closes'
  local text = (' Todo · %d of %d · %s %s '):format(count.done, count.all, key, does)
  return require('caliban.editor.icons').of(text)
end

--- Where the window is: at the upper right of the chat, or of the screen if this tab does not show the chat.
---@param chat caliban.Chat
---@param lines string[]
---@return vim.api.keyset.win_config
local function place(chat, lines)
  local over ---@type integer?
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    over = over or api.nvim_win_get_buf(win) == chat.transcript and win or nil
  end
  local columns = over and api.nvim_win_get_width(over) or vim.o.columns
  local rows = over and api.nvim_win_get_height(over) or vim.o.lines
  local head = title(chat, false)
  local width = api.nvim_strwidth(head)
  for _, line in ipairs(lines) do
    width = math.max(width, math.min(api.nvim_strwidth(line), math.floor(columns / 2)))
  end
  local config = {
    relative = over and 'win' or 'editor',
    win = over,
    anchor = 'NE',
    row = over and 0 or 1,
    col = columns,
    width = math.max(1, math.min(width, columns - 2)),
    height = math.max(1, math.min(#lines, math.floor(rows / 2))),
    focusable = false,
    style = 'minimal',
    border = require('caliban.editor.icons').border(),
    title = head,
    hide = false,
  }
  return config ---@as vim.api.keyset.win_config
end

--- The first row of what waits for the user in a chat: a question, a plan or a list of changes, with its keys.
---@param chat caliban.Chat
---@return integer? # from 0
local function waiting(chat)
  local order = require('caliban.chat.order')
  local block, row = order.asking(chat)
  if block then
    return row + (block.head or 0)
  end
  local plan = chat.status and chat.status.plan
  if plan and plan.stage == 'waiting' then
    local found, at = order.last(chat, function(it)
      return it.shape == 'plan'
    end)
    return found and at + (found.head or 0)
  end
  local list, _, top = order.find(chat, order.REVIEW)
  return list and chat.listing and chat.listing.waits and top + 1 or nil
end

--- Whether the window would cover what waits for the user. A question can be answered only after it has been seen.
---@param chat caliban.Chat
---@param config vim.api.keyset.win_config
---@return boolean
local function covers(chat, config)
  local win, row = config.win, waiting(chat)
  if not (win and row) then
    return false
  end
  local at = vim.fn.screenpos(win, row + 1, 1).row
  local border = 2
  local over = at <= vim.fn.getwininfo(win)[1].winrow + (config.height or 1) + border
  return at == 0 and chat.question ~= nil or at > 0 and over
end

--- The same window over the last window of code, if that has room.
---@param config vim.api.keyset.win_config
---@return vim.api.keyset.win_config?
local function aside(config)
  local code = require('caliban.chat.outside').last()
  local win = code and code.win
  local here = win
    and api.nvim_win_is_valid(win)
    and api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage()
    and api.nvim_win_get_config(win).relative == ''
  if win and here and api.nvim_win_get_height(win) >= (config.height or 1) + 2 then
    local columns = api.nvim_win_get_width(win)
    local width = math.max(1, math.min(config.width or 1, columns - 2))
    return vim.tbl_extend('force', config, { win = win, col = columns, width = width })
  end
end

--- Writes the list into the window's buffer.
---@param items caliban.TodoItem[]
---@param brief boolean whether the completed items share one line
---@return string[] lines
---@return integer current the line of the last item that is in progress
local function write(items, brief)
  local buf = shown and shown.buf or -1
  local lines, marked, current, done = {}, {}, 1, 0 ---@type string[], string[], integer, integer
  for _, item in ipairs(items) do
    done = done + (item.status == 'completed' and 1 or 0)
  end
  if brief then
    lines[1], marked[1] = ('%s %d done'):format(marks.completed, done), 'completed'
  end
  for _, item in ipairs(items) do
    if not (brief and item.status == 'completed') then
      local text = require('caliban.editor.name').shown(item.text)
      lines[#lines + 1] = ('%s %s'):format(marks[item.status], text)
      marked[#lines] = item.status
      current = item.status == 'in_progress' and #lines or current
    end
  end
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  for i, status in ipairs(marked) do
    local group = groups[status]
    if group then
      api.nvim_buf_set_extmark(buf, ns, i - 1, 0, { end_col = #lines[i], hl_group = group })
    end
  end
  return lines, current
end

--- Fits the window to the list, and moves it to its place.
---@param chat caliban.Chat
---@param win integer
---@param lines string[]
---@return boolean # whether the list has no room for all its rows
local function fit(chat, win, lines)
  local config = place(chat, lines)
  api.nvim_win_set_config(win, config)
  local rows = api.nvim_win_text_height(win, {}).all
  local border = 2
  -- over the chat, the window ends above the composer
  local room = config.win and vim.fn.getwininfo(config.win)[1].height - border or vim.o.lines
  config.height = math.max(1, math.min(rows, room, math.floor(vim.o.lines / 2)))
  if room < 1 or covers(chat, config) then
    local other = aside(config)
    config = other or config
    config.hide = other == nil
  end
  api.nvim_win_set_config(win, config)
  return rows > (config.height or 1)
end

--- Scrolls the window, and says in its edge what is above and below, and in its title whether the key shows more.
---@param chat caliban.Chat
---@param win integer
---@param line integer the line to be seen
local function scroll(chat, win, line)
  local page = shown and shown.page
  api.nvim_win_set_cursor(win, { page or line, 0 })
  if page then
    api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = page })
    end)
  end
  require('caliban.chat.float').announce(win)
  local more = vim.fn.line('w$', win) < vim.fn.line('$', win)
  local config = { title = title(chat, more) }
  local above = vim.fn.line('w0', win) - 1
  if above > 0 and not more then
    config.footer = require('caliban.editor.icons').of((' ↑ %d above '):format(above))
    config.footer_pos = 'right'
  end
  api.nvim_win_set_config(win, config)
end

--- Draws the list. Where it has no room, the completed items share one line.
local function draw()
  if not (is_open() and shown) then
    return
  end
  local chat, win = shown.chat, shown.win
  local items, count = chat.todo or {}, M.count(chat)
  if not count or not api.nvim_buf_is_valid(shown.buf) then
    return M.close()
  end
  local lines, current = write(items, false)
  if fit(chat, win, lines) and count.done > 1 then
    lines, current = write(items, true)
    fit(chat, win, lines)
  end
  scroll(chat, win, current)
end

---@param chat caliban.Chat
local function open(chat)
  local buf = require('caliban.editor.scratch').new()
  vim.bo[buf].bufhidden = 'wipe'
  local config = place(chat, { '' })
  config.noautocmd = true
  shown = { win = api.nvim_open_win(buf, false, config), buf = buf, chat = chat }
  require('caliban.editor.bare').prose(shown.win)
  local options = vim.wo[shown.win][0]
  options.breakindentopt = 'shift:4'
  options.winfixbuf = true
  local group = api.nvim_create_augroup('caliban_todo', {})
  api.nvim_create_autocmd({ 'WinResized', 'VimResized', 'WinClosed', 'WinEnter', 'TabEnter' }, {
    group = group,
    desc = 'caliban: move the window of the to-do list',
    callback = vim.schedule_wrap(draw),
  })
  api.nvim_create_autocmd('WinScrolled', {
    group = group,
    desc = 'caliban: hide the window of the to-do list while it would cover a question',
    callback = vim.schedule_wrap(function()
      if shown and waiting(shown.chat) then
        draw()
      end
    end),
  })
  draw()
end

--- Opens the window for the current chat's list. In an open window shows the items below; closes it after the last one.
function M.toggle()
  local chat = require('caliban.chat.chats').current
  if is_open() and shown then
    local same, below = shown.chat == chat, vim.fn.line('w$', shown.win) + 1
    if same and below <= vim.fn.line('$', shown.win) then
      shown.page = below
      return draw()
    end
    M.close()
    if same then
      return
    end
  end
  if not (chat and M.count(chat)) then
    local text = 'This conversation has no to-do list.'
    return require('caliban.editor.notify').say(text, vim.log.levels.INFO)
  end
  open(chat)
end

--- Called when a question has appeared in a chat or is gone. The window is over the code, or hidden, while it would
--- cover the question.
---@param chat caliban.Chat
function M.avoid(chat)
  if shown and shown.chat == chat then
    -- scheduled, because the lines of the question are not in the buffer yet
    vim.schedule(draw)
  end
end

--- Stores the list of a chat, and draws it if the window shows the list of this chat.
---@param chat caliban.Chat
---@param items caliban.TodoItem[]
function M.take(chat, items)
  chat.todo = items
  if shown and shown.chat == chat then
    shown.page = nil
    draw()
  end
end

return M
