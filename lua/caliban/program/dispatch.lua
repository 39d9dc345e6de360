--- Passes each message of the program to the module that handles its kind. The module is loaded at
--- the first message of that kind.
local M = {}

---@type table<string, fun(message: any): any>
local handlers = {
  welcome = function(message)
    require('caliban.program.process').welcome(message)
  end,
  session = function(message)
    require('caliban.chat').opened(message)
  end,
  renamed = function(message)
    require('caliban.chat').renamed(message)
    local plan = package.loaded['caliban.sessions.plan'] ---@type table?
    local _ = plan and plan.renamed(message)
  end,
  deleted = function(message)
    require('caliban.chat').deleted(message)
    local plan = package.loaded['caliban.sessions.plan'] ---@type table?
    local _ = plan and plan.deleted(message.session)
  end,
  copied = function(message)
    require('caliban.sessions.list').copy(message.text)
  end,
  history = vim.schedule_wrap(function(message)
    require('caliban.sessions.list').history(message)
  end),
  exit = function()
    require('caliban.chat').exit()
  end,
  paint = function(message)
    require('caliban.chat').paint(message)
  end,
  status = function(message)
    require('caliban.chat').status(message)
    local plan = package.loaded['caliban.sessions.plan'] ---@type table?
    local _ = plan and plan.status(message)
  end,
  bounce = function(message)
    require('caliban.chat').bounce(message)
  end,
  propose = function(message)
    return require('caliban.review').propose(message)
  end,
  read = function(message)
    return require('caliban.program.workspace').read(message)
  end,
  survey = function(message)
    return require('caliban.context.scene').of(message.part)
  end,
  changed = function()
    return require('caliban.program.workspace').changed()
  end,
  held_texts = function(message)
    return require('caliban.program.workspace').held_texts(message)
  end,
  stamps = function(message)
    return require('caliban.program.workspace').stamps(message)
  end,
  save = function(message)
    return require('caliban.program.workspace').save(message)
  end,
  halt = function(message)
    require('caliban.lsp').halt(message.session)
    return require('caliban.review').halt(message)
  end,
  consult = function(message)
    require('caliban.lsp').consult(message)
  end,
  completed = vim.schedule_wrap(function(message)
    require('caliban.chat.completion').answer(message)
  end),
  weighed = vim.schedule_wrap(function(message)
    require('caliban.chat.mentions').answer(message)
  end),
  -- scheduled, because these functions prompt the user: the program must not wait for the answer
  models = vim.schedule_wrap(function(message)
    require('caliban.sessions.models').offer(message)
  end),
  sessions = vim.schedule_wrap(function(message)
    require('caliban.sessions.list').offer(message)
  end),
  peeked = function(message)
    require('caliban.program.peek').answer(message)
  end,
  held = vim.schedule_wrap(function(message)
    require('caliban.sessions.handover').offer(message)
  end),
  connect = vim.schedule_wrap(function(message)
    require('caliban.sessions.models').want(message)
  end),
  comments = function(message)
    require('caliban.editor.comments').add(message.comments)
  end,
  uncomment = function()
    require('caliban.editor.comments').clear()
  end,
  turns = vim.schedule_wrap(function(message)
    require('caliban.sessions.rewind').offer(message)
  end),
  undo = vim.schedule_wrap(function(message)
    require('caliban.sessions.undo').offer(message)
  end),
  permissions = vim.schedule_wrap(function(message)
    require('caliban.sessions.permissions').offer(message)
  end),
  agents = vim.schedule_wrap(function(message)
    require('caliban.sessions.agents').offer(message)
  end),
  skills = vim.schedule_wrap(function(message)
    require('caliban.sessions.skills').offer(message)
  end),
  plan_opened = vim.schedule_wrap(function(message)
    require('caliban.sessions.plan').received(message)
  end),
  jobs = vim.schedule_wrap(function(message)
    require('caliban.sessions.jobs').offer(message)
  end),
  todo = function(message)
    require('caliban.chat').todo(message)
  end,
  preview = function(message)
    require('caliban.sessions.rewind').preview(message)
  end,
  restore = function(message)
    return require('caliban.sessions.rewind').restore(message)
  end,
  refresh = function(message)
    require('caliban.sessions.rewind').refresh(message)
  end,
  decided_so_far = function(message)
    return require('caliban.review').decided(message)
  end,
  command = function(message)
    require('caliban.review').command(message)
  end,
  request = function(message)
    require('caliban.sessions.request').show(message)
  end,
  notice = function(message)
    local level = vim.log.levels[message.level:upper()]
    require('caliban.editor.notify').say(message.text, level or vim.log.levels.ERROR)
  end,
  event = function(message)
    local wrong = require('caliban.editor.event').fire(message.name, message.data)
    if wrong then
      local text = ('%s: %s'):format(message.name, wrong)
      require('caliban.editor.notify').show(text, vim.log.levels.ERROR)
    end
  end,
}

--- Handles one message. The program calls this function by a request, so that the program sends no faster than Neovim
--- handles messages. Ignores kinds that only a newer program knows.
---@param message table
---@return any
function M.receive(message)
  local handler = handlers[message.kind]
  return handler and handler(message)
end

return M
