--- The permissions that the user has granted for a session: a list from which one can be revoked.
local M = {}

--- Asks the program for the list, which `offer` shows.
function M.ask()
  require('caliban.chat').send({ kind = 'permissions' })
end

--- Offers the permissions; revokes the chosen one.
---@param message caliban.Permissions
function M.offer(message)
  local opts = {
    prompt = 'Allowed for this session. Choose one to revoke it:',
    format_item = function(row)
      return require('caliban.editor.name').shown(row.label)
    end,
  }
  require('caliban.editor.pick').one(message.grants, opts, function(row)
    require('caliban.program.process').ask({
      kind = 'permissions',
      session = message.session,
      revoke = { tool = row.tool, what = row.what },
    })
  end)
end

return M
