--- Answers the program's requests about the user's files: reads their text from the buffers, and saves them.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')
local names = require('caliban.editor.name')

---@class caliban.Reviewing answers about the review of a buffer
---@field pending fun(buf: integer): integer the number of hunks that must not be written to disk yet
---@field undecided fun(buf: integer): boolean whether a hunk or the file itself waits for the user's decision
---@field gone fun(buf: integer): boolean whether the model has deleted the file, and the buffer only shows its text
---@field absent fun(buf: integer): boolean whether the file is gone and the buffer only shows its text
---@field agreed fun(buf: integer): boolean whether the unsaved text is exactly what the user has agreed to
---@field saved fun(buf: integer) called after the buffer was written

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
  absent = function()
    return false
  end,
  agreed = function()
    return false
  end,
  saved = function() end,
}

--- Registers the functions that answer questions about reviews.
---@param answers caliban.Reviewing
function M.listen(answers)
  reviews = answers
end

--- A file's text as Neovim decodes it. The answer has no text if Neovim could not encode the text
--- again. Runs no autocommands, because those for archives run programs. Afterwards unloads a
--- buffer that was loaded only for this.
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

--- The text of a file's buffer if the buffer has unsaved changes or pending hunks. With
--- `unmodified`, the text of any loaded buffer. With `decode`, always the text of the file.
---@param message caliban.Read
---@return caliban.BufferText
function M.read(message)
  if message.decode then
    return decoded(message.path)
  end
  local buf = file.find(message.path, true)
  if
    not buf
    or not api.nvim_buf_is_loaded(buf)
    or not file.ordinary(buf)
    or reviews.gone(buf)
    or reviews.absent(buf)
  then
    return { loaded = false, pending = 0 }
  end
  local hunks = reviews.pending(buf)
  if hunks == 0 and not vim.bo[buf].modified and not message.unmodified then
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

--- The paths of loaded files that are modified in their buffer.
---@return string[]
function M.changed()
  return vim.tbl_filter(function(path)
    local buf = file.find(path)
    return not (buf and reviews.gone(buf))
  end, file.changed())
end

--- A stamp for each file, which changes when the buffer's text changes. It is 'undecided' while a
--- decision is pending, and '' if the buffer has no unsaved changes.
---@param message caliban.Stamps
---@return string[] # in the order of the paths
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

--- The texts that buffers of files hold, of whatever kind the buffers are.
---@param message caliban.HeldTexts
---@return caliban.HeldText[] # in the order of the paths
function M.held_texts(message)
  return vim.tbl_map(function(path)
    local buf = file.find(path)
    if not buf or not api.nvim_buf_is_loaded(buf) then
      return { text = '' }
    end
    local disk = file.disk(buf)
    return { text = vim.fn.sha256(file.text(buf)), disk = disk and vim.fn.sha256(disk) }
  end, message.paths)
end

--- Saves modified files, except files that have pending hunks or have changed on disk. A file with
--- unsaved text of the user's own is saved only if the user has agreed.
---@param message caliban.Save
---@return string[] # the paths of the modified files that were not saved
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
      not (reviews.agreed(buf) or vim.list_contains(message.agreed, path))
      or reviews.pending(buf) > 0
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
