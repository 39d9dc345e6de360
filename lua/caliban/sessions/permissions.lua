--- The list of the permissions for a session and of the permission rules, in which the user can
--- revoke one.
local M = {}

--- Asks the program for the list, which `offer` shows. If a command is given, the chat shows how
--- the command would be judged.
---@param command? string
function M.ask(command)
  local explain = command and command ~= '' and command or nil
  require('caliban.chat').send({ kind = 'permissions', explain = explain })
end

--- Offers the permissions; revokes the chosen permission.
---@param message caliban.Permissions
function M.offer(message)
  local opts = {
    prompt = 'Permissions and rules. Choose one to revoke it:',
    kind = 'caliban_permissions',
    cells = function(row)
      return row.label
    end,
  }
  require('caliban.editor.pick').one(message.grants, opts, function(row)
    require('caliban.program.process').ask({
      kind = 'permissions',
      session = message.session,
      revoke = {
        kind = row.kind,
        tool = row.tool,
        job = row.job,
        what = row.what,
      },
    })
  end)
end

return M
