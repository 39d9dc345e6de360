--- Code actions and formatting by language servers: the parameters of the requests, and the edits of an action.
local M = {}

local file = require('caliban.editor.file')
local rename = require('caliban.lsp.rename')
local watch = require('caliban.lsp.watch')

--- The titles that each session listed last, and the file that they were listed for.
local listed = {} ---@type table<string, { path: string, titles: string[] }>

--- The range of the question's lines.
---@param buf integer
---@param message caliban.Consult
---@param client vim.lsp.Client
---@return lsp.Range
local function range(buf, message, client)
  local lines = file.lines(buf)
  local last = math.min(math.max(message.last or message.line, message.line), #lines - 1)
  local first = math.max(math.min(message.line, last), 0)
  local text = lines[last + 1] or ''
  local encoding = client.offset_encoding --[[@as 'utf-8'|'utf-16'|'utf-32']]
  return {
    start = { line = first, character = 0 },
    ['end'] = { line = math.max(last, 0), character = vim.str_utfindex(text, encoding) },
  }
end

--- The parameters of a request for the code actions on the question's lines.
---@param buf integer
---@param message caliban.Consult
---@param client vim.lsp.Client
---@return lsp.CodeActionParams
function M.params(buf, message, client)
  local where, diagnostics = range(buf, message, client), {}
  for _, it in ipairs(watch.everything(client)[vim.api.nvim_buf_get_name(buf)] or {}) do
    local from, to =
      vim.tbl_get(it, 'range', 'start', 'line'), vim.tbl_get(it, 'range', 'end', 'line')
    if from and to and from <= where['end'].line and to >= where.start.line then
      diagnostics[#diagnostics + 1] = it
    end
  end
  return {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    range = where,
    context = {
      diagnostics = diagnostics,
      only = message.only and { message.only } --[[@as lsp.CodeActionKind[] ]] or nil,
      triggerKind = vim.lsp.protocol.CodeActionTriggerKind.Invoked,
    },
  }
end

--- The parameters of a request to format a file, or the question's lines.
---@param buf integer
---@param message caliban.Consult
---@param client vim.lsp.Client
---@return table
function M.format_params(buf, message, client)
  return {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    range = message.last and range(buf, message, client) or nil,
    options = {
      tabSize = vim.lsp.util.get_effective_tabstop(buf),
      insertSpaces = vim.bo[buf].expandtab,
    },
  }
end

---@param it table a code action, or a command
---@param client vim.lsp.Client
---@return string? # why the action cannot be applied
local function refusal(it, client)
  local disabled = type(it.disabled) == 'table' and it.disabled.reason
  local has_edit = type(it.edit) == 'table' or client:supports_method('codeAction/resolve')
  if disabled then
    return 'not possible now: ' .. tostring(disabled)
  elseif it.command ~= nil and (type(it.command) == 'string' or not has_edit) then
    return 'it runs a command of the server'
  end
end

--- The actions of an answer, of the kind that the question names.
---@param result any
---@param message caliban.Consult
---@return table[]
local function actions(result, message)
  local kind = message.only
  return vim.tbl_filter(function(it)
    local own = type(it.kind) == 'string' and it.kind or ''
    return type(it.title) == 'string'
      and (not kind or own == kind or vim.startswith(own, kind .. '.'))
  end, vim.islist(result) and result or {})
end

--- Reads an answer as a list of actions.
---@param result any
---@param message caliban.Consult
---@param client vim.lsp.Client
---@return caliban.Finding[]
function M.read(result, message, client)
  local out = {} ---@type caliban.Finding[]
  for _, it in ipairs(actions(result, message)) do
    local kind, why = type(it.kind) == 'string' and it.kind or '', refusal(it, client)
    local text = it.title
    text = kind ~= '' and ('%s (%s)'):format(text, kind) or text
    if why then
      text = ('%s [cannot be applied: %s]'):format(text, why)
    elseif it.command then
      text = text .. ' [only its edits are applied; its command is not run]'
    end
    local path = message.path --[[@as string]]
    out[#out + 1] = { path = path, line = message.line, text = text, title = it.title }
  end
  return out
end

--- Numbers the listed actions.
---@param message caliban.Consult
---@param found table[]
---@return caliban.Finding[]
function M.list(message, found)
  local titles = {} ---@type string[]
  listed[message.session] = {
    path = message.path --[[@as string]],
    titles = titles,
  }
  for i, it in ipairs(found) do
    titles[i], it.title = it.title, nil
    it.text = ('%d. %s'):format(i, it.text)
  end
  return found
end

--- The title of the action that the question names. A number names an action of the session's last
--- list.
---@param message caliban.Consult
---@return string
local function meant(message)
  local name, last = message.name or '', listed[message.session]
  local titles = last and last.path == message.path and last.titles or {}
  return titles[tonumber(name) or 0] or name
end

--- Reads the edits of the action that the question names. Asks the server for the edit if the action lacks it.
---@param result any
---@param message caliban.Consult
---@param client vim.lsp.Client
---@param buf integer
---@param done fun(rewrites?: caliban.Rewrite[], why?: string) gets no rewrites if the answer lacks the action
---@return integer? request
function M.take(result, message, client, buf, done)
  local title, one = meant(message), nil
  for _, it in ipairs(actions(result, message)) do
    if it.title == title then
      one = it
      break
    end
  end
  if not one then
    return done({})
  end
  local why = refusal(one, client)
  if why then
    return done(nil, ('%s: `%s` cannot be applied: %s'):format(client.name, title, why))
  end
  ---@param action table
  local function finish(action)
    if type(action.edit) ~= 'table' then
      local text = '%s: `%s` has no edit; commands of a server are not run'
      return done(nil, text:format(client.name, title))
    end
    local ok, rewrites, reason = pcall(rename.read, action.edit, client)
    done(ok and rewrites or nil, ok and reason or client.name .. ' gave an invalid answer')
  end
  if type(one.edit) == 'table' or not client:supports_method('codeAction/resolve', buf) then
    return finish(one)
  end
  local _, request = client:request('codeAction/resolve', one, function(err, resolved)
    if err then
      return done(nil, ('%s: %s'):format(client.name, tostring(err.message)))
    end
    finish(type(resolved) == 'table' and resolved or one)
  end, buf)
  return request
end

return M
