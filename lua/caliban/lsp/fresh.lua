--- Collects the diagnostics of a buffer's current text, and names the servers that have not reported on that text yet.
local M = {}

local wait = require('caliban.lsp.wait')
local watch = require('caliban.lsp.watch')

local PULL = 'textDocument/diagnostic'
--- A server's published diagnostics count as complete if the server publishes nothing more for this
--- many ms.
local SETTLE = 300
--- The LSP error `ServerCancelled`, after which the client should ask again.
local SERVER_CANCELLED = -32802

---@class caliban.Fresh
---@field by_client table<integer, lsp.Diagnostic[]> only of clients that have reported on the current text
---@field notes string[] sentences about the servers

---@class caliban.Awaited
---@field client vim.lsp.Client
---@field starting boolean
---@field pulls? boolean whether the client answers requests for diagnostics; nil until the client has started
---@field asked? integer the version of the text in the last request
---@field request? integer
---@field items? lsp.Diagnostic[]
---@field failed? string

--- Whether a client answers requests for diagnostics (pull); others only publish them (push).
---@param client vim.lsp.Client
---@param buf integer
---@return boolean
function M.pulls(client, buf)
  return client:supports_method(PULL, buf)
end

--- Requests the diagnostics of a buffer's current text.
---@param client vim.lsp.Client
---@param buf integer
---@param done fun(items?: lsp.Diagnostic[], err?: lsp.ResponseError)
---@return integer? request
function M.pull(client, buf, done)
  local provider = (client.server_capabilities or {}).diagnosticProvider
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    identifier = type(provider) == 'table' and provider.identifier or nil,
  }
  local _, request = client:request(PULL, params, function(err, result)
    local items = type(result) == 'table' and result.items
    done(type(items) == 'table' and items or nil, err)
  end, buf)
  return request
end

---@param buf integer
---@param it caliban.Awaited
local function ask(buf, it)
  local version = vim.lsp.util.buf_versions[buf]
  it.asked = version
  it.request = M.pull(it.client, buf, function(items, err)
    it.request = nil
    if it.asked ~= version then
      return
    elseif err and err.code == SERVER_CANCELLED then
      it.asked = nil
    elseif items then
      it.items = items
    else
      it.failed = err and tostring(err.message) or 'its answer is invalid'
    end
  end)
end

---@param buf integer
---@param it caliban.Awaited
---@return boolean # whether the client has reported or failed
local function look(buf, it)
  if it.client:is_stopped() then
    it.failed = 'it has exited'
  elseif it.client.initialized and it.pulls == nil then
    it.pulls = M.pulls(it.client, buf)
  end
  if it.failed then
    return true
  elseif it.pulls == nil then
    return false
  elseif not it.pulls then
    local known = watch.fresh(it.client, buf, SETTLE, it.starting)
    it.items = known and (watch.last(it.client, buf) or {}) or nil
  elseif it.asked ~= vim.lsp.util.buf_versions[buf] then
    it.items = nil
    ask(buf, it)
  end
  return it.items ~= nil
end

--- The clients that report on a buffer. Clients that have sent no diagnostics although Caliban
--- waited for them are left out.
---@param buf integer
---@return caliban.Awaited[]
local function awaited(buf)
  local out = {}
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, _uninitialized = true })) do
    if not watch.of(client.id).mute then
      out[#out + 1] = { client = client, starting = not client.initialized }
    end
  end
  return out
end

--- A note about a server that failed, or has not reported on the current text; nil if the server has reported.
---@param buf integer
---@param it caliban.Awaited
---@return string?
local function note(buf, it)
  local seen = watch.of(it.client.id)
  if it.failed then
    return ('%s failed: %s'):format(it.client.name, it.failed)
  elseif not it.items then
    seen.mute = not it.pulls and next(seen.published) == nil or nil
    return ('not known yet: %s has not reported on this text'):format(it.client.name)
  elseif not it.pulls and not watch.last(it.client, buf) then
    return ('%s has reported nothing on this file so far'):format(it.client.name)
  end
end

---@param buf integer
---@param all caliban.Awaited[]
---@return caliban.Fresh
local function gather(buf, all)
  local by_client, notes = {}, {}
  for _, it in ipairs(all) do
    by_client[it.client.id] = it.items
    notes[#notes + 1] = note(buf, it)
  end
  return { by_client = by_client, notes = notes }
end

--- Collects a buffer's diagnostics for at most `ms` milliseconds.
---@param buf integer
---@param ms integer
---@param done fun(fresh: caliban.Fresh)
---@return fun()? stop nil if no server reports on the buffer; `done` is then never called
function M.collect(buf, ms, done)
  watch.start()
  local all = awaited(buf)
  if #all == 0 then
    return nil
  end
  local stop = wait.till(ms, function()
    if not vim.api.nvim_buf_is_loaded(buf) then
      return true
    end
    local whole = true
    for _, it in ipairs(all) do
      whole = look(buf, it) and whole
    end
    return whole
  end, function()
    M.drop(all)
    done(gather(buf, all))
  end)
  return function()
    stop()
    M.drop(all)
  end
end

--- Cancels the requests that are still open.
---@param all caliban.Awaited[]
function M.drop(all)
  for _, it in ipairs(all) do
    if it.request and not it.client:is_stopped() then
      it.client:cancel_request(it.request)
    end
    it.request = nil
  end
end

local WORDS = { 'error', 'warning', 'info', 'hint' }

--- The message of a diagnostic, as one line of text.
---@param it lsp.Diagnostic
---@return string
function M.say(it)
  local origin = type(it.source) == 'string' and it.source or ''
  local code = it.code ~= nil and it.code ~= vim.NIL and tostring(it.code) or ''
  if code ~= '' then
    origin = origin == '' and code or ('%s %s'):format(origin, code)
  end
  local message = tostring(it.message):gsub('%s+', ' ')
  local text = ('%s: %s'):format(WORDS[M.severity(it)], vim.trim(message))
  return origin == '' and text or ('%s (%s)'):format(text, origin)
end

---@param it lsp.Diagnostic
---@return integer # 1 (error) to 4 (hint); 1 if the server gives none
function M.severity(it)
  local severity = it.severity --[[@as integer?]]
  return severity and WORDS[severity] and severity or 1
end

---@param it lsp.Diagnostic
---@return integer # row, from 0
function M.line(it)
  local line = vim.tbl_get(it, 'range', 'start', 'line')
  return type(line) == 'number' and math.max(math.floor(line), 0) or 0
end

return M
