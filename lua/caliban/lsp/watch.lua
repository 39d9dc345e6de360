--- What language servers were told of each file and what they last published on it: which text that was about,
--- Neovim itself does not keep.
local M = {}

local now = require('caliban.lsp.wait').now
local place = require('caliban.lsp.place')
local PUBLISH = 'textDocument/publishDiagnostics'

---@class caliban.Published
---@field version? number of the text it is about
---@field at number milliseconds
---@field items lsp.Diagnostic[]

---@class caliban.Told
---@field version integer
---@field at number milliseconds

---@class caliban.Watched
---@field published table<string, caliban.Published> by path
---@field told table<string, caliban.Told> by path
---@field mute? boolean it has been waited for in vain, and never published anything

local watched = {} ---@type table<integer, caliban.Watched>
local listens = false
local ours = {} ---@type table<function, true>

---@param client_id integer
---@return caliban.Watched
function M.of(client_id)
  watched[client_id] = watched[client_id] or { published = {}, told = {} }
  return watched[client_id]
end

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
    local told = { version = document.version, at = now() }
    M.of(data.client_id).told[place.path(document.uri)] = told
  end
end

--- Adds what Neovim keeps of a client's diagnostics, as the client sent it.
---@param client vim.lsp.Client
---@param pulled boolean
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

--- Begins to listen, once.
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
    local said = {} ---@type table<string, lsp.Diagnostic[]>
    remember(client, false, said)
    for path, items in pairs(said) do
      M.of(client.id).published[path] = { at = 0, items = items }
    end
  end
end

--- What a server said last of a buffer, whatever text that was about; nil where it has said nothing.
---@param client vim.lsp.Client
---@param buf integer
---@return lsp.Diagnostic[]?
function M.last(client, buf)
  local published = M.of(client.id).published[vim.api.nvim_buf_get_name(buf)] ---@as caliban.Published?
  return published and published.items
end

--- What a server published last on every file it spoke of.
---@param client vim.lsp.Client
---@return table<string, lsp.Diagnostic[]> # by path; the lists are not to be changed
function M.all(client)
  local out = {}
  for path, published in pairs(M.of(client.id).published) do
    out[path] = published.items
  end
  return out
end

--- The same, with what was pulled from it.
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

--- Whether a server's last word on a buffer is about its text as it is now, and nothing has followed it for a while.
---@param client vim.lsp.Client
---@param buf integer
---@param settle integer milliseconds
---@param starting? boolean it had not started when it was first asked about: it is told of the buffer yet
---@return boolean
function M.fresh(client, buf, settle, starting)
  local path = vim.api.nvim_buf_get_name(buf)
  local it = M.of(client.id)
  local told, published = it.told[path], it.published[path]
  local version = vim.lsp.util.buf_versions[buf] or 0
  if not told then
    -- it had its say before we listened, and nothing has changed since
    return not starting and (not published or now() - published.at >= settle)
  elseif not published or now() - published.at < settle then
    return false
  elseif published.version then
    return published.version >= version
  end
  return told.version >= version and published.at > told.at
end

return M
