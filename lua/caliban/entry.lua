--- A proposal's edits, and putting them into a buffer.
local M = {}

local api = vim.api
local file = require('caliban.file')
local review = require('caliban.review')

--- The edits of a proposal, in rows of the text it was made from, without the lines they leave alone.
---@param p caliban.WireProposal
---@param lines string[]
---@return caliban.Edit[]? edits absent: they do not fit the text
function M.edits(p, lines)
  local edits, row = {}, 0
  for _, h in ipairs(p.hunks) do
    local new = h.n == 0 and {} or vim.split(h.text, '\n', { plain = true })
    if h.start < row or h.start + h.count > #lines or #new ~= h.n then
      return nil
    end
    row = h.start + h.count
    local old = vim.list_slice(lines, h.start + 1, row)
    for _, d in ipairs(review.runs(old, new)) do
      edits[#edits + 1] = {
        start = h.start + d[1],
        old = vim.list_slice(old, d[1] + 1, d[1] + d[2]),
        new = vim.list_slice(new, d[3] + 1, d[3] + d[4]),
      }
    end
  end
  return edits
end

---@param r caliban.Review
---@param edits caliban.Edit[]
function M.apply(r, edits)
  if #r.hunks > 0 then
    for i = #edits, 1, -1 do
      local e = edits[i]
      r.hunks = review.propose(r.hunks, e.start, #e.old, e.new, function(first, last)
        return first < last and api.nvim_buf_get_lines(r.buf, first, last, false) or {}
      end)
      file.put(r.buf, e.start, #e.old, e.new)
    end
    return
  end
  for i = #edits, 1, -1 do
    file.put(r.buf, edits[i].start, #edits[i].old, edits[i].new)
  end
  r.hunks = review.proposed(edits)
end

---@param r caliban.Review
---@param wanted boolean
function M.set_eol(r, wanted)
  local bo = vim.bo[r.buf]
  if file.empty(r.buf) or bo.endofline == wanted then
    return
  end
  r.eol = r.eol or { bo.endofline, bo.fixendofline }
  bo.endofline = wanted
  bo.fixendofline = wanted and r.eol[2]
end

---@param item caliban.Arriving
---@param state string
---@param fields? table
function M.answer(item, state, fields)
  require('caliban.rpc').notify(
    vim.tbl_extend(
      'force',
      { kind = 'arrived', id = item.proposal.id, state = state, hunks = 0 },
      fields or {}
    )
  )
end

---@param item caliban.Arriving
---@param why string the end of a sentence
function M.refuse(item, why)
  M.answer(item, 'refused', { why = why })
end

---@param item caliban.Arriving
---@param buf integer
local function moved(item, buf)
  local now = file.snapshot(buf)
  if file.empty(buf) and not vim.uv.fs_stat(item.proposal.path) then
    now.text = nil
  end
  M.answer(item, 'moved', now)
end

--- Whether the text a proposal was made from is the buffer's.
---@param p caliban.WireProposal
---@param buf integer
---@param open boolean
---@return boolean
local function current(p, buf, open)
  if p.create then
    return file.empty(buf) and (open or not vim.uv.fs_stat(p.path))
  end
  return vim.fn.sha256(file.text(buf)) == p.sha
end

--- The edits a proposal asks of a buffer.
---@param item caliban.Arriving
---@param buf integer
---@param open boolean a review of it is open
---@return caliban.Edit[]? edits absent: they cannot enter, and the program was told
---@return string[]? lines the buffer's
function M.fit(item, buf, open)
  local p = item.proposal
  if not current(p, buf, open) then
    return moved(item, buf)
  end
  local lines = file.lines(buf)
  local edits = M.edits(p, lines)
  local text = table.concat(vim.tbl_map(function(h)
    return h.text
  end, p.hunks))
  if not edits then
    return moved(item, buf)
  elseif not file.encodes(buf, text) then
    return M.refuse(
      item,
      ('its encoding (%s) cannot hold the new text'):format(vim.bo[buf].fileencoding)
    )
  elseif #edits == 0 and not file.empty(buf) and p.eol ~= file.eol(buf) then
    return M.refuse(item, 'a change of nothing but the last newline cannot be reviewed')
  end
  return edits, lines
end

--- A proposal has entered: what must be known of it at the end.
---@param r caliban.Review
---@param item caliban.Arriving
---@param edits caliban.Edit[]
---@param lines string[] the buffer's before it
function M.entered(r, item, edits, lines)
  local p, eol = item.proposal, file.eol(r.buf)
  M.set_eol(r, p.eol)
  vim.bo[r.buf].buflisted = true
  r.proposals[#r.proposals + 1] = {
    id = p.id,
    program = require('caliban.rpc').program(),
    lines = lines,
    edits = edits,
    eol = { eol, p.eol },
    whole = p.whole,
  }
end

--- The program's answer: it waits to be decided, or was written at once.
---@param item caliban.Arriving
---@param buf integer
---@param hunks integer
---@param unsaved? string why it was not written, '' where it was; absent: it waits
---@param text? string the buffer's before it was written
function M.told(item, buf, hunks, unsaved, text)
  local fields = { hunks = hunks, unsaved = unsaved }
  if text and api.nvim_buf_is_loaded(buf) and file.text(buf) ~= text then
    fields = vim.tbl_extend('error', fields, file.snapshot(buf))
  end
  M.answer(item, 'entered', fields)
end

---@param it caliban.Entered
---@return string[] lines the buffer's after it
local function after(it)
  local out, row = {}, 0
  for _, e in ipairs(it.edits) do
    vim.list_extend(out, it.lines, row + 1, e.start)
    vim.list_extend(out, e.new)
    row = e.start + #e.old
  end
  return vim.list_extend(out, it.lines, row + 1)
end

--- The texts of the proposals whose program has ended: the next one knows nothing of them.
---@param r caliban.Review
---@return caliban.ProposedText[]
function M.orphans(r)
  local out, program = {}, require('caliban.rpc').program()
  for _, it in ipairs(r.proposals) do
    if it.program ~= program then
      out[#out + 1] = {
        id = it.id,
        before = table.concat(it.lines, '\n'),
        before_eol = it.eol[1],
        after = it.whole == 'delete' and '' or table.concat(after(it), '\n'),
        after_eol = it.eol[2],
      }
    end
  end
  return out
end

return M
