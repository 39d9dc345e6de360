--- A buffer's diagnostics that belong to its text as it is now, or the names of the servers whose are not there yet.
local M = {}

local wait = require('caliban.lsp.wait')
local watch = require('caliban.lsp.watch')

local PULL = 'textDocument/diagnostic'
--- How long a server must have been silent after what it published.
local SETTLE = 300
--- A server that asks for the question to be put again.
local SERVER_CANCELLED = -32802

---@class caliban.Fresh
---@field items lsp.Diagnostic[]
---@field notes string[] on servers whose word is not there
---@field servers integer how many were asked

---@class caliban.Awaited
---@field client vim.lsp.Client
---@field pulls boolean
---@field asked? integer the version of the text that is asked about
---@field request? integer
---@field items? lsp.Diagnostic[]
---@field failed? string

---@param buf integer
---@param it caliban.Awaited
local function pull(buf, it)
  local version = vim.lsp.util.buf_versions[buf]
  it.asked = version
  local provider = (it.client.server_capabilities or {}).diagnosticProvider
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    identifier = type(provider) == 'table' and provider.identifier or nil,
  }
  local _, request = it.client:request(PULL, params, function(err, result)
    it.request = nil
    if it.asked ~= version then
      return
    elseif err then
      it.asked = nil
      it.failed = err.code ~= SERVER_CANCELLED and tostring(err.message) or nil
    elseif type(result) == 'table' and type(result.items) == 'table' then
      it.items = result.items
    else
      it.failed = 'its answer makes no sense'
    end
  end, buf)
  it.request = request
end

---@param buf integer
---@param it caliban.Awaited
---@return boolean # nothing more is to come from it
local function look(buf, it)
  if it.client:is_stopped() then
    it.failed = 'it has ended'
  end
  if it.failed then
    return true
  elseif not it.pulls then
    it.items = watch.fresh(it.client, buf, SETTLE) and watch.last(it.client, buf) or nil
  elseif it.asked ~= vim.lsp.util.buf_versions[buf] then
    it.items = nil
    pull(buf, it)
  end
  return it.items ~= nil
end

--- The clients that have a word on a buffer. One that was waited for in vain and has never published anything has none.
---@param buf integer
---@return caliban.Awaited[]
local function awaited(buf)
  local out = {}
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf })) do
    local pulls = client:supports_method(PULL, buf)
    if pulls or not watch.of(client.id).mute then
      out[#out + 1] = { client = client, pulls = pulls }
    end
  end
  return out
end

---@param buf integer
---@param all caliban.Awaited[]
---@return caliban.Fresh
local function gather(buf, all)
  local items, notes = {}, {}
  for _, it in ipairs(all) do
    vim.list_extend(items, it.items or {})
    if it.items and it.pulls and watch.of(it.client.id).published[vim.uri_from_bufnr(buf)] then
      -- some also publish what takes them longer
      vim.list_extend(
        items,
        watch.fresh(it.client, buf, SETTLE) and watch.last(it.client, buf) or {}
      )
    elseif it.failed then
      notes[#notes + 1] = ('%s could not tell: %s'):format(it.client.name, it.failed)
    elseif not it.items then
      notes[#notes + 1] = ('not known yet: %s has not reported on this text'):format(it.client.name)
      local seen = watch.of(it.client.id)
      seen.mute = not it.pulls and next(seen.published) == nil or nil
    end
  end
  return { items = items, notes = notes, servers = #all }
end

--- Collects a buffer's diagnostics, for as long as it takes or `ms`.
---@param buf integer
---@param ms integer
---@param done fun(fresh: caliban.Fresh)
---@return fun() stop
function M.collect(buf, ms, done)
  watch.start()
  local all = awaited(buf)
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

--- Nobody waits for these any more.
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

--- One diagnostic in one line.
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
---@return integer # 1 to 4; where a server says none it is an error
function M.severity(it)
  local severity = it.severity --[[@as integer?]]
  return severity and WORDS[severity] and severity or 1
end

---@param it lsp.Diagnostic
---@return integer # from 0
function M.line(it)
  local line = vim.tbl_get(it, 'range', 'start', 'line')
  return type(line) == 'number' and math.max(math.floor(line), 0) or 0
end

return M
