--- Converts the answers of language servers to findings. A malformed answer raises an error; a
--- malformed entry in an answer is left out.
local M = {}

local place = require('caliban.lsp.place')

--- The highest line number that a message to the program can contain: 2^31 - 1.
local LAST = 2147483647

---@param uri any
---@param range any
---@param text string
---@return caliban.Finding?
local function finding(uri, range, text)
  local line = type(range) == 'table' and vim.tbl_get(range, 'start', 'line') or 0
  if type(uri) == 'string' and type(line) == 'number' then
    return { path = place.path(uri), line = math.max(math.floor(line), 0), text = text }
  end
end

---@param result any a location, a link, or a list of them
---@return caliban.Finding[]
local function locations(result)
  local out = {}
  for _, it in ipairs(vim.islist(result) and result or { result }) do
    local range = it.targetSelectionRange or it.range
    out[#out + 1] = finding(it.targetUri or it.uri, range, '')
  end
  return out
end

---@param range any
---@param edge 'start'|'end'
---@param default integer
---@return integer # the line of an edge of the range, from 0
local function line_of(range, edge, default)
  local line = type(range) == 'table' and vim.tbl_get(range, edge, 'line') or default
  return type(line) == 'number' and math.min(math.max(math.floor(line), 0), LAST) or default
end

---@param it table
---@param uri string
---@param depth integer
---@param out caliban.Finding[]
local function symbol(it, uri, depth, out)
  local kind = vim.lsp.protocol.SymbolKind[it.kind] --[[@as string?]]
  local within = type(it.containerName) == 'string' and it.containerName ~= '' and it.containerName
  local text = ('%s%s %s%s'):format(
    ('  '):rep(depth),
    (kind or 'symbol'):lower(),
    tostring(it.name),
    within and (' (in %s)'):format(within) or ''
  )
  local location = type(it.location) == 'table' and it.location or {}
  local range = it.selectionRange or location.range
  local found = finding(location.uri or uri, range, text)
  if found then
    local whole = it.range or location.range
    local first = line_of(whole, 'start', found.line)
    found.symbol = {
      name = tostring(it.name),
      container = within or '',
      first = first,
      last = math.max(first, line_of(whole, 'end', first)),
    }
    out[#out + 1] = found
  end
  for _, child in ipairs(type(it.children) == 'table' and it.children or {}) do
    symbol(child, uri, depth + 1, out)
  end
end

---@param result any
---@param params table
---@return caliban.Finding[]
local function symbols(result, params)
  local out = {}
  for _, it in ipairs(result) do
    symbol(it, vim.tbl_get(params, 'textDocument', 'uri'), 0, out)
  end
  return out
end

---@param result any
---@param params table
---@return caliban.Finding[]
local function hover(result, params)
  local lines = vim.lsp.util.convert_input_to_markdown_lines(result.contents or {})
  local text = vim.trim(table.concat(lines, '\n'))
  local found = finding(params.textDocument.uri, { start = params.position }, text)
  return found and text ~= '' and { found } or {}
end

---@param result any
---@param params table
---@param client vim.lsp.Client
---@return caliban.Rewrite[]?, string?
local function formatted(result, params, client)
  local edit = { changes = { [params.textDocument.uri] = result } }
  return require('caliban.lsp.rename').read(edit, client)
end

---@class caliban.Method
---@field name string
---@field what string the method in words, for messages
---@field edits? boolean the answer is about the text at the time of the request, and changes it
---@field read? fun(result: any, params: table, client: vim.lsp.Client, message: caliban.Consult): table[]?, string?
---@field take? fun(result: any, message: caliban.Consult, client: vim.lsp.Client, buf: integer, done: fun(rewrites?: caliban.Rewrite[], why?: string)): integer? instead of `read`, with a second request

---@type table<string, caliban.Method>
M.methods = {
  definition = { name = 'textDocument/definition', what = 'definitions', read = locations },
  references = { name = 'textDocument/references', what = 'references', read = locations },
  hover = { name = 'textDocument/hover', what = 'hover', read = hover },
  symbols = {
    name = 'textDocument/documentSymbol',
    what = 'the symbols of a file',
    read = symbols,
  },
  query = { name = 'workspace/symbol', what = 'the symbols of a project', read = symbols },
  rename = {
    name = 'textDocument/rename',
    what = 'renaming',
    edits = true,
    read = function(result, _, client)
      return require('caliban.lsp.rename').read(result, client)
    end,
  },
  actions = {
    name = 'textDocument/codeAction',
    what = 'code actions',
    read = function(result, _, client, message)
      return require('caliban.lsp.action').read(result, message, client)
    end,
  },
  action = {
    name = 'textDocument/codeAction',
    what = 'code actions',
    edits = true,
    take = function(...)
      return require('caliban.lsp.action').take(...)
    end,
  },
  format = { name = 'textDocument/formatting', what = 'formatting', edits = true, read = formatted },
  format_range = {
    name = 'textDocument/rangeFormatting',
    what = 'formatting a range',
    edits = true,
    read = formatted,
  },
}

return M
