--- Writes blocks into a transcript buffer. The time of a paint depends only on the new text: a block's row is found by
--- counting from the end, and each line is highlighted once.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat')
M.ns = ns

---@class caliban.Block
---@field id integer the program's id, or an id from `caliban.chat.order`
---@field shape string
---@field n integer number of lines
---@field col integer bytes of the last line
---@field head? integer index of the first line that is not empty
---@field final boolean
---@field done integer number of finished lines that were scanned for fences
---@field call? string
---@field call_line? caliban.CallLine the parts of the line of a call, or of a folded run of calls
---@field whole? string the uncut line of a call or a folded run
---@field words? string the words beside a running call
---@field session? string the session in which a subagent works on this call
---@field workers? caliban.WorkerRow[] the workers that this call has ordered, one for each line below it
---@field diffs? caliban.Diffed[] the diffs of an opened edit
---@field subject? [integer, integer, integer][] the parts of an error that tell why
---@field items? integer the number of items that take keys; they are the last lines
---@field right? string
---@field need? integer the cells that the block's first line and `right` need in one row
---@field room? integer the cells of the row into which the words at its right end were last fitted
---@field below? string[]
---@field marks table<string, integer>
---@field fences caliban.Fence[]
---@field spans table<integer, integer[]?> the highlights of lines that have been drawn, by index
---@field wrapped table<integer, integer> by a line's index: the chat's `wrapping` when the line's code spans were fitted
---@field growing? { i: integer, from: integer, reaches: boolean } the index of the last line, the byte from which its code spans are not fitted yet, and whether a span may go on at its end

local long = require('caliban.chat.long')
local marks = require('caliban.chat.marks')
local order = require('caliban.chat.order')
local ENDED, REVIEW = order.ENDED, order.REVIEW

--- The block that holds a row of the transcript.
---@param chat caliban.Chat
---@param at integer row, from 0
---@return caliban.Block?
---@return integer row the block's first row
function M.at(chat, at)
  local row = chat.total
  for i = #chat.blocks, 1, -1 do
    row = row - chat.blocks[i].n
    if row <= at and at < row + chat.blocks[i].n then
      return chat.blocks[i], row
    end
  end
  return nil, 0
end

---@param chat caliban.Chat
---@param first integer
---@param last integer
---@param lines string[]
local function put(chat, first, last, lines)
  if chat.total == 0 then
    first, last = 0, -1 -- an empty buffer has one line
  end
  api.nvim_buf_set_lines(chat.transcript, first, last, false, lines)
end

---@param lines string[]
---@return integer? # index of the first line that is not empty
local function first_text(lines)
  for i, line in ipairs(lines) do
    if line ~= '' then
      return i - 1
    end
  end
end

--- Forgets everything that was computed from a block's lines.
---@param block caliban.Block
local function forget(block)
  block.done, block.fences, block.spans, block.marks, block.wrapped = 0, {}, {}, {}, {}
end

--- Shows or hides the closing line of a code block at the end of the last block above a row.
---@param chat caliban.Chat
---@param row integer
local function settle(chat, row)
  local above, top = M.at(chat, row - 1)
  if above and marks.is_markdown(above) then
    require('caliban.chat.markdown').hide_ends(chat.transcript, above, top)
  end
end

--- Replaces lines of a block.
---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer
---@param at integer index of the first line
---@param lines string[]
---@param till? integer index after the last line; default: the end of the block
local function replace(chat, block, row, at, lines, till)
  at, till = math.min(at, block.n), till or block.n
  local was = block.n
  if chat.total > 0 and at < till then
    api.nvim_buf_clear_namespace(chat.transcript, ns, row + at, row + till)
    long.clear(chat.transcript, row + at, row + till)
  end
  put(chat, row + at, row + till, lines)
  chat.total = chat.total + at + #lines - till
  block.n = block.n + at + #lines - till
  if block.n > 0 then
    local last = row + block.n - 1
    block.col = #api.nvim_buf_get_lines(chat.transcript, last, last + 1, false)[1]
  end
  if at == 0 then
    block.head = first_text(lines)
  end
  if at < block.done then
    -- the fences have to be found again from the start of the block
    if at > 0 then
      api.nvim_buf_clear_namespace(chat.transcript, ns, row, row + at)
    end
    forget(block)
  end
  if (was == 0) ~= (block.n == 0) and row + block.n == chat.total then
    settle(chat, row)
  end
