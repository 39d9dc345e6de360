--- What the program asks of the user's files: their text as it stands in the editor, and to save it.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')

--- Hunks of a buffer that must not be on disk yet.
---@param buf integer
---@return integer
local function pending(buf)
  local r = require('caliban.review.registry').of(buf)
  return r and not r.auto and r.hunks.count or 0
end

--- Whether the model has deleted the file of a buffer, which is kept for the user to look at.
---@param buf integer
---@return boolean
local function gone(buf)
  local r = require('caliban.review.registry').of(buf)
  return r ~= nil and require('caliban.review.whole').gone(r)
end

--- Whether something in a buffer waits for the user.
---@param buf integer
---@return boolean
local function undecided(buf)
  local r = require('caliban.review.registry').of(buf)
  return r ~= nil and not r.auto and require('caliban.review.hunks.tracking').count(r) > 0
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
      answer = vim.tbl_extend('error', now, { loaded = true, pending = pending(buf) })
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
  if not buf or not api.nvim_buf_is_loaded(buf) or not file.ordinary(buf) or gone(buf) then
    return { loaded = false, pending = 0 }
  end
  local hunks = pending(buf)
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
    return not (buf and gone(buf))
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
    if open and undecided(buf) then
      stamps[file.real(name)] = 'undecided'
    elseif open and vim.bo[buf].modified and not gone(buf) then
      stamps[file.real(name)] = ('%d.%d'):format(buf, api.nvim_buf_get_changedtick(buf))
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
    if not buf or not api.nvim_buf_is_loaded(buf) or not vim.bo[buf].modified or gone(buf) then
      return false
    elseif pending(buf) > 0 or not file.ordinary(buf) or file.check(buf, '') or file.stale(buf) then
      return true
    end
    local failed = file.write(buf, false) ~= nil
    local r = require('caliban.review.registry').of(buf)
    if not failed and r then
      r.own = false
    end
    return failed
  end, message.paths)
end

return M
