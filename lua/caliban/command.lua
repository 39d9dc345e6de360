--- The command `:Caliban {subcommand}`.
local M = {}

local arguments = require('caliban.sessions.arguments')

---@class caliban.Invocation
---@field rest string the text after the subcommand, as typed
---@field words string[] `rest`, split at blanks
---@field bang boolean
---@field range? [integer, integer]
---@field visual boolean
---@field mods? vim.api.keyset.cmd_mods

---@class caliban.Subcommand
---@field run fun(call: caliban.Invocation)
---@field complete? fun(lead: string, rest: string): string[] `rest` is the text after the subcommand

---@param text string
local function say(text)
  require('caliban.editor.notify').show(text, vim.log.levels.WARN)
end

local function api()
  return require('caliban')
end

---@param call caliban.Invocation
---@return caliban.Excerpt?
local function selection(call)
  local range = call.range
  return range and require('caliban.context.excerpt').range(range[1], range[2], call.visual)
end

---@param word string
---@param words string[]
---@return boolean
local function one_of(word, words)
  if vim.tbl_contains(words, word) then
    return true
  end
  local hint = require('caliban.editor.nearest').hint(word, words)
  say(("'%s' is not one of %s.%s"):format(word, table.concat(words, ', '), hint))
  return false
end

local scopes = { 'hunk', 'file', 'all' }

