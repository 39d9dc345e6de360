--- The composer's completion. It is a language server inside this Neovim, so that |lsp-completion|,
--- 'omnifunc' and completion plugins can use it. The program finds the items.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF

--- A question to the program names at most this many open files, and at most this many recent ones.
local NEAR = 100
--- A question to the program has at most this many bytes of the line before the cursor.
local LINE = 4096
--- A slash command is recognised if there are fewer than this many lines above it, all blank.
local BLANK = 50
--- The time in milliseconds after which a question is asked again if the program did not know all
--- items yet.
local AGAIN = 150

---@type table<string, lsp.CompletionItemKind>
local kinds = {
  file = vim.lsp.protocol.CompletionItemKind.File,
  folder = vim.lsp.protocol.CompletionItemKind.Folder,
  command = vim.lsp.protocol.CompletionItemKind.Function,
  word = vim.lsp.protocol.CompletionItemKind.Keyword,
  model = vim.lsp.protocol.CompletionItemKind.Class,
  session = vim.lsp.protocol.CompletionItemKind.Reference,
  skill = vim.lsp.protocol.CompletionItemKind.Module,
  symbol = vim.lsp.protocol.CompletionItemKind.Reference,
}

--- A question to the program that is not answered yet.
---@class caliban.AskedCompletion
---@field id integer
---@field request integer id of the language client's request
---@field buf integer the composer
---@field row integer line of the cursor, from 0
---@field line string the line up to the cursor
---@field answer fun(err?: lsp.ResponseError, result?: lsp.CompletionList) gives the client the answer
---@field drop fun() tells the client that no answer will come

---@type caliban.AskedCompletion?
local asked
local last = 0
--- The text before the cursor after a completion was accepted: the menu does not open again for this text.
---@type string?
local accepted
--- The text before the cursor for which the menu is open.
---@type string?
local shown

