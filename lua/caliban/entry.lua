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

return M
