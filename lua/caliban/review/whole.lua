--- Proposals to delete or rename a file, or to create one without text. The user decides on the whole file; its text
--- does not change.
local M = {}

local api = vim.api
local aside = require('caliban.review.aside')
local bytes = require('caliban.editor.bytes')
local disk = require('caliban.editor.disk')
local file = require('caliban.editor.file')
local folders = require('caliban.editor.folders')
local names = require('caliban.editor.name')
local remains = require('caliban.review.remains')
local state = require('caliban.review.state')
local words = require('caliban.review.whole_words')

---@class caliban.Whole
---@field kind 'delete'|'rename'|'create'
---@field from string
---@field to? string
---@field done boolean whether the file is already deleted, renamed or created on disk, as in auto-edit mode
---@field lines? string[] the lines of the deleted file
---@field mode? integer its permissions
---@field form? caliban.Form

---@param path string
---@return boolean
local function there(path)
  return vim.uv.fs_lstat(path) ~= nil
end

--- A loaded buffer with this path.
---@param path string
---@return integer? buf
---@return boolean taken whether the buffer's text is more than what is left of a file that is gone
local function loaded(path)
  local buf = file.find(path)
  if not buf or not api.nvim_buf_is_loaded(buf) then
    return nil, false
  end
  return buf, not remains.are_in(buf)
end

---@param path string
---@return boolean
local function taken(path)
  return (select(2, loaded(path)))
end

--- Whether the file is deleted and the user can still reject the deletion.
---@param r caliban.Review
---@return boolean
function M.gone(r)
  return r.whole ~= nil and r.whole.done and r.whole.kind == 'delete'
end

--- Whether a proposal writes a file that the model has deleted in auto-edit mode, so that the deletion is over.
---@param p caliban.WireProposal
---@param r? caliban.Review
---@return boolean
function M.is_over(p, r)
  return r ~= nil and r.open and M.gone(r) and p.create and not there(p.path)
end

--- Why a pending deletion or renaming excludes a proposal, or why a proposed deletion or renaming
--- cannot be applied.
---@param p caliban.WireProposal
---@param buf integer
---@param r? caliban.Review
---@return string? # the end of a sentence
function M.refusal(p, buf, r)
  local pending = r and r.open and not M.is_over(p, r) and r.whole
  if pending and (p.whole or pending.kind == 'delete') then
    return 'the user has not decided yet whether to ' .. words.in_sentence(pending)
  elseif not p.whole then
    return nil
  elseif r and r.open and r.own or not (r and r.open) and vim.bo[buf].modified then
    return 'its buffer has unsaved changes'
  elseif not there(p.path) then
    return 'it is not on disk'
  elseif p.to and there(p.to) then
    return ('%s already exists'):format(file.short(p.to))
  elseif p.to and taken(p.to) then
    return ('another buffer has the name %s'):format(file.short(p.to))
  end
end

--- Gives a buffer the new path of its file.
---@param buf integer
---@param to string
---@param binary boolean
local function move_buffer(buf, to, binary)
  local from = api.nvim_buf_get_name(buf)
  aside.free(to)
  names.give(buf, to)
  aside.free(from)
  file.adopt(buf)
  -- after a rename, `:w` would need a bang until the buffer is written once, because Neovim thinks
  -- that the file is a different one
  if not binary and not vim.bo[buf].modified and file.disk(buf) == file.text(buf) then
    file.restore(buf)
  end
  local filetype = vim.filetype.match({ buf = buf, filename = to })
  if filetype and filetype ~= vim.bo[buf].filetype then
    vim.bo[buf].filetype = filetype
  end
end

--- Renames a file on disk.
---@param from string
---@param to string
---@return string? why this failed
local function move_file(from, to)
  -- Neovim refuses a name with a swap file only after the file is moved
  local swap = not loaded(to) and require('caliban.editor.swap').of(to)
  local refused = disk.odd(from)
    or names.strayed(from)
    or names.strayed(to)
    or swap and ('%s: %s'):format(file.short(to), swap)
  if refused then
    return refused
  elseif not there(from) then
    return 'it is no longer on disk'
  elseif there(to) then
    return ('%s already exists'):format(file.short(to))
  elseif taken(to) then
    return ('another buffer has the name %s'):format(file.short(to))
  end
  local made, why = pcall(folders.make, to)
  if not made then
    return file.reason(why)
  end
  local moved, err = vim.uv.fs_rename(from, to)
  return not moved and (err or 'it could not be moved') or nil
end

--- Calls `fn` with the write guard switched off, because a guarded buffer cannot be written or
--- renamed like other buffers.
---@param buf integer
---@param fn fun()
local function as_ordinary(buf, fn)
  local guarded = vim.bo[buf].buftype == 'acwrite'
  file.guard(buf, false)
  fn()
  if guarded then
    file.guard(buf, true)
  end
