--- Rewinds turns: lists the turns that changed files, shows the diff that would undo a turn's
--- changes, and undoes them.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF
local names = require('caliban.editor.name')

---@param text string
---@param level? integer
local function say(text, level)
  require('caliban.editor.notify').say(text, level)
end

--- Asks the program for the turns, which `offer` shows.
function M.ask()
  require('caliban.chat').send({ kind = 'rewind' })
end

---@param turn caliban.TurnRow
---@return string[]
local function cells(turn)
  local n = #turn.files
  local parts = {} ---@type string[]
  if n > 0 then
    parts[1] = n == 1 and turn.files[1] or ('%d files'):format(n)
  end
  local files = table.concat(vim.list_extend(parts, turn.notes), ', ')
  return { turn.title, files, require('caliban.sessions.list').ago(turn.age) }
end

--- The functions that show the previews of turns in the open picker, by the turn's entry.
---@type table<integer, fun(lines: string[], filetype?: string)>
local looks = {}

--- Offers the turns; asks the program for a preview of the chosen turn.
---@param message caliban.Turns
function M.offer(message)
  looks = {}
  local opts = { prompt = 'Rewind', kind = 'caliban_rewinds', cells = cells }
  function opts.preview(turn, show)
    looks[turn.entry] = show
    local look = { kind = 'rewind', session = message.session, entry = turn.entry, look = true }
    require('caliban.program.process').ask(look)
  end
  require('caliban.editor.pick').one(message.turns, opts, function(turn)
    require('caliban.program.process').ask({
      kind = 'rewind',
      session = message.session,
      entry = turn.entry,
    })
  end)
end

---@class caliban.Difference the content of a preview
---@field message caliban.Preview
---@field buf integer
---@field starts integer[] the first line of each file, from 1
---@field back integer the window from which the preview was opened

