--- When the key hints at the composers are updated: the cursor has moved, or a review has changed.
local M = {}

local api = vim.api

--- Whether the key hints of all chats are about to be updated.
local is_due = false

--- Updates the key hints of all chats, once for many calls.
function M.renew()
  local _ = is_due
    or vim.schedule(function()
      is_due = false
      local windows = require('caliban.chat.windows')
      vim.tbl_map(windows.hint, require('caliban.chat.chats').all)
    end)
  is_due = true
end

--- Begins to watch on which line of a transcript or of a file under review the cursor is: the keys have other meanings
--- there.
function M.watch()
  local group = api.nvim_create_augroup('caliban_cursor', {})
  -- scheduled, because the list notes only at this event whether the cursor is on a hunk
  local update = vim.schedule_wrap(function(chat)
    require('caliban.chat.plan_keys').map(chat)
    require('caliban.chat.windows').hint(chat)
  end)
  local last = '' -- the keys of the file under review
  api.nvim_create_autocmd('CursorMoved', {
    group = group,
    callback = function(args)
      local chat = require('caliban.chat.chats').of(args.buf)
      if chat then
        local _ = args.buf == chat.transcript and update(chat)
        return
      end
      local overlay = package.loaded['caliban.review.ui.overlay']
      local now = overlay and table.concat(overlay.keys(), ' ') or '' ---@type string
      if now ~= last then
        last = now
        M.renew()
      end
    end,
  })
  api.nvim_create_autocmd('BufEnter', { group = group, callback = M.renew })
end

return M
