--- What the program asks of the user's files: their text as it stands in the editor, and to save it.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')
local names = require('caliban.editor.name')

---@class caliban.Reviewing what the reviews tell of a buffer
---@field pending fun(buf: integer): integer hunks that must not be on disk yet
---@field undecided fun(buf: integer): boolean whether something in it waits for the user
---@field gone fun(buf: integer): boolean whether the model has deleted its file, and it is left for the user to look at
---@field saved fun(buf: integer) it was written

---@type caliban.Reviewing
local reviews = {
  pending = function()
    return 0
  end,
  undecided = function()
    return false
  end,
  gone = function()
    return false
  end,
  saved = function() end,
}

--- There are reviews, and they tell of themselves from now on.
---@param told caliban.Reviewing
function M.listen(told)
  reviews = told
end

--- A file's text as Neovim decodes it. A file that Neovim cannot write back unchanged is no text. Reading runs
--- no autocommand (those for archives run programs), and a buffer that was not loaded stays so.
---@param path string
---@return caliban.BufferText
local function decoded(path)
  local there = file.find(path)
  local open = there ~= nil and api.nvim_buf_is_loaded(there)
  local buf, _, created = file.load(path, true)
  local answer = { loaded = false, pending = 0 } ---@type caliban.BufferText
  if buf and not vim.bo[buf].binary and not file.is_utf8(buf) then
    local now = file.snapshot(buf)
    if file.encodes(buf, now.text) then
      answer = vim.tbl_extend('error', now, { loaded = true, pending = reviews.pending(buf) })
    end
  end
  if buf and not open then
    file.unload(buf, created == true)
  end
  return answer
end

---@param message caliban.Read
---@return caliban.BufferText
function M.read(message)
  if message.decode then
    return decoded(message.path)
  end
  local buf = file.find(message.path)
  if not buf or not api.nvim_buf_is_loaded(buf) or not file.ordinary(buf) or reviews.gone(buf) then
    return { loaded = false, pending = 0 }
  end
  local hunks = reviews.pending(buf)
  if hunks == 0 and not vim.bo[buf].modified then
    return { loaded = true, pending = 0 }
  end
  local now = file.snapshot(buf)
  return {
    loaded = true,
    pending = hunks,
    text = now.text,
    eol = now.eol,
    dos = now.dos,
    bom = now.bom,
  }
end

--- Paths of the loaded, modified files.
---@return string[]
function M.changed()
  return vim.tbl_filter(function(path)
    local buf = file.find(path)
    return not (buf and reviews.gone(buf))
  end, file.changed())
end

--- What tells the text of each file from another of it, where that is a buffer's.
---@param message caliban.Stamps
---@return string[]
function M.stamps(message)
  local stamps = {} ---@type table<string, string>
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_get_name(buf)
    local open = api.nvim_buf_is_loaded(buf) and file.ordinary(buf) and name ~= ''
    if open and reviews.undecided(buf) then
      stamps[names.real(name)] = 'undecided'
    elseif open and vim.bo[buf].modified and not reviews.gone(buf) then
      stamps[names.real(name)] = ('%d.%d'):format(buf, api.nvim_buf_get_changedtick(buf))
    end
  end
  return vim.tbl_map(function(path)
    return stamps[path] or ''
  end, message.paths)
end

--- Saves files that are modified and have nothing pending.
---@param message caliban.Save
---@return string[] unsaved
function M.save(message)
  return vim.tbl_filter(function(path)
    local buf = file.find(path)
    if
      not buf
      or not api.nvim_buf_is_loaded(buf)
      or not vim.bo[buf].modified
      or reviews.gone(buf)
    then
      return false
    elseif
      reviews.pending(buf) > 0
      or not file.ordinary(buf)
      or file.check(buf, '')
      or file.stale(buf)
    then
      return true
    end
    local failed = file.write(buf, false) ~= nil
    if not failed then
      reviews.saved(buf)
    end
    return failed
  end, message.paths)
end

return M