---@param message caliban.Preview
---@return string[] lines, integer[] starts the first line of each file, from 1
local function lines(message)
  local out, starts = {}, {} ---@type string[], integer[]
  for _, it in ipairs(message.notes) do
    vim.list_extend(out, { names.shown(it), '' })
  end
  for _, it in ipairs(message.files) do
    starts[#starts + 1] = #out + 1
    out[#out + 1] = names.shown(('diff %s %s'):format(it.name, it.about))
    if it.diff ~= '' then
      vim.list_extend(out, vim.split(it.diff, '\n', { plain = true }))
    end
    out[#out + 1] = ''
  end
  out[#out] = nil
  return out, starts
end

--- Closes the preview and its window (unless it is the last window), and goes back to the previous
--- window.
---@param shown caliban.Difference
local function close(shown)
  api.nvim_buf_delete(0, { force = true })
  if api.nvim_win_is_valid(shown.back) then
    api.nvim_set_current_win(shown.back)
  end
end

--- Writes the changes that can still be taken back into the preview. The cursor stays on its file.
---@param shown caliban.Difference
local function draw(shown)
  local buf, at = shown.buf, api.nvim_win_get_cursor(0)
  local place = 0
  for i, start in ipairs(shown.starts) do
    place = start <= at[1] and i or place
  end
  local text, starts = lines(shown.message)
  shown.starts = starts
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, text)
  vim.bo[buf].modifiable, vim.bo[buf].modified = false, false
  if place > 0 and api.nvim_get_current_buf() == buf then
    api.nvim_win_set_cursor(0, { starts[place], 0 })
  end
end

--- The paths of the files whose changes can still be taken back.
---@param files caliban.RewindFile[]
---@return string[]
local function open_paths(files)
  local paths = {}
  for _, it in ipairs(files) do
    paths[#paths + 1] = it.todo and it.path or nil
  end
  return paths
end

--- Takes back the changes to some files. The preview stays open for the other files.
---@param shown caliban.Difference
---@param files caliban.RewindFile[]
local function take_back(shown, files)
  local paths = open_paths(files)
  if #paths == 0 then
    return say('Nothing was taken back: no change can be taken back here.', vim.log.levels.INFO)
  end
  local message = shown.message
  local taken = require('caliban.program.process').ask({
    kind = 'rewind',
    session = message.session,
    entry = message.entry,
    later = message.later,
    paths = paths,
  })
  if not taken then
    return
  end
  for _, it in ipairs(files) do
    if it.todo then
      it.todo, it.about, it.diff = false, 'was taken back', ''
    end
  end
  local all, rest = #message.files, #open_paths(message.files)
  if rest == 0 then
    return close(shown)
  end
  draw(shown)
  say(
    ('%d of %s taken back. q closes the preview.'):format(
      all - rest,
      require('caliban.editor.count').of(all, 'file')
    ),
    vim.log.levels.INFO
  )
end

---@param shown caliban.Difference
---@return caliban.RewindFile[]
local function under_cursor(shown)
  local row = api.nvim_win_get_cursor(0)[1]
  for i = #shown.starts, 1, -1 do
    if shown.starts[i] <= row then
      return { shown.message.files[i] }
    end
  end
  return {}
end

---@param buf integer
---@param shown caliban.Difference
local function map(buf, shown)
  local function key(lhs, desc, fn)
    vim.keymap.set('n', lhs, fn, { [BUF] = buf, nowait = true, desc = desc })
  end
  key('a', 'Take back the changes to all files', function()
    take_back(shown, shown.message.files)
  end)
  key('<CR>', 'Take back the changes to the file under the cursor', function()
    take_back(shown, under_cursor(shown))
  end)
  key('q', 'Close the preview', function()
    close(shown)
  end)
end

--- The keys of a preview, and fewer words for narrow windows.
local KEYS = {
  { 'a take back all', '<CR> this file', 'q close' },
  { 'a all', '<CR> file', 'q close' },
}

--- Names the keys of a preview, and then its turn, in the winbars of its windows.
---@param buf integer
---@param title string
local function decorate(buf, title)
  -- a buffer that is gone has no windows
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local keys = ' ' .. table.concat(KEYS[1], ' · ')
    if api.nvim_strwidth(keys .. ' · ' .. title) > api.nvim_win_get_width(win) then
      keys = ' ' .. table.concat(KEYS[2], ' · ')
    end
    names.winbar(win, keys .. '%%< · %s', title)
  end
end

--- Shows the changes that a rewind would make: in the open picker if the picker has asked for them,
--- otherwise in a separate window.
---@param message caliban.Preview
function M.preview(message)
  if message.look then
    local show = looks[message.entry]
    return show and show((lines(message)), 'diff')
  end
  local name = ('caliban://%s/rewind'):format(message.session)
  local back = api.nvim_get_current_win()
  vim.cmd.stopinsert()
  local buf = require('caliban.sessions.request').window(name)
  ---@type caliban.Difference
  local shown = { message = message, buf = buf, starts = {}, back = back }
  draw(shown)
  vim.bo[buf].filetype = 'diff'
  vim.b[buf].caliban_keys = KEYS[1]
  decorate(buf, message.title)
  map(buf, shown)
  api.nvim_create_autocmd('WinResized', {
    group = api.nvim_create_augroup('caliban.rewind', {}),
    callback = function()
      decorate(buf, message.title)
    end,
  })
end

------------------------------------------------------------------------------------------ restoring

--- Changes the text of a buffer.
---@param p caliban.WireProposal
---@param buf integer
---@return string? why this failed
local function change(p, buf)
  local entry, tracking = require('caliban.review.entry'), require('caliban.review.hunks.tracking')
  local plan, unfit = entry.plan(p, buf)
  if not plan then
    return unfit and unfit[2].why or 'it has changed meanwhile'
  elseif not require('caliban.review.arrival').calm(buf) then
    return 'the editor was busy'
  end
  if plan.replaces then
    require('caliban.review.remains').remove(buf)
  end
  -- a separate review object is used, so that an open review of the buffer treats the change as if
  -- the user had typed it
  local r = require('caliban.review.state').new(buf, false, false)
  local ok, err = tracking.edit(r, function()
    entry.apply(r, plan)
  end)
  entry.set_eol(r, p.eol)
  if plan.replaces then
    local remains = require('caliban.review.remains')
    if ok then
      remains.done(buf)
    else
      remains.restore(buf)
    end
  end
  return not ok and require('caliban.editor.file').reason(err) or nil
end

--- Undoes a rename or a new file of auto-edit mode by rejecting the proposal in the file's open review.
---@param p caliban.WireProposal
---@param buf integer
---@param r caliban.Review
---@return boolean done
local function undecided(p, buf, r)
  local buffers, whole = require('caliban.review'), require('caliban.review.whole')
  if p.whole == 'rename' and r.whole and r.whole.done and r.whole.from == p.to then
    local done = whole.decide(r, 'reject')
    buffers.look(r, true)
    return done
  elseif p.whole == 'delete' and r.create then
    buffers.reject({ scope = 'file', buf = buf })
    return vim.uv.fs_stat(p.path) == nil
  end
  return false
end

--- Rejects what a rewind has taken back on disk of the changes in an open review.
---@param r caliban.Review
local function taken_back(r)
  local buffers, whole = require('caliban.review'), require('caliban.review.whole')
  local is_there = vim.uv.fs_lstat(r.path) ~= nil
  if whole.gone(r) and is_there then
    whole.decide(r, 'reject')
  elseif r.create and not is_there then
    return buffers.reject({ scope = 'file', buf = r.buf })
  elseif r.auto then
    require('caliban.review.settlement').look(r, 'reject')
  end
  buffers.look(r, true)
end

---@param p caliban.WireProposal
---@return string? why the file was not changed
---@return string? unsaved why the file was changed but not saved
local function restore(p)
  local file, whole = require('caliban.editor.file'), require('caliban.review.whole')
  local buf, why, created = file.open(p.path, p.create)
  if not buf then
    return why
  end
  local r = require('caliban.review').of(buf)
  if r and r.open and not r.auto then
    return 'its changes are under review; accept or reject them first'
  elseif p.to and not p.binary and not vim.uv.fs_lstat(p.path) then
    why = whole.bring_back(buf, p.to, r and r.open and r or nil)
    if not why and r and r.open then
      require('caliban.review').look(r, true)
    end
    return why
  elseif r and r.open and undecided(p, buf, r) then
    return nil
  elseif not vim.bo[buf].modified and not p.binary then
    file.refresh(buf)
  end
  local is_left = p.create and require('caliban.review.remains').are_in(buf)
  local own = vim.bo[buf].modified and not is_left
  why = names.strayed(p.path, vim.api.nvim_buf_get_name(buf))
  if why then
    return why
  elseif p.whole then
    why = own and 'its buffer has unsaved changes' or whole.at_once(p, buf)
    if created and why then
      file.unload(buf, true)
    end
    return why
  end
  why = change(p, buf)
  if why then
    return why
  end
  local unsaved = own and 'its buffer has unsaved changes' or file.write_as_is(buf)
  if r and r.open then
    taken_back(r)
  end
  return nil, unsaved
end

--- Undoes the change of one file, in its buffer.
---@param message caliban.Restore
---@return caliban.Restored
function M.restore(message)
  local ok, why, unsaved = pcall(restore, message.file)
  if not ok then
    return { done = false, why = require('caliban.editor.file').reason(why) }
  end
  return { done = why == nil, why = why or unsaved or '' }
end

--- Called after the program has written a file on disk, or has left one as it was before the turn: reads the file into
--- its buffer again.
---@param message caliban.Refresh
function M.refresh(message)
  local buffers, file = require('caliban.review'), require('caliban.editor.file')
  local buf = file.find(message.path)
  if not buf or not api.nvim_buf_is_loaded(buf) then
    return
  end
  local r = buffers.of(buf)
  if r and r.open then
    taken_back(r)
  elseif not vim.bo[buf].modified then
    file.refresh(buf)
  end
end

return M
