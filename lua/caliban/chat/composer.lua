--- The composer: sends messages, saves the draft, shows the excerpts that go with the message (chips).
local M = {}

local api = vim.api
local BUF, over_text = require('caliban.editor.since').BUF, require('caliban.chat.over_text')

--- The history through which `<Up>` and `<Down>` go in a chat: `at` is the index of the shown message in
--- `all`, and `own` is the text that the user had typed before the first `<Up>`.
---@type { at: integer, own?: string[], all: string[], chat: caliban.Chat }?
local walk

---@param chat caliban.Chat
---@return string[]
local function lines(chat)
  if require('caliban.chat.chats').usable(chat.composer) then
    chat.text = api.nvim_buf_get_lines(chat.composer, 0, -1, false)
  end
  return chat.text
end

---@param chat caliban.Chat
---@return string
local function text(chat)
  return (table.concat(lines(chat), '\n'):gsub('%s+$', ''))
end

--- What the user had typed before a message of the history took its place.
---@param chat caliban.Chat
---@return string[]? # nil if there is nothing
---@return string? shown the message in its place
local function put_aside(chat)
  local it = walk and walk.chat == chat and walk or nil
  local own = it and it.own or nil
  if it and own and vim.trim(table.concat(own, '\n')) ~= '' then
    return own, it.all[it.at]
  end
end

