--- The permissions that the user has granted for a session: a list from which the user can revoke a permission.
local M = {}

--- Asks the program for the list, which `offer` shows.
function M.ask()
  require('caliban.chat').send({ kind = 'permissions' })
end

--- Offers the permissions; revokes the chosen permission.
---@param message caliban.Permissions
function M.offer(message)
  local opts = {
    prompt = 'Allowed for this session. Choose a permission to revoke it:',
    format_item = function(row)
      return require('caliban.editor.name').shown(row.label)
    end,
  }
  require('caliban.editor.pick').one(message.grants, opts, function(row)
    require('caliban.program.process').ask({
      kind = 'permissions',
      session = message.session,
      revoke = { tool = row.tool, is_host = row.is_host, what = row.what },
    })
  end)
end

return M
