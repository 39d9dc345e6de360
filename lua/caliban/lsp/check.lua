--- Compares the diagnostics and the syntax errors before and after an edit. Tells the program at once that a check runs,
--- and later the result.
local M = {}

local api = vim.api
local fresh = require('caliban.lsp.fresh')
local algebra = require('caliban.review.hunks.algebra')
local places = require('caliban.review.hunks.places')
local syntax = require('caliban.review.hunks.syntax')
local watch = require('caliban.lsp.watch')

--- Diagnostics are reported only if they are at least this severe: warnings.
local MILDEST = 2
--- The most findings to report: new findings, and findings that the file had before the edit.
local NEW, OLD = 200, 5
--- The most syntax errors to report.
local ERRORS = 20
--- The line of a syntax error is cut after this many bytes.
local WIDE = 200

---@class caliban.Before
---@field lines string[] the text
---@field items table<integer, lsp.Diagnostic[]> by client; absent for a client whose diagnostics are not known
---@field others table<integer, table<string, lsp.Diagnostic[]>> of other files, by client and path
---@field ticks table<string, integer> 'changedtick' of the loaded files, by path

---@class caliban.Checking
---@field id integer
---@field buf integer
---@field session string
---@field path string
---@field before caliban.Before
---@field stop? fun()

local running = {} ---@type table<integer, caliban.Checking> by buffer
local count = 0

--- The 'changedtick' of each loaded file, by path.
---@return table<string, integer>
local function ticks()
  local out = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) then
      out[api.nvim_buf_get_name(buf)] = api.nvim_buf_get_changedtick(buf)
    end
  end
  return out
end

---@param check caliban.Checking
---@param state 'awaited'|'told'|'dropped'
---@param fields? table
local function tell(check, state, fields)
  ---@type caliban.Checked
  local message = {
    kind = 'checked',
    id = check.id,
    session = check.session,
    path = check.path,
    state = state,
    added = {},
    remaining = {},
    elsewhere = {},
    notes = {},
    new = 0,
    fixed = 0,
    remain = 0,
    known = true,
    fresh = true,
  }
  message = vim.tbl_extend('force', message, fields or {}) --[[@as caliban.Checked]]
  require('caliban.program.process').notify(message)
end

--- The text and the diagnostics of a file before an edit. If the check of an earlier edit still runs, drops that check
--- and reuses its text and diagnostics, so that the new check covers both edits.
---@param buf integer
---@param lines string[]
---@return caliban.Before
function M.before(buf, lines)
  local check = running[buf] ---@as caliban.Checking?
  if check then
    running[buf] = nil
    if check.stop then
      check.stop()
    end
    tell(check, 'dropped')
    return check.before
  end
  local known = { lines = lines, items = {}, others = {}, ticks = {} } ---@type caliban.Before
  if not package.loaded['vim.lsp'] then
    return known
  end
  watch.start()
  known.ticks = ticks()
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf })) do
    known.others[client.id] = watch.all(client)
    if fresh.pulls(client, buf) then
      -- the request is sent before Neovim sends the edit to the server
      fresh.pull(client, buf, function(items)
        known.items[client.id] = items
      end)
    elseif watch.fresh(client, buf, 0) then
      -- a server that has published nothing may not have looked at the text yet
      known.items[client.id] = watch.last(client, buf)
    end
  end
  return known
end

--- A string that identifies a diagnostic: the same diagnostic at the same place has the same string
--- before and after an edit.
---@param it lsp.Diagnostic
---@param place string|integer
---@return string
local function key(it, place)
  local code = tostring(it.code)
  return table.concat(
    { fresh.severity(it), tostring(it.source), code, tostring(it.message), place },
    '\0'
  )
end

---@param items lsp.Diagnostic[]
---@param where fun(row: integer): string|integer, boolean
---@return table<string, integer>
local function tally(items, where)
  local out = {}
  for _, it in ipairs(items) do
    if fresh.severity(it) <= MILDEST then
      local name = key(it, (where(fresh.line(it))))
      out[name] = (out[name] or 0) + 1
    end
  end
  return out
end

---@param path string
---@param it lsp.Diagnostic
---@return caliban.Finding
local function finding(path, it)
  return { path = path, line = fresh.line(it), text = fresh.say(it) }
end

---@param found caliban.Finding[]
---@param most integer
---@return caliban.Finding[]
local function first(found, most)
  table.sort(found, function(a, b)
    return a.path < b.path or a.path == b.path and a.line < b.line
  end)
  return vim.list_slice(found, 1, most)
end