--- Replaces the composer's text, as a separate undo step.
---@param chat caliban.Chat
---@param new string[]
local function put(chat, new)
  chat.text = new
  if not require('caliban.chat.chats').usable(chat.composer) then
    return
  end
  require('caliban.chat.completion').close()
  local bo = vim.bo[chat.composer]
  bo.undolevels = bo.undolevels -- closes the undo block of an insertion under way
  api.nvim_buf_set_lines(chat.composer, 0, -1, false, new)
  for _, win in ipairs(vim.fn.win_findbuf(chat.composer)) do
    api.nvim_win_set_cursor(win, { #new, vim.v.maxcol - 1 })
  end
  require('caliban.chat.layout').fit(chat)
end

--- Scrolls the windows that show the first line, so that they also show the virtual lines above this line.
---@param chat caliban.Chat
---@param rows integer
local function make_room(chat, rows)
  for _, win in ipairs(vim.fn.win_findbuf(chat.composer)) do
    api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      if view.topline == 1 and view.topfill ~= rows then
        view.topfill = rows
        vim.fn.winrestview(view)
      end
    end)
  end
end

--- Keeps the virtual lines visible while a window of the composer scrolls. The event is watched only while there are
--- such lines: with a listener, Neovim copies the text of the running insertion each time that any window scrolls.
---@param chat caliban.Chat
---@param wanted boolean
local function watch_scrolling(chat, wanted)
  if wanted and not chat.scrolling then
    chat.scrolling = api.nvim_create_autocmd('WinScrolled', {
      [BUF] = chat.composer,
      callback = function()
        make_room(chat, #over_text.rows(chat))
      end,
    })
  elseif chat.scrolling and not wanted then
    api.nvim_del_autocmd(chat.scrolling)
    chat.scrolling = nil
  end
end

--- Called when a window shows the composer again: shows the virtual lines above the text.
---@param chat caliban.Chat
function M.reveal(chat)
  make_room(chat, #over_text.rows(chat))
end

---@param chat caliban.Chat
local function show_chips(chat)
  if not require('caliban.chat.chats').usable(chat.composer) then
    return
  end
  chat.over = nil
  local rows = over_text.draw(chat)
  require('caliban.chat.layout').fit(chat)
  local most = over_text.most(chat)
  if rows > most then
    chat.over = most
    rows = over_text.draw(chat)
  end
  make_room(chat, rows)
  watch_scrolling(chat, rows > 0)
end

--- Shows or hides the state of the chat above the text.
---@param chat caliban.Chat
---@param wanted boolean
---@param below string[] the words for the lines below the transcript's window, and shorter ones
function M.show_state(chat, wanted, below)
  local width = over_text.room(chat)
  local status = require('caliban.chat.status')
  local left, right = status.line(chat, width - 1, below[1], below[2])
  local taken = api.nvim_strwidth(status.text(left) .. status.text(right))
  table.insert(left, { (' '):rep(math.max(2, width - taken)) })
  local row = vim.tbl_map(function(chunk)
    return { chunk[1], chunk[2] or 'CalibanDim' }
  end, vim.list_extend(left, right))
  local state = wanted and row or nil
  if not vim.deep_equal(state, chat.state) then
    chat.state = state
    show_chips(chat)
  end
end

--- Shows a warning above the text until the text changes.
---@param chat caliban.Chat
---@param why string
function M.warn(chat, why)
  chat.warning = { text = why, tick = api.nvim_buf_get_changedtick(chat.composer) }
  show_chips(chat)
end

--- Scrolls each window that cannot show all of the text up to the beginning of the text and the virtual lines above it.
---@param chat caliban.Chat
function M.to_top(chat)
  for _, win in ipairs(vim.fn.win_findbuf(chat.composer)) do
    if api.nvim_win_text_height(win, {}).all > api.nvim_win_get_height(win) then
      api.nvim_win_set_cursor(win, { 1, 0 })
      api.nvim_win_call(win, function()
        vim.fn.winrestview({ topline = 1, skipcol = 0, topfill = #over_text.rows(chat) })
      end)
    end
  end
end

--- Removes the warning.
---@param chat caliban.Chat
function M.unwarn(chat)
  chat.warning = nil
  show_chips(chat)
end

--- The draft with its chips. While an earlier message is in the place of the draft, it is the draft all the same.
---@param chat caliban.Chat
---@return { text: string, context: caliban.Excerpt[] }
local function draft_of(chat)
  local shown, own, message = table.concat(lines(chat), '\n'), put_aside(chat)
  if own then
    local mine = table.concat(own, '\n')
    local is_message = shown == message or vim.trim(shown) == ''
    shown = is_message and mine or shown .. '\n\n' .. mine
  end
  return { text = shown, context = chat.context }
end

--- Writes the draft to disk as the program would do. The draft of a read-only chat goes to a
--- separate file, because another Neovim has the conversation open and writes the draft's file.
---@param chat caliban.Chat
local function write(chat)
  local dir = chat.root and require('caliban.program.project').dir(chat.root)
  if not dir or not chat.session or chat.ephemeral then
    return
  end
  local name = ('%s/%s.%s'):format(dir, chat.session, chat.reading and 'unsent' or 'draft')
  local draft = draft_of(chat)
  if vim.trim(draft.text) == '' and #draft.context == 0 then
    os.remove(name)
  else
    require('caliban.editor.disk').replace(name, { vim.json.encode(draft) })
  end
end

--- Saves the draft if it has changed. The program writes it to disk, except for a read-only chat,
--- whose draft is written here.
---@param chat caliban.Chat
function M.save(chat)
  local draft = draft_of(chat)
  if not chat.session or vim.deep_equal(draft, chat.sent or { text = '', context = {} }) then
    return
  end
  chat.sent = vim.deepcopy(draft)
  if chat.reading then
    return write(chat)
  end
  require('caliban.program.process').notify({
    kind = 'draft',
    session = chat.session,
    text = draft.text,
    context = draft.context,
  })
end

--- The delay in ms between a change and saving the draft. If Neovim is killed, no more than the
--- typing of this time is lost.
local SOON = 400
--- The text of a composer with at most this many lines is read after each change.
local FEW = 1000

local due = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Chat, boolean> drafts to be saved soon

---@param chat caliban.Chat
local function save_soon(chat)
  if due[chat] then
    return
  end
  due[chat] = true
  vim.defer_fn(function()
    due[chat] = nil
    M.save(chat)
  end, SOON)
end

--- Adds an excerpt as a chip. It replaces an earlier excerpt of the same lines.
---@param chat caliban.Chat
---@param excerpt caliban.Excerpt
function M.chip(chat, excerpt)
  local context = vim.tbl_filter(function(other)
    return other.path ~= excerpt.path or not vim.deep_equal(other.lines, excerpt.lines)
  end, chat.context)
  table.insert(context, excerpt)
  chat.context = context
  show_chips(chat)
  save_soon(chat)
end

--- Whether the composer has chips.
---@param chat caliban.Chat
---@return boolean
function M.has_chips(chat)
  return #chat.context > 0 or require('caliban.chat.mentions').any(chat)
end

--- Removes the last chip. For the chip of a mention, the mention in the text is removed too.
---@param chat caliban.Chat
---@return boolean # whether there was a chip
function M.unchip(chat)
  if require('caliban.chat.mentions').remove(chat) then
    return true
  end
  local had = table.remove(chat.context) ~= nil
  if had then
    show_chips(chat)
    save_soon(chat)
  end
  return had
end

--- Sends the text. If the composer is empty and no turn runs, sends the queued messages, for
--- example after a turn has failed.
---@param chat caliban.Chat
---@param steer boolean
function M.send(chat, steer)
  local message = text(chat)
  local shell = require('caliban.chat.shell')
  if shell.is_command(message) then
    local why = shell.run(chat, message, M.chip)
    if not why then
      put(chat, { '' })
      return show_chips(chat)
    end
    M.warn(chat, why)
    return M.to_top(chat)
  end
  local status = chat.status
  local ready = status and require('caliban.chat.queue').ready(status.queue)
  local goes_on = #chat.context == 0 and status and status.phase == 'idle' and ready
  if message == '' and not goes_on then
    local what = #chat.context > 0
        and 'The added context is sent with a message. Write the message first.'
      or status and #status.queue > 0 and not ready and 'In the transcript, s on a message sends it, S sends all.'
      or 'The message is empty.'
    require('caliban.editor.notify').say('Nothing sent. ' .. what, vim.log.levels.INFO)
    return
  end
  local sent = { kind = 'send', text = message, context = chat.context, steer = steer }
  if not require('caliban.chat.chats').send(chat, sent) then
    return
  end
  if message ~= '' then
    require('caliban.chat.past').add(chat, message)
  end
  local own = put_aside(chat)
  walk, chat.context, chat.warning = nil, {}, nil
  require('caliban.chat.mentions').clear(chat)
  put(chat, own or { '' })
  show_chips(chat)
  M.save(chat)
end

--- Puts an unsent message back into the composer, before the text that was typed in the meantime.
---@param chat caliban.Chat
---@param message string
---@param context caliban.Excerpt[]
---@param joint? string the text between the two; default: an empty line
function M.give_back(chat, message, context, joint)
  local since = text(chat)
  local all = (since == '' or message == '') and message .. since
    or message .. (joint or '\n\n') .. since
  put(chat, vim.split(all, '\n', { plain = true }))
  chat.context = vim.list_extend(vim.deepcopy(context), chat.context)
  show_chips(chat)
  M.save(chat)
end

--- Puts a message that could not be sent behind the text of the composer.
---@param chat caliban.Chat
---@param message string
---@param context caliban.Excerpt[]
function M.append(chat, message, context)
  local before = text(chat)
  local all = before == '' and message or before .. '\n\n' .. message
  put(chat, vim.split(all, '\n', { plain = true }))
  vim.list_extend(chat.context, vim.deepcopy(context))
  show_chips(chat)
  M.save(chat)
end

--- Shows the draft of a session that was opened, unless the composer has text already.
---@param chat caliban.Chat
---@param draft string
---@param context caliban.Excerpt[]
function M.restore(chat, draft, context)
  if text(chat) == '' and #chat.context == 0 then
    chat.context = context
    if draft ~= '' then
      put(chat, vim.split(draft, '\n', { plain = true }))
    end
    chat.sent = { text = table.concat(lines(chat), '\n'), context = vim.deepcopy(context) }
    show_chips(chat)
  else
    M.save(chat)
  end
end

--- Like `restore`, for a chat that was read-only: joins the draft with the text that was typed
--- here.
---@param chat caliban.Chat
---@param draft string
---@param context caliban.Excerpt[]
function M.rejoin(chat, draft, context)
  chat.sent = nil
  if draft:find(text(chat), 1, true) then
    chat.context = {}
    put(chat, { '' })
  elseif draft ~= '' then
    return M.give_back(chat, draft, context)
  end
  M.restore(chat, draft, context)
end

--- Moves the text and the chips of one composer to another.
---@param from caliban.Chat
---@param to caliban.Chat
function M.move(from, to)
  local message, context = text(from), from.context
  if message ~= '' or #context > 0 then
    M.give_back(to, message, context)
  end
  from.context, from.warning = {}, nil
  put(from, { '' })
  show_chips(from)
  M.save(from)
end

--- Goes to an earlier or a later message of the history.
---@param chat caliban.Chat
---@param step -1|1
---@return boolean # false if the key must do what it does in Vim
function M.walk(chat, step)
  local row, count = api.nvim_win_get_cursor(0)[1], api.nvim_buf_line_count(0)
  local edge = step < 0 and row == 1 or step > 0 and row == count
  if vim.fn.pumvisible() == 1 or not edge or (step > 0 and not walk) then
    return false
  end
  local all = walk and walk.all or require('caliban.chat.past').all(chat)
  local at = (walk and walk.at or #all + 1) + step
  if at < 1 or at > #all + 1 then
    return false
  end
  local here = walk or { at = at, all = all, chat = chat }
  here.at = at
  walk = at <= #all and here or nil
  vim.schedule(function()
    -- the text is read only now: while the mapping ran, the buffer could lack the last typed text
    here.own = here.own or lines(chat)
    put(chat, all[at] and vim.split(all[at], '\n', { plain = true }) or here.own)
    if step < 0 then
      api.nvim_win_set_cursor(0, { 1, vim.v.maxcol - 1 })
    end
  end)
  return true
end

--- If Neovim exits while the session of a chat with a draft is still being opened, it waits at most
--- this long, in ms. <C-c> ends the wait.
local PATIENCE = 5000

--- Called when Neovim exits: saves the drafts. A draft can be saved only when its session is open.
function M.leave()
  local all = require('caliban.chat.chats').all
  local process = require('caliban.program.process')
  ---@param chat caliban.Chat
  local function waits(chat)
    return not chat.session and (text(chat) ~= '' or #chat.context > 0)
  end
  vim.wait(PATIENCE, function()
    return not process.program() or #vim.tbl_filter(waits, all) == 0
  end, 2)
  vim.tbl_map(M.save, all)
  if not process.finish() then
    for _, chat in ipairs(all) do
      local _ = chat.reading or write(chat)
    end
  end
end

--- Watches the composer's buffer.
---@param chat caliban.Chat
function M.attach(chat)
  chat.scrolling = nil
  local function on(events, fn)
    api.nvim_create_autocmd(events, { [BUF] = chat.composer, callback = fn })
  end
  on({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, function()
    require('caliban.chat.layout').fit(chat)
    local warning = chat.warning
    if warning and warning.tick ~= api.nvim_buf_get_changedtick(chat.composer) then
      M.unwarn(chat)
    end
    local rows = #over_text.rows(chat)
    if chat.over or rows > 1 and rows > over_text.most(chat) then
      show_chips(chat)
    else
      make_room(chat, rows)
    end
    -- the text is read now, because if a signal ends Neovim, its buffers are unloaded before any
    -- autocommand can read them
    if api.nvim_buf_line_count(chat.composer) <= FEW then
      lines(chat)
    end
    save_soon(chat)
    require('caliban.chat.mentions').touch(chat, false)
  end)
  on('BufEnter', function()
    require('caliban.chat.mentions').touch(chat, true)
  end)
  on({ 'BufLeave', 'BufUnload' }, function()
    M.save(chat)
  end)
  -- the keys beside the chips depend on the mode, which changes only after `InsertEnter`
  on(
    { 'InsertEnter', 'InsertLeave' },
    vim.schedule_wrap(function()
      local _ = chat.scrolling and show_chips(chat)
    end)
  )
  api.nvim_create_autocmd('VimLeave', {
    group = api.nvim_create_augroup('caliban_draft', {}),
    callback = M.leave,
  })
  require('caliban.chat.mentions').listen(show_chips)
  show_chips(chat)
  -- completion starts at the first insertion, because the first start of a language server takes 10 ms
  local first ---@type integer
  first = api.nvim_create_autocmd({ 'InsertEnter', 'CursorMovedI' }, {
    [BUF] = chat.composer,
    callback = function()
      api.nvim_del_autocmd(first)
      require('caliban.chat.completion').attach(chat)
      require('caliban.chat.image').watch()
    end,
  })
end

return M
