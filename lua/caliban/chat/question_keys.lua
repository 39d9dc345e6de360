--- The keys on a question's own lines. Each function returns the keys that act on the question, or false if the key
--- keeps its meaning in Vim.
local M = {}

--- The functions of this module that keys run.
---@alias caliban.QuestionKey
---| 'rule'
---| 'because'
---| 'change'
---| 'explain'
---| 'choose'
---| 'words'
---| 'done'
---| 'skip'
---| 'back'

local api = vim.api

--- Answers a question if the user typed the key. A key that comes from a mapping or a macro keeps its meaning in Vim.
---@param key string
---@param fn? fun() absent if the question takes no keys yet
---@return string|false
local function by_hand(key, fn)
  return fn
      and require('caliban.chat.at_once').keys(function()
        local _, typed = require('caliban.chat.question').last_key()
        if typed then
          return fn()
        end
        local count = vim.v.count > 0 and vim.v.count or ''
        api.nvim_feedkeys(('"%s%s%s'):format(vim.v.register, count, key), 'ni', false)
      end)
    or false
end

---@param chat caliban.Chat
---@param block? caliban.Block under the cursor
---@param key string
---@param ruling caliban.WireRuling
---@return string|false
function M.rule(chat, block, key, ruling)
  return by_hand(key, require('caliban.chat.consent').key(chat, block, ruling))
end

---@param chat caliban.Chat
---@param block? caliban.Block
---@param key string
---@return string|false
function M.because(chat, block, key)
  return by_hand(key, require('caliban.chat.consent').because(chat, block))
end

---@param chat caliban.Chat
---@param block? caliban.Block
---@param key string
---@return string|false
function M.change(chat, block, key)
  return by_hand(key, require('caliban.chat.consent').change(chat, block))
end

--- Shows or hides why the user is asked.
---@param chat caliban.Chat
---@param block? caliban.Block
---@param key string
---@return string|false
function M.explain(chat, block, key)
  local question = require('caliban.chat.consent').taking(chat, block)
  return by_hand(key, question and question.explains and function()
    local message = { kind = 'permissions', why = question.call }
    question.why = true
    require('caliban.chat.chats').send(chat, message)
  end or nil)
end

--- Whether the cursor is on a question of the model that has this option, but takes no keys now.
--- The number must not become a count: Neovim would paint nothing until the next key.
---@param chat caliban.Chat
---@param block? caliban.Block
---@param number integer
---@return boolean
local function is_early(chat, block, number)
  local question = chat.question
  return question ~= nil
    and question.asks ~= nil
    and block ~= nil
    and block.shape == 'ask'
    and block.call == question.call
    and number <= question.asks.options
    and (question.answered or not question.armed)
    and vim.fn.reg_executing() == ''
end

--- Chooses the option of this number, or marks it if several may be chosen.
---@param chat caliban.Chat
---@param block? caliban.Block
---@param key string
---@param number integer
---@return string|false
function M.choose(chat, block, key, number)
  if is_early(chat, block, number) then
    return ''
  end
  local answer = require('caliban.chat.answer')
  local question, asks = answer.taking(chat, block)
  if not (question and asks and number <= asks.options) then
    return false
  end
  return by_hand(key, function()
    answer.send(chat, question, asks.multiple and 'mark' or 'choose', { number - 1 })
  end)
end

---@param chat caliban.Chat
---@param block? caliban.Block
---@param key string
---@return string|false
function M.words(chat, block, key)
  local answer = require('caliban.chat.answer')
  local question = answer.taking(chat, block)
  return by_hand(key, question and function()
    answer.ask_for_words(chat, question)
  end or nil)
end

---@param chat caliban.Chat
---@param block? caliban.Block
---@param key string
---@param response caliban.WireResponse
---@param applies fun(question: caliban.Question, asks: caliban.Asks): boolean
---@return string|false
local function respond(chat, block, key, response, applies)
  local answer = require('caliban.chat.answer')
  local question, asks = answer.taking(chat, block)
  if not (question and asks and applies(question, asks)) then
    return false
  end
  return by_hand(key, function()
    answer.send(chat, question, response)
  end)
end

--- Sends the marked options. On a fold of the question, the key opens the fold.
---@param chat caliban.Chat
---@param block? caliban.Block
---@param key string
---@return string|false
function M.done(chat, block, key)
  return respond(chat, block, key, 'done', function(question, asks)
    return asks.multiple and not next(question.folds)
  end)
end

---@param chat caliban.Chat
---@param block? caliban.Block
---@param key string
---@return string|false
function M.skip(chat, block, key)
  return respond(chat, block, key, 'skip', function()
    return true
  end)
end

---@param chat caliban.Chat
---@param block? caliban.Block
---@param key string
---@return string|false
function M.back(chat, block, key)
  return respond(chat, block, key, 'back', function(_, asks)
    return asks.question > 0
  end)
end

return M