--- Compares the diagnostics of one server and adds the result to `out`.
---@param path string
---@param before? lsp.Diagnostic[]
---@param after lsp.Diagnostic[]
---@param runs integer[][]
---@param out { added: caliban.Finding[], remaining: caliban.Finding[], fixed: integer }
function M.compare(path, before, after, runs, out)
  local now = places.of(runs, 3)
  local had = tally(before or {}, places.of(runs, 1))
  for _, it in ipairs(after) do
    if fresh.severity(it) <= MILDEST then
      local where, changed = now(fresh.line(it))
      local name = key(it, where)
      local stood = (had[name] or 0) > 0
      had[name] = stood and had[name] - 1 or nil
      -- if the diagnostics before the edit are not known, those on changed lines count as new
      local list = (stood or not before and not changed) and out.remaining or out.added
      list[#list + 1] = finding(path, it)
    end
  end
  for _, n in pairs(had) do
    out.fixed = out.fixed + n
  end
end

--- New diagnostics in other files whose text has not changed.
---@param check caliban.Checking
---@param clients vim.lsp.Client[]
---@return caliban.Finding[]
local function elsewhere(check, clients)
  local out, now = { added = {}, remaining = {}, fixed = 0 }, ticks()
  local name = api.nvim_buf_get_name(check.buf)
  for _, client in ipairs(clients) do
    -- a server that had not reported on this file before is skipped, because it may report on other
    -- files for the first time now
    local before = check.before.items[client.id] and check.before.others[client.id]
    for path, items in pairs(before and watch.all(client) or {}) do
      if path ~= name and check.before.ticks[path] == now[path] then
        M.compare(path, before[path] or {}, items, {}, out)
      end
    end
  end
  return out.added
end

---@param check caliban.Checking
---@param now caliban.Fresh
local function report(check, now)
  local out = { added = {}, remaining = {}, fixed = 0, known = true }
  local runs = algebra.runs(check.before.lines, require('caliban.editor.file').lines(check.buf))
  for id, items in pairs(now.by_client) do
    local before = check.before.items[id] or #check.before.lines == 0 and {} or nil
    out.known = out.known and before ~= nil
    M.compare(check.path, before, items, runs, out)
  end
  tell(check, 'told', {
    added = first(out.added, NEW),
    remaining = first(out.remaining, OLD),
    elsewhere = first(elsewhere(check, vim.lsp.get_clients({ bufnr = check.buf })), NEW),
    notes = now.notes,
    new = #out.added,
    fixed = out.fixed,
    remain = #out.remaining,
    known = out.known,
    fresh = next(now.by_client) ~= nil,
  })
end

---@param check caliban.Checking
---@param lang string
---@param errors caliban.SyntaxError[]
---@param lines string[]
local function report_errors(check, lang, errors, lines)
  local found = {} ---@type caliban.Finding[]
  for i = 1, math.min(#errors, ERRORS) do
    local it = errors[i]
    local begins = it.first < it.row
        and (' (in the construct that begins on line %d)'):format(it.first + 1)
      or ''
    local line = vim.trim(lines[it.row + 1] or ''):sub(1, WIDE)
    local text = ('%s%s: %s'):format(it.what, begins, line)
    found[i] = { path = check.path, line = it.row, text = text }
  end
  require('caliban.program.process').notify({
    kind = 'unparsed',
    id = check.id,
    session = check.session,
    path = check.path,
    language = lang,
    errors = found,
    more = #errors - #found,
  })
end

--- Looks for syntax errors that an edit has added. Sends no message if Neovim has no parser for the
--- buffer, or if its text is too long.
---@param check caliban.Checking
local function parse(check)
  local lang = syntax.language(check.buf)
  if not lang or syntax.too_long(check.buf) then
    return
  end
  tell(check, 'awaited')
  local lines = require('caliban.editor.file').lines(check.buf)
  local function before()
    return check.before.lines
  end
  syntax.added(lang, before, lines, function(errors)
    if errors and #errors > 0 then
      report_errors(check, lang, errors, lines)
    else
      tell(check, 'dropped')
    end
  end)
end

---@param buf integer
---@param session string
---@param path string
---@param before caliban.Before
---@return caliban.Checking
local function new(buf, session, path, before)
  count = count + 1
  return { id = count, buf = buf, session = session, path = path, before = before }
end

--- Begins to check an edit that is settled or written. Sends no message if no server reports on the buffer, and Neovim
--- has no parser for the buffer.
---@param buf integer
---@param session string
---@param path string
---@param before caliban.Before
function M.begin(buf, session, path, before)
  if not api.nvim_buf_is_loaded(buf) then
    return
  end
  parse(new(buf, session, path, before))
  if not package.loaded['vim.lsp'] then
    return
  end
  local check = new(buf, session, path, before)
  check.stop = fresh.collect(buf, require('caliban.config').get().lsp.diagnostics_ms, function(now)
    running[buf] = nil
    if not api.nvim_buf_is_loaded(buf) or not pcall(report, check, now) then
      tell(check, 'dropped')
    end
  end)
  if check.stop then
    running[buf] = check
    tell(check, 'awaited')
  end
end

return M