---@param call caliban.Invocation
---@return caliban.ReviewOpts
local function scope(call)
  local word = call.words[1] ---@as string?
  if word and vim.tbl_contains(scopes, word) then
    local reason = vim.trim(call.rest:sub(#word + 1))
    local opts = { scope = word, range = call.range, reason = reason ~= '' and reason or nil }
    return opts ---@as caliban.ReviewOpts
  end
  return { range = call.range, reason = word and call.rest or nil }
end

--- Opens a log in a split.
---@param path string
---@param none string what to say if the file does not exist
local function show_log(path, none)
  if not vim.uv.fs_stat(path) then
    return say(none)
  end
  vim.cmd('split')
  vim.wo.winfixbuf = false
  require('caliban.editor.file').show(path)
end

local plan_acts = { 'accept', 'change', 'drop', 'save' }

--- The modes in which the work on a plan can begin.
---@return string[]
local function work_modes()
  return vim.tbl_filter(function(mode)
    return mode ~= 'plan'
  end, require('caliban.config').modes)
end

---@type table<string, caliban.Subcommand>
local subcommands = {
  ask = {
    run = function(call)
      local ask, excerpt = require('caliban.context.ask'), selection(call)
      if call.rest == '' then
        ask.prompt(excerpt)
      else
        ask.typed(call.rest, { context = excerpt and { excerpt } or {} })
      end
    end,
  },
  paste = {
    run = function()
      require('caliban.chat').paste()
    end,
  },
  add = {
    run = function(call)
      local added = selection(call) or require('caliban.context.excerpt').of()
      require('caliban.context.ask').add(added, false)
    end,
  },
  new = {
    run = function(call)
      local agent = call.words[1] and call.words[1]:match('^@(.*)')
      local name = call.words[agent and 2 or 1]
      api().new({ agent = agent, name = name, ephemeral = call.bang })
    end,
    complete = function()
      return vim.tbl_map(function(name)
        return '@' .. name
      end, require('caliban.program.project').agents())
    end,
  },
  resume = {
    run = function(call)
      local name = call.words[1]
      if name and not vim.tbl_contains(arguments.sessions(), name) then
        local text = 'There is no conversation `%s` in this project. :Caliban new %s starts one.'
        return say(text:format(name, name))
      end
      require('caliban.chat').switch({ kind = 'open', session = name })
    end,
    complete = arguments.sessions,
  },
  rename = {
    run = function(call)
      if call.rest == '' then
        return say('The new name is missing: :Caliban rename {name}.')
      end
      require('caliban.sessions.list').rename(call.rest)
    end,
  },
  fork = {
    run = function()
      require('caliban.sessions.list').fork()
    end,
  },
  delete = {
    run = function(call)
      local chat = require('caliban.chat.chats').current
      local name = call.words[1] or chat and chat.session
      if not name or not vim.tbl_contains(arguments.sessions(), name) then
        local text = 'There is no conversation `%s` in this project; nothing was deleted.'
        return say(text:format(name or 'main'))
      end
      require('caliban.sessions.list').delete(name)
    end,
    complete = arguments.sessions,
  },
  export = {
    run = function(call)
      require('caliban.sessions.list').export(call.rest, call.bang)
    end,
    complete = arguments.paths,
  },
  sessions = {
    run = function(call)
      require('caliban.sessions.list').ask(call.rest)
    end,
  },
  stop = {
    run = function()
      api().stop()
    end,
  },
  steer = {
    run = function(call)
      if call.rest == '' then
        return api().steer()
      end
      require('caliban.context.ask').typed(call.rest, { steer = true, context = {} })
    end,
  },
  accept = {
    run = function(call)
      if not call.words[1] or one_of(call.words[1], scopes) then
        api().accept(scope(call))
      end
    end,
    complete = function()
      return scopes
    end,
  },
  reject = {
    run = function(call)
      api().reject(scope(call))
    end,
    complete = function()
      return scopes
    end,
  },
  comment = {
    run = function(call)
      api().comment(call.rest ~= '' and call.rest or nil, { range = call.range })
    end,
  },
  next = {
    run = function()
      api().next()
    end,
  },
  prev = {
    run = function()
      api().prev()
    end,
  },
  review = {
    run = function()
      require('caliban.review').quickfix()
    end,
  },
  approve = {
    run = function(call)
      local word = call.words[1] or 'once'
      if one_of(word, { 'once', 'session', 'always' }) then
        api().approve(word --[[@as caliban.Scope]])
      end
    end,
    complete = function()
      return { 'once', 'session', 'always' }
    end,
  },
  deny = {
    run = function(call)
      api().deny(call.rest)
    end,
  },
  answer = {
    run = function(call)
      require('caliban.chat.answer').command(call.rest)
    end,
    complete = function()
      return require('caliban.chat.answer').complete()
    end,
  },
  model = {
    run = function(call)
      if call.rest ~= '' then
        require('caliban.chat').send({ kind = 'set_model', model = call.rest })
      else
        require('caliban.sessions.models').ask()
      end
    end,
    complete = function()
      return vim.list_extend(arguments.models(), arguments.settings())
    end,
  },
  mode = {
    run = function(call)
      local mode, word = require('caliban.sessions.mode'), call.words[1]
      if not word then
        mode.ask()
      elseif one_of(word, mode.names()) then
        mode.set(word --[[@as caliban.ChosenMode]])
      end
    end,
    complete = function()
      return require('caliban.sessions.mode').names()
    end,
  },
  plan = {
    run = function(call)
      local act = call.words[1] or 'show'
      if act ~= 'show' and not one_of(act, plan_acts) then
        return
      end
      local rest = vim.trim(call.rest:sub(#act + 1))
      local opts = { force = call.bang } ---@type caliban.PlanOpts
      if act == 'accept' and rest ~= '' then
        if not one_of(rest, work_modes()) then
          return
        end
        opts.mode = rest --[[@as caliban.Mode]]
      elseif rest ~= '' then
        opts[act == 'save' and 'path' or 'text'] = rest
      end
      api().plan(act --[[@as 'show'|'accept'|'change'|'drop'|'save']], opts)
    end,
    complete = function(lead, rest)
      local act = rest:match('^(%S+)%s')
      if not act then
        return plan_acts
      end
      return act == 'accept' and work_modes() or act == 'save' and arguments.paths(lead) or {}
    end,
  },
  connect = {
    run = function(call)
      if #call.words > 1 then
        return say('Give only the name of the provider. Caliban then asks for the key.')
      end
      require('caliban.sessions.models').connect(call.words[1])
    end,
    complete = function()
      return require('caliban.health').keyed()
    end,
  },
  request = {
    run = function(call)
      require('caliban.sessions.request').ask(call.mods)
    end,
  },
  rewind = {
    run = function()
      require('caliban.sessions.rewind').ask()
    end,
  },
  undo = {
    run = function(call)
      require('caliban.sessions.undo').ask(call.rest)
    end,
  },
  permissions = {
    run = function(call)
      require('caliban.sessions.permissions').ask(call.rest)
    end,
  },
  todo = {
    run = function(call)
      local act = call.words[1]
      if not act then
        api().todo()
      elseif one_of(act, { 'take', 'remove' }) then
        require('caliban.chat').send({ kind = 'todo', act = act })
      end
    end,
    complete = function()
      return { 'take', 'remove' }
    end,
  },
  agents = {
    run = function(call)
      require('caliban.sessions.agents').ask(call.words[1])
    end,
    complete = function()
      return require('caliban.program.project').agents()
    end,
  },
  skills = {
    run = function()
      require('caliban.sessions.skills').ask()
    end,
  },
  jobs = {
    run = function()
      require('caliban.sessions.jobs').ask()
    end,
  },
  follow = {
    run = function()
      api().follow()
    end,
  },
  workers = {
    run = function()
      require('caliban.chat.workers').offer()
    end,
  },
  log = {
    run = function(call)
      local project = require('caliban.program.project')
      local which = call.words[1]
      if not which then
        local folder = project.folder('XDG_CACHE_HOME', '.cache')
        local none =
          'There is no log. Set vim.g.caliban.debug or CALIBAN_DEBUG=1, then :Caliban restart.'
        show_log(vim.fs.joinpath(folder, 'debug.log'), none)
      elseif one_of(which, { 'permissions' }) then
        local none = 'No decision about a call has been logged in this project yet.'
        show_log((project.dir() or '') .. '/.permissions.log', none)
      end
    end,
    complete = function()
      return { 'permissions' }
    end,
  },
  project = {
    run = function()
      require('caliban.chat').go_over()
    end,
  },
  restart = {
    run = function()
      require('caliban.program.process').restart()
    end,
  },
  run = {
    run = function(call)
      require('caliban.program.run').run(call.rest)
    end,
    complete = function()
      return require('caliban.program.run').options
    end,
  },
  close = {
    run = function()
      api().close()
    end,
  },
  toggle = {
    run = function()
      api().toggle()
    end,
  },
}

--- The subcommands that do not take any text, by the most words after their names.
---@type table<integer, string>
local most = {
  [0] = 'add close follow fork jobs next paste prev project request restart review rewind skills '
    .. 'stop toggle workers',
  [1] = 'accept agents approve delete log mode new resume todo',
}

--- Why a subcommand is not carried out with these words: it would leave some of them out.
---@param name string
---@param call caliban.Invocation
---@return string?
local function misfit(name, call)
  local words, limit = call.words, nil ---@type string[], integer?
  for count, all in pairs(most) do
    limit = vim.list_contains(vim.split(all, ' '), name) and count or limit
  end
  if name == 'plan' and words[1] == 'drop' then
    limit = 1
  elseif name == 'new' and vim.startswith(words[1] or '', '@') then
    limit = 2
  end
  if not limit or #words <= limit then
    return nil
  end
  local slash = name == 'review' and ' `/review` in the chat has the model review a diff.' or ''
  local text = '`%s` means nothing after `:Caliban %s`. Nothing was done.%s'
  local known = table.concat(vim.list_extend({ name }, vim.list_slice(words, 1, limit)), ' ')
  return text:format(table.concat(words, ' ', limit + 1), known, slash)
end

---@return string[]
local function names()
  local list = vim.tbl_keys(subcommands)
  table.sort(list)
  return list
end

---@param opts vim.api.keyset.create_user_command.command_args
function M.run(opts)
  local name, mark, rest = opts.args:match('^%s*([^%s!]*)(!?)%s*(.-)%s*$')
  ---@cast name string
  ---@cast rest string
  local range = opts.range > 0 and { opts.line1, opts.line2 } or nil
  local call = {
    rest = rest,
    words = vim.split(rest, '%s+', { trimempty = true }),
    bang = opts.bang or mark == '!',
    range = range,
    -- `opts.range` is the number of addresses. A range of two may be '<,'>, the visual selection.
    visual = opts.range == 2,
    mods = opts.smods,
  }
  if name == '' then
    local excerpt = selection(call)
    if excerpt then
      return require('caliban.context.ask').add(excerpt, true)
    end
    return api().open()
  end
  local subcommand = subcommands[name]
  if not subcommand then
    local hint = require('caliban.editor.nearest').hint(name, names())
    return say((":Caliban has no subcommand '%s'.%s"):format(name, hint))
  end
  local why = misfit(name, call)
  if why then
    return say(why)
  end
  subcommand.run(call)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local name, rest = line:match('Caliban!?%s+([%w_]+)!?%s(.*)$')
  local list
  if name then
    local subcommand = subcommands[name]
    list = subcommand and subcommand.complete and subcommand.complete(lead, rest or '') or {}
  else
    list = names()
  end
  return vim.tbl_filter(function(word)
    -- a newline would end the command, and the rest would run as another command
    return vim.startswith(word, lead) and not word:find('%c')
  end, list)
end

return M
