--- The user's answers to the model's questions: by keys in the chat, from a picker, and by the API.
local M = {}

local consent = require('caliban.chat.consent')

---@param text string
local function say(text)
  require('caliban.editor.notify').show(text, vim.log.levels.WARN)
end

--- The model's question under the cursor, if it accepts keys now.
---@param chat caliban.Chat
---@param block? caliban.Block
---@return caliban.Question?
---@return caliban.Asks?
function M.taking(chat, block)
  local question = consent.taking(chat, block)
  local asks = question and question.asks
  if question and asks then
    return question, asks
  end
end

---@param chat caliban.Chat
---@param call string
---@param at integer the index of the question among those of the call, from 0
---@param response caliban.WireResponse
---@param options? integer[] from 0
---@param text? string
---@return boolean sent
local function respond(chat, call, at, response, options, text)
  return require('caliban.chat.chats').send(chat, {
    kind = 'respond',
    call = call,
    question = at,
    response = response,
    options = options or {},
    text = text or '',
  })
end

--- Sends the answer to the question, unless the question was not on the screen yet.
---@param chat caliban.Chat
---@param question caliban.Question
---@param response caliban.WireResponse
---@param options? integer[] from 0
---@param text? string
function M.send(chat, question, response, options, text)
  local open = chat.question
  if open and open.answered then
    return
  elseif
    not (open and open.asks and open.call == question.call)
    or not vim.deep_equal(open.asks, question.asks)
  then
    return say('The question has been answered or withdrawn.')
  end
  local why = consent.objection(chat, open)
  if why then
    return consent.object(chat, open, why)
  end
  local sent = respond(chat, open.call, open.asks.question, response, options, text)
  -- the program may refuse the other responses, and the question then stays open
  open.answered = sent and (response == 'choose' or response == 'skip')
end

---@param chat caliban.Chat
---@param question caliban.Question
function M.ask_for_words(chat, question)
  require('caliban.editor.prompt').ask({ prompt = 'Your answer: ' }, function(text)
    if text and vim.trim(text) ~= '' then
      M.send(chat, question, 'words', nil, text)
    end
  end)
end

---@class caliban.AnswerItem
---@field text string
---@field run fun()

--- The entries of the picker for a question.
---@param chat caliban.Chat
---@param open caliban.OpenQuestion
---@param marked table<integer, true?>
---@return caliban.AnswerItem[]
local function items(chat, open, marked)
  local all = {} ---@type caliban.AnswerItem[]
  local function add(text, run)
    table.insert(all, { text = text, run = run })
  end
  local function send(response, options, text)
    respond(chat, open.call, open.question, response, options, text)
  end
  for i, option in ipairs(open.options) do
    local mark = open.multiple and (marked[i - 1] and '[x] ' or '[ ] ') or ''
    local suggested = i == 1 and ' (suggested)' or ''
    local about = (option.about or '') ~= '' and ' — ' .. option.about or ''
    add(mark .. option.label .. suggested .. about, function()
      if not open.multiple then
        return send('choose', { i - 1 })
      end
      marked[i - 1] = not marked[i - 1] or nil
      -- the program keeps the marks, so that they go with an answer in own words too
      send('mark', { i - 1 })
      M.pick(chat, open, marked)
    end)
  end
  if open.multiple and next(marked) then
    add('Send the marked options', function()
      send('done')
    end)
  end
  add('In your own words …', function()
    require('caliban.editor.prompt').ask({ prompt = 'Your answer: ' }, function(text)
      if text and vim.trim(text) ~= '' then
        send('words', nil, text)
      end
    end)
  end)
  add('Skip the question', function()
    send('skip')
  end)
  return all
end

--- Lets the user choose in a picker, which shows the whole question.
---@param chat caliban.Chat
---@param open caliban.OpenQuestion
---@param marked table<integer, true?>
function M.pick(chat, open, marked)
  local shown = require('caliban.editor.name').shown
  local count = open.of > 1 and ('%d of %d: '):format(open.question + 1, open.of) or ''
  local opts = {
    prompt = shown(count .. open.text),
    kind = 'caliban_answers',
    ---@param item caliban.AnswerItem
    cells = function(item)
      return item.text
    end,
  }
  require('caliban.editor.pick').one(items(chat, open, marked), opts, function(item)
    item.run()
  end)
end

--- The options that a text names by their numbers, or by the label of one option.
---@param open caliban.OpenQuestion
---@param text string
---@return integer[]? # from 0
function M.named(open, text)
  if text:find('^[%d%s,]+$') then
    local all = {} ---@type integer[]
    for number in text:gmatch('%d+') do
      table.insert(all, (tonumber(number) or 0) - 1)
    end
    return all
  end
  for i, option in ipairs(open.options) do
    if vim.fn.tolower(option.label) == vim.fn.tolower(text) then
      return { i - 1 }
    end
  end
end

--- Why these options cannot be chosen, in one sentence.
---@param open caliban.OpenQuestion
---@param options integer[]
---@return string?
local function misfit(open, options)
  for _, at in ipairs(options) do
    if at < 0 or at >= #open.options then
      return ('There is no option %d. The question has %d options.'):format(at + 1, #open.options)
    end
  end
  if #options ~= 1 and not open.multiple then
    return 'Choose one option of this question.'
  elseif #options == 0 then
    return 'Choose at least one option.'
  end
end

--- Answers the open question if it is on the screen. Otherwise only shows the question. Without an answer, opens a picker.
---@param answer? integer|integer[]|string|false numbers of options from 1, a text, or false to skip the question
function M.answer(answer)
  local chat, shown = consent.asking(true)
  local open = chat and chat.status and chat.status.question
  if not (chat and chat.question and open) then
    local text = 'The model has no question for you now.'
    return require('caliban.editor.notify').say(text, vim.log.levels.INFO)
  elseif answer == nil then
    local marked = {} ---@type table<integer, true?>
    for _, at in ipairs(open.marked) do
      marked[at] = true
    end
    return M.pick(chat, open, marked)
  elseif not shown then
    return consent.show(chat)
  elseif answer == false then
    return M.send(chat, chat.question, 'skip')
  elseif type(answer) == 'string' then
    return M.send(chat, chat.question, 'words', nil, answer)
  end
  local options = vim.tbl_map(function(number)
    return number - 1
  end, type(answer) == 'table' and answer or { answer })
  local why = misfit(open, options)
  if why then
    return say(why)
  end
  M.send(chat, chat.question, 'choose', options)
end

--- `:Caliban answer {text}`.
---@param text string
function M.command(text)
  local chat = consent.asking(true)
  local open = chat and chat.status and chat.status.question
  if text == '' or not open then
    return M.answer()
  elseif text == 'skip' then
    return M.answer(false)
  end
  local options = M.named(open, text)
  M.answer(options and vim.tbl_map(function(at)
    return at + 1
  end, options) or text)
end

--- For completion: the numbers of the options, and `skip`.
---@return string[]
function M.complete()
  local chat = consent.asking(true)
  local open = chat and chat.status and chat.status.question
  local all = {} ---@type string[]
  for i in ipairs(open and open.options or {}) do
    all[i] = tostring(i)
  end
  return open and vim.list_extend(all, { 'skip' }) or all
end

return M