end

---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer
---@param text string
local function append(chat, block, row, text)
  local lines, continued = long.cut(vim.split(text, '\n', { plain = true }), block.col)
  if block.n == 0 then
    replace(chat, block, row, 0, lines)
    return long.mark(chat.transcript, row, continued)
  end
  local last = row + block.n - 1
  api.nvim_buf_set_text(chat.transcript, last, block.col, last, block.col, lines)
  long.mark(chat.transcript, last, continued)
  block.col = #lines == 1 and block.col + #text or #lines[#lines]
  block.n = block.n + #lines - 1
  chat.total = chat.total + #lines - 1
  if not block.head then
    block.head = first_text(api.nvim_buf_get_lines(chat.transcript, row, row + block.n, false))
  end
end

---@param chat caliban.Chat
---@param id integer
---@param shape string
---@return caliban.Block, integer index, integer row
local function add(chat, id, shape)
  local block = {
    id = id,
    shape = shape,
    n = 0,
    col = 0,
    done = 0,
    final = false,
    marks = {},
    fences = {},
    spans = {},
    wrapped = {},
  }
  local at, row = order.place(chat, block)
  table.insert(chat.blocks, at, block)
  return block, at, row
end

--- The windows whose cursor is on the block of a call; none for other blocks.
---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer
---@return integer[]
local function on_rows(chat, block, row)
  return vim.tbl_filter(function(win)
    local at = api.nvim_win_get_cursor(win)[1] - 1
    return at >= row and at < row + block.n
  end, block.shape == 'tool' and vim.fn.win_findbuf(chat.transcript) or {})
end

--- The lines of an update. The block of a plan gets the line of its keys. A call directly below a list that Lua has made
--- gets an empty line above it, because the program does not know the list.
---@param chat caliban.Chat
---@param update caliban.BlockUpdate
---@param index integer of the block
---@return string[]
local function separated(chat, update, index)
  local lines, above = update.lines or {}, chat.blocks[index - 1]
  if update.shape == 'plan' then
    return require('caliban.chat.plan_block').lines(lines)
  end
  if update.call_line and lines[1] ~= '' and above and above.id < 0 then
    return vim.list_extend({ '' }, lines)
  end
  return lines
end

---@param chat caliban.Chat
---@param update caliban.BlockUpdate
---@return caliban.Block? # nil if the block was removed
---@return integer row
local function apply(chat, update)
  require('caliban.editor.icons').block(update)
  local block, index, row = order.find(chat, update.id)
  if update.remove then
    if block then
      local on = on_rows(chat, block, row)
      replace(chat, block, row, 0, {})
      table.remove(chat.blocks, index)
      require('caliban.chat.running').note(chat, block, nil)
      -- the call was folded into a run of calls: the cursor goes to the line of the run
      for _, win in ipairs(on) do
        api.nvim_win_set_cursor(win, { math.max(row, 1), 0 })
      end
      if block.shape == 'ask' then
        require('caliban.chat.question').gone(chat)
      end
    end
    return nil, 0
  end
  if not block then
    block, index, row = add(chat, update.id, update.shape)
  end
  if block.shape ~= update.shape then
    api.nvim_buf_clear_namespace(chat.transcript, ns, row, row + block.n)
    block.shape = update.shape
    forget(block)
  end
  if update.shape == 'ask' and update.lines then
    local lines = require('caliban.chat.question').take(chat, update)
    replace(chat, block, row, 0, lines)
  elseif update.lines then
    local lines, continued = long.cut(separated(chat, update, index), 0)
    replace(chat, block, row, update.at, lines)
    long.mark(chat.transcript, row + update.at, continued)
  end
  if update.append and update.append ~= '' then
    append(chat, block, row, update.append)
  end
  block.final = update.final
  if update.lines then
    block.call, block.items, block.session = update.call, update.items, update.session
    block.workers, block.call_line = update.workers, update.call_line
    block.subject = update.subject
    block.whole = update.call_line and update.lines[update.lines[1] == '' and 2 or 1]
    require('caliban.chat.running').note(chat, block, update.call_line)
  end
  block.right, block.below = update.right or block.right, update.below or block.below
  return block, row
