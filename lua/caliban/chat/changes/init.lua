--- The block of a chat that lists its changes under review. Lua composes the list from the reviews, so that the list is
--- right even while the program is busy or dead. A key acts on the item at the cursor's line number; the text of the
--- line is not read.
local M = {}

local api = vim.api
local icon = require('caliban.editor.icons').of
local beside = require('caliban.chat.beside')
local pending = require('caliban.review.pending')
local tracking = require('caliban.review.hunks.tracking')
local state = require('caliban.review.state')

local ns = api.nvim_create_namespace('caliban_chat_review')
local group = api.nvim_create_augroup('caliban_chat_review', {})

--- If there are more than `FEW` changes, the list first shows only the files, without their hunks.
--- `MOST` is the most hunks of one file that the list shows. `WIDE` is the width of a hunk's row in
--- cells, which fits into the narrowest chat at the bottom of a screen.
local FEW, MOST, WIDE = 30, 2000, 57
--- The list's words for decisions.
local WORDS =
  { accepted = 'kept', reworked = 'reworked', part = 'kept in part', rejected = 'undone' }
--- The pause in typing, in milliseconds, after which the list is composed again.
local CALM = 100

---@class caliban.Listed a file of the list
---@field r caliban.Review
---@field of caliban.Entered[] the proposals of the review
---@field state integer the undo state that the first proposal made; 0 if the proposal also deletes or renames the file
---@field open? boolean true or false: the user has opened or closed the file's hunks; nil: neither
---@field outcome? string the decisions in words, once the review is settled

---@class caliban.Listing
---@field files caliban.Listed[]
---@field folded? boolean true or false: the user has closed or opened the list; nil: neither
---@field spread? boolean whether the list shows its files, not only its first line
---@field items caliban.Item[] the item of each line of the block

---@class caliban.Item a line of the list: for a hunk (`r`, `hunk`), a file (`r`, `listed`) or all changes (`session`)
---@field acts boolean whether keys can decide on the item
---@field session? string
---@field r? caliban.Review
---@field listed? caliban.Listed
---@field hunk? caliban.Hunk

--- A number with its noun, as in `2 files`.
---@param n integer
---@param what string
---@return string
local function count(n, what)
  return ('%d %s%s'):format(n, what, n == 1 and '' or 's')
end

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

--- The number of pending changes of a file; 0 once the file's buffer is unloaded.
---@param it caliban.Listed
---@return integer
local function count_pending(it)
  return api.nvim_buf_is_loaded(it.r.buf) and state.count(it.r) or 0
end

--- The number of pending changes, and of files with pending changes.
---@param listing caliban.Listing
---@return integer changes, integer files
local function count_all(listing)
  local changes, files = 0, 0
  for _, it in ipairs(listing.files) do
    local n = count_pending(it)
    changes, files = changes + n, files + math.min(n, 1)
  end
  return changes, files
end

--------------------------------------------------------------------------------------------- lines

--- Finds an undo state in the undo tree.
---@param entries vim.fn.undotree.entry[]
---@param state integer
---@return vim.fn.undotree.entry? found
---@return boolean aside whether the state is on a branch other than the current one
local function find_state(entries, state)
  for _, entry in ipairs(entries) do
    if entry.seq == state then
      return entry, false
    end
    local found = entry.alt and find_state(entry.alt, state)
    if found then
      return found, true
    end
  end
  return nil, false
end

--- Whether the user has undone the proposals of a settled review.
---@param it caliban.Listed
---@return boolean
local function undone(it)
  if not api.nvim_buf_is_loaded(it.r.buf) then
    return false
  end
  local tree = vim.fn.undotree(it.r.buf)
  local found, aside = find_state(tree.entries, it.state)
  return found ~= nil and (aside or it.state > tree.seq_cur)
end

--- Says in words how the user has decided on a file's hunks. If `first` is given, it comes first.
---@param it caliban.Listed
---@param first string|false|nil
---@return string[]
local function decided(it, first)
  local parts = first and { first } or {}
  return vim.list_extend(parts, require('caliban.review.verdict').words(it.r, WORDS))
end

--- The words at the right end of a file's line.
---@param it caliban.Listed
---@return string
local function beside_line(it)
  local r, rest = it.r, require('caliban.review.undone')
  if rest.holds(r) then
    return rest.words
  elseif count_pending(it) == 0 then
    return it.outcome and (undone(it) and 'undone' or it.outcome) or ''
  end
  local hunks = state.count(r) - (r.whole and 1 or 0)
  return table.concat(decided(it, hunks > 0 and count(hunks, 'hunk')), icon(' · '))
