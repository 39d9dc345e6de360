--- Records the version of each file's text that a language server has received, and the diagnostics that it published
--- last. Neovim does not record which version diagnostics belong to.
local M = {}

local now = require('caliban.lsp.wait').now
local place = require('caliban.lsp.place')
local PUBLISH = 'textDocument/publishDiagnostics'

---@class caliban.Published
---@field version? number the version of the text that the diagnostics are about, if the server names it
---@field at number when the diagnostics were published, in ms
---@field items lsp.Diagnostic[]

---@class caliban.SentText the last text that a server has received
---@field version integer
---@field at number when the server received the text, in ms

---@class caliban.Watched
---@field published table<string, caliban.Published> the diagnostics published last, by path
---@field sent table<string, caliban.SentText> the last text that was sent, by path
---@field mute? boolean whether the client has never published anything, although Caliban has waited for diagnostics

local watched = {} ---@type table<integer, caliban.Watched>
local listens = false
local ours = {} ---@type table<function, true>

---@param client_id integer
---@return caliban.Watched
function M.of(client_id)
  watched[client_id] = watched[client_id] or { published = {}, sent = {} }
  return watched[client_id]
end

--- Wraps a client's handler of published diagnostics: the new handler also records the diagnostics.
---@param client vim.lsp.Client
local function hook(client)
  local before = client.handlers[PUBLISH] ---@as function?
  if before and ours[before] then
    return
  end
  local function handler(err, result, ctx, ...)
    if type(result) == 'table' and type(result.uri) == 'string' then
      local it = M.of(ctx.client_id)
      local items = type(result.diagnostics) == 'table' and result.diagnostics or {}
      local version = type(result.version) == 'number' and result.version or nil
      it.published[place.path(result.uri)] = { version = version, at = now(), items = items }
      it.mute = nil
    end
    return (before or vim.lsp.handlers[PUBLISH])(err, result, ctx, ...)
  end
  ours[handler] = true
  client.handlers[PUBLISH] = handler
end

---@param event { data: { client_id: integer, method: string, params: table } }
local function on_notify(event)
  local data = event.data
  if data.method == 'textDocument/didOpen' or data.method == 'textDocument/didChange' then
    local document = data.params.textDocument
    local sent = { version = document.version, at = now() }
    M.of(data.client_id).sent[place.path(document.uri)] = sent
  end
end

--- Adds the diagnostics that Neovim stores for a client, in the form in which the client sent them.
---@param client vim.lsp.Client
---@param pulled boolean add the requested diagnostics instead of the published ones
---@param out table<string, lsp.Diagnostic[]> by path
local function remember(client, pulled, out)
  local space = vim.lsp.diagnostic.get_namespace(client.id, pulled)
  for _, it in ipairs(vim.diagnostic.get(nil, { namespace = space })) do
    local path = vim.api.nvim_buf_get_name(it.bufnr --[[@as integer]])
    local raw = vim.tbl_get(it, 'user_data', 'lsp')
      or { message = it.message, severity = it.severity, range = { start = { line = it.lnum } } }
    out[path] = out[path] or {}
    table.insert(out[path], raw)
  end
end

--- Begins to record. Later calls do nothing.
function M.start()
  if listens then
    return
  end
  listens = true
  local group = vim.api.nvim_create_augroup('caliban.lsp', {})
  vim.api.nvim_create_autocmd('LspNotify', { group = group, callback = on_notify })
  vim.api.nvim_create_autocmd('LspAttach', {
    group = group,
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client then
        hook(client)
      end
    end,
  })
  vim.api.nvim_create_autocmd('LspDetach', {
    group = group,
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if not client or client:is_stopped() then
        watched[event.data.client_id] = nil
      end
    end,
  })
  for _, client in ipairs(vim.lsp.get_clients()) do
    hook(client)
    local known = {} ---@type table<string, lsp.Diagnostic[]>
    remember(client, false, known)
    for path, items in pairs(known) do
      M.of(client.id).published[path] = { at = 0, items = items }
    end
  end
end

--- The diagnostics that a server published last for a buffer, for any version of its text; nil if the server has
--- published none.
---@param client vim.lsp.Client
---@param buf integer
---@return lsp.Diagnostic[]?
function M.last(client, buf)
  local published = M.of(client.id).published[vim.api.nvim_buf_get_name(buf)] ---@as caliban.Published?
  return published and published.items
end

--- The diagnostics that a server published last for each file.
---@param client vim.lsp.Client
---@return table<string, lsp.Diagnostic[]> # by path; the caller must not change the lists
function M.all(client)
  local out = {}
  for path, published in pairs(M.of(client.id).published) do
    out[path] = published.items
  end
  return out
end

--- The published and the requested diagnostics of a server for each file.
---@param client vim.lsp.Client
---@return table<string, lsp.Diagnostic[]> # by path
function M.everything(client)
  local out = {}
  remember(client, true, out)
  for path, items in pairs(M.all(client)) do
    out[path] = vim.list_extend(out[path] or {}, items)
  end
  return out
end

--- Whether the diagnostics that a server published last are about a buffer's current text.
---@param client vim.lsp.Client
---@param buf integer
---@param settle integer how long the server must have published nothing more, in milliseconds
---@param starting? boolean the server was starting when the wait began: the server has yet to receive the buffer
---@return boolean
function M.fresh(client, buf, settle, starting)
  local path = vim.api.nvim_buf_get_name(buf)
  local it = M.of(client.id)
  local sent, published = it.sent[path], it.published[path]
  local version = vim.lsp.util.buf_versions[buf] or 0
  if not sent then
    -- the server received the text before the recording began, and the text has not changed since
    return not starting and (not published or now() - published.at >= settle)
  elseif not published or now() - published.at < settle then
    return false
  elseif published.version then
    return published.version >= version
  end
  return sent.version >= version and published.at > sent.at
end

return M
