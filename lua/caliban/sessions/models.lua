--- Lets the user choose a model, and enter the key of a provider.
local M = {}

local name = require('caliban.editor.name')

---@param text string
---@param level? integer
local function say(text, level)
  require('caliban.editor.notify').say(text, level)
end

--- Asks the program for the list, which `offer` shows once the providers have answered.
function M.ask()
  if require('caliban.chat').send({ kind = 'list_models' }) then
    require('caliban.editor.notify').correct('Asking for models …')
  end
end

--- How each of a model's facts is shown in the preview.
---@type string[]
local FACTS = {
  'Window  %s tokens',
  'Reads   text and %s',
  'Price   %s for 1M tokens, read/written',
}

--- The preview of a model: one line for each known fact.
---@param offer caliban.Offer
---@return string[]
local function facts(offer)
  local lines = { offer.name, '' } ---@type string[]
  for i, text in ipairs(offer.facts) do
    lines[#lines + 1] = text ~= '' and (FACTS[i] or '%s'):format(text) or nil
  end
  return #lines > 2 and lines or { offer.name, '', 'Nothing else is known about this model.' }
end

--- Offers the models, the current model first. The chosen model becomes the chat's model.
---@param message caliban.Models
function M.offer(message)
  local chats = require('caliban.chat.chats')
  local chat = chats.find(message.session)
  if not chat then
    return
  end
  local current = chat.status and chat.status.model
  local items = {} ---@type { offer?: caliban.Offer, problem?: string }[]
  for _, offer in ipairs(message.models) do
    table.insert(items, offer.name == current and 1 or #items + 1, { offer = offer })
  end
  for _, problem in ipairs(message.problems) do
    table.insert(items, { problem = problem })
  end
  if #items == 0 then
    return say('No provider has a key yet. :Caliban connect asks for one.')
  end
  local opts = {
    prompt = 'Model',
    kind = 'caliban_models',
    cells = function(item)
      local offer = item.offer
      local now = offer and offer.name == current and '(now)' or ''
      return offer and vim.list_extend({ offer.name, now }, offer.facts) or '! ' .. item.problem
    end,
    preview = function(item, show)
      show(item.offer and facts(item.offer) or { item.problem })
    end,
  }
  require('caliban.editor.pick').one(items, opts, function(item)
    if item.offer then
      chats.send(chat, { kind = 'set_model', model = item.offer.name })
    else
      say(name.shown(item.problem))
    end
  end)
end

--- Asks the program which providers need a key, in order to let the user enter one.
---@param provider? string
function M.connect(provider)
  require('caliban.program.process').ask({ kind = 'ask_for_key', provider = provider })
end

--- Asks the user for a key by `inputsecret()`, which shows a star for each character and keeps no
--- history. A plugin that has replaced `vim.ui.input` would show the key and might store it.
---@param provider string
---@return string? # nil if the user cancelled
local function ask_secret(provider)
  local ok, key = pcall(vim.fn.inputsecret, ('Key for %s: '):format(provider))
  return ok and key or nil
end

---@param provider string
local function ask_and_store(provider)
  local key = vim.trim(ask_secret(provider) or '')
  if key == '' then
    return say('No key was entered; nothing was changed.', vim.log.levels.INFO)
  end
  -- the composers' warnings about errors of the providers refer to the former key
  for _, chat in ipairs(require('caliban.chat.chats').all) do
    require('caliban.chat.composer').unwarn(chat)
  end
  require('caliban.program.process').ask({ kind = 'give_key', provider = provider, key = key })
end

---@param message caliban.Connect
function M.want(message)
  if message.provider then
    return ask_and_store(message.provider)
  end
  local opts = {
    prompt = 'Provider',
    kind = 'caliban_providers',
    cells = function(item)
      return { item.name, item.about }
    end,
  }
  require('caliban.editor.pick').one(message.providers, opts, function(item)
    ask_and_store(item.name)
  end)
end

return M
