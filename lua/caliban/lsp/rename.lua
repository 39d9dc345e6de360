--- Converts a language server's workspace edit to changes of files. Does not make the changes.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')
local place = require('caliban.lsp.place')

--- The most files of an edit, and the most bytes of a file that is not loaded.
local MOST = 200
local LARGEST = 5000000

--- A file's text in the program's form: lines joined by '\n', without a newline at the end.
---@param path string
---@return string? text
---@return integer? buf
local function text_of(path)
  local buf = file.find(path)
  if buf and api.nvim_buf_is_loaded(buf) then
    return file.text(buf), buf
  end
  local stat = vim.uv.fs_stat(path)
  local text = stat and stat.size <= LARGEST and require('caliban.editor.disk').read(path)
  if not text then
    return nil
  end
  text = text:gsub('^\239\187\191', '')
  local _, ends = text:gsub('\n', '')
  local dos, both = text:gsub('\r\n', '\n')
  return ((ends == both and dos or text):gsub('\n$', ''))
end

--- The byte offset of a position in a text. A position below the last line is after the final
--- newline.
---@param lines string[]
---@param starts integer[] the byte offset of each line
---@param position lsp.Position
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return integer
local function byte(lines, starts, position, encoding)
  local line = lines[position.line + 1]
  if not line then
    return starts[#lines] + #lines[#lines] + 1
  end
  return starts[position.line + 1] + vim.str_byteindex(line, encoding, position.character, false)
end

---@param text string
---@param edits lsp.TextEdit[]
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return caliban.Splice[]
local function splices(text, edits, encoding)
  local lines, starts, at = vim.split(text, '\n', { plain = true }), {}, 0
  for i, line in ipairs(lines) do
    starts[i], at = at, at + #line + 1
  end
  local out = {} ---@type caliban.Splice[]
  for i, edit in ipairs(edits) do
    local first = edit.range.start.line
    assert(first >= 0 and first <= #lines and edit.range['end'].line >= first)
    out[i] = {
      from = byte(lines, starts, edit.range.start, encoding),
      to = byte(lines, starts, edit.range['end'], encoding),
      text = (edit.newText:gsub('\r\n', '\n')),
    }
  end
  -- of edits at the same place, those that only insert come first, in the server's order
  local place_of = {}
  for i, it in ipairs(out) do
    place_of[it] = i
  end
  table.sort(out, function(a, b)
    if a.from ~= b.from or a.to ~= b.to then
      return a.from < b.from or a.from == b.from and a.to < b.to
    end
    return place_of[a] < place_of[b]
  end)
  return out
end

--- The document changes of a workspace edit, in the order in which they must be applied.
---@param result table
---@return table[]
local function changes(result)
  if type(result.documentChanges) == 'table' then
    return result.documentChanges
  end
  local out = {}
  for uri, edits in vim.spairs(type(result.changes) == 'table' and result.changes or {}) do
    out[#out + 1] = { textDocument = { uri = uri }, edits = edits }
  end
  return out
end

--- Whether an edit is for another version of the text than the buffer's.
---@param buf? integer
---@param version any
---@return boolean
local function outdated(buf, version)
  local known = buf and vim.lsp.util.buf_versions[buf]
  return known ~= nil and type(version) == 'number' and version ~= known
end

--- Converts a server's answer to changes of files. Raises an error if the answer is malformed.
---@param result table a workspace edit
---@param client vim.lsp.Client
---@return caliban.Rewrite[]? rewrites
---@return string? why this failed
function M.read(result, client)
  local out, by_path = {}, {} ---@type caliban.Rewrite[], table<string, caliban.Rewrite>
  local function of(path)
    local it = by_path[path]
    if not it then
      it = { path = path, sha = '', splices = {}, created = false, deleted = false }
      by_path[path], out[#out + 1] = it, it
    end
    return it
  end
  for _, change in ipairs(changes(result)) do
    if change.kind == 'rename' then
      local it, to = of(place.path(change.oldUri)), place.path(change.newUri)
      it.to, by_path[to] = to, it
    elseif change.kind == 'delete' then
      of(place.path(change.uri)).deleted = true
    elseif change.kind == 'create' then
      local path, options = place.path(change.uri), change.options or {}
      local is_there = vim.uv.fs_lstat(path) ~= nil
      if is_there and not options.ignoreIfExists then
        return nil,
          ('%s would create %s, which already exists'):format(client.name, file.short(path))
      end
      of(path).created = not is_there
    elseif change.kind ~= nil then
      return nil,
        ('%s sent an unknown kind of change: %s'):format(client.name, tostring(change.kind))
    elseif #change.edits > 0 then
      local it = of(place.path(change.textDocument.uri))
      local text, buf = '', nil ---@type string?, integer?
      if not it.created then
        text, buf = text_of(it.path)
      end
      if not text then
        return nil, ('%s cannot be read'):format(file.short(it.path))
      elseif #it.splices > 0 then
        return nil, ('%s sent edits for %s twice'):format(client.name, file.short(it.path))
      elseif outdated(buf, change.textDocument.version) then
        return nil,
          ('%s changed while the language server was answering'):format(file.short(it.path))
      end
      local encoding = client.offset_encoding --[[@as 'utf-8'|'utf-16'|'utf-32']]
      it.sha, it.splices = vim.fn.sha256(text), splices(text, change.edits, encoding)
    end
  end
  if #out > MOST then
    return nil, ('%s would change %d files; at most %d are allowed'):format(client.name, #out, MOST)
  end
  return out
end

return M