end

---@param text string
---@return string
local function clean(text)
  return (text:gsub('[%c]', ' '))
end

---@param it caliban.Listed
---@return string
local function label(it)
  local r = it.r
  local what = r.whole and require('caliban.review.whole').line(r)
    or r.create and 'new'
    or r.auto and count_pending(it) > 0 and 'written'
  local path = require('caliban.editor.file').short(r.path)
  return clean(what and ('%s  %s'):format(path, what) or path)
end

---@param hunk caliban.Hunk
---@return string
local function line(hunk)
  local text = (hunk.new[1] or hunk.old[1] or ''):gsub('^%s+', '')
  local counts = ('    %5d  -%d +%d  '):format(hunk.start + 1, #hunk.old, #hunk.new)
  local short = require('caliban.editor.wrap').first(text, WIDE - #counts)
  return counts .. clean(short == text and text or short .. icon('…'))
end

--- Whether the user has undone all changes in a file's buffer. Then the file does not count as reviewed yet, because a
--- redo may bring the changes back.
---@param listing caliban.Listing
---@return boolean
local function is_undone(listing)
  for _, it in ipairs(listing.files) do
    if require('caliban.review.undone').holds(it.r) then
      return true
    end
  end
  return false
end

--- Whether the list shows more than its first line. While the model works, the list is folded so that its reply stays
--- visible; a list under the cursor does not fold.
---@param chat caliban.Chat
---@param listing caliban.Listing
---@return boolean
local function spread(chat, listing)
  if listing.folded ~= nil then
    return not listing.folded
  end
  local phase = chat.status and chat.status.phase or 'idle'
  local here = api.nvim_get_current_buf() == chat.transcript and M.under(chat) ~= nil
  return vim.tbl_contains({ 'idle', 'offline', 'reviewing' }, phase)
    or listing.spread == true and here
end

--- Whether a file's hunks are listed.
---@param it caliban.Listed
---@param changes integer the number of pending changes in all files
---@return boolean
local function is_open(it, changes)
  if count_pending(it) == 0 then
    return false
  elseif it.open ~= nil then
    return it.open
  end
  return changes <= FEW
end

---@param it caliban.Listed
---@param add fun(text: string, item: caliban.Item)
local function list_hunks(it, add)
  local hunks = pending.list(it.r)
  for i = 1, math.min(#hunks, MOST) do
    add(line(hunks[i]), { acts = true, r = it.r, hunk = hunks[i] })
  end
  if #hunks > MOST then
    local key = require('caliban.review.ui.overlay').key(it.r.buf, 'next hunk')
    local more = icon('           …')
      .. (' %d more, %s in the file goes to them'):format(#hunks - MOST, key)
    add(more, { acts = false })
  end
end

--- A settled list has no lines: the call or a notice says how the user has decided.
---@param chat caliban.Chat
---@param listing caliban.Listing
---@return string[] lines
---@return caliban.Item[] items
---@return boolean waits whether a change is pending
local function compose(chat, listing)
  local lines, items = { '' }, { { acts = false } } ---@type string[], caliban.Item[]
  ---@param text string
  ---@param item caliban.Item
  local function add(text, item)
    lines[#lines + 1], items[#items + 1] = text, item
  end
  local changes, files = count_all(listing)
  local waits = changes > 0
  if not waits and not is_undone(listing) then
    return {}, {}, waits
  elseif not waits then
    add('  no change left to review', { acts = false })
  else
    local all = { acts = true, session = listing.files[1].r.session }
    local head = ('? %s in %s to review'):format(count(changes, 'change'), count(files, 'file'))
    listing.spread = spread(chat, listing)
    if not listing.spread then
      add(head .. '  (za lists them)', all)
      return lines, items, waits
    end
    add(head, all)
    local k = require('caliban.editor.maps').leader()
    local keys = icon('  %sa accept  %sr reject  e reject, because …  %sc comment')
    add(keys:format(k, k, k), all)
  end
  for _, it in ipairs(listing.files) do
    local open = is_open(it, changes)
    local hunks = count_pending(it) - (it.r.whole and 1 or 0)
    local mark = hunks <= 0 and ' ' or icon(open and '▾' or '▸')
    add(('  %s %s'):format(mark, label(it)), { acts = true, r = it.r, listed = it })
    if open then
      list_hunks(it, add)
    end
  end
  return lines, items, waits
end

--------------------------------------------------------------------------------------------- painting

--- Highlights the files' lines and shows the words at their right ends.
---@param chat caliban.Chat
---@param top integer row of the first line
---@param lines string[]
---@param items caliban.Item[]
local function set_marks(chat, top, lines, items)
  api.nvim_buf_clear_namespace(chat.transcript, ns, 0, -1)
  for i, item in ipairs(items) do
    if item.listed then
      api.nvim_buf_set_extmark(chat.transcript, ns, top + i - 1, 0, {
        end_col = #lines[i],
        hl_group = 'CalibanTool',
        priority = 110,
      })
      local words = beside_line(item.listed)
      local opts = beside.mark(chat, words, top + i - 1, lines[i])
      local _ = words ~= '' and api.nvim_buf_set_extmark(chat.transcript, ns, top + i - 1, 0, opts)
    end
    local r, hunk = item.r, item.hunk
    local wrong = r and hunk and require('caliban.review.ui.syntax').words(r, hunk)
    if wrong then
      local opts = beside.mark(chat, wrong, top + i - 1, lines[i], 'CalibanSyntax')
      api.nvim_buf_set_extmark(chat.transcript, ns, top + i - 1, 0, opts)
    end
  end
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

local mapped = {} ---@type table<integer, caliban.Mapped[]> by transcript

--- Maps the keys for decisions while the cursor is on an item, and unmaps the keys elsewhere.
---@param chat caliban.Chat
local function map(chat)
  local buf = chat.transcript
  local waits = chat.listing and count_all(chat.listing) > 0
  local on = waits and api.nvim_get_current_buf() == buf and M.under(chat)
  if on and not mapped[buf] then
    mapped[buf] =
      require('caliban.editor.maps').set(buf, require('caliban.chat.changes.mappings').all)
  elseif not on and mapped[buf] then
    require('caliban.editor.maps').clear(buf, mapped[buf])
    mapped[buf] = nil
  end
end

---@param chat caliban.Chat
local function listen(chat)
  api.nvim_clear_autocmds({ group = group, buffer = chat.transcript })
  api.nvim_create_autocmd({ 'CursorMoved', 'BufEnter', 'WinEnter' }, {
    group = group,
    buffer = chat.transcript,
    callback = function()
      map(chat)
    end,
  })
end

--- Composes the list from the reviews and shows it.
---@param chat caliban.Chat
---@param follow? boolean whether windows with the cursor at the end move to the new end; default: true
function M.refresh(chat, follow)
  local listing = chat.listing
  if not listing or not require('caliban.chat.chats').usable(chat.transcript) then
    return
  end
  local lines, items, waits = compose(chat, listing)
  local top = require('caliban.chat.paint').review(chat, lines, waits, follow ~= false)
  if top then
    listing.items = items
    set_marks(chat, top, lines, items)
    map(chat)
  end
end

--- Shows the list again after the transcript was reset.
---@param chat caliban.Chat
function M.restore(chat)
  if not chat.listing or count_all(chat.listing) == 0 then
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
    it.open = not is_open(it, (count_all(listing)))
  else
    listing.folded = listing.spread
  end
  M.refresh(chat, false)
  local _, top = require('caliban.chat.paint').at(chat, api.nvim_win_get_cursor(0)[1] - 1)
  for i, other in ipairs(item.hunk and listing.items or {}) do
    if other.listed == it then
      api.nvim_win_set_cursor(0, { top + i, 0 })
      -- shows the list from its beginning: Neovim may have scrolled to the lines that are gone
      vim.fn.winrestview({ topline = math.min(vim.fn.line('w0'), top + 1) })
    end
  end
end

--------------------------------------------------------------------------------------------- following

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
  if count_all(listing) == 0 then
    listing = { files = {}, items = {} }
    listen(chat)
  end
  local it = { r = r, of = r.proposals }
  it.state = r.whole and 0 or tracking.seq(r)
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

--- Calls `fn` for each list that contains a review, and updates the list.
---@param r caliban.Review
---@param fn fun(it: caliban.Listed)
local function update_listed(r, fn)
  for _, chat in ipairs(require('caliban.chat.chats').all) do
    local it = find(chat.listing, r)
    if it then
      fn(it)
      soon(chat, true)
    end
  end
end

--- Called when the user has decided on all changes of a file: notes the outcome in the list.
---@param r caliban.Review
---@param unsaved string why the review's text is not on disk; '' if it is
function M.settled(r, unsaved)
  update_listed(r, function(it)
    local parts = decided(it, r.deleted and 'deleted' or r.was and 'renamed')
    parts[1] = parts[1] or 'undone'
    parts[#parts + 1] = unsaved ~= '' and 'not saved' or nil
    it.outcome = table.concat(parts, icon(' · '))
  end)
end

return M
