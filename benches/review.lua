-- The part of the review bench inside Neovim: waits for proposals, and makes the same edits without Caliban.

---@class bench.Review
---@field entered integer the number of proposals that have been applied to their buffers
---@field settled integer the number of files whose hunks are all decided
local Review = { entered = 0, settled = 0 }
_G.Review = Review

vim.api.nvim_create_autocmd('User', {
  pattern = 'CalibanProposal',
  callback = function()
    Review.entered = Review.entered + 1
  end,
})
vim.api.nvim_create_autocmd('User', {
  pattern = 'CalibanReviewed',
  callback = function()
    Review.settled = Review.settled + 1
  end,
})

---@param fn fun()
---@return number # ms until everything is drawn
local function time(fn)
  local start = vim.uv.hrtime()
  fn()
  vim.cmd.redraw()
  return (vim.uv.hrtime() - start) / 1e6
end

--- Makes the same edits in another file without Caliban: changes the lines, undoes the change, redoes it, and writes
--- the file.
---@param name string
---@param old string
---@param new string
---@return number[] # the ms of each step
function Review.plain(name, old, new)
  vim.cmd.edit(name)
  local edits = {}
  for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    if line:find(old, 1, true) then
      edits[#edits + 1] = { row - 1, (line:gsub(vim.pesc(old), new)) }
    end
  end
  local entered = time(function()
    for i = #edits, 1, -1 do
      local row = edits[i][1]
      vim.api.nvim_buf_set_lines(0, row, row + 1, true, { edits[i][2] })
    end
  end)
  local undone = time(vim.cmd.undo)
  vim.cmd.redo()
  local written = time(vim.cmd.write)
  vim.cmd.edit('notes.txt')
  vim.cmd.bdelete(name)
  return { entered, undone, written }
end