end

---@param chat caliban.Chat
---@param update caliban.BlockUpdate
---@param block caliban.Block
---@param row integer
local function highlight(chat, update, block, row)
  marks.set(chat, block, row)
  if block.shape == 'user' then
    marks.lines(chat, block, row)
  elseif block.shape == 'tool' and update.lines and update.at == 0 then
    require('caliban.chat.diff').take(chat, block, row, update.diff)
  end
  local unbroken, done = require('caliban.chat.unbroken'), block.done
  if marks.is_markdown(block) then
    require('caliban.chat.markdown').advance(chat.transcript, block, row)
    unbroken.grow(chat, block, row, done, not update.lines and update.append or nil)
  elseif unbroken.is_note(block) then
    unbroken.grow(chat, block, row, 0)
  end
end

--- Calls `fn`, which changes the transcript. Then moves the windows that follow the end to the new end, or to the first
--- line of a new notice for which they have no room.
---@param chat caliban.Chat
---@param follow boolean
---@param fn fun(): integer? returns the row of a new notice at the end
---@param except? integer a window that does not follow
local function write(chat, follow, fn, except)
  local buf = chat.transcript
  local followers = require('caliban.chat.followers')
  local before, total = followers.note(chat, follow, except), chat.total
  vim.bo[buf].modifiable = true
  local ok, result = pcall(fn)
  vim.bo[buf].modifiable = false
  local following = followers.after(chat, before)
  local last = api.nvim_buf_line_count(buf)
  for _, win in ipairs(following) do
    -- to the last column, because the end of a long paragraph is the new text
    api.nvim_win_set_cursor(win, { last, vim.v.maxcol - 1 })
    local _ = ok and result and require('caliban.chat.reading').from(chat, win, result)
  end
  if ok and (chat.question or chat.status and chat.status.tour) then
    require('caliban.chat.room').fit(chat)
  end
  if chat.question and ok then
    require('caliban.chat.reading').follow(chat, following)
  end
  local below = require('caliban.chat.below')
  if chat.total < total or chat.question then
    below.fill(chat)
  end
  if ok and chat.status and #chat.status.queue > 0 then
    below.stay(chat)
  end
  if not ok then
    error(result, 0)
  end
end

--- Has the program paint the transcript again if somebody has set 'modifiable' and changed the text, so that the rows of
--- the blocks are not known.
---@param chat caliban.Chat
---@return boolean # whether somebody has
function M.renew(chat)
  local is_changed = not order.is_intact(chat)
  if is_changed then
    require('caliban.program.process').notify({ kind = 'open', session = chat.session })
  end
  return is_changed
end

