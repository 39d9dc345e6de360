--- The block of a chat that lists its changes under review. Lua composes the list from the reviews, so that the list is
--- right even while the program is busy or dead. A key acts on the item at the cursor's line number; the text of the
--- line is not read.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF
local list = require('caliban.chat.changes.list')
local state = require('caliban.review.state')

local group = api.nvim_create_augroup('caliban_chat_review', {})

--- The pause in typing, in milliseconds, after which the list is composed again.
local CALM = 100

---@param listing? caliban.Listing
---@param r caliban.Review
---@return caliban.Listed?, integer?
local function find(listing, r)
  for i, it in ipairs(listing and listing.files or {}) do
    if it.r == r then
      return it, i
    end
  end
end

--- Whether each window of a chat has room for the model's last words and `lines` lines below them.
---@param chat caliban.Chat
---@param lines integer
---@return boolean
local function has_room(chat, lines)
  local block, row = require('caliban.chat.order').last(chat, function(it)
    return it.shape == 'text' or it.shape == 'user'
  end)
  if not block or block.shape == 'user' then
    return true
  end
  local words = { start_row = row + (block.head or 0), end_row = row + block.n - 1 }
  for _, win in ipairs(vim.fn.win_findbuf(chat.transcript)) do
    local rows = api.nvim_win_text_height(win, words).all + lines
    if rows > vim.fn.getwininfo(win)[1].height then
      return false
    end
  end
  return true
end

--- Whether the list shows its files. While the model works, and after the turn where there is no room for both, the list
--- is folded so that the model's reply stays visible; a list under the cursor does not fold.
---@param chat caliban.Chat
---@param listing caliban.Listing
---@param count fun(): integer the number of its lines if it shows its files
---@return boolean
local function spread(chat, listing, count)
  if listing.folded ~= nil then
    return not listing.folded
  end
  local phase = chat.status and chat.status.phase or 'idle'
  local here = api.nvim_get_current_buf() == chat.transcript and M.under(chat) ~= nil
  return phase == 'reviewing'
    or listing.spread == true and here
    or vim.tbl_contains({ 'idle', 'offline' }, phase) and has_room(chat, count())
end

--- The item under the cursor, if keys for decisions act on it.
---@param chat caliban.Chat
---@return caliban.Item?
function M.under(chat)
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local block, top = require('caliban.chat.paint').at(chat, row)
  local own = block and vim.startswith(block.shape, 'review') and chat.listing
  local item = own and own.items[row - top + 1]
  return item and item.acts and item or nil
end

--- The row of the first change that waits, or of the first file if the list shows no changes.
---@param chat caliban.Chat
---@return integer? # from 0; nil if nothing waits
---@return integer? head the row of the list's first line
function M.first(chat)
  local order = require('caliban.chat.order')
  local found ---@type integer?
  local block, _, row = order.find(chat, order.REVIEW)
  local listing = chat.listing
  for i, item in ipairs(block and listing and listing.waits and listing.items or {}) do
    if item.hunk then
      return row + i - 1, row + 1
    end
    found = found or item.acts and row + i - 1 or nil
  end
  return found, found and row + 1
end

--- The last file of the list in which a decision can be taken back.
---@param chat caliban.Chat
---@return caliban.Review?
function M.decided(chat)
  local found ---@type caliban.Review?
  for _, it in ipairs(chat.listing and chat.listing.files or {}) do
    found = state.count(it.r) > 0 and require('caliban.review.verdict').last(it.r) and it.r or found
  end
  return found
end

--- The first hunk of a list.
---@param listing caliban.Listing
---@return caliban.Item?
local function first_hunk(listing)
  for _, item in ipairs(listing.items) do
    if item.hunk then
      return item
    end
  end
end

--- Maps the keys for decisions while the cursor is on an item, and unmaps the keys elsewhere. Shows the hunk under the
--- cursor in the windows of its file; in the tour, also the first hunk of a list in which the cursor is not.
---@param chat caliban.Chat
local function map(chat)
  local buf = chat.transcript
  local waits = chat.listing and list.count(chat.listing) > 0
  local on = waits and api.nvim_get_current_buf() == buf and M.under(chat) or nil
  local tours = waits and not on and chat.status and chat.status.tour
  local shown = on or tours and chat.listing and first_hunk(chat.listing) or nil
  local r, hunk = shown and shown.r, shown and shown.hunk
  if r and hunk and api.nvim_buf_is_loaded(r.buf) then
    require('caliban.review.ui.jump').peek(r, hunk)
  end
  local mappings = on and require('caliban.chat.changes.mappings').all or nil
  require('caliban.chat.cursor_keys').set(buf, 'change', mappings)
end

--- Keeps the list in sight in the windows that follow the end, from its head on where they have no room for all of it.
---@param chat caliban.Chat
local function stay(chat)
  local order = require('caliban.chat.order')
  local block, _, row = order.find(chat, order.REVIEW)
  local listing = chat.listing
  local reads = api.nvim_get_current_buf() == chat.transcript
  local heads = block and listing and listing.waits and not reads
  -- the list's first line is empty
  require('caliban.chat.below').stay(chat, heads and row + 1 or nil)
end

--- Shows the hunk again after a window of its file has got another height.
---@param chat caliban.Chat
function M.resized(chat)
  if chat.listing and require('caliban.chat.chats').usable(chat.transcript) then
    map(chat)
    stay(chat)
  end
