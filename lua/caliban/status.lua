--- The state of the current chat, for statuslines and scripts.
local M = {}

local api = vim.api

--- The current chat. Does not load the module of the chats, so that no chat is started.
---@return caliban.Chat?
local function current()
  local chats = package.loaded['caliban.chat.chats']
  return chats and chats.current
end

---@class caliban.State
---@field session? string
---@field phase string
---@field model? string
---@field mode? string
---@field coordinates? boolean whether coordinator mode is on; `mode` applies at the same time
---@field workers? caliban.WorkersStatus the numbers of workers
---@field agent? string the named agent that works in the conversation
---@field plan? caliban.PlanStage the state of the last plan
---@field usage { input: integer, output: integer, cached: integer, context: integer, window: integer, cost?: number }
---@field queue caliban.QueuedMessage[]
---@field jobs integer the background jobs that run
---@field todo? { done: integer, all: integer } the numbers of done tasks and of all tasks
---@field waiting_for? 'permission'|'question'|'review'
---@field question? caliban.OpenQuestion the model's question that the user answers next
---@field questions integer the number of chats whose question waits for the user

--- The state of the current chat.
---@return caliban.State
function M.state()
  local chat = current()
  local status = chat and chat.status
  if not status then
    local usage = { input = 0, output = 0, cached = 0, context = 0, window = 0 }
    return {
      session = chat and chat.session,
      phase = 'offline',
      usage = usage,
      queue = {},
      jobs = 0,
      questions = 0,
    }
  end
  return {
    session = status.session,
    phase = status.phase,
    model = status.model,
    mode = status.mode,
    coordinates = status.coordinates,
    workers = status.workers and vim.deepcopy(status.workers),
    agent = status.agent,
    plan = status.plan and status.plan.stage,
    usage = {
      input = status.input,
      output = status.output,
      cached = status.cached,
      context = status.context,
      window = status.window,
      cost = status.cost,
    },
    queue = vim.deepcopy(status.queue),
    jobs = status.jobs,
    todo = chat and require('caliban.chat.todo').count(chat),
    waiting_for = status.waiting_for,
    question = status.question and vim.deepcopy(status.question),
    questions = require('caliban.chat.status').questions(),
  }
end

--- The state in words with their highlights; empty before the first chat. If a width is given, the
--- words are followed by as many figures as fit.
---@param width? integer
---@return caliban.Chunk[]
local function chunks(width)
  local chat = current()
  if not (chat and chat.status) then
    return {}
  end
  local words = require('caliban.chat.status')
  if width then
    local left, right = words.line(chat, width)
    return vim.list_extend(left, #right == 0 and {} or { { '  ' }, unpack(right) })
  end
  local mode = words.mode(chat.status)
  local others = words.questions(chat)
  local total = words.questions()
  local waiting = others > 0 and (total == 1 and '1 question' or total .. ' questions')
  local agent = chat.status.agent and '@' .. words.harmless(chat.status.agent)
  local todo = require('caliban.chat.todo').brief(chat)
  local workers = chat.status.workers and require('caliban.chat.workers').brief(chat.status)
  local before = words.join(agent, mode ~= 'ask' and mode)
  local after = words.join(chat.followed and 'following', todo, workers)
  local ask = 'CalibanAsk'
  local all = { { 'caliban: ' .. before .. (before ~= '' and ' · ' or '') } } ---@type caliban.Chunk[]
  table.insert(all, { (words.words(chat)), words.waits(chat) and ask or nil })
  table.insert(all, { after ~= '' and ' · ' .. after or '' })
  return vim.list_extend(all, waiting and { { ' · ' }, { waiting, ask } } or {})
end

--- The state in words for a statusline; empty before the first chat. If a width is given, the words
--- are followed by as many figures as fit.
---@param width? integer
---@return string
function M.status(width)
  return require('caliban.editor.icons').of(require('caliban.chat.status').text(chunks(width)))
end

--- Like `status`, as items of a 'statusline'. The part that says what waits for the user is
--- highlighted.
---@param width? integer
---@return string
function M.statusline(width)
  local literal = require('caliban.editor.name').literal
  local items = vim.tbl_map(function(chunk)
    local text = require('caliban.editor.icons').of(literal(chunk[1]))
    return chunk[2] and ('%%#%s#%s%%*'):format(chunk[2], text) or text
  end, chunks(width))
  return table.concat(items)
end

--- Calls `fn` with the data of each event of this name.
---@param event string with or without the prefix `Caliban`
---@param fn fun(data: table)
---@return integer # for `nvim_del_autocmd`
function M.on(event, fn)
  return api.nvim_create_autocmd('User', {
    pattern = event:find('^Caliban') and event or 'Caliban' .. event,
    callback = function(args)
      fn(args.data or {})
    end,
  })
end

return M
