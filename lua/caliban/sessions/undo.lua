--- Takes the current conversation back to the state before a message of the user.
local M = {}

local names = require('caliban.editor.name')

--- Takes back the user's last messages and everything after them.
---@param count string how many; '' for one
function M.ask(count)
  local number = count == '' and 1 or count:match('^%d+$') and tonumber(count)
  if not number or number < 1 then
    local text = 'Give a number of at least 1: `:Caliban undo 2` takes back your last two messages.'
    return require('caliban.editor.notify').say(text)
  end
  require('caliban.chat').send({ kind = 'undo', after = number - 1 })
end

--- Asks whether to rewind the files of the later turns too.
---@param message caliban.Undo
function M.offer(message)
  -- some of the files may be as they were before: the preview says which
  local what = #message.files == 1 and message.files[1] or 'the changed files'
  local items = {
    'Take back the conversation only',
    names.shown(('Take back the conversation, and preview the rewind of %s'):format(what)),
  }
  local prompt = require('caliban.editor.icons').of('Back to before “%s”'):format(message.title)
  local opts = { prompt = names.shown(prompt), kind = 'caliban_undo' }
  vim.ui.select(items, opts, function(_, index)
    if index then
      require('caliban.program.process').ask({
        kind = 'undo',
        session = message.session,
        choice = { message = message.message, files = index == 2 },
      })
    end
  end)
end

return M
