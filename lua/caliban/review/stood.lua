--- What stood in buffers and in their files before a command of the model's: the text from which the buffer and the file
--- have changed since. By it, what the command has changed on disk is merged into text of the user's own.
local M = {}

local api = vim.api
local bytes = require('caliban.editor.bytes')
local file = require('caliban.editor.file')
local merging = require('caliban.review.hunks.merge')
local written = require('caliban.editor.written')
local write_guard = require('caliban.review.write_guard')

---@class caliban.Stood
---@field text string
---@field stamp? string the stamp of the file with this text; nil if the file may have another one

--- The most bytes of an unmodified buffer that are kept.
local MOST = 4000000

local stood = {} ---@type table<integer, caliban.Stood> by buffer

--- Notes the text on disk of a buffer with unsaved text, if the buffer has all changes on disk, and the text of an
--- unmodified buffer in a window, which the user may change next.
---@param buf integer
function M.note(buf)
  local known, text, stamp = stood[buf], nil, file.stamp(buf) ---@type caliban.Stood?, string|false|nil, string
  if known or stamp == '' then
    return
  elseif vim.bo[buf].modified then
    text = not file.check(buf, '') and not file.stale(buf) and file.disk(buf)
  else
    local is_shown = #vim.fn.win_findbuf(buf) > 0
    local size = is_shown and api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf)) or MOST
    text = size < MOST and file.text(buf)
  end
  if text then
    stood[buf] = { text = text, stamp = not file.stale(buf) and stamp or nil }
  end
end

--- Makes edits of a buffer in an undo step of their own.
---@param buf integer
---@param edits caliban.DiskEdit[] ascending
local function make(buf, edits)
  local levels = vim.bo[buf].undolevels
  -- setting this option ends the open undo block
  vim.bo[buf].undolevels = levels
  for i = #edits, 1, -1 do
    file.put(buf, edits[i].start, edits[i].count, edits[i].lines)
  end
  vim.bo[buf].undolevels = levels
end

--- Tells the user which lines both have changed.
---@param buf integer
---@param edits caliban.DiskEdit[] the edits that were made
---@param rows integer[] where the others belong, before these edits
local function warn(buf, edits, rows)
  local what = "%s: %d of the changes that the model's command has made on disk %s with your unsaved text, which "
    .. 'stays in the buffer: %s.'
  local n, name = #rows, file.short(api.nvim_buf_get_name(buf))
  require('caliban.editor.notify').show(
    what:format(name, n, n == 1 and 'conflicts' or 'conflict', merging.places(edits, rows)),
    vim.log.levels.WARN
  )
end

--- Merges the changes on disk into a buffer with unsaved text. If both have changed a line, the buffer's line stays.
---@param buf integer
function M.merge(buf)
  local was, stamp = stood[buf], file.stamp(buf) ---@type caliban.Stood?, string
  if not was or was.stamp == stamp then
    return
  end
  bytes.follow(buf, was.text)
  local disk, eol = file.disk(buf)
  if not disk then
    return
  end
  write_guard.acknowledge(buf)
  local edits, clashes, rows =
    merging.merge(merging.split(was.text), merging.split(disk), file.lines(buf))
  make(buf, edits)
  stood[buf] = { text = disk, stamp = stamp }
  if clashes > 0 then
    return warn(buf, edits, rows)
  end
  file.merged(buf, stamp)
  if file.text(buf) == disk and file.eol(buf) == eol and not bytes.changed(buf) then
    vim.bo[buf].modified = false
  end
end

--- Called when no command runs any more, and no buffer is behind its file.
function M.forget()
  stood = {}
end

api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost', 'BufUnload', 'BufFilePost' }, {
  group = api.nvim_create_augroup('caliban.review.stood', {}),
  callback = function(event)
    if event.event ~= 'BufWritePost' or written.is_done(event.buf) then
      stood[event.buf] = nil
    end
  end,
})

return M
