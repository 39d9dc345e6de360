--- Reopens reviews from their records on disk.
local M = {}

local api = vim.api
local disk = require('caliban.editor.disk')
local entry = require('caliban.review.entry')
local file = require('caliban.editor.file')
local names = require('caliban.editor.name')
local planning = require('caliban.review.restore.plan')
local record = require('caliban.review.restore.record')
local settlement = require('caliban.review.settlement')
local tracking = require('caliban.review.hunks.tracking')
local state = require('caliban.review.state')
local verdict = require('caliban.review.verdict')

--------------------------------------------------------------------------------------------- entering

---@class caliban.Batch the reviews of one conversation that are being reopened
---@field left integer
---@field files string[]
---@field hunks integer
---@field said string[] more sentences for the user

---@param n integer
---@param what string
---@return string # such as `2 changes`
local function count(n, what)
  return require('caliban.editor.count').of(n, what)
end

--- Called when a review of the batch is open again or waits for its file. After the last one, shows
--- one message for the whole batch.
---@param batch caliban.Batch
local function one_done(batch)
  batch.left = batch.left - 1
  if batch.left > 0 then
    return
  end
  local said = {} ---@type string[]
  if #batch.files > 0 then
    local what = '%s still under review in %s (:Caliban next).'
    local is = batch.hunks == 1 and ' is' or ' are'
    said[1] = what:format(count(batch.hunks, 'change') .. is, table.concat(batch.files, ', '))
  end
  vim.list_extend(said, batch.said)
  if #said > 0 then
    require('caliban.editor.notify').say(table.concat(said, ' '), vim.log.levels.INFO)
  end
  batch.files, batch.hunks, batch.said = {}, 0, {}
end

--- Restores the pending deletion or renaming of a record.
---@param r caliban.Review
---@param it caliban.Record
local function take_up_whole(r, it)
  state.propose_whole(r, it.whole)
  if it.whole and it.whole.done and it.whole.kind == 'delete' then
    local lines, form = it.whole.lines or {}, it.whole.form
    if file.empty(r.buf) then
      file.put(r.buf, 0, 0, lines)
      if form then
        local bo = vim.bo[r.buf]
        -- fails if Neovim does not know the encoding
        pcall(function()
          bo.fileencoding, bo.bomb = form.encoding, form.bom
          bo.fileformat = form.format --[[@as 'unix'|'dos'|'mac']]
        end)
      end
    end
    vim.bo[r.buf].modified = true
  end
end

--- Changes the buffer as planned.
---@param r caliban.Review
---@param it caliban.Record
---@param plan caliban.Reopening
---@return boolean ok, any err
local function change(r, it, plan)
  return tracking.edit(r, function()
    for _, puts in ipairs(plan.puts) do
      for i = #puts, 1, -1 do
        file.put(r.buf, puts[i].start, puts[i].count, puts[i].lines)
      end
    end
    tracking.set_list(r, plan.hunks)
    take_up_whole(r, it)
  end)
end

---@param plan caliban.Reopening
---@return boolean
local function puts_anything(plan)
  for _, puts in ipairs(plan.puts) do
    if #puts > 0 then
      return true
    end
  end
  return false
end

--- The lines of a buffer before the first change that can be undone.
---@param buf integer
---@return string[]? # nil if Neovim does not give them
local function first_lines(buf)
  local tree = vim.fn.undotree(buf)
  if tree.seq_last == 0 then
    return file.lines(buf)
  end
  local lines ---@type string[]?
  pcall(api.nvim_buf_call, buf, function()
    local view = vim.fn.winsaveview()
    vim.cmd('noautocmd silent undo 0')
    lines = file.lines(buf)
    vim.cmd(('noautocmd silent undo %d'):format(tree.seq_cur))
    vim.fn.winrestview(view)
  end)
  return lines
end

--- The lines of a buffer as they were recovered from a swap file; nil if it was not recovered, or if the swap file is newer
--- than the record.
---@param it caliban.Record
---@param buf integer
---@return string[]?
local function recovered(it, buf)
  local swap, saved = require('caliban.editor.swap').left(it.path), disk.written_at(it.name)
  if swap and saved and swap < saved then
    return first_lines(buf)
  end
end

