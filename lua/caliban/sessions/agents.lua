--- The list of the named agents, from which the user can open an agent's file.
local M = {}

--- The most bytes of a file that are read for a preview.
local MOST = 50000

--- Asks the program for the list, which `offer` shows.
---@param name? string the agent whose file is to be opened
function M.ask(name)
  require('caliban.chat').send({
    kind = 'send',
    text = name and '/agents ' .. name or '/agents',
    context = {},
    steer = false,
  })
end

--- Opens the file of an agent, at the agent's first line, in a window that shows no chat.
---@param agent caliban.AgentRow
local function open(agent)
  local odd = require('caliban.editor.disk').odd(agent.path)
  if odd or not vim.uv.fs_stat(agent.path) then
    local text = ('%s was not opened: %s.'):format(agent.shown, odd or 'it does not exist')
    local shown = require('caliban.editor.name').shown(text)
    return require('caliban.editor.notify').show(shown, vim.log.levels.WARN)
  end
  require('caliban.chat.visit').file(agent.path, agent.line)
end

--- The first lines of an agent's file.
---@param agent caliban.AgentRow
---@return string[]
local function beginning(agent)
  local text = require('caliban.editor.disk').read(agent.path, MOST)
  local lines = vim.split(text or 'This file cannot be read.', '\n', { plain = true })
  return text and vim.list_slice(lines, agent.line) or lines
end

--- Offers the agents; opens the file of the chosen one.
---@param message caliban.Agents
function M.offer(message)
  if message.open and message.agents[1] then
    return open(message.agents[1])
  end
  local opts = {
    prompt = 'Agents. Choose one to open its file:',
    kind = 'caliban_agents',
    give = 2,
    ---@param agent caliban.AgentRow
    cells = function(agent)
      local whose = agent.is_users and 'yours' or "the project's"
      return { agent.name, agent.description, whose, agent.shown }
    end,
    ---@param agent caliban.AgentRow
    preview = function(agent, show)
      show(beginning(agent), 'markdown')
    end,
  }
  require('caliban.editor.pick').one(message.agents, opts, open)
end

return M