---@param chat caliban.Chat
---@param updates caliban.BlockUpdate[]
---@param reset? boolean
---@return boolean # false if somebody has changed the transcript: then the program paints it again
function M.paint(chat, updates, reset)
  if not require('caliban.chat.chats').usable(chat.transcript) then
    return false
  end
  if not reset and M.renew(chat) then
    return false
  end
  -- if the user has just opened or closed a block, the cursor stays on it
  local toggled = false
  for _, update in ipairs(updates) do
    toggled = toggled or update.id == chat.toggled
  end
  chat.toggled = not toggled and chat.toggled or nil
  local last = updates[#updates]
  local follows = not (last and not reset and order.is_above(chat, last.id))
  require('caliban.chat.unbroken').begin(not reset and (follows or not chat.above))
  write(chat, follows, function()
    if reset then
      api.nvim_buf_clear_namespace(chat.transcript, ns, 0, -1)
      long.clear(chat.transcript, 0, -1)
      api.nvim_buf_set_lines(chat.transcript, 0, -1, false, {})
      chat.blocks, chat.total = {}, 0
      require('caliban.chat.running').forget(chat)
      require('caliban.chat.question').repaint(chat)
      if chat.status then
        local queue = require('caliban.chat.queue').block(chat)
        local own = { queue, require('caliban.chat.countdown').block(chat) }
        updates = vim.list_extend(own, updates)
      end
    end
    local notice ---@type integer? the id
    for _, update in ipairs(updates) do
      local is_new = update.shape == 'notice' and not reset and not order.find(chat, update.id)
      notice = is_new and not update.remove and update.id or notice
      local block, row = apply(chat, update)
      if block then
        -- An error here must not fail the paint. The text is in the buffer already, and the program would paint it
        -- again.
        local ok, err = pcall(highlight, chat, update, block, row)
        if not ok then
          require('caliban.editor.notify').once(tostring(err))
        end
      end
    end
    local block, index, row = order.find(chat, notice or -1)
    local below = chat.blocks[index + 1]
    local is_last = notice and not (below and below.id >= 0)
    return is_last and block and row + (block.head or 0) or nil
  end, toggled and api.nvim_get_current_win() or nil)
  if reset and chat.unfitted then
    require('caliban.chat.near').refit(chat)
  end
  return true
end

--- Gives a block new lines. Writes only the lines that differ from the old ones.
---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer
---@param lines string[]
local function update_lines(chat, block, row, lines)
  local old = api.nvim_buf_get_lines(chat.transcript, row, row + block.n, false)
  local head, tail, most = 0, 0, math.min(#old, #lines)
  while head < most and old[head + 1] == lines[head + 1] do
    head = head + 1
  end
  while tail < most - head and old[#old - tail] == lines[#lines - tail] do
    tail = tail + 1
  end
  if head < #old or head < #lines then
    local new = vim.list_slice(lines, head + 1, #lines - tail)
    replace(chat, block, row, head, new, #old - tail)
  end
end

--- Shows the list of changes: at the end of the chat while a change is pending, afterwards where the list already is.
---@param chat caliban.Chat
---@param lines string[]
---@param waits boolean whether a change is pending
---@param follow boolean whether windows with the cursor at the end move to the new end
---@return integer? the row of the list's first line; nil if somebody has changed the transcript
function M.review(chat, lines, waits, follow)
  if not order.is_intact(chat) then
    return nil
  end
  local top ---@type integer?
  write(chat, follow, function()
    local shape = waits and 'review' or 'reviewed'
    local block, index, row = order.find(chat, REVIEW)
    if block and waits and order.overtaken(chat, index) then
      replace(chat, block, row, 0, {})
      table.remove(chat.blocks, index)
      block = nil
    end
    if not block and #lines == 0 then
      return
    elseif not block then
      block, _, row = add(chat, REVIEW, shape)
    elseif block.shape ~= shape then
      api.nvim_buf_clear_namespace(chat.transcript, ns, row, row + block.n)
      block.shape = shape
      forget(block)
    end
    block.final = true
    update_lines(chat, block, row, lines)
    marks.set(chat, block, row)
    top = row
    -- the list's first line is empty
    return waits and api.nvim_get_current_buf() ~= chat.transcript and row + 1 or nil
  end)
  return top
end

--- Updates the countdown. Scrolls no window.
---@param chat caliban.Chat
---@param lines string[]
function M.recount(chat, lines)
  if not order.is_intact(chat) then
    return
  end
  local block, _, row = order.find(chat, order.RETRY)
  if block then
    write(chat, false, function()
      update_lines(chat, block, row, lines)
      marks.set(chat, block, row)
    end)
  end
end

--- Replaces the last line of the question about a tool call.
---@param chat caliban.Chat
---@param call string
---@param line string
function M.last_line(chat, call, line)
  if not order.is_intact(chat) then
    return
  end
  local block, row = order.last(chat, function(b)
    return b.call == call and b.shape == 'ask'
  end)
  if block then
    write(chat, true, function()
      replace(chat, block, row, block.n - 1, { line })
      marks.set(chat, block, row)
    end)
  end
end

--- Says in the transcript that the program has ended.
---@param chat caliban.Chat
---@param why string
function M.ended(chat, why)
  require('caliban.chat.running').forget(chat)
  local lines = { '', '! ' .. why }
  M.paint(chat, { { id = ENDED, shape = 'error', at = 0, lines = lines, final = true } })
end

return M