end

--- Renames a file on disk and its buffer, or neither.
---@param buf integer
---@param from string
---@param to string
---@param binary boolean
---@return string? why this failed
local function move_both(buf, from, to, binary)
  local left = loaded(to)
  local failed = move_file(from, to)
  if failed then
    return failed
  elseif left then
    aside.step(left, to, buf)
  end
  local ok, err = true, nil ---@type boolean, any
  as_ordinary(buf, function()
    ok, err = pcall(move_buffer, buf, to, binary)
  end)
  if ok then
    return nil
  end
  local why = file.reason(err)
  local back = vim.uv.fs_rename(to, from)
  if back then
    folders.remove(to)
    aside.back(to)
  end
  return back and why or ('%s; on disk its name is %s now'):format(why, file.short(to))
end

--- Writes the text of a buffer, whose file is gone, to its former path, which the buffer gets.
---@param buf integer
---@param to string
---@param r? caliban.Review the open review of the buffer
---@return string? why this failed
function M.bring_back(buf, to, r)
  if r and r.own or there(to) or taken(to) or names.strayed(to) then
    return 'it is no longer on disk'
  end
  local ok, err
  as_ordinary(buf, function()
    ok, err = pcall(move_buffer, buf, to, false)
    err = ok and file.restore(buf) or err
  end)
  if r and not err then
    state.set_path(r, to)
    state.propose_whole(r, nil)
    state.reject_whole(r)
  end
  return err and file.reason(err)
end

--- Deletes or renames a file that is not under review, and its unmodified buffer.
---@param p caliban.WireProposal
---@param buf integer
---@return string? why this failed
function M.at_once(p, buf)
  if not p.binary and file.disk(buf) ~= file.text(buf) then
    return 'it has changed meanwhile'
  elseif p.to then
    local failed = move_both(buf, p.path, p.to, p.binary)
    if not failed then
      folders.remove(p.path)
    end
    return failed
  end
  local strayed = names.strayed(p.path)
  local ok, err = nil, strayed
  if not strayed then
    ok, err = os.remove(p.path)
  end
  if not ok then
    return err
  end
  folders.remove(p.path)
  M.close(buf)
end

--- Renames a file under review, with its buffer.
---@param r caliban.Review
---@param from string
---@param to string
---@return string? why this failed
local function move(r, from, to)
  local failed = r.own and 'its buffer has unsaved changes; write them first'
    or move_both(r.buf, from, to, r.binary)
  if failed then
    return failed
  end
  state.set_path(r, to)
end

--- Follows a file under review that another program has renamed, if its text on disk is the one that the review knows.
---@param r caliban.Review
---@param to string
function M.follow(r, to)
  local from = r.path
  if r.whole or there(from) or not there(to) or loaded(to) or disk.odd(to) or names.strayed(to) then
    return
  end
  as_ordinary(r.buf, function()
    local moved = pcall(move_buffer, r.buf, to, r.binary)
    if moved and r.origin and not r.binary and file.disk(r.buf) ~= r.origin then
      pcall(move_buffer, r.buf, from, r.binary)
    end
  end)
  require('caliban.review.named').follow(r)
end

--- Makes the pending deletion or renaming on disk, unless it is made already.
---@param r caliban.Review
---@return string? why this failed
function M.apply(r)
  local whole = r.whole --[[@as caliban.Whole]]
  if whole.kind == 'create' then
    -- the end of the review writes the file
    return nil
  elseif whole.kind == 'delete' then
    local now = not r.binary and file.disk(r.buf)
    local refused = disk.odd(r.path) or names.strayed(r.path)
    if require('caliban.review.named').elsewhere(r) then
      return 'its buffer has another name'
    elseif refused then
      return refused
    elseif now and r.origin and now ~= r.origin or r.binary and file.stale(r.buf) then
      return 'it changed on disk'
    end
    local stat = vim.uv.fs_stat(r.path)
    local ok, err = os.remove(r.path)
    if not ok and there(r.path) then
      return tostring(err)
    end
    whole.mode, whole.form = stat and stat.mode, bytes.wanted(r.buf)
    -- the text exists only in this buffer, so it is marked as modified to prevent Neovim from
    -- dropping it
    whole.lines, vim.bo[r.buf].modified = file.lines(r.buf), true
  elseif r.path ~= whole.to then
    local failed = move(r, r.path, whole.to --[[@as string]])
    if failed then
      return failed
    end
  end
  whole.done = true
end

