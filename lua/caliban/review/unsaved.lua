--- Tells the program when a text that a verdict has called unsaved may be saved or gone, so that the line of the call in
--- the chat stays true.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF
local group = api.nvim_create_augroup('caliban.review.unsaved', {})

--- Called when a review has ended whose text is not on disk.
---@param r caliban.Review
function M.watch(r)
  if not api.nvim_buf_is_loaded(r.buf) then
    return
  end
  api.nvim_clear_autocmds({ group = group, [BUF] = r.buf })
  api.nvim_create_autocmd({ 'BufWritePost', 'BufReadPost', 'BufUnload' }, {
    group = group,
    [BUF] = r.buf,
    callback = vim.schedule_wrap(function()
      require('caliban.program.process').notify({ kind = 'look_again', session = r.session })
      if api.nvim_buf_is_valid(r.buf) and not vim.bo[r.buf].modified then
        api.nvim_clear_autocmds({ group = group, [BUF] = r.buf })
      end
    end),
  })
end

return M