end

---@param chat caliban.Chat
local function listen(chat)
  api.nvim_clear_autocmds({ group = group, [BUF] = chat.transcript })
  api.nvim_create_autocmd({ 'CursorMoved', 'BufEnter', 'WinEnter' }, {
    group = group,
    [BUF] = chat.transcript,
    callback = function()
      map(chat)
    end,
  })
end

--- Maps the keys of the list in the composer too while a change waits, where they lead to the list.
---@param chat caliban.Chat
---@param waits boolean
local function lead(chat, waits)
  if require('caliban.chat.chats').usable(chat.composer) then
    local leading = waits and require('caliban.chat.changes.mappings').leading(chat) or nil
    require('caliban.chat.cursor_keys').set(chat.composer, 'change', leading)
  end
end

--- Composes the list from the reviews and shows it.
---@param chat caliban.Chat
---@param follow? boolean whether windows with the cursor at the end move to the new end; default: true
function M.refresh(chat, follow)
  local listing = chat.listing
  if not listing or not require('caliban.chat.chats').usable(chat.transcript) then
    return
  end
  local room = require('caliban.chat.beside').room(chat)
  listing.spread = spread(chat, listing, function()
    return #list.compose(listing, true, room)
  end)
  local lines, items, waits = list.compose(listing, listing.spread, room)
  listing.waits = waits
  lead(chat, waits)
  local top = require('caliban.chat.paint').review(chat, lines, waits, follow ~= false)
  if top then
    listing.items = items
    require('caliban.chat.changes.drawing').draw(chat, top, lines, items)
    require('caliban.chat.beside').recount(chat)
    local _ = follow ~= false and stay(chat)
    map(chat)
    require('caliban.chat.todo').avoid(chat)
  end
end

--- Shows the list again after the transcript was reset.
---@param chat caliban.Chat
function M.restore(chat)
  if not chat.listing or list.count(chat.listing) == 0 then
    chat.listing = nil
    return
  end
  listen(chat)
  M.refresh(chat)
end

--- Opens or closes the hunks of an item's file, or the whole list.
---@param chat caliban.Chat
---@param item caliban.Item
function M.toggle(chat, item)
  local listing = chat.listing
  if not listing then
    return
  end
  local it = item.r and find(listing, item.r)
  if it then
    it.open = not list.is_open(it, list.count(listing))
  else
    listing.folded = listing.spread
  end
  M.refresh(chat, false)
  local _, top = require('caliban.chat.paint').at(chat, api.nvim_win_get_cursor(0)[1] - 1)
  for i, other in ipairs(item.hunk and listing.items or {}) do
    if other.listed == it then
      api.nvim_win_set_cursor(0, { top + i, 0 })
      -- shows the list from its beginning: Neovim may have scrolled to the lines that are gone
      vim.fn.winrestview({ topline = math.min(vim.fn.line('w0'), top + 1), skipcol = 0 })
    end
  end
  require('caliban.chat.below').fill(chat)
end

-------------------------------------------------------------------------------------------- updates

local stale = {} ---@type table<caliban.Chat, true>
local timer ---@type uv.uv_timer_t?
local soon ---@type fun(chat: caliban.Chat, now: boolean)

local function flush()
  local chats = vim.tbl_keys(stale)
  stale = {}
  for _, chat in ipairs(chats) do
    local ok, err = pcall(M.refresh, chat)
    if not ok and tostring(err):find('E565', 1, true) then
      soon(chat, false)
    elseif not ok then
      error(err, 0)
    end
  end
end

---@param chat caliban.Chat
---@param now boolean
function soon(chat, now)
  stale[chat] = true
  timer = timer or assert(vim.uv.new_timer())
  timer:start(now and 0 or CALM, 0, vim.schedule_wrap(flush))
end

--- Adds a review to the chat's list. If the list has no pending changes, begins a new list.
---@param chat caliban.Chat
---@param r caliban.Review
---@return caliban.Listed
local function add_review(chat, r)
  local listing = chat.listing or { files = {}, items = {} }
  local _, i = find(listing, r)
  if i then
    table.remove(listing.files, i)
  end
  if list.count(listing) == 0 then
    listing = { files = {}, items = {} }
    listen(chat)
  end
  local seq = r.whole and 0 or require('caliban.review.hunks.tracking').seq(r)
  local it = { r = r, of = r.proposals, state = seq }
  table.insert(listing.files, it)
  chat.listing = listing
  return it
end

--- Called when a review may have changed: updates its chat's list soon.
---@param r caliban.Review
---@param now? boolean true: updates the list at once, after a decision; default: once typing pauses
function M.touch(r, now)
  local chats = require('caliban.chat.chats')
  local chat = chats.find(r.session) or chats.current
  local it = chat and find(chat.listing, r)
  if not chat or not it and state.count(r) == 0 then
    return
  elseif state.count(r) > 0 then
    if not it or it.of ~= r.proposals then
      it = add_review(chat, r)
    end
  end
  soon(chat, now or false)
end

--- Called when the verdict on a file is sent: updates the lists that contain the file.
---@param r caliban.Review
function M.settled(r)
  for _, chat in ipairs(require('caliban.chat.chats').all) do
    local it = find(chat.listing, r)
    if it then
      it.accepted = require('caliban.review.verdict').tally(r).any > 0
      soon(chat, true)
    end
  end
end

return M