--- Adds a proposed deletion or renaming of the file to the pending changes. In auto-edit mode, also deletes or renames
--- the file on disk.
---@param r caliban.Review
---@param p caliban.WireProposal
---@return string? why this failed
function M.enter(r, p)
  local kind = p.whole --[[@as 'delete'|'rename']]
  state.propose_whole(r, { kind = kind, from = p.path, to = p.to, done = false })
  local failed = r.auto and M.apply(r) or nil
  if failed then
    state.propose_whole(r, nil)
  end
  return failed
end

--- Adds a new file without text to the pending changes. In auto-edit mode it is written like any other file.
---@param r caliban.Review
---@param p caliban.WireProposal
function M.offer(r, p)
  state.propose_whole(r, { kind = 'create', from = p.path, done = false })
end

--- Notes whether a file without text, which is a pending change, is on disk.
---@param r caliban.Review
---@param is_there boolean
function M.created(r, is_there)
  local whole = r.whole
  if whole and whole.kind == 'create' then
    whole.done = is_there
  end
end

--- Undoes the deletion or renaming on disk, if it was made.
---@param r caliban.Review
---@return string? why this failed
local function revert(r)
  local whole = r.whole --[[@as caliban.Whole]]
  if not whole.done or whole.kind == 'create' then
    -- the end of the review removes a new file
    return nil
  elseif whole.kind == 'rename' then
    local to = r.path
    local failed = move(r, to, whole.from)
    if not failed then
      folders.remove(to)
      aside.back(to)
    end
    return failed
  elseif there(r.path) then
    return nil
  end
  if file.empty(r.buf) then
    file.put(r.buf, 0, 0, whole.lines or {})
  end
  local failed
  as_ordinary(r.buf, function()
    failed = file.restore(r.buf, whole.mode)
  end)
  return failed
end

--- Drops the pending deletion or renaming, because another proposal of its item could not be applied, or because the
--- model writes the file again.
---@param r caliban.Review
---@return string? why the file on disk stays as it is
function M.withdraw(r)
  local failed = revert(r)
  state.propose_whole(r, nil)
  return failed
end

--- Accepts or rejects the deletion or renaming.
---@param r caliban.Review
---@param verdict 'accept'|'reject'
---@param reason? string
---@return boolean decided false if an error occurred, after telling the user
function M.decide(r, verdict, reason)
  local whole = r.whole --[[@as caliban.Whole]]
  local failed
  if verdict == 'accept' then
    failed = M.apply(r)
  else
    failed = revert(r)
  end
  if failed then
    local wish = verdict == 'accept' and words.in_sentence(whole)
      or whole.kind == 'delete' and 'take back the deletion'
      or 'take back the renaming'
    require('caliban.editor.notify').show(
      ('%s: Caliban cannot %s: %s'):format(require('caliban.review.named').shown(r), wish, failed),
      vim.log.levels.ERROR
    )
    return false
  end
  state.propose_whole(r, nil)
  if verdict == 'accept' then
    M.conclude(r, whole)
  else
    state.reject_whole(r)
    if (reason or '') ~= '' then
      state.add_reason_of_whole(r, reason or '')
    end
  end
  return true
end

--- Records that the deletion or renaming is accepted.
---@param r caliban.Review
---@param whole caliban.Whole
function M.conclude(r, whole)
  if whole.kind == 'delete' then
    state.agree_to_deletion(r)
  elseif whole.kind == 'create' then
    state.agree_to_empty(r)
  else
    state.agree_to_path(r, whole.from)
  end
end

--- Closes the buffer of a deleted file. Its windows stay open and show another buffer.
---@param buf integer
---@param r? caliban.Review the review of the file
function M.close(buf, r)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local back = r and state.shown_before(r, win)
      or api.nvim_win_call(win, function()
        return vim.fn.bufnr('#')
      end)
    local fits = back > 0 and back ~= buf and api.nvim_buf_is_loaded(back)
    pcall(api.nvim_win_set_buf, win, fits and back or api.nvim_create_buf(true, false))
  end
  pcall(api.nvim_buf_delete, buf, { force = true })
end

--- Removes the buffer of a new file that was rejected, unless the user has opened it.
---@param r caliban.Review
---@return boolean done
function M.discard(r)
  local wins = vim.fn.win_findbuf(r.buf)
  for _, win in ipairs(wins) do
    if not r.created or not state.shown_before(r, win) then
      return false
    end
  end
  for _, win in ipairs(wins) do
    local back = state.shown_before(r, win)
    local there = back and api.nvim_buf_is_valid(back)
    api.nvim_win_set_buf(win, there and back or api.nvim_create_buf(true, false))
  end
  return r.created and pcall(api.nvim_buf_delete, r.buf, { force = true })
end

return M
