--- What the user has allowed for a session: a list, from which each can be taken back.
local M = {}

--- Asks for the list; it is offered when it comes.
function M.ask()
  require('caliban.chat').send({ kind = 'permissions' })
end

---@param message caliban.Permissions
function M.offer(message)
  local opts = {
    prompt = 'Allowed for this session. Choose one to take it back:',
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
