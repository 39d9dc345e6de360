--- Buffers that still show the text of a file which is no longer on disk. If no text in such a buffer is the user's own,
--- the model may create the file again.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF
local file = require('caliban.editor.file')

--- Why the text of a review is not on disk.
M.GONE = 'it was deleted or moved on disk'

--- The text with which a review ended that could not be saved because the file was gone.
local settled = {} ---@type table<integer, string> by buffer
---@class caliban.Former a buffer before its file was created again
---@field lines string[]
---@field modified boolean
---@field settled? string

local former = {} ---@type table<integer, caliban.Former> by buffer

local group = api.nvim_create_augroup('caliban.review.remains', {})

local of ---@type fun(buf: integer): caliban.Review?

--- Registers the function that gives the review of a buffer.
---@param reviews fun(buf: integer): caliban.Review?
function M.watch(reviews)
  of = reviews
end

--- Whether all changes of a review are the model's, and wait for no text that the user has agreed to.
---@param r caliban.Review
---@return boolean
local function is_models(r)
  local verdict = require('caliban.review.verdict')
  return r.origin ~= nil and not r.own and not r.whole and (r.auto or verdict.tally(r).any == 0)
end

--- Whether a buffer only shows the text of a file that is not on disk any more.
---@param buf integer
---@return boolean
function M.are_in(buf)
  local name = api.nvim_buf_get_name(buf)
  if
    not api.nvim_buf_is_loaded(buf)
    or not file.ordinary(buf)
    or not name:find('^/')
    or file.is_renamed(buf)
    or vim.uv.fs_lstat(name)
    or file.empty(buf)
  then
    return false
  end
  local r = of(buf)
  if r and r.open then
    return is_models(r)
  end
  return not vim.bo[buf].modified or settled[buf] == file.text(buf)
end

--- Whether a proposal of the model's is under review in a buffer.
---@param buf integer
---@return boolean
function M.are_models(buf)
  local r = of(buf)
  return r ~= nil and r.open
end

--- Marks a buffer whose file is not on disk as modified, so that Neovim does not end without asking about its text.
---@param buf integer
function M.keep(buf)
  local is_loaded = api.nvim_buf_is_loaded(buf)
  if is_loaded and not file.empty(buf) and not vim.uv.fs_stat(api.nvim_buf_get_name(buf)) then
    vim.bo[buf].modified, vim.bo[buf].buflisted = true, true
  end
end

---@param buf integer
local function forget(buf)
  settled[buf], former[buf] = nil, nil
  api.nvim_clear_autocmds({ group = group, [BUF] = buf })
end

---@param buf integer
local function watch(buf)
  api.nvim_create_autocmd({ 'BufReadPost', 'BufUnload', 'BufFilePost' }, {
    group = group,
    [BUF] = buf,
    callback = function()
      forget(buf)
    end,
  })
end

--- Called when a review has ended and its text is not on disk.
---@param r caliban.Review
---@param why string
function M.note(r, why)
  if why == M.GONE and not r.own and api.nvim_buf_is_loaded(r.buf) then
    watch(r.buf)
    settled[r.buf] = file.text(r.buf)
  end
end

--- Removes the text, because the file is about to be created again. `u` brings the text back.
---@param buf integer
function M.remove(buf)
  local was = { lines = file.lines(buf), modified = vim.bo[buf].modified, settled = settled[buf] }
  forget(buf)
  watch(buf)
  former[buf] = was
  -- Neovim notes that the file is gone
  require('caliban.review.write_guard').acknowledge(buf)
  file.adopt(buf)
  local levels = vim.bo[buf].undolevels
  -- setting this option ends the open undo block
  vim.bo[buf].undolevels = levels
  file.put(buf, 0, api.nvim_buf_line_count(buf), {})
  vim.bo[buf].undolevels = levels
  vim.bo[buf].modified = false
end

--- Puts the text back that `remove` has removed, because the file was not created.
---@param buf integer
function M.restore(buf)
  local was = former[buf] ---@type caliban.Former?
  if was and api.nvim_buf_is_loaded(buf) then
    file.put(buf, 0, file.empty(buf) and 0 or api.nvim_buf_line_count(buf), was.lines)
    vim.bo[buf].modified = was.modified
    settled[buf] = was.settled
  end
  former[buf] = nil
end

--- Forgets the text that `remove` has removed, because the file was created.
---@param buf integer
function M.done(buf)
  former[buf] = nil
end

return M
