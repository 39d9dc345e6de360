--- Asks the user's language servers for the program. Each question of the program is answered with
--- one `found` message, even if a server fails or does not answer.
local M = {}

local action = require('caliban.lsp.action')
local file = require('caliban.editor.file')
local fresh = require('caliban.lsp.fresh')
local hold = require('caliban.lsp.hold')
local place = require('caliban.lsp.place')
local methods = require('caliban.lsp.read').methods
local wait = require('caliban.lsp.wait')
local watch = require('caliban.lsp.watch')

--- The most findings of an answer.
local MOST = 2000
--- The largest file to load for a question, in bytes.
local LARGEST = 5000000
--- How long to wait until the first client attaches to a file that was just loaded, in milliseconds.
local ATTACHING = 1000

---@class caliban.Asked
---@field message caliban.Consult
---@field stop? fun() ends the wait or the requests
---@field held? vim.lsp.Client[] the clients whose own edits are refused
---@field edits? boolean whether the answer has edits

local asked = {} ---@type table<integer, caliban.Asked> open questions, by id

--- Answers a question. Later answers to the same question are ignored.
---@param it caliban.Asked
---@param fields table
local function answer(it, fields)
  local id = it.message.id
  if asked[id] ~= it then
    return
  end
  asked[id] = nil
  local findings, notes = fields.findings or {}, fields.notes or {}
  for _, client in ipairs(it.held or {}) do
    notes[#notes + 1] = hold.release(client, it.edits)
  end
  require('caliban.program.process').notify({
    kind = 'found',
    id = id,
    findings = vim.list_slice(findings, 1, MOST),
    more = math.max(#findings - MOST, 0),
    notes = notes,
    rewrites = fields.rewrites or {},
    formatter = fields.formatter,
    why = fields.why,
  })
end

--- Wraps the callback `run`: the new function does nothing if the question is answered already, and
--- answers the question with the error if `run` raises one.
---@param it caliban.Asked
---@param run function
---@return function
local function guarded(it, run)
  return function(...)
    if asked[it.message.id] ~= it then
      return
    end
    local ok, err = pcall(run, ...)
    if not ok then
      answer(it, { why = ('The request failed in the editor: %s'):format(file.reason(err)) })
    end
  end
end

--------------------------------------------------------------------------------------------- requests

---@class caliban.Reply
---@field client vim.lsp.Client
---@field request? integer
---@field findings? table[] findings, or changes of files
---@field note? string

---@param found caliban.Finding[]
---@return caliban.Finding[] # without duplicates
local function distinct(found)
  local seen, out = {}, {}
  for _, it in ipairs(found) do
    local key = table.concat({ it.path, it.line, it.text }, '\0')
    if not seen[key] then
      seen[key] = true
      out[#out + 1] = it
    end
  end
  return out
end

---@param found caliban.Finding[]
---@return caliban.Finding[] # without duplicates, sorted by path and line
local function ordered(found)
  local out, place_of = distinct(found), {}
  for i, it in ipairs(out) do
    place_of[it] = i
  end
  table.sort(out, function(a, b)
    if a.path ~= b.path then
      return a.path < b.path
    end
    return a.line < b.line or a.line == b.line and place_of[a] < place_of[b]
  end)
  return out
end

---@param message caliban.Consult
---@param reply caliban.Reply
---@param method caliban.Method
---@param params table
---@param buf? integer
local function request(message, reply, method, params, buf)
  local client = reply.client
  local tick = buf and method.edits and vim.api.nvim_buf_get_changedtick(buf)
  ---@param found? table[]
  ---@param why? string
  local function take(found, why)
    local stands = not tick
      or buf and vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_changedtick(buf) == tick
    local name = file.short(message.path or '')
    reply.request = nil
    reply.findings = stands and found or nil
    reply.note = not stands and ('%s changed while the language server was answering'):format(name)
      or why
  end
  local sent, id = client:request(method.name, params, function(err, result)
    if err then
      return take(nil, ('%s: %s'):format(client.name, tostring(err.message)))
    end
    local read, found, why
    if method.take and buf then
      reply.request = nil
      read, found = pcall(method.take, result, message, client, buf, take)
      reply.request = read and not reply.findings and not reply.note and found or nil
    elseif method.read then
      read, found, why = pcall(method.read, result or {}, params, client, message)
      take(read and found or nil, why)
    end
    if not read then
      take(nil, ('%s gave an invalid answer'):format(client.name))
    end
  end, buf)
  reply.request = id
  reply.note = not sent and ('%s has ended'):format(reply.client.name) or nil
end

--- Sends a request to each client, and answers the question with the findings of all clients that
--- reply in time.
---@param it caliban.Asked
---@param clients vim.lsp.Client[]
---@param method caliban.Method
---@param params fun(client: vim.lsp.Client): table
---@param buf? integer
local function request_all(it, clients, method, params, buf)
  local ms = require('caliban.config').get().lsp.request_ms
  local replies = {} ---@type caliban.Reply[]
  it.held, it.edits = clients, method.edits
  vim.tbl_map(hold.hold, clients)
  for _, client in ipairs(clients) do
    local reply = { client = client }
    replies[#replies + 1] = reply
    request(it.message, reply, method, params(client), buf)
  end
  local function drop()
    for _, reply in ipairs(replies) do
      if reply.request and not reply.client:is_stopped() then
        reply.client:cancel_request(reply.request)
      end
    end
  end
  local function all()
    local whole = true
    for _, reply in ipairs(replies) do
      if reply.request and reply.client:is_stopped() then
        reply.request, reply.note = nil, ('%s ended before it answered'):format(reply.client.name)
      end
      whole = whole and (reply.note or reply.findings) ~= nil
    end
    return whole
  end
  local stop = wait.till(
    ms,
    all,
    guarded(it, function()
      drop()
      local found, notes = {}, {}
      for _, reply in ipairs(replies) do
        -- if several servers give changes, only those of the first one are used
        vim.list_extend(found, not (method.edits and #found > 0) and reply.findings or {})
        if not reply.findings then
          local late = ('%s did not answer in %g s'):format(reply.client.name, ms / 1000)
          notes[#notes + 1] = reply.note or late
        end
      end
      local aspect = it.message.aspect
      if method.edits then
        return answer(it, { rewrites = found, notes = notes })
      end
      found = distinct(found)
      found = aspect == 'actions' and action.list(it.message, found) or found
      answer(it, { findings = found, notes = notes })
    end)
  )
  it.stop = function()
    stop()
    drop()
  end
end

--- The clients that support a method.
---@param buf? integer default: the clients of all buffers
---@param method caliban.Method
---@return vim.lsp.Client[] clients, string? why there is none
local function supporting(buf, method)
  local all = vim.lsp.get_clients({ bufnr = buf })
  local out = vim.tbl_filter(function(client)
    return not client:is_stopped() and client:supports_method(method.name, buf)
  end, all)
  if #out > 0 then
    return out
  elseif #all == 0 then
    return out,
      'No language server is running. Name a path, so that the server for that file starts.'
  end
  local names = vim.tbl_map(function(client)
    return client.name
  end, all)
  return out, ('%s does not support %s.'):format(table.concat(names, ', '), method.what)
end

--------------------------------------------------------------------------------------------- questions

---@param it caliban.Asked
---@param buf integer
local function diagnose(it, buf)
  local ms = require('caliban.config').get().lsp.diagnostics_ms
  it.stop = fresh.collect(
    buf,
    ms,
    guarded(it, function(now)
      local path = vim.api.nvim_buf_get_name(buf)
      local findings = {}
      for id, items in pairs(now.by_client) do
        local client = vim.lsp.get_client_by_id(id)
        -- some servers that answer requests for diagnostics also publish further diagnostics, which
        -- take longer
        local also = client and watch.fresh(client, buf, 0) and watch.last(client, buf) or {}
        for _, item in ipairs(vim.list_extend(vim.list_slice(items), also)) do
          findings[#findings + 1] = { path = path, line = fresh.line(item), text = fresh.say(item) }
        end
      end
      answer(it, { findings = ordered(findings), notes = now.notes })
    end)
  )
  if not it.stop then
    local why = 'No language server reports diagnostics for %s.'
    answer(it, {
      why = why:format(file.short(it.message.path --[[@as string]])),
    })
  end
end

--- Answers with the known diagnostics of all files. A file whose text is newer than its diagnostics is only named in a
--- note.
---@param it caliban.Asked
local function diagnose_all(it)
  watch.start()
  local findings, notes = {}, {} ---@type caliban.Finding[], string[]
  local bufs = {} ---@type table<string, integer>
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    bufs[vim.api.nvim_buf_get_name(buf)] = buf
  end
  for _, client in ipairs(vim.lsp.get_clients()) do
    for path, items in pairs(watch.everything(client)) do
      local buf = bufs[path]
      local current = not buf
        or not vim.lsp.buf_is_attached(buf, client.id)
        or watch.fresh(client, buf, 0)
      for _, item in ipairs(current and items or {}) do
        findings[#findings + 1] = { path = path, line = fresh.line(item), text = fresh.say(item) }
      end
      if not current then
        local late = 'the diagnostics of %s are not known yet: ask again with its path'
        notes[#notes + 1] = late:format(file.short(path))
      end
    end
  end
  local none = #vim.lsp.get_clients() == 0
  answer(it, {
    findings = ordered(findings),
    notes = notes,
    why = none
        and 'No language server is running. Name a path, so that the server for that file starts.'
      or nil,
  })
end

--- Answers why no server can be asked. If the question is to format a file, names the user's own
--- formatters instead, if there are any.
---@param it caliban.Asked
---@param buf integer
---@param why string
local function unable(it, buf, why)
  if it.message.aspect ~= 'format' then
    return answer(it, { why = why })
  end
  local formatter, unusable = require('caliban.lsp.formatter').find(buf)
  if unusable then
    why = ('%s conform.nvim cannot be used either: %s. Format the saved file with shell.'):format(
      why,
      unusable
    )
  elseif not formatter then
    why = why .. " The user has configured no formatter in conform.nvim, and 'formatprg' is empty."
  end
  answer(it, formatter and { formatter = formatter } or { why = why })
end

---@param it caliban.Asked
---@param buf integer
local function ask(it, buf)
  local message = it.message
  if message.aspect == 'diagnostics' then
    return diagnose(it, buf)
  end
  local part = message.query and 'query'
    or message.aspect == 'format' and message.last and 'format_range'
    or message.aspect
  local method = methods[part]
  local clients, why = supporting(buf, method)
  if why then
    return unable(it, buf, why)
  elseif message.query then
    return request_all(it, clients, method, function()
      return { query = message.query }
    end)
  elseif message.aspect == 'symbols' then
    return request_all(it, clients, method, function()
      return { textDocument = { uri = vim.uri_from_bufnr(buf) } }
    end, buf)
  elseif message.aspect == 'format' then
    -- only one server formats: several servers would change the same places
    return request_all(it, { clients[1] }, method, function(client)
      return action.format_params(buf, message, client)
    end, buf)
  elseif message.aspect == 'actions' or message.aspect == 'action' then
    return request_all(it, clients, method, function(client)
      return action.params(buf, message, client)
    end, buf)
  end
  local col, missing = place.find(buf, message.line, message.symbol)
  if not col then
    return answer(it, { why = missing })
  end
  -- only one server is asked for a rename, because several servers would change the same places
  clients = message.aspect == 'rename' and { clients[1] } or clients
  request_all(it, clients, method, function(client)
    local params = place.params(buf, message.line, col, client)
    if message.aspect == 'references' then
      params = vim.tbl_extend('error', params, { context = { includeDeclaration = true } })
    elseif message.aspect == 'rename' then
      params = vim.tbl_extend('error', params, { newName = message.name })
    end
    return params
  end, buf)
end

--- Waits until the buffer has its clients, then asks them.
---@param it caliban.Asked
---@param buf integer
---@param created boolean whether the buffer was just loaded: its clients may attach soon
local function attached(it, buf, created)
  local began = wait.now()
  it.stop = wait.till(
    require('caliban.config').get().lsp.request_ms,
    function()
      local all = #vim.lsp.get_clients({ bufnr = buf, _uninitialized = true })
      local ready = #vim.lsp.get_clients({ bufnr = buf })
      local patience = created and ATTACHING or 0
      return ready == all and (all > 0 or wait.now() - began >= patience)
    end,
    guarded(it, function()
      local name = file.short(it.message.path --[[@as string]])
      if #vim.lsp.get_clients({ bufnr = buf }) > 0 then
        ask(it, buf)
      elseif #vim.lsp.get_clients({ bufnr = buf, _uninitialized = true }) > 0 then
        answer(
          it,
          { why = ('The language server for %s is still starting. Try again later.'):format(name) }
        )
      else
        unable(it, buf, ('No language server is attached to %s.'):format(name))
      end
    end)
  )
end

--- Loads the file's buffer and begins to ask its clients, unless the user is in the middle of a
--- command.
---@param it caliban.Asked
---@return boolean # false if the caller is to try again later
local function open(it)
  local path = it.message.path --[[@as string]]
  local buf = file.find(path)
  local loaded = buf ~= nil and vim.api.nvim_buf_is_loaded(buf)
  local stat = vim.uv.fs_stat(path)
  if not loaded and stat and stat.size > LARGEST then
    answer(
      it,
      { why = ('%s is too large to load for a language server.'):format(file.short(path)) }
    )
    return true
  elseif not loaded and vim.fn.getcmdwintype() .. vim.fn.state('x') ~= '' then
    return false
  end
  local ok, found, why = pcall(file.load, path)
  if not ok and tostring(found):find('E565', 1, true) then
    return false
  elseif not ok or not found then
    local reason = ok and why or file.reason(found)
    answer(it, { why = ('%s cannot be loaded: %s.'):format(file.short(path), reason) })
  else
    attached(it, found --[[@as integer]], not loaded)
  end
  return true
end

--- Starts to answer a question.
---@param message caliban.Consult
function M.consult(message)
  local it = { message = message } ---@type caliban.Asked
  asked[message.id] = it
  watch.start()
  if not message.path then
    local run = message.aspect == 'diagnostics' and diagnose_all
      or function()
        local clients, why = supporting(nil, methods.query)
        if why then
          return answer(it, { why = why })
        end
        request_all(it, clients, methods.query, function()
          return { query = message.query }
        end)
      end
    return vim.schedule(guarded(it, function()
      run(it)
    end))
  end
  local opened = false
  it.stop = wait.till(
    require('caliban.config').get().lsp.request_ms,
    function()
      guarded(it, function()
        opened = open(it)
      end)()
      return opened or asked[message.id] ~= it
    end,
    guarded(it, function(came)
      if not came then
        answer(it, { why = 'The user is busy in the editor. Try again later.' })
      end
    end)
  )
end

--- Called when a turn was stopped: answers all its questions.
---@param session string
function M.halt(session)
  for id, it in pairs(asked) do
    if it.message.session == session then
      answer(it, { why = 'The user stopped the turn.' })
      if it.stop then
        it.stop()
      end
    end
  end
end

return M
