--- Closes the reviews of a conversation that another Neovim takes over. The other Neovim reads the
--- reviews from disk.
local M = {}

local arrival = require('caliban.review.arrival')
local bytes = require('caliban.editor.bytes')
local file = require('caliban.editor.file')
local record = require('caliban.review.restore.record')
local registry = require('caliban.review.registry')
local tracking = require('caliban.review.hunks.tracking')
local undone = require('caliban.review.undone')

--- Writes the record of a review to disk, and removes its hunks from the buffer. Hunks that are
--- already in the file on disk stay in the buffer.
---@param r caliban.Review
local function leave(r)
  record.hand_over(r)
  local list = tracking.list(r)
  if not r.auto then
    tracking.edit(r, function()
      for i = #list, 1, -1 do
        file.put(r.buf, list[i].start, #list[i].new, list[i].old)
      end
    end)
  end
  registry.release(r)
  local is_there = file.disk(r.buf) == file.text(r.buf) and not bytes.changed(r.buf)
  if not r.auto and not r.own and (r.create or is_there) then
    vim.bo[r.buf].modified = false
  end
  if r.created and not vim.bo[r.buf].modified and #vim.fn.win_findbuf(r.buf) == 0 then
    file.unload(r.buf, true)
  end
end

--- Closes the reviews of a conversation.
---@param session string
---@return boolean done false if one of the buffers cannot be changed now
function M.give_up(session)
  local calm = arrival.calm
  undone.tell_all()
  local mine = vim.tbl_filter(function(r)
    return r.session == session
  end, registry.open())
  for _, r in ipairs(mine) do
    if not calm(r.buf) then
      return false
    end
  end
  for _, r in ipairs(mine) do
    leave(r)
  end
  return true
end

return M