--- Reopens a review in its buffer. Raises an error only if Neovim forbids changing buffers at the moment (E565); then
--- nothing has changed.
---@param reviews caliban.Reviews
---@param item caliban.Arriving
function M.enter(reviews, item)
  local it = item.record --[[@as caliban.Record]]
  local batch = item.batch --[[@as caliban.Batch]]
  local name = file.short(it.path)
  local buf, why, created = file.open(it.path)
  if not buf then
    batch.said[#batch.said + 1] = ('The review of %s waits until you open the file: %s.'):format(
      name,
      why
    )
    M.wait(it)
    return one_done(batch)
  end
  if not vim.bo[buf].modified then
    file.refresh(buf)
  end
  local unsaved = vim.bo[buf].modified and file.disk(buf) ~= file.text(buf)
  local plan = planning.plan(it, file.lines(buf), unsaved, unsaved and recovered(it, buf) or nil)
  item.created = created and { [buf] = true } or {}
  local p = item.proposals[1]
  local is_written = plan.is_written or not puts_anything(plan)
  p.at_once = p.at_once and not vim.bo[buf].modified and is_written and not it.whole
  local r = reviews.begin(item, p, buf)
  state.set_origin(r, settlement.origin(buf))
  local ok, err = change(r, it, plan)
  if not ok then
    reviews.look(r)
    error(err, 0)
  end
  entry.set_eol(r, it.eol)
  vim.bo[buf].buflisted = true
  state.restore(r, it, plan.own)
  require('caliban.editor.folders').note(it.folders or {})
  verdict.take_up(r, it.decided or {}, plan.again)
  state.set_acted(r, verdict.has_decisions(r))
  record.adopt(r, it.name)
  verdict.decided(r, plan.version and 'throw' or 'leave', plan.lost)
  if plan.version then
    verdict.take_back(r, plan.hunks)
    require('caliban.review.versions').take_up(r, plan.version, it.hunks)
  end
  local n = state.count(r)
  if n == 0 and it.away then
    -- the verdict was told as the hunks went
    return one_done(batch)
  end
  if n == 0 then
    -- the user has not decided anything in this Neovim yet
    state.set_acted(r, false)
  end
  state.open(r)
  if n > 0 then
    batch.files[#batch.files + 1], batch.hunks = name, batch.hunks + n
  end
  local unfit = #plan.lost + plan.agreed
  if unfit > 0 then
    local what = '%s no longer fit%s %s.'
    batch.said[#batch.said + 1] =
      what:format(count(unfit, 'change'), unfit == 1 and 's' or '', name)
  end
  reviews.look(r, true)
  local data = { buf = buf, path = it.path, hunks = n, session = r.session }
  require('caliban.editor.event').fire('CalibanProposal', data)
  one_done(batch)
end

--- Reopens a review as soon as possible. Until then it waits in `arrival`, like a proposal.
---@param it caliban.Record
---@param batch caliban.Batch
local function push(it, batch)
  ---@type caliban.WireProposal
  local p = {
    id = 0,
    group = 0,
    calls = {},
    path = it.path,
    create = it.create,
    sha = '',
    hunks = {},
    eol = it.eol,
    at_once = it.auto,
    binary = it.binary,
  }
  ---@type caliban.Arriving
  local item = {
    proposals = { p },
    session = it.session,
    owner = it.session,
    turn = 0,
    record = it,
    enter = M.enter,
    batch = batch,
  }
  require('caliban.review.registry').push({ item })
end

--- Reopens a review later, when the user opens its file: the file has a swap file, so it cannot be
--- loaded without asking the user.
---@param it caliban.Record
function M.wait(it)
  local id ---@type integer
  id = api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
    group = api.nvim_create_augroup('caliban.review.restore.reopen', { clear = false }),
    callback = function(event)
      if names.real(api.nvim_buf_get_name(event.buf)) == names.real(it.path) then
        api.nvim_del_autocmd(id)
        push(it, { left = 1, files = {}, hunks = 0, said = {} })
      end
    end,
  })
end

--- Called when a conversation was opened in this Neovim: reopens its reviews.
---@param message caliban.Session
function M.take_up(message)
  local waiting = record.waiting(message)
  ---@type caliban.Batch
  local batch = { left = #waiting, files = {}, hunks = 0, said = {} }
  for _, it in ipairs(waiting) do
    push(it, batch)
  end
end

return M
