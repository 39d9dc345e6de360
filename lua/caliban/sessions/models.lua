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
    vim.api.nvim_echo({ { 'Asking for models …' } }, false, {})
  end
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
  local items = {} ---@type { name?: string, text: string }[]
  for _, offer in ipairs(message.models) do
    local here = offer.name == current
    local about = offer.about ~= '' and '  ' .. offer.about or ''
    local text = name.shown(offer.name .. about) .. (here and '  (now)' or '')
    table.insert(items, here and 1 or #items + 1, { name = offer.name, text = text })
  end
  for _, problem in ipairs(message.problems) do
    table.insert(items, { text = '! ' .. name.shown(problem) })
  end
  if #items == 0 then
    return say('No provider has a key yet. :Caliban connect asks for one.')
  end
  local opts = {
    prompt = 'Model',
    format_item = function(item)
      return item.text
    end,
  }
  require('caliban.editor.pick').one(items, opts, function(item)
    if item.name then
      chats.send(chat, { kind = 'set_model', model = item.name })
    else
      say(item.text:sub(3))
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
  -- warnings about the providers' errors are removed, because they were about the former key
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
    format_item = function(item)
      return name.shown(
        item.about == '' and item.name or ('%s  (%s)'):format(item.name, item.about)
      )
    end,
  }
  vim.ui.select(message.providers, opts, function(item)
    if item then
      ask_and_store(item.name)
    end
  end)
end

return M