--- The files of a project in |v:oldfiles|. Neovim reads this list at its start and keeps it unchanged.
---@param root string
---@return string[]
local function old_files(root)
  local files = {} ---@type string[]
  for _, name in ipairs(vim.v.oldfiles) do
    if #files < NEAR and vim.startswith(name, root .. '/') then
      files[#files + 1] = name
    end
  end
  return files
end

--- The files that the user is likely to mention: open ones have a listed buffer; recent ones have an unlisted buffer
--- or were used before Neovim was started.
---@param root? string of the project
---@return string[] open absolute paths, the one used last first
---@return string[] recent absolute paths in the same order, those from before the start last
local function near_files(root)
  local infos = vim.fn.getbufinfo()
  table.sort(infos, function(a, b)
    -- the times are whole seconds: of two equal ones, the buffer with the higher number was created later
    if a.lastused == b.lastused then
      return a.bufnr > b.bufnr
    end
    return a.lastused > b.lastused
  end)
  local open, recent = {}, {} ---@type string[], string[]
  for _, info in ipairs(infos) do
    local list = info.listed == 1 and open or recent
    if info.name ~= '' and vim.bo[info.bufnr].buftype == '' and #list < NEAR then
      list[#list + 1] = info.name
    end
  end
  vim.list_extend(recent, root and old_files(root) or {})
  return open, recent
end

---@param buf integer
---@param row integer from 0
---@return boolean # whether all lines above are blank
local function is_first(buf, row)
  for _, line in ipairs(api.nvim_buf_get_lines(buf, 0, math.min(row, BLANK), false)) do
    if line:find('%S') then
      return false
    end
  end
  return row < BLANK
end

---@param line string up to the cursor
---@return boolean # whether a mention or a slash command may end there
local function may_complete(line)
  return line:find('@', 1, true) ~= nil or line:find('^%s*/') ~= nil
end

---@return lsp.CompletionList
local function nothing()
  return { isIncomplete = false, items = {} }
end

--- Drops the pending question, so that its client stops waiting for an answer.
local function drop()
  if asked then
    local old = asked
    asked = nil
    old.drop()
  end
end

---@param params lsp.CompletionParams
---@param request integer
---@param answer fun(err?: lsp.ResponseError, result?: lsp.CompletionList)
---@param forget fun()
local function ask(params, request, answer, forget)
  drop()
  local buf = api.nvim_get_current_buf()
  local chat = require('caliban.chat.chats').of(buf)
  local row = params.position.line
  local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  line = line:sub(1, params.position.character)
  local sent = line:sub(-LINE)
  if not chat or chat.composer ~= buf or not may_complete(sent) then
    return answer(nil, nothing())
  end
  last = last + 1
  local open, recent = {}, {} ---@type string[], string[]
  if sent:find('@', 1, true) then
    open, recent = near_files(chat.root)
  end
  local question = {
    kind = 'complete',
    id = last,
    session = chat.session,
    line = sent,
    is_first = #line <= LINE and is_first(buf, row),
    open = open,
    recent = recent,
  }
  if not require('caliban.program.process').notify(question) then
    return answer(nil, nothing())
  end
  asked = {
    id = last,
    request = request,
    buf = buf,
    row = row,
    line = line,
    answer = answer,
    drop = forget,
  }
end

--- The cells of Neovim's menu around and between an item and the words about it.
local FRAME = 5
--- The fewest cells in which words about an item still say something.
local LEAST = 8

--- The cells of the screen from the place of Neovim's menu on, which begins below the text that it replaces.
---@param question caliban.AskedCompletion
---@param start integer the bytes before this text
---@return integer
local function room_at(question, start)
  local col = vim.fn.screenpos(0, question.row + 1, start + 1).col --[[@as integer]]
  return vim.o.columns - math.max(0, col - 1)
end

--- Cuts the items and the words about them, so that Neovim's menu has room for them on the screen: Neovim itself would
--- cut them without a sign.
---@param list lsp.CompletionItem[]
---@param message caliban.Completed
---@param columns integer the cells of the menu
local function fit(list, message, columns)
  local widest, most = 0, math.max(LEAST, columns - FRAME)
  for at, item in ipairs(message.items) do
    local size = api.nvim_strwidth(item.text)
    list[at].data = size > most and require('caliban.chat.chips').short(item.text, most) or nil
    widest = math.max(widest, math.min(size, most))
  end
  local room, more = columns - widest - FRAME, require('caliban.editor.icons').of('…')
  for _, item in ipairs(list) do
    local words = item.detail
    if words and api.nvim_strwidth(words) > room then
      local cut = require('caliban.editor.wrap').first(words, room - api.nvim_strwidth(more))
      item.detail = room > LEAST and vim.trim(cut) .. more or nil
    end
  end
end

---@param question caliban.AskedCompletion
---@param start integer a number of its line's bytes
---@return boolean # whether the cursor is still in the composer, and the line still begins with these bytes
local function is_there(question, start)
  local now = api.nvim_buf_is_loaded(question.buf)
    and api.nvim_buf_get_lines(question.buf, question.row, question.row + 1, false)[1]
  return now
      and api.nvim_get_current_buf() == question.buf
      and vim.startswith(now, question.line:sub(1, start))
    or false
end

--- The items of an answer. There are none if the user has meanwhile removed the text that the question was about, or has
--- left the composer.
---@param question caliban.AskedCompletion
---@param message caliban.Completed
---@return lsp.CompletionItem[]
local function items(question, message)
  local start = #question.line - message.replaced
  if not is_there(question, start) then
    return {}
  end
  local typed = question.line:sub(start + 1)
  local range = {
    start = { line = question.row, character = start },
    ['end'] = { line = question.row, character = #question.line },
  }
  local list = {} ---@type lsp.CompletionItem[]
  for at, item in ipairs(message.items) do
    list[at] = {
      label = item.label,
      kind = kinds[item.is],
      detail = item.about ~= '' and item.about or nil,
      -- the program has matched and sorted the items; these two fields make clients keep all items
      -- in this order
      filterText = typed,
      sortText = ('%04d'):format(at),
      textEdit = { newText = item.text, range = range },
    }
  end
  fit(list, message, room_at(question, start))
  return list
end

--- Whether Caliban opens Neovim's completion menu while the user types. It does not if the user has
--- set `completion` to `manual`, or if a completion plugin is loaded.
---@return boolean
local function is_automatic()
  if require('caliban.config').get().completion == 'manual' then
    return false
  end
  for _, name in ipairs({ 'blink.cmp', 'cmp', 'mini.completion' }) do
    if package.loaded[name] then
      return false
    end
  end
  return true
end

---@return string # the cursor's line up to the cursor
local function before_cursor()
  return api.nvim_get_current_line():sub(1, api.nvim_win_get_cursor(0)[2])
end

--- Opens Neovim's own menu, or updates a menu that shows the items for an earlier text.
local function open_menu()
  local line = before_cursor()
  local chosen = vim.fn.complete_info({ 'selected' }).selected
  local is_open = line == shown and vim.fn.pumvisible() == 1
  if line == accepted or is_open or not may_complete(line) or chosen >= 0 then
    return
  end
  accepted, shown = nil, nil
  vim.lsp.completion.get()
end

--- Passes the program's answer to the language client. If the program does not know all items yet, opens the menu again
--- soon.
---@param message caliban.Completed
function M.answer(message)
  local question = asked
  if not question or question.id ~= message.id then
    return
  end
  asked, shown = nil, not message.more and question.line or nil
  question.answer(nil, { isIncomplete = true, items = items(question, message) })
  if message.more and is_automatic() then
    vim.defer_fn(function()
      local is_same = api.nvim_get_mode().mode:find('^i') and before_cursor() == question.line
      local _ = is_same and not asked and open_menu()
    end, AGAIN)
  end
end

---@type lsp.ServerCapabilities
local capabilities = {
  positionEncoding = 'utf-8',
  textDocumentSync = 0,
  completionProvider = { triggerCharacters = { '@', '/', '"', ' ' } },
}

--- The language server, in the form that |vim.lsp.start()| takes as `cmd`.
---@param dispatchers vim.lsp.rpc.Dispatchers
---@return vim.lsp.rpc.PublicClient
local function server(dispatchers)
  local requests, closing = 0, false
  local client = {}
  function client.request(method, params, answer, forget)
    requests = requests + 1
    local request = requests
    if method == 'initialize' then
      answer(nil, { capabilities = capabilities, serverInfo = { name = 'caliban' } })
    elseif method == 'textDocument/completion' then
      ask(params, request, answer, function()
        local _ = forget and forget(request)
      end)
    else
      answer(nil, vim.NIL)
    end
    return true, request
  end
  function client.notify(method, params)
    if method == '$/cancelRequest' and asked and asked.request == params.id then
      drop()
    elseif method == 'exit' then
      closing = true
      dispatchers.on_exit(0, 0)
    end
    return true
  end
  function client.is_closing()
    return closing
  end
  function client.terminate()
    closing = true
  end
  return client
end

--- Converts an item for Neovim's menu. Neovim's own conversion would insert the text only up to its first blank.
---@param item lsp.CompletionItem
---@return table
local function convert(item)
  local edit = item.textEdit or { newText = item.label }
  local shown = type(item.data) == 'string' and item.data or edit.newText
  return { word = edit.newText, abbr = shown, kind = '', menu = item.detail or '' }
end

---@param chat caliban.Chat
---@param client integer
local function watch(chat, client)
  local buf = chat.composer
  vim.lsp.completion.enable(true, client, buf, { convert = convert })
  vim.bo[buf].completeopt = 'menuone,noselect,fuzzy'
  local function on(events, fn)
    api.nvim_create_autocmd(events, { [BUF] = buf, callback = fn })
  end
  on({ 'TextChangedI', 'TextChangedP' }, function()
    local _ = is_automatic() and open_menu()
  end)
  on('CompleteDone', function()
    accepted = vim.v.event.reason == 'accept' and before_cursor() or nil
  end)
  local function begin()
    accepted = nil
    require('caliban.program.process').notify({ kind = 'prepare' })
  end
  on('InsertEnter', begin)
  begin()
end

--- Prevents the menu from opening for the text before the cursor, because the user did not type
--- this text and the menu would hide a warning.
---@param buf integer a composer
function M.hold(buf)
  accepted = api.nvim_get_current_buf() == buf and before_cursor() or accepted
end

--- Attaches the language server to a composer, and opens the menu while the user types there.
---@param chat caliban.Chat
function M.attach(chat)
  local client = vim.lsp.start({
    name = 'caliban',
    cmd = server,
    reuse_client = function(it)
      return it.name == 'caliban'
    end,
  }, { bufnr = chat.composer, silent = true })
  if client then
    watch(chat, client)
    -- cmp-nvim-lsp looks for clients at `InsertEnter` alone, when this client is not ready yet
    pcall(api.nvim_exec_autocmds, 'InsertEnter', { group = 'cmp_nvim_lsp' })
  end
end

--- Closes the menu, and asks for no other: its words are for a text that is replaced.
function M.close()
  drop()
  if vim.fn.pumvisible() == 1 and api.nvim_get_mode().mode:find('^i') then
    pcall(vim.fn.complete, vim.fn.col('.'), {})
  end
end

return M
