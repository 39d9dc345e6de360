--- Converts places between the form of a model (a line and a symbol on it) and the form of a language server (a
--- position).
local M = {}

local api = vim.api

--- The last name of an expression: `b` of `a.b(c)`.
---@param symbol string
---@return string
local function name(symbol)
  local plain = vim.trim(symbol):gsub('%(.*$', '')
  return plain:match('[%w_$\128-\255]+$') or plain
end

---@param line string
---@param word string
---@return integer? column in bytes, from 0: of the first whole word, else of the first match
local function column(line, word)
  local at, first = 1, nil ---@type integer, integer?
  while true do
    local from, to = line:find(word, at, true)
    if not from or not to then
      return first
    end
    local before, after = line:sub(from - 1, from - 1), line:sub(to + 1, to + 1)
    if not before:find('[%w_\128-\255]') and not after:find('[%w_\128-\255]') then
      return from - 1
    end
    first, at = first or from - 1, from + 1
  end
end

--- Finds a symbol on a line of a buffer.
---@param buf integer
---@param row integer
---@param symbol string
---@return integer? column in bytes
---@return string? why the symbol was not found, for the model
function M.find(buf, row, symbol)
  local word = name(symbol)
  if word == '' then
    return nil, 'symbol: expected a name.'
  end
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  local line = lines[row + 1]
  if not line then
    return nil,
      ('line: the file has %s.'):format(require('caliban.editor.count').of(#lines, 'line'))
  end
  local at = column(line, word)
  if at then
    -- in `a.b` the symbol is `b`: this place is preferred to another `b` on the line
    local whole = line:find(vim.trim(symbol), 1, true)
    local _, inner = vim.trim(symbol):gsub('%(.*$', ''):find('^.*[^%w_$\128-\255]')
    return whole and inner and whole + inner - 1 or at
  end
  local others = {}
  for i, other in ipairs(lines) do
    if column(other, word) and #others < 5 then
      others[#others + 1] = i
    end
  end
  local where = #others > 0 and ('The symbol is on line %s.'):format(table.concat(others, ', '))
    or 'The symbol is nowhere in the file.'
  local reads = vim.trim(line) == '' and 'is empty' or 'reads: ' .. vim.trim(line):sub(1, 200)
  return nil, ('`%s` is not on line %d, which %s\n%s'):format(word, row + 1, reads, where)
end

--- A place as request parameters, in the client's offset encoding.
---@param buf integer
---@param row integer
---@param col integer bytes
---@param client vim.lsp.Client
---@return lsp.TextDocumentPositionParams
function M.params(buf, row, col, client)
  local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  local encoding = client.offset_encoding --[[@as 'utf-8'|'utf-16'|'utf-32']]
  local character = vim.str_utfindex(line, encoding, col, false)
  return {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    position = { line = row, character = character },
  }
end

---@param uri string
---@return string # the path of a `file:` URI, else the URI
function M.path(uri)
  return vim.startswith(uri, 'file:') and vim.uri_to_fname(uri) or uri
end

return M
